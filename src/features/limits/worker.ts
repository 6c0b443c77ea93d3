/** Abort signals of tasks. */
import { onAbort, taskSignals } from "../../worker/calls/abort-signals.ts";
import type { WorkerFeature } from "../../worker/feature.ts";

export const limits: WorkerFeature = {
  name: "limits",

  messages: { abort: onAbort },

  wraps: { hasSignal: taskSignals },
};
