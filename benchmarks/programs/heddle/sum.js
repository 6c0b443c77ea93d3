// Adds up i XOR (i >> 3) for the integers i from 0 up to, not including, N: sum N THREADS.
import { createPool, isMain } from "../../../dist/mod.js";

export function sum(start, end) {
  let total = 0;
  for (let i = start; i < end; i++) total += i ^ (i >> 3);
  return total;
}

if (isMain) {
  const [n, threads] = process.argv.slice(2).map(Number);
  const pool = createPool({ threads })(new URL(import.meta.url));
  const bound = (part) => Math.floor(n * part / threads);
  const totals = await Promise.all(
    Array.from({ length: threads }, (_, k) => pool.call.sum(bound(k), bound(k + 1))),
  );
  console.log(totals.reduce((a, b) => a + b));
  await pool.shutdown();
}
