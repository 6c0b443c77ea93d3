/** Deno: one turn of its event loop does not let I/O through (`park/turn-clock.ts` has the figures). */
import type { Runtime } from "./runtime.ts";
import { createRuntime, microtaskByPromise } from "./worker-threads.ts";

export function createDenoRuntime(): Runtime {
  return createRuntime({
    name: "deno",
    microtask: microtaskByPromise,
    turnsPerYield: 24,
  });
}
