/**
 * Messages between callers and machines. Each is one header and values in heddle's encoding, complete in itself: it
 * needs no table that was sent before. docs/internals/nats.md explains the protocol.
 *
 *   0   u8   kind         u8  version     u16  attachments
 *   4   u32  values, or the id of a transfer
 *   8   f64  sender       the machine's id; 0 for a caller
 *  16   u32  bytes of the values           u32  word, by kind
 *  24   f64  number, by kind
 *  32   values; then each attachment: f64 length, f64 maximum length or -1, its bytes up to a multiple of 8
 */

import { ProtocolError } from "../../errors.ts";

const VERSION = 1;
export const HEADER_BYTES = 32;
/** The version of this side. */
export const ownVersion = (): number => VERSION;

/** Headers are copied here byte by byte, since a view of each message costs more (measured: 7 % of a call on Bun). */
const header = new Uint8Array(HEADER_BYTES);
const view = new DataView(header.buffer);

/** Caller to machines: name of the task, settings, arguments. `number`: milliseconds left until the deadline. */
export const CALL = 1;
/** Answers to a call. */
export const RESULT = 2;
export const FAILURE = 3;
/** The machine takes no call now: it has `maxInFlight`, or it drains. The call did not run. */
export const BUSY = 4;
/** The machine stopped before the call ended. */
export const STOPPED = 5;
/** What a task sends by `emit`. */
export const EVENT = 6;
/** The result is a stream. `word`: which kind. */
export const STREAM = 7;
/** Of a stream, to its reader. `word`: which (`RESULT_STREAM`); `number`: batches of it before this one. */
export const ITEMS = 8;
/** The last message of a stream. `word`: which; `number`: all its batches. */
export const STREAM_END = 9;
/** The same, with the error that ended it. `number`: OF_RETURN if `return()` of its iterator threw it, for its reader. */
export const STREAM_FAILURE = 10;
/** Of messages that are behind no batches: the reader has ended the stream. */
export const OF_RETURN = -1;
/** Machine to caller, for several calls: the machine has them. Values: its name, and the tokens of the calls. */
export const ACCEPTED = 11;
/** Caller to machine: do you still have these? Values: the caller's inbox, and tokens. */
export const PROBE = 12;
/** Machine to caller, the answer. Values: its name, and the tokens that it does not have. */
export const ALIVE = 13;
/** Caller to machine, about the call of the reply subject. Values: the reason. */
export const CANCEL = 14;
/** From the reader of a stream. `word`: which; `number`: batches that it has taken in all. The first one of an argument begins it. */
export const CREDIT = 15;
/** The reader of a stream wants no more items. `word`: which. */
export const CANCEL_STREAM = 16;
/** A message too large for the server follows in chunks. `values`: id of the transfer; `number`: its bytes. */
export const BEGIN = 17;
/** The receiver has room. `word`: chunks that may be sent in all. */
export const GRANT = 18;
/** `word`: index. Its bytes follow the header. */
export const CHUNK = 19;
/** From a reader that has waited for long, as CREDIT. The sender answers by SENT, or by the end again. */
export const WAITING = 20;
/** Behind the batches that were sent: `word`: which stream; `number`: how many they are. */
export const SENT = 21;

/** The stream that is the result of its call. The arguments that are streams are numbered from 1. */
export const RESULT_STREAM = 0;

/** Kinds of results that are streams: an async iterable, one of a generator function, a ReadableStream. */
export const ITERABLE = 0;
export const GENERATOR = 1;
export const READABLE = 2;

/** The header of a message that was received. */
export interface Header {
  readonly kind: number;
  readonly attachments: number;
  readonly count: number;
  readonly sender: number;
  readonly valueBytes: number;
  readonly word: number;
  readonly number: number;
}

/** The header of `bytes`; undefined if they are no message of this version. Runs no other checks. */
export function readHeader(bytes: Uint8Array): Header | undefined {
  if (bytes.length < HEADER_BYTES || bytes[1] !== VERSION) return undefined;
  for (let index = 0; index < HEADER_BYTES; index++) header[index] = bytes[index]!;
  return {
    kind: bytes[0]!,
    attachments: view.getUint16(2, true),
    count: view.getUint32(4, true),
    sender: view.getFloat64(8, true),
    valueBytes: view.getUint32(16, true),
    word: view.getUint32(20, true),
    number: view.getFloat64(24, true),
  };
}

/** The header of `bytes`, which errors call `what`. Throws ProtocolError if they are no message of this version. */
export function headerOf(bytes: Uint8Array, what: string): Header {
  const found = readHeader(bytes);
  if (found !== undefined) return found;
  const reason = bytes.length < HEADER_BYTES || bytes[1] === VERSION
    ? "it is not in heddle's format"
    : `it is of version ${bytes[1]} of the protocol, and this is version ${VERSION}`;
  throw new ProtocolError(`${what} cannot be read: ${reason}.`);
}

/** The parts of a header that its writer sets; the others are 0. */
export interface HeaderFields {
  readonly sender?: number;
  readonly count?: number;
  readonly attachments?: number;
  readonly valueBytes?: number;
  readonly word?: number;
  readonly number?: number;
}

export function writeHeader(bytes: Uint8Array, kind: number, fields: HeaderFields): void {
  header[0] = kind;
  header[1] = VERSION;
  view.setUint16(2, fields.attachments ?? 0, true);
  view.setUint32(4, fields.count ?? 0, true);
  view.setFloat64(8, fields.sender ?? 0, true);
  view.setUint32(16, fields.valueBytes ?? 0, true);
  view.setUint32(20, fields.word ?? 0, true);
  view.setFloat64(24, fields.number ?? 0, true);
  bytes.set(header);
}

/** Replaces `number` of a message. */
export function setNumber(bytes: Uint8Array, number: number): void {
  view.setFloat64(24, number, true);
  for (let index = 24; index < HEADER_BYTES; index++) bytes[index] = header[index]!;
}

/** Replaces `word` and `number` of a message. */
export function setFields(
  bytes: Uint8Array,
  { word, number }: { readonly word: number; readonly number: number },
): void {
  view.setUint32(20, word, true);
  view.setFloat64(24, number, true);
  bytes.set(header.subarray(20), 20);
}

/** A message without values. */
export function bareMessage(kind: number, fields: HeaderFields): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  writeHeader(bytes, kind, fields);
  return bytes;
}
