/** Node: limits of workers. */
import { confine, confineSelf, refusePermission } from "./permission.ts";
import type { Runtime } from "../runtime.ts";
import { isExemptOnNode, refuseMarked } from "../uncloneable.ts";
import type { Worker } from "node:worker_threads";
import { createRuntime, outputsOf } from "../common.ts";
import { process } from "../process.ts";
import { workerThreads } from "../worker-threads.ts";

/**
 * The idle time of a thread is negative after its end. Before the host's event loop has heard of its start all counters are zero,
 * which says nothing.
 */
function hasEnded(worker: Worker): boolean {
  return worker.performance.eventLoopUtilization().idle < 0;
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
