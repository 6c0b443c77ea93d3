/** The message of a durable call: what its machine has to know before it decodes the arguments, and the checks of that. */
import { JSON, TextDecoder, TextEncoder } from "../../builtins.ts";
import { checkInteger, checkMs, invalid } from "../../option-checks.ts";
import { InvalidArgumentError, ProtocolError } from "../../errors.ts";
import { align8Large } from "../../memory/align.ts";
import { CALL, HEADER_BYTES, headerOf, setFields, writeHeader } from "../wire/frames.ts";
import type { MessageCodec } from "../wire/message-codec.ts";

/** When and how often a call may run. */
export interface RunSettings {
  readonly delayMs: number;
  readonly retries: number;
}

/** A call as it is stored. */
export interface StoredCall extends RunSettings {
  readonly task: string;
  /** A message. */
  readonly args: Uint8Array;
}

const MAX_RETRIES = 1000;
const ID = /^[\w=-]{1,128}$/;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

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
export function checkSettings(
  { delayMs, retries }: { readonly [Key in keyof RunSettings]: unknown },
): RunSettings {
  if (delayMs === Infinity) throw invalid("delayMs", "a finite number of milliseconds", "Infinity");
  return {
    delayMs: checkMs("delayMs", delayMs, 0),
    retries: checkInteger("retries", retries, 0, MAX_RETRIES),
  };
}

/**
 * The message of a call: a header, the name of the task in UTF-8 up to a multiple of 8 bytes, and the message of the arguments.
 * Arguments may end the machine that decodes them, so what is asked before is not among them. The header has the bytes of the
 * name as `valueBytes`, the runs that the call may have as `word`, and its delay as `number`.
 */
export function encodeCall(
  codec: MessageCodec,
  task: string,
  settings: RunSettings,
  args: readonly unknown[],
): Uint8Array {
  const name = encoder.encode(task);
  const values = codec.encode(CALL, [], args, "args");
  const at = HEADER_BYTES + align8Large(name.length);
  const message = new Uint8Array(at + values.length);
  writeHeader(message, CALL, { valueBytes: name.length, ...fieldsOf(settings) });
  message.set(name, HEADER_BYTES);
  message.set(values, at);
  return message;
}

/** The parts of a message, its arguments not decoded. Throws an error with a code if no caller sends such a message. */
export function readCall(message: Uint8Array): StoredCall {
  const { kind, valueBytes, word, number } = headerOf(message, "A durable call");
  const at = HEADER_BYTES + align8Large(valueBytes);
  if (kind !== CALL || at > message.length) {
    throw new ProtocolError(`A durable call is a message of kind ${kind}, of ${at} bytes or more.`);
  }
  return {
    ...checkSettings({ delayMs: number, retries: word - 1 }),
    task: decoder.decode(message.subarray(HEADER_BYTES, HEADER_BYTES + valueBytes)),
    args: message.subarray(at),
  };
}

/** A copy of a message, with other settings. */
export function withSettings(message: Uint8Array, settings: RunSettings): Uint8Array {
  const copy = message.slice();
  setFields(copy, fieldsOf(settings));
  return copy;
}

const fieldsOf = ({ delayMs, retries }: RunSettings): { word: number; number: number } => ({
  word: retries + 1,
  number: delayMs,
});
