// Sorts N random floats and prints a checksum that depends on their order: sort N THREADS.
// Each worker sorts its part of shared memory in place, and the host merges the parts.
import { createPool, isMain } from "../../../dist/mod.js";

export function sort(shared, start, end) {
  new Float64Array(shared).subarray(start, end).sort();
}

if (isMain) {
  const [n, threads] = process.argv.slice(2).map(Number);
  const pool = createPool({ threads })(new URL(import.meta.url));
  const values = new Float64Array(new SharedArrayBuffer(8 * n));
  let seed = 42;
  for (let i = 0; i < n; i++) {
    seed = seed * 48271 % 2147483647;
    values[i] = seed / 2147483647;
  }
  const bounds = Array.from({ length: threads + 1 }, (_, k) => Math.floor(n * k / threads));
  const starts = bounds.slice(0, threads);
  await Promise.all(
    starts.map((start, k) => pool.call.sort(values.buffer, start, bounds[k + 1])),
  );
  let checksum = 0;
  for (let i = 0; i < n; i++) {
    let from = -1;
    for (let k = 0; k < threads; k++) {
      const isLeft = starts[k] < bounds[k + 1];
      if (isLeft && (from === -1 || values[starts[k]] < values[starts[from]])) from = k;
    }
    checksum += (i + 1) * Math.floor(values[starts[from]++] * 1000000);
  }
  console.log(checksum);
  await pool.shutdown();
}
