/** Tells a host of the errors of its worker that nobody handles. */
import type { WorkerRuntime } from "../runtimes/runtime.ts";
import type { ParentHandle } from "../runtimes/worker-handle.ts";
import { packReasonOf } from "./loading/load-tasks.ts";

export function reportErrors(parent: ParentHandle, runtime: WorkerRuntime): void {
  parent.onUncaught((error) =>
    parent.post({ heddle: "uncaught", error: packReasonOf(runtime, error) })
  );
  parent.onUnhandledRejection((reason) =>
    parent.post({ heddle: "unhandledRejection", error: packReasonOf(runtime, reason) })
  );
}
