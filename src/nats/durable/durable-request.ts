/** What a durable call asks of its machine, and its checks: at the caller, and of messages at the machine. */
import { JSON } from "../../builtins.ts";
import { checkInteger, checkMs, invalid } from "../../option-checks.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { CALL, readHeader } from "../wire/frames.ts";
import type { MessageCodec } from "../wire/message-codec.ts";

export interface DurableRequest {
  readonly id: string;
  readonly delayMs: number;
  readonly retries: number;
}

const MAX_RETRIES = 1000;
const ID = /^[\w=-]{1,128}$/;

export const isId = (id: unknown): id is string => typeof id === "string" && ID.test(id);

/** Checks the id of a durable call, which names its result. Throws InvalidArgumentError. */
export function checkId(id: unknown): string {
  if (isId(id)) return id;
  throw new InvalidArgumentError(
    "The id of a durable call must be 1 to 128 letters, digits, '-', '_' and '=', got " +
      `${typeof id === "string" ? JSON.stringify(id) : typeof id}.`,
  );
}

/** Throws InvalidArgumentError. */
export function checkRequest(
  { id, delayMs, retries }: { readonly [Key in keyof DurableRequest]?: unknown },
): DurableRequest {
  if (delayMs === Infinity) throw invalid("delayMs", "a finite number of milliseconds", "Infinity");
  return {
    id: checkId(id),
    delayMs: checkMs("delayMs", delayMs, 0),
    retries: checkInteger("retries", retries, 0, MAX_RETRIES),
  };
}

/**
 * The message of a call. Its header has the runs that it may have, which are counted before it is decoded, since decoding may
 * end the machine; 0 if it has a delay, where deliveries are not counted.
 */
export function encodeCall(
  codec: MessageCodec,
  task: string,
  request: DurableRequest,
  args: readonly unknown[],
): Uint8Array {
  const word = request.delayMs > 0 ? 0 : request.retries + 1;
  return codec.encode(CALL, [task, request], args, "args", { word });
}

/** The runs that a message may have, as its header says, without decoding it; 0 if deliveries are not counted. */
export const runsOf = (message: Uint8Array): number =>
  Math.min(readHeader(message)?.word ?? 0, MAX_RETRIES + 1);
