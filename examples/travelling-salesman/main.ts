/** Short tours through cities, from many random starts in two workers. */
import process from "node:process";
import { createPool } from "heddle";

// Cities on a grid of 6 by 6: the shortest tour has 36 steps of length 1.
const cities = Array.from({ length: 36 }, (_, n) => ({ x: n % 6, y: Math.floor(n / 6) }));

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 2 })<typeof import("./tasks.ts")>(url);

const show = (event: unknown): void => {
  const { length } = event as { length: number };
  if (process.stdout.isTTY) process.stdout.write(`\r${length.toFixed(3)} `);
};
const search = pool.call.bestTour.with({ onEvent: show });
const tours = await Promise.all([1, 2, 3, 4].map((seed) => search(cities, seed, 100)));
const best = tours.reduce((a, b) => a.length <= b.length ? a : b);
console.log(`${new Set(best.order).size} cities, length ${best.length.toFixed(3)}`);
await pool.shutdown();
