/** Node: limits of workers. */
import { confine, confineSelf, refusePermission } from "./node-permission.ts";
import type { Runtime } from "./runtime.ts";
import { isExemptOnNode, refuseMarked } from "./uncloneable.ts";
import { createRuntime, unpatchedOutputs } from "./worker-threads.ts";

export function createNodeRuntime(): Runtime {
  const runtime = createRuntime({
    refuseLimits: ({ permission }) => permission === undefined ? [] : refusePermission(permission),
    takesExecArgv: true,
    directOutputs: () => unpatchedOutputs((stream) => !Object.hasOwn(stream, "write")),
    confineSelf,
    explainLoadError: async (error, url) =>
      (await import("./node-load-errors.ts")).explainLoadError(error, url),
    limitOptions: ({ resourceLimits, permission }, library, modules) => ({
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
      ...(permission === undefined ? {} : confine(permission, library, modules)),
    }),
  });
  refuseMarked(runtime.kinds, isExemptOnNode);
  return runtime;
}
