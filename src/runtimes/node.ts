/** Node: `promise.then` is the cheaper microtask (23 ns against 122 on Node 22). */
import type { Runtime } from "./runtime.ts";
import { createRuntime, microtaskByPromise } from "./worker-threads.ts";

export function createNodeRuntime(): Runtime {
  return createRuntime({
    name: "node",
    microtask: microtaskByPromise,
    turnsPerYield: 1,
  });
}
