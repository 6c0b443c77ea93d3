/** Checks untrusted input in a worker: text goes in, typed values come out. */
import { createPool } from "heddle";

const order = (id: number, email = "ada@example.org", count = 1): string =>
  JSON.stringify({ id, email, items: [{ sku: "A-1", count }] });
const lines = Array.from({ length: 500 }, (_, n) => order(n + 1));
lines[9] = order(10, "nobody");
lines[19] = order(20, undefined, 0);

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 1, maxPayloadBytes: 1 << 20 })<typeof import("./tasks.ts")>(url);
const { valid, errors } = await pool.call.check.with({ runTimeoutMs: 10_000 })(lines.join("\n"));
console.log(`${valid.length} orders, the first for ${valid[0]!.email}`);
for (const { line, message } of errors) console.log(`line ${line}: ${message}`);
await pool.shutdown();
