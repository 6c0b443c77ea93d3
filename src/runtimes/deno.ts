/**
 * Deno: under a chain of `setImmediate` its I/O starves (HTTP answered after 60 ms), under
 * `setTimeout(0)` it does not; see `park/turn-clock.ts` for why that costs no idle millisecond.
 */
import type { Runtime } from "./runtime.ts";
import { createRuntime, microtaskByPromise, zeroTimeout } from "./worker-threads.ts";

export function createDenoRuntime(): Runtime {
  return createRuntime({
    name: "deno",
    microtask: microtaskByPromise,
    macrotask: zeroTimeout,
  });
}
