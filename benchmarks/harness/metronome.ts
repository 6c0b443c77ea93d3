/**
 * Tells a process when calls are due, from a process of its own: a record for each, the time at which it was written,
 * goes to standard output. Arguments: mean gap in microseconds, number of records, and whether gaps are exponential.
 */
import { writeSync } from "node:fs";
import { createRandom } from "./bootstrap.ts";

const START_MS = 20;
const US_PER_MS = 1000;

const [gapUs = 0, count = 0, isPoisson = 0] = process.argv.slice(2).map(Number);
const random = createRandom(1);
const gapMs = (): number => gapUs / US_PER_MS * (isPoisson === 1 ? -Math.log(1 - random()) : 1);

/** Nothing notifies it: waiting for it is sleeping, finer than timers do. */
const sleeper = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
const record = new Float64Array(1);

/** Writes the record. Throws, and ends the process, when its reader is gone. */
function write(): void {
  for (;;) {
    try {
      writeSync(1, record);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(sleeper, 0, 0, 1);
    }
  }
}

let dueMs = performance.now() + START_MS;
for (let n = 0; n < count; n++) {
  dueMs += gapMs();
  const leftMs = dueMs - performance.now();
  if (leftMs > 0) Atomics.wait(sleeper, 0, 0, leftMs);
  record[0] = performance.now();
  write();
}
