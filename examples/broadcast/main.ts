/** Gives all workers new settings while they serve calls. */
import { createPool } from "heddle";

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 2, recycleAfter: 5 })<typeof import("./tasks.ts")>(url);
const configure = pool.broadcast.configure.with({ sticky: true });

console.log(await configure({ EUR: 2 }));
console.log(await pool.call.convert(10, "EUR"));
console.log(await configure({ EUR: 3, JPY: 100 }));
// Workers are replaced after five calls, and the new ones are configured before they take any.
const results = await Promise.all(Array.from({ length: 30 }, () => pool.call.convert(10, "EUR")));
console.log(new Set(results));
await pool.shutdown();
