/** Shows the progress of a task: a bar on a terminal, lines elsewhere. */
import process from "node:process";
import { createPool } from "heddle";

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 1 })<typeof import("./tasks.ts")>(url);

function show(event: unknown): void {
  const { percent } = event as { percent: number };
  if (process.stdout.isTTY) {
    const bar = "#".repeat(percent / 5).padEnd(20, "-");
    process.stdout.write(`\r[${bar}] ${percent} %${percent === 100 ? "\n" : ""}`);
  } else console.log(`${percent} %`);
}

const sum = await pool.call.sumOfSquares.with({ onEvent: show })(20_000_000);
console.log(Math.sqrt(6 * sum).toFixed(5));
await pool.shutdown();
