/** What calls return whose results are streams, or may turn out to be. */
import { Promise, WeakMap } from "../../../../builtins.ts";
import { InvalidArgumentError } from "../../../../errors.ts";
import type { MakeCall, StreamParts } from "../../../../api/calls/feature.ts";
import type { PendingCall, Reject, Resolve } from "../../../../host/calls/in-flight.ts";
import { ResultStream } from "./result-stream.ts";
import * as deferred from "./deferred.ts";
import type { StreamCalls, StreamSink } from "./stream-calls.ts";

function createSink(parts: StreamParts): StreamSink {
  return (parts.part(deferred.createStreams as never) as StreamCalls).create();
}

/** Makes a call of a generator task. The reason of a call that cannot be made arrives with the first item. */
export function streamed(
  parts: StreamParts,
  submit: MakeCall,
): ResultStream<unknown, unknown> {
  const sink = createSink(parts);
  const handle = sink.takeHandle();
  try {
    const call = submit((value) => sink.consumer.end(value), (reason) => sink.fail(reason));
    if (call !== undefined) sink.attach(call);
  } catch (error) {
    sink.fail(error);
  }
  return handle;
}

/** The early calls that can be read as streams: what makes the stream of each, or returns it. */
const readers = new WeakMap<object, () => ResultStream<unknown, unknown>>();

/** The stream of an early call. Its errors are those of its reader from now on. */
function read(early: object): ResultStream<unknown, unknown> {
  return readers.get(early)!();
}

/** What the promise of an early call has in addition. */
const STREAM_PROPERTIES: PropertyDescriptorMap & ThisType<object> = {
  returned: {
    get() {
      return read(this).returned;
    },
  },
};
const METHODS: readonly (keyof ResultStream<unknown, unknown>)[] = [
  "next",
  "return",
  "throw",
  "toArray",
  Symbol.asyncIterator,
  Symbol.asyncDispose,
];
for (const name of METHODS) {
  STREAM_PROPERTIES[name] = {
    value(...given: never[]): unknown {
      const stream = read(this);
      return Reflect.apply(stream[name] as (...args: never[]) => unknown, stream, given);
    },
  };
}

function ignore(): void {}

/**
 * Makes a call of a task that no worker has described yet: a promise that can be read as a stream as well. Once the task is
 * known, the wrong one of the two fails with a coded error. `isStream` tells then whether it is a generator function. The
 * stream is made when it is asked for, or when the worker opens it.
 */
export function promiseOrStream(
  parts: StreamParts,
  name: string,
  isStream: () => boolean,
  submit: MakeCall,
): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers();
  let sink: StreamSink | undefined;
  let stream: ResultStream<unknown, unknown> | undefined;
  /** What the end of the call is to its stream, unless the worker has opened that. */
  let finish: ((sink: StreamSink) => void) | undefined;
  const onValue: Resolve = (value) => {
    if (value instanceof ResultStream) {
      stream = value;
      if (isStream()) {
        promise.catch(ignore); // only those who await it are told
        reject(new InvalidArgumentError(`"${name}" is a generator: read the call by for await.`));
        return;
      }
    }
    resolve(value);
    finish = (sink) => {
      if (sink.consumer.isCancelled) sink.consumer.end(value);
      else sink.fail(new InvalidArgumentError(`"${name}" is not a generator: await the call.`));
    };
    if (sink?.isOpen === false) finish(sink);
  };
  const onReason: Reject = (reason) => {
    if (isStream()) promise.catch(ignore); // it may be read later
    reject(reason);
    finish = (sink) => sink.fail(reason);
    if (sink?.isOpen === false) finish(sink);
  };
  let call: PendingCall | undefined;
  try {
    call = submit(onValue, onReason);
  } catch (error) {
    onReason(error);
  }
  /** Its end, as whoever follows it has wrapped it. It has another one when it is over, or when its stream is open. */
  const end = call?.resolve;
  const makeStream = (): ResultStream<unknown, unknown> => {
    const made = sink = createSink(parts);
    const handle = made.takeHandle();
    if (finish !== undefined) finish(made);
    else if (end !== undefined && call!.resolve === end) {
      made.onOpened = () => end(made.present(handle));
      made.attach(call!, true);
    }
    return handle;
  };
  readers.set(promise, () => {
    promise.catch(ignore);
    return stream ??= makeStream();
  });
  return Object.defineProperties(promise, STREAM_PROPERTIES);
}
