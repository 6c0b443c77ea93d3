// Adds up the n-th numbers of Fibonacci sequences that begin with k and k + 1, for k = i AND 1023, by a loop each: fib-loop N TIMES THREADS.
import { createPool, isMain } from "../../../dist/mod.js";

function fib(k, n) {
  let a = k;
  let b = k + 1;
  for (let i = 0; i < n; i++) {
    const next = a + b;
    a = b;
    b = next;
  }
  return a;
}

export function addUp(n, start, end) {
  let total = 0;
  for (let i = start; i < end; i++) total += fib(i & 1023, n);
  return total;
}

if (isMain) {
  const [n, times, threads] = process.argv.slice(2).map(Number);
  const pool = createPool({ threads })(new URL(import.meta.url));
  const bound = (part) => Math.floor(times * part / threads);
  const totals = await Promise.all(
    Array.from({ length: threads }, (_, k) => pool.call.addUp(n, bound(k), bound(k + 1))),
  );
  console.log(totals.reduce((a, b) => a + b));
  await pool.shutdown();
}
