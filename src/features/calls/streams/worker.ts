/** Results and arguments that are streams, and events of tasks: the worker's side. */
import type { StreamMessage } from "./messages.ts";
import { EMITTING } from "../../../protocol/task-variants.ts";
import { runningCalls } from "../../../worker/calls/running-calls.ts";
import { isStreamable } from "../../../protocol/is-streamable.ts";
import type { OtherResult, WorkerFeature } from "../../../worker/feature.ts";
import * as deferred from "./worker/deferred.ts";
import type { ResultStreams, sendStream as streamResult } from "./worker/result-streams.ts";
import type { WorkerCore } from "../../../worker/worker-core.ts";

/** Those of a worker (`WorkerCore.part`): an abort asks for them, and most calls have none. */
const resultStreams = (core: WorkerCore): ResultStreams => deferred.createResultStreams(core);

const take = (message: StreamMessage, core: WorkerCore): void =>
  deferred.onArgumentMessage(message, core);

const cancel = (
  { slot, generation }: Pick<StreamMessage, "slot" | "generation">,
  core: WorkerCore,
): void => core.partIfMade(resultStreams)?.cancel(slot, generation);

const acknowledge = (
  { slot, generation, batches }: StreamMessage & { readonly heddle: "credit" },
  core: WorkerCore,
): void => core.partIfMade(resultStreams)?.acknowledge(slot, generation, batches);

type SendStream = typeof streamResult;

/** Sends a result as a stream. Its call fails if the code for that cannot be read. */
function send(result: OtherResult, core: WorkerCore): void {
  let sendStream: SendStream;
  try {
    sendStream = deferred.sendStream;
  } catch (error) {
    const { slot, generation, task } = result;
    core.loop!.runner.respond(slot, generation, task, true, error);
    return;
  }
  sendStream(result, core, resultStreams);
}

export const streams: WorkerFeature = {
  name: "streams",

  messages: {
    abort: cancel,
    cancel,
    credit: acknowledge,
    items: take,
    end: take,
  },

  wraps: { emits: runningCalls },
  variants: { [EMITTING]: () => ({ emits: true }) },

  held: {
    0: (index, core) => new deferred.ArgumentStream(index, false, core),
    1: (index, core) => new deferred.ArgumentStream(index, true, core),
  },
  results: {
    is: isStreamable,
    send,
    bind: (value, bind) => isStreamable(value) ? deferred.bindIterator(value, bind) : value,
  },
  emit: (value, core) => core.part(deferred.taskEvents).emit(value),
};
