/** Results and arguments that are streams, and events of tasks: the worker's side. */
import type { StreamMessage } from "./messages.ts";
import { EMITTING } from "../../../protocol/task-variants.ts";
import { runningCalls } from "../../../worker/calls/running-calls.ts";
import { taskEvents } from "./worker/task-events.ts";
import type { WorkerFeature } from "../../../worker/feature.ts";
import { ArgumentStream, onArgumentMessage } from "./worker/argument-streams.ts";
import { resultStreams, streamResults } from "./worker/result-streams.ts";
import type { WorkerCore } from "../../../worker/worker-core.ts";

const cancel = (
  { slot, generation }: Pick<StreamMessage, "slot" | "generation">,
  core: WorkerCore,
): void => core.partIfMade(resultStreams)?.cancel(slot, generation);

const acknowledge = (
  { slot, generation, batches }: StreamMessage & { readonly heddle: "credit" },
  core: WorkerCore,
): void => core.partIfMade(resultStreams)?.acknowledge(slot, generation, batches);

export const streams: WorkerFeature = {
  name: "streams",

  messages: {
    abort: cancel,
    cancel,
    credit: acknowledge,
    items: onArgumentMessage,
    end: onArgumentMessage,
  },

  wraps: { emits: runningCalls },
  variants: { [EMITTING]: () => ({ emits: true }) },

  held: {
    0: (index, core) => new ArgumentStream(index, false, core),
    1: (index, core) => new ArgumentStream(index, true, core),
  },
  results: streamResults,
  emit: (value, core) => core.part(taskEvents).emit(value),
};
