/** The message of a call: name of the task, settings for its machine, and arguments. */
import { type CallSettings, isPlain } from "../../host/cancel/call-settings.ts";
import { isStreamable } from "../../streams/stream-producer.ts";
import { DataCloneError } from "../../errors.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { CALL, readHeader } from "../wire/frames.ts";
import type { MessageCodec } from "../wire/message-codec.ts";

export interface EncodedCall {
  /** Undefined while arguments are pending. */
  readonly message: Uint8Array | undefined;
  /** The message, once all arguments are known. */
  readonly completed: Promise<Uint8Array> | undefined;
}

/** Encodes a call. Later changes of the arguments are not seen, except of promised ones. Throws as the codec does. */
export function encodeCall(
  codec: MessageCodec,
  isPromise: Runtime["isPromise"],
  { task, settings }: { readonly task: string; readonly settings: CallSettings },
  args: readonly unknown[],
): EncodedCall {
  let pending: number[] | undefined;
  for (const [index, arg] of args.entries()) {
    if (isPromise(arg)) (pending ??= []).push(index);
    else refuseStream(arg, index);
  }
  const first = [task, wireSettings(settings)];
  if (pending === undefined) {
    return { message: codec.encode(CALL, first, args, "args"), completed: undefined };
  }
  const positions = pending;
  const isPending = args.map((_, index) => positions.includes(index));
  const partial = codec.encode(CALL, first, args, "args", {}, isPending);
  const completed = Promise.all(positions.map((index) => args[index])).then((values) => {
    for (const [at, value] of values.entries()) refuseStream(value, positions[at]!);
    return codec.complete(partial, readHeader(partial)!, values, positions);
  });
  return { message: undefined, completed };
}

function refuseStream(arg: unknown, index: number): void {
  if (typeof arg !== "object" || arg === null || !isStreamable(arg)) return;
  throw new DataCloneError(
    `args[${index}] cannot be cloned: a stream among the arguments cannot reach another machine.`,
  );
}

/** The settings that the machine applies; undefined if all are the defaults. */
function wireSettings(settings: CallSettings): object | undefined {
  if (isPlain(settings)) return undefined;
  const { timeoutMs, priority, maxRetries, killAfterMs, onEvent, signal, deadlineMs } = settings;
  return {
    ...(timeoutMs !== Infinity && { timeout: timeoutMs }),
    ...(priority !== 0 && { priority }),
    ...(maxRetries > 0 && { idempotent: true, maxRetries }),
    ...(killAfterMs !== Infinity && { killAfterMs }),
    ...(onEvent !== undefined && { hasListener: true }),
    ...((signal !== undefined || deadlineMs !== Infinity) && { isAbortable: true }),
  };
}
