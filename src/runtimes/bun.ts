/** Bun: `queueMicrotask` is the cheaper microtask, and `slice` copies out without zeroing first. */
import type { Runtime } from "./runtime.ts";
import { createRuntime, microtaskByQueue } from "./worker-threads.ts";

export function createBunRuntime(): Runtime {
  return createRuntime({
    name: "bun",
    microtask: microtaskByQueue,
    turnsPerYield: 1,
    bytes: {
      // Through the species constructor the copy of a shared view is an unshared array.
      copyOut: (source, start, end) => source.slice(start, end).buffer as unknown as ArrayBuffer,
    },
  });
}
