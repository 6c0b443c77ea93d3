/**
 * Memory of a thread on Bun. Its engine counts buffers and strings only when a collection finds them. The thread may have two
 * to three times its limit by then (1.4), so one that may be near its limit collects its new objects first.
 */
import { process } from "../node-api/process/process.ts";

/** Below this part of the limit the thread cannot have exceeded it. */
const SUSPECT_PART = 1 / 4;
/** Least time between two collections, which take 0.3 ms, and 1 ms for each 5 MB of small objects that are kept. */
const COLLECT_MS = 8;

const { now } = Date;

let nextMs = 0;

/** Bytes of heap and buffers of this thread, those of the last 8 ms included if it may be near `limit`. */
export function memoryBytes(limit: number): number {
  const bytes = countedBytes();
  if (bytes < SUSPECT_PART * limit || now() < nextMs) return bytes;
  (process.getBuiltinModule("bun:jsc") as { edenGC(): void }).edenGC();
  nextMs = now() + COLLECT_MS;
  return countedBytes();
}

/** `heapTotal` counts objects at once; the others are as of the last collection. (`getHeapStatistics` takes milliseconds.) */
function countedBytes(): number {
  const { heapUsed, heapTotal, external } = process.memoryUsage();
  return Math.max(heapUsed, heapTotal + external);
}
