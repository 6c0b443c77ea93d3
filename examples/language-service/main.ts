/** An editor, say, whose language service is an object in a worker. */
import { createPool } from "heddle";

const url = new URL("./service.ts", import.meta.url);
const pool = createPool({ threads: 1 })<typeof import("./service.ts")>(url);
const service = await pool.spawn.Service();

await service.update("price.ts", "export const price = (amount: number) => amount * 2;");
await service.update(
  "main.ts",
  'import { price } from "./price";\nexport const total = price("3");',
);
console.log(await service.check("main.ts"));

await service.update("main.ts", 'import { price } from "./price";\nexport const total = price(3);');
console.log(await service.check("main.ts"));
console.log(await service.typeAt("main.ts", "total"));

await service.update("price.ts", "export const price = (amount: number) => `${amount} euros`;");
console.log(await service.typeAt("main.ts", "total"));

await service.$release();
await pool.shutdown();
