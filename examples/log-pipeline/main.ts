/** Reads, parses and counts the lines of a log in three workers, which channels connect. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPool } from "heddle";
import { channel } from "heddle/shared";
import type { Entry } from "./tasks.ts";

const folder = mkdtempSync(join(tmpdir(), "heddle-log-"));
const path = join(folder, "access.log");
const methods = ["GET", "GET", "PUT"];
const statuses = [200, 200, 404, 200, 500];
writeFileSync(
  path,
  Array.from({ length: 6000 }, (_, n) => `${methods[n % 3]} /items/${n} ${statuses[n % 5]}\n`)
    .join(""),
);

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 3 })<typeof import("./tasks.ts")>(url);

const [lineSender, lines] = channel<string>({ capacity: 100 });
const [entrySender, entries] = channel<Entry>({ capacity: 100 });
const stages = [
  pool.call.read(path, lineSender),
  pool.call.parse(lines, entrySender),
  pool.call.count(entries),
] as const;
// The workers have ends of their own. A channel ends when all of its senders are closed.
for (const end of [lineSender, lines, entrySender, entries]) end.close();

const [read, parsed, counts] = await Promise.all(stages);
console.log(`${read} lines, ${parsed} entries`);
for (const [key, count] of [...counts].sort()) console.log(`${key}: ${count}`);
await pool.shutdown();
rmSync(folder, { recursive: true });
