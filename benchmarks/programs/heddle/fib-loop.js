// Adds up the n-th Fibonacci number, computed by a loop each time: fib-loop N TIMES THREADS.
import { createPool, isMain } from "../../../dist/mod.js";

function fib(n) {
  let a = 0;
  let b = 1;
  for (let i = 0; i < n; i++) {
    const next = a + b;
    a = b;
    b = next;
  }
  return a;
}

export function addUp(n, times) {
  let total = 0;
  for (let i = 0; i < times; i++) total += fib(n);
  return total;
}

if (isMain) {
  const [n, times, threads] = process.argv.slice(2).map(Number);
  const pool = createPool({ threads })(new URL(import.meta.url));
  const bound = (part) => Math.floor(times * part / threads);
  const totals = await Promise.all(
    Array.from({ length: threads }, (_, k) => pool.call.addUp(n, bound(k + 1) - bound(k))),
  );
  console.log(totals.reduce((a, b) => a + b));
  await pool.shutdown();
}
