/** Abort signals of tasks. */
import { onAbort, taskSignals } from "./worker/abort-signals.ts";
import type { WorkerFeature } from "../../../worker/feature.ts";

export const limits: WorkerFeature = {
  name: "limits",

  messages: { abort: onAbort },

  wraps: { hasSignal: taskSignals },
};
