/** Node: limits of workers. */
import { confine, confineSelf, refusePermission } from "./permission.ts";
import type { Runtime } from "../runtime.ts";
import { isExemptOnNode, refuseMarked } from "../uncloneable.ts";
import type { Worker } from "node:worker_threads";
import { WeakSet } from "../../builtins.ts";
import { createRuntime, outputsOf } from "../common.ts";
import { process } from "../process.ts";
import { workerThreads } from "../worker-threads.ts";

/** Threads that have been seen alive. */
const seen = new WeakSet<Worker>();

/** The counters of a thread are zero before the host's event loop has heard of its start, and after its end. */
function hasEnded(worker: Worker): boolean {
  const { active, idle } = worker.performance.eventLoopUtilization();
  if (active + idle === 0) return seen.has(worker);
  seen.add(worker);
  return false;
}

export function createNodeRuntime(): Runtime {
  const { isMainThread, isMarkedAsUntransferable } = process.getBuiltinModule(
    "node:worker_threads",
  );
  const threads = workerThreads({
    hasEnded,
    limitOptions: ({ resourceLimits, permission }, library, modules) => ({
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
      ...(permission === undefined ? {} : confine(permission, library, modules)),
    }),
  });
  const runtime = createRuntime(threads, {
    bytes: { isUntransferable: isMarkedAsUntransferable },
    refuseLimits: ({ permission }) => permission === undefined ? [] : refusePermission(permission),
    takesExecArgv: true,
    // The streams of a thread are messages to its host.
    directOutputs: () => isMainThread ? outputsOf((stream) => !Object.hasOwn(stream, "write")) : [],
    confineSelf,
    explainLoadError: async (error, url) =>
      (await import("./load-errors.ts")).explainLoadError(error, url),
  });
  refuseMarked(runtime.kinds, isExemptOnNode);
  return runtime;
}
