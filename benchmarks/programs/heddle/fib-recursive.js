// The n-th Fibonacci number by two recursive calls: fib-recursive N THREADS.
// The host splits the top levels of the tree, and the workers compute the branches below.
import { createPool, isMain } from "../../../dist/mod.js";

const LEVELS = 6;

export function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

if (isMain) {
  const [n, threads] = process.argv.slice(2).map(Number);
  const pool = createPool({ threads })(new URL(import.meta.url));
  const split = async (n, levels) => {
    if (n < 2 || levels === 0) return pool.call.fib(n);
    const [a, b] = await Promise.all([split(n - 1, levels - 1), split(n - 2, levels - 1)]);
    return a + b;
  };
  console.log(await split(n, LEVELS));
  await pool.shutdown();
}
