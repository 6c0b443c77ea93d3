/** Finds the largest primes below powers of two. */
import { createPool } from "heddle";

const STEP = 64;

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 2 })<typeof import("./tasks.ts")>(url);

/** Searches two ranges at a time, and stops at the first that has a prime. */
async function distanceOf(bits: number): Promise<number> {
  for (let from = 1;; from += 2 * STEP) {
    const found = await Promise.all([
      pool.call.primeBelow(bits, from, from + STEP),
      pool.call.primeBelow(bits, from + STEP, from + 2 * STEP),
    ]);
    const distance = found[0] ?? found[1];
    if (distance !== undefined) return distance;
  }
}

for (const bits of [127, 255, 256, 512]) console.log(`2^${bits} - ${await distanceOf(bits)}`);
await pool.shutdown();
