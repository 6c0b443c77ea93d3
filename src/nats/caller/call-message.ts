/** The message of a call: name of the task, settings for its machine, and arguments. */
import { Promise } from "../../builtins.ts";
import { type CallSettings, PLAIN } from "../../host/calls/call-settings.ts";
import { takeSource } from "../../features/calls/streams/host/split-streams.ts";
import { endSource, endStreams } from "../../features/calls/streams/sources/open-source.ts";
import type { AnyIterator } from "../../features/calls/streams/stream-producer.ts";
import { isStreamable } from "../../protocol/is-streamable.ts";
import { DataCloneError } from "../../errors.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { ResultStream } from "../../features/calls/streams/host/result-stream.ts";
import { CALL, CANCEL, readHeader } from "../wire/frames.ts";
import { RemoteResult } from "./remote-result.ts";
import type { MessageCodec } from "../wire/message-codec.ts";

export interface EncodedCall {
  /** Undefined while arguments are pending. */
  readonly message: Uint8Array | undefined;
  /** The message, once all arguments are known. */
  readonly completed: Promise<Uint8Array> | undefined;
  /** The arguments that are streams, opened; all of them are there when the message is. */
  readonly sources: (AnyIterator | undefined)[];
}

/**
 * Encodes a call. Later changes of the arguments are not seen, except of promised ones and streams. Throws as the codec
 * does, and ends the streams then.
 */
export function encodeCall(
  codec: MessageCodec,
  isPromise: Runtime["isPromise"],
  { task, settings }: { readonly task: string; readonly settings: CallSettings },
  args: readonly unknown[],
): EncodedCall {
  const positions: number[] = [];
  const sources: (AnyIterator | undefined)[] = [];
  const take = (arg: unknown, index: number): unknown => {
    // A promise may have the methods of a stream as well.
    if (isPromise(arg)) positions.push(index);
    else if (isStreamable(arg)) return takeSource(arg, sources);
    return arg;
  };
  let values: unknown[];
  try {
    values = args.map(take);
  } catch (error) {
    for (const source of sources) endSource(source!); // another call has one of the others
    throw error;
  }
  const first = [task, wireSettings(settings)];
  const isPending = positions.length === 0
    ? undefined
    : args.map((_, index) => positions.includes(index));
  let message: Uint8Array;
  try {
    message = codec.encode(CALL, first, values, "args", {}, isPending);
  } catch (error) {
    for (const source of sources) endSource(source!);
    throw error;
  }
  if (isPending === undefined) return { message, completed: undefined, sources };
  const completed = Promise.all(positions.map((index) => promised(args[index]))).then((settled) => {
    try {
      const late = settled.map((value, at) => {
        if (args[positions[at]!] instanceof RemoteResult && value instanceof ResultStream) {
          return takeSource(value, sources);
        }
        refuseStream(value, positions[at]!, PROMISED);
        return value;
      });
      return codec.complete(message, readHeader(message)!, late, positions);
    } catch (error) {
      endStreams(settled);
      throw error;
    }
  });
  return { message: undefined, completed, sources };
}

/** A call to a machine may turn out to be a stream. */
function promised(arg: unknown): unknown {
  return arg instanceof RemoteResult ? arg.valueOrStream() : arg;
}

const PROMISED = "it is a promise of a stream: await it, and give the stream itself";

/** If an argument is a stream, ends it and throws DataCloneError with the reason. */
export function refuseStream(arg: unknown, index: number, reason: string): void {
  if (!isStreamable(arg)) return;
  endStreams([arg]);
  throw new DataCloneError(`args[${index}] cannot be cloned: ${reason}.`);
}

/** The settings that the machine applies; undefined if all are the defaults. */
function wireSettings(settings: CallSettings): object | undefined {
  if (settings === PLAIN) return undefined;
  const { runTimeoutMs, stallMs, priority, retries, killAfterMs, onEvent, signal, timeoutMs } =
    settings;
  return {
    ...(runTimeoutMs !== Infinity && { runTimeoutMs }),
    ...(stallMs !== Infinity && { stallMs }),
    ...(priority !== 0 && { priority }),
    ...(retries > 0 && { retries }),
    ...(killAfterMs !== Infinity && { killAfterMs }),
    ...(onEvent !== undefined && { hasListener: true }),
    ...((signal !== undefined || timeoutMs !== Infinity) && { isAbortable: true }),
  };
}

/** CANCEL with the reason of an abort, or without one that is too large or cannot be sent. */
export function cancelMessage(codec: MessageCodec, reason: unknown, maxBytes: number): Uint8Array {
  try {
    const message = codec.encodeThrown(CANCEL, reason, {});
    if (message.length <= maxBytes) return message;
  } catch {
    // It cannot be cloned.
  }
  return codec.encodeOwn(CANCEL, [undefined], {});
}
