/** What calls return whose results are streams, or may turn out to be. */
import { Promise } from "../../builtins.ts";
import { InvalidArgumentError } from "../../errors.ts";
import type { PendingCall, Reject, Resolve } from "../../host/calls/in-flight.ts";
import type { ResultStream } from "../../host/streams/result-stream.ts";
import type { StreamCalls, StreamSink } from "../../host/streams/stream-calls.ts";

/** Makes a call. Returns it unless it is over already; throws the reason that there is none. */
export type MakeCall = (resolve: Resolve, reject: Reject) => PendingCall | undefined;

/** Makes a call of a generator task. The reason of a call that cannot be made arrives with the first item. */
export function streamed(streams: StreamCalls, submit: MakeCall): ResultStream<unknown, unknown> {
  const sink = streams.create();
  const handle = sink.takeHandle();
  try {
    const call = submit((value) => sink.end(value), (reason) => sink.fail(reason));
    if (call !== undefined) sink.attach(call);
  } catch (error) {
    sink.fail(error);
  }
  return handle;
}

/** `submit`; if there is no call, the stream fails too. */
function makeOrFail(sink: StreamSink, submit: MakeCall): MakeCall {
  return (resolve, reject) => {
    try {
      return submit(resolve, reject);
    } catch (error) {
      sink.fail(error);
      throw error;
    }
  };
}

/**
 * Makes a call of a task that no worker has described yet: a promise that can be read as a stream as well. Once the task is
 * known, the wrong one of the two fails with a coded error. `isStream` tells then whether it is a generator function.
 */
export function promiseOrStream(
  features: { readonly streams: StreamCalls },
  name: string,
  isStream: () => boolean,
  submit: MakeCall,
): Promise<unknown> {
  const sink = features.streams.create();
  const handle = sink.takeHandle();
  let ignoreRejection = (): void => {};
  const promise = new Promise((resolve: Resolve, reject: Reject) => {
    sink.onOpened = () => {
      if (!isStream()) {
        resolve(sink.present(handle));
        return;
      }
      ignoreRejection(); // only those who await it are told
      reject(new InvalidArgumentError(`"${name}" is a generator: read the call by for await.`));
    };
    const made = makeOrFail(sink, submit)(
      (value) => {
        if (sink.isOpen) return sink.end(value);
        resolve(value);
        if (sink.isCancelled) sink.end(value);
        else sink.fail(new InvalidArgumentError(`"${name}" is not a generator: await the call.`));
      },
      (reason) => {
        if (!sink.isOpen) {
          if (isStream()) ignoreRejection(); // it may be read later
          reject(reason);
        }
        sink.fail(reason);
      },
    );
    if (made !== undefined) sink.attach(made, true);
  });
  ignoreRejection = () => promise.catch(() => {});
  const read = (): ResultStream<unknown, unknown> => {
    ignoreRejection();
    return handle;
  };
  return Object.defineProperties(promise, {
    [Symbol.asyncIterator]: { value: () => read() },
    [Symbol.asyncDispose]: { value: () => read()[Symbol.asyncDispose]() },
    next: { value: () => read().next() },
    return: { value: (value: unknown) => read().return(value) },
    throw: { value: (error: unknown) => read().throw(error) },
    toArray: { value: () => read().toArray() },
    returned: { get: () => read().returned },
  });
}
