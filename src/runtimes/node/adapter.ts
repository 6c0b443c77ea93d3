/** Node: objects that structured clone refuses. */
import { createRuntime, systemClock } from "../node-api/common.ts";
import type { Runtime } from "../runtime.ts";
import { threads } from "../node-api/threads/threads.ts";
import { isExemptOnNode, refuseMarked } from "../node-api/values/uncloneable.ts";

export function createNodeRuntime(): Runtime {
  const runtime = createRuntime({
    ...systemClock,
    bytes: { isUntransferable: threads().isMarkedAsUntransferable },
  });
  refuseMarked(runtime.kinds, isExemptOnNode);
  return runtime;
}
