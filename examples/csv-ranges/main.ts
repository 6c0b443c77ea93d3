/** `node main.ts [ROWS]`: totals of a CSV file, without workers, with its lines streamed to a worker, and with ranges of its bytes. */
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import { createPool } from "heddle";
import { fileRanges } from "heddle/files";
import { sumLines, sumRange, type Totals } from "./tasks.ts";

const rows = Number(process.argv[2] ?? 20_000);
const cities = ["Oslo", "Bergen", "Tromsø"];

function* csv(): Generator<string> {
  yield "city,day,amount\n";
  for (let n = 0; n < rows; n += 1000) {
    const at = (row: number) => `${cities[row % 3]},2026-03-${row % 28 + 1},${row % 1000}\n`;
    yield Array.from({ length: Math.min(1000, rows - n) }, (_, row) => at(n + row)).join("");
  }
}

const folder = mkdtempSync(join(tmpdir(), "heddle-ranges-"));
const path = join(folder, "sales.csv");
await pipeline(csv(), createWriteStream(path));

// The host only waits for the workers, so there is one for each core.
const pool = createPool({ threads: availableParallelism() })<typeof import("./tasks.ts")>(
  new URL("./tasks.ts", import.meta.url),
);
await pool.ready;
const lines = () => createInterface({ input: createReadStream(path) });

function merge(all: readonly Totals[]): Totals {
  const totals: Totals = new Map();
  for (const each of all) {
    for (const [city, sum] of each) totals.set(city, (totals.get(city) ?? 0) + sum);
  }
  return totals;
}

const ways: Record<string, () => Totals | Promise<Totals>> = {
  "readline, without workers": () => sumLines(lines()),
  "readline, streamed to a worker": () => pool.call.sumLines(lines()),
  "readLines, without workers": async () => merge((await fileRanges(path)).map(sumRange)),
  "readLines, ranges in workers": async () =>
    merge(await pool.map(pool.call.sumRange, await fileRanges(path))),
};
for (const [name, sum] of Object.entries(ways)) {
  const startedAt = performance.now();
  const totals = await sum();
  const ms = Math.round(performance.now() - startedAt);
  console.log(`${name}: ${ms} ms,`, [...totals].sort().join(" "));
}
await pool.shutdown();
rmSync(folder, { recursive: true });
