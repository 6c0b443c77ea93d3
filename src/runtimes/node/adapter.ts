/** Node: objects that structured clone refuses. */
import { createRuntime } from "../common.ts";
import type { Runtime } from "../runtime.ts";
import { threads } from "../threads.ts";
import { isExemptOnNode, refuseMarked } from "../uncloneable.ts";

export function createNodeRuntime(): Runtime {
  const runtime = createRuntime({
    bytes: { isUntransferable: threads().isMarkedAsUntransferable },
  });
  refuseMarked(runtime.kinds, isExemptOnNode);
  return runtime;
}
