/** Abort signals of tasks. */
import * as deferred from "./worker/deferred.ts";
import type { AbortMessage } from "./messages.ts";
import type { WorkerFeature } from "../../../worker/feature.ts";

export const limits: WorkerFeature = {
  name: "limits",

  messages: { abort: (message: AbortMessage, core) => deferred.onAbort(message, core) },

  wraps: { hasSignal: (core) => core.part(deferred.taskSignals) },
};
