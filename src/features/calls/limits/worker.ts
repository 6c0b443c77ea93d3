/** Abort signals of tasks. */
import * as deferred from "./worker/deferred.ts";
import type { AbortMessage } from "./messages.ts";
import type { TaskSignals } from "./worker/abort-signals.ts";
import type { WorkerFeature } from "../../../worker/feature.ts";
import type { TaskWrap } from "../../../worker/task.ts";
import type { WorkerCore } from "../../../worker/worker-core.ts";

/** Gives signals to tasks. A call fails if their code cannot be read. */
function signalsOf(core: WorkerCore): TaskWrap {
  let made: TaskSignals | undefined;
  const signals = (): TaskSignals => made ??= core.part(deferred.taskSignals);
  return {
    before: (call, args) => signals().before(call, args),
    inside: (f, args, call) => signals().inside(f, args, call),
    over: (slot, generation) => made?.over(slot, generation),
  };
}

export const limits: WorkerFeature = {
  name: "limits",

  messages: { abort: (message: AbortMessage, core) => deferred.onAbort(message, core) },

  wraps: { hasSignal: signalsOf },
};
