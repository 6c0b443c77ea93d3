/** Calls the tasks of another module. */
import { createPool } from "heddle";

const url = new URL("./tasks.ts", import.meta.url);
const { call, shutdown } = createPool({ threads: 2 })<typeof import("./tasks.ts")>(url);

console.log(await call.sum(Float64Array.of(1, 2, 3.5)));
console.log(await Promise.all([call.sleep(1), call.sleep(60_000)]));
try {
  await call.parse("{");
} catch (error) {
  console.log(error instanceof SyntaxError);
}
await shutdown();
