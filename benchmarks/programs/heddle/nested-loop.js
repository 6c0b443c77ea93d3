// Adds up i XOR j for all pairs below N: nested-loop N THREADS.
import { createPool, isMain } from "../../../dist/mod.js";

export function addRows(start, end, n) {
  let total = 0;
  for (let i = start; i < end; i++) {
    for (let j = 0; j < n; j++) total += i ^ j;
  }
  return total;
}

if (isMain) {
  const [n, threads] = process.argv.slice(2).map(Number);
  const pool = createPool({ threads })(new URL(import.meta.url));
  const bound = (part) => Math.floor(n * part / threads);
  const totals = await Promise.all(
    Array.from({ length: threads }, (_, k) => pool.call.addRows(bound(k), bound(k + 1), n)),
  );
  console.log(totals.reduce((a, b) => a + b));
  await pool.shutdown();
}
