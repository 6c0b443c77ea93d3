/** Renders React pages to HTML in workers. */
import { createPool } from "heddle";

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 2 })<typeof import("./tasks.ts")>(url);

const render = pool.call.render.with({ runTimeoutMs: 10_000 });
const small = await render([{ name: "Tea", price: 3 }]);
console.log(small);

const pages = Array.from(
  { length: 20 },
  (_, page) => Array.from({ length: 50 }, (_, n) => ({ name: `Item ${page}.${n}`, price: n })),
);
const html = await Promise.all(pages.map((products) => render(products)));
console.log(html.every((text) => text.split("<li>").length === 51));
await pool.shutdown();
