/** Imports a CSV file into SQLite in a worker, with a progress bar: lines where there is no terminal. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { createPool } from "heddle";

const folder = mkdtempSync(join(tmpdir(), "heddle-import-"));
const csv = join(folder, "sales.csv");
const lines = Array.from({ length: 22_000 }, (_, n) => `${n % 4 ? "Oslo" : "Bergen"},${n % 100}`);
writeFileSync(csv, `city,amount\n${lines.join("\n")}\n`);

function show(event: unknown): void {
  const { percent } = event as { percent: number };
  if (!process.stdout.isTTY) return console.log(`${percent} %`);
  const bar = "#".repeat(percent / 5).padEnd(20, "-");
  process.stdout.write(`\r[${bar}] ${percent} %${percent === 100 ? "\n" : ""}`);
}

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 1 })<typeof import("./tasks.ts")>(url);
const path = join(folder, "sales.db");
const rows = await pool.call.importSales.with({ onEvent: show })(csv, path);
await pool.shutdown();

const database = new DatabaseSync(path);
const totals = database.prepare(
  "SELECT city, count(*) AS rows, sum(amount) AS total FROM sales GROUP BY city ORDER BY city",
).all();
console.log(`${rows} rows`);
for (const { city, rows, total } of totals) console.log(`${city}: ${rows} rows, total ${total}`);
database.close();
rmSync(folder, { recursive: true });
