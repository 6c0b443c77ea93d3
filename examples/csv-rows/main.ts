/** Reads the rows of a large CSV file in a worker and sums them here. Neither side holds all rows at once. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPool } from "heddle";

const folder = mkdtempSync(join(tmpdir(), "heddle-sales-"));
const path = join(folder, "sales.csv");
const lines = Array.from({ length: 200_000 }, (_, n) => `${n % 3 ? "Oslo" : "Bergen"},${n % 100}`);
writeFileSync(path, `city,amount\n${lines.join("\n")}\n`);

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 1 })<typeof import("./tasks.ts")>(url);

const totals = new Map<string, number>();
const stream = pool.call.sales(path);
for await (const { city, amount } of stream) {
  totals.set(city, (totals.get(city) ?? 0) + amount);
}
for (const [city, total] of totals) console.log(`${city}: ${total}`);
console.log(`${await stream.returned} rows`);

// `break` ends the task, which closes the file.
for await (const { city, amount } of pool.call.sales(path)) {
  if (city === "Oslo" && amount > 90) {
    console.log(`${city} sold for ${amount}`);
    break;
  }
}
await pool.shutdown();
rmSync(folder, { recursive: true });
