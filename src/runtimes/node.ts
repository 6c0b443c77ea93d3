/** Node: limits of workers, and how many buffers may be on their way (`host/moved-bytes.ts`). */
import { confine, confineSelf, refusePermission } from "./node-permission.ts";
import type { Runtime } from "./runtime.ts";
import { createRuntime } from "./worker-threads.ts";

export function createNodeRuntime(): Runtime {
  return createRuntime({
    mostMovedBytes: 8 * 2 ** 20,
    refuseLimits: ({ permission }) => permission === undefined ? [] : refusePermission(permission),
    confineSelf,
    limitOptions: ({ resourceLimits, permission }, files) => ({
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
      ...(permission === undefined ? {} : confine(permission, files)),
    }),
  });
}
