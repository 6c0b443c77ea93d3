/** Node: limits of workers. */
import { explainLoadError } from "./node-load-errors.ts";
import { confine, confineSelf, refusePermission } from "./node-permission.ts";
import type { Runtime } from "./runtime.ts";
import { createRuntime, unpatchedOutputs } from "./worker-threads.ts";

export function createNodeRuntime(): Runtime {
  return createRuntime({
    refuseLimits: ({ permission }) => permission === undefined ? [] : refusePermission(permission),
    takesExecArgv: true,
    directOutputs: () => unpatchedOutputs((stream) => !Object.hasOwn(stream, "write")),
    confineSelf,
    explainLoadError,
    limitOptions: ({ resourceLimits, permission }, library, modules) => ({
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
      ...(permission === undefined ? {} : confine(permission, library, modules)),
    }),
  });
}
