/** `node main.ts [SIZE]`: multiplies matrices in shared memory, in workers and without them. */
import { availableParallelism } from "node:os";
import process from "node:process";
import { createPool } from "heddle";
import { type Matrix, multiply } from "./tasks.ts";

const size = Number(process.argv[2] ?? 200);
const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: availableParallelism() })<typeof import("./tasks.ts")>(url);
await pool.ready;

// Arguments are copies: a task that fills a plain array fills its own copy. Views of a SharedArrayBuffer are the same memory.
const plain = new Float64Array(3);
await pool.call.fill(plain, 7);
const shared = new Float64Array(new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT));
await pool.call.fill(shared, 7);
console.log(`plain: ${plain.join(" ")}, shared: ${shared.join(" ")}`);

const createMatrix = (): Matrix =>
  new Float64Array(new SharedArrayBuffer(size * size * Float64Array.BYTES_PER_ELEMENT));
const [a, b, product, expected] = [createMatrix(), createMatrix(), createMatrix(), createMatrix()];
for (let n = 0; n < a.length; n++) {
  a[n] = n % 7;
  b[n] = n % 11;
}

/** Rows in several parts for each worker. Only the views and numbers travel; a call that has returned has written its rows. */
async function multiplyInWorkers(): Promise<void> {
  const rows = Math.ceil(size / (4 * availableParallelism()));
  const calls = [];
  for (let from = 0; from < size; from += rows) {
    calls.push(pool.call.multiply(a, b, product, from, Math.min(size, from + rows)));
  }
  await Promise.all(calls);
}

const ways = {
  "without workers": () => multiply(a, b, expected, 0, size),
  "in workers": multiplyInWorkers,
};
for (const [name, run] of Object.entries(ways)) {
  const startedAt = performance.now();
  await run();
  console.log(`${name}: ${Math.round(performance.now() - startedAt)} ms`);
}
console.log("equal:", product.every((value, n) => value === expected[n]));
await pool.shutdown();
