/** Node: objects that structured clone refuses. */
import { createRuntime } from "../node-api/common.ts";
import type { Runtime } from "../runtime.ts";
import { process } from "../node-api/process.ts";
import { threads } from "../node-api/threads.ts";
import { isExemptOnNode, refuseMarked } from "../node-api/uncloneable.ts";

const { hrtime } = process;

/** The clock of the system, which all threads share. For `performance` Node loads seven modules (0.8 ms), and it is slower. */
function now(): number {
  const time = hrtime();
  return time[0] * 1e3 + time[1] / 1e6;
}

export function createNodeRuntime(): Runtime {
  const runtime = createRuntime({
    now,
    originMs: 0,
    bytes: { isUntransferable: threads().isMarkedAsUntransferable },
  });
  refuseMarked(runtime.kinds, isExemptOnNode);
  return runtime;
}
