/**
 * ArrayBuffer, typed arrays and Node's Buffer, of fixed length: one copy in, one copy out. The others are the
 * feature's "values".
 *
 * As in `structuredClone`, a view carries its whole buffer, so that offset and length survive and views
 * of one buffer still share it. Unlike there, a Node `Buffer` carries only its own bytes (a small one is a
 * slice of a pool of unrelated bytes), shares nothing and arrives as a `Buffer`.
 *
 * Kinds are determined by internal slots, and sizes are read through the intrinsic getters, so neither a
 * subclass nor a proxy can run code or fake them.
 */
import { align8Large } from "../../memory/align.ts";
import type { Memory } from "../../memory/views.ts";
import type { CodecAccess } from "../../runtimes/runtime.ts";
import type { Decoder } from "../decoder.ts";
import type { Encoder } from "../encoder.ts";
import { MAX_EMBEDDED_BYTES } from "../support/attachments.ts";
import {
  bufferIsDetached,
  bufferIsResizable,
  bufferLength,
  bytesOf,
  isThere,
  sharedIsGrowable,
  typedArrayBuffer,
  typedArrayBytes,
  typedArrayLength,
  typedArrayName,
  typedArrayOffset,
} from "../support/intrinsics.ts";
import { inherits } from "../support/prototypes.ts";
import { BUFFER, BYTES, REF_BUFFER, TRACKING, VALUE_HEADER_BYTES, VIEW } from "../tags.ts";

type ViewConstructor = {
  readonly BYTES_PER_ELEMENT?: number;
  new (buffer: ArrayBufferLike, byteOffset: number, length?: number): ArrayBufferView;
};

/** Names by kind. The index is the encoded kind, so only append. */
const KIND_NAMES: readonly string[] =
  ("Uint8Array Buffer DataView Int8Array Uint8ClampedArray Int16Array Uint16Array Int32Array " +
    "Uint32Array Float16Array Float32Array Float64Array BigInt64Array BigUint64Array").split(" ");

const UINT8_ARRAY = 0;
const NODE_BUFFER = 1;
export const DATA_VIEW = 2;

/** Classes by kind; undefined if this runtime lacks the class. */
const KINDS: (ViewConstructor | undefined)[] = [];
for (const name of KIND_NAMES) {
  KINDS.push((globalThis as unknown as Record<string, ViewConstructor | undefined>)[name]);
}

/** Bytes of an element of a view of this kind. */
export function elementBytes(kind: number): number {
  return kind === NODE_BUFFER ? 1 : KINDS[kind]?.BYTES_PER_ELEMENT ?? 1;
}

const { getPrototypeOf } = Object;
const Uint8ArrayPrototype = Uint8Array.prototype;

/** What writes the bytes of a whole buffer. `room` may replace the memory. */
export interface BytesWriter {
  readonly memory: Memory;
  room(at: number, bytes: number): number;
}

/** Bytes before a buffer's content. */
const HEADER_BYTES: number = VALUE_HEADER_BYTES + 8;

/** Writes an ArrayBuffer that was not written before; -1: it is resizable. */
export function writeBuffer(encoder: Encoder, buffer: ArrayBuffer, from: number): number {
  if (bufferIsDetached.call(buffer)) throw encoder.refuse(buffer, "it is detached");
  if (encoder.attachments.isMoving(buffer)) return encoder.attach(buffer, from, true);
  if (bufferIsResizable.call(buffer)) return -1;
  const length = bufferLength.call(buffer);
  if (length > encoder.maxEmbeddedBytes) {
    encoder.countCopied(length, from);
    return encoder.attach(encoder.access.bytes.copy(buffer, 0, length), from, true);
  }
  return writeBytes(encoder, BUFFER, new Uint8Array(buffer, 0, length), length, from);
}

/** Writes the first word, a length and bytes. */
export function writeBytes(
  writer: BytesWriter,
  word: number,
  bytes: Uint8Array,
  length: number,
  from: number,
): number {
  const end = from + HEADER_BYTES + align8Large(length);
  writer.room(from, end - from);
  const { i32, f64, u8 } = writer.memory;
  i32[from >> 2] = word;
  f64[(from >> 3) + 1] = length;
  u8.set(bytes, from + HEADER_BYTES);
  return end;
}

/** Like `instanceof`, but runs no trap of a proxy in the view's prototype chain. */
function isNodeBuffer({ bytes, kinds }: CodecAccess, view: object): boolean {
  const { bufferPrototype } = bytes;
  const prototype = getPrototypeOf(view) as object | null;
  if (prototype === Uint8ArrayPrototype || prototype === null) return false;
  return prototype === bufferPrototype ||
    inherits(kinds, prototype, (parent) => parent === bufferPrototype);
}

/** The kind of a typed array of this name, or -1. Runs no user code. */
export function kindOf(
  access: CodecAccess,
  view: object,
  name: string | undefined,
): number {
  if (name !== "Uint8Array") return name === undefined ? -1 : KIND_NAMES.indexOf(name);
  return isNodeBuffer(access, view) ? NODE_BUFFER : UINT8_ARRAY;
}

/** Where the bytes of an encoded Uint8Array are, or those of a Buffer; undefined: the value at `at` is none. */
export function bytesAt(
  { i32, f64 }: Memory,
  at: number,
): { readonly start: number; readonly end: number } | undefined {
  const word = i32[at >> 2]!;
  const kind = (word >> 8) & 0xff;
  if (kind !== UINT8_ARRAY && kind !== NODE_BUFFER) return undefined;
  const isView = (word & 0xff) === VIEW;
  if (!isView && (word & 0xff) !== BYTES) return undefined;
  // A view of a part: its offset, its length, and the buffer.
  const start = isView
    ? at + VALUE_HEADER_BYTES + 16 + HEADER_BYTES + f64[(at >> 3) + 1]!
    : at + HEADER_BYTES;
  return { start, end: start + f64[(at >> 3) + (isView ? 2 : 1)]! };
}

/** Size of `view`, a typed array, if it covers all of a buffer that is unshared, of fixed size and at most so large; otherwise 0. */
function wholeBytes({ kinds }: CodecAccess, view: object, most: number): number {
  const buffer = typedArrayBuffer.call(view);
  if (!kinds.isArrayBuffer(buffer) || bufferIsResizable.call(buffer)) return 0;
  const bytes = bufferLength.call(buffer);
  return bytes <= most && typedArrayBytes.call(view) === bytes ? bytes : 0;
}

/** Writes a view that needs no separate buffer: a typed array that covers its whole buffer, or a Node Buffer. */
export class WholeBuffers {
  readonly #access: CodecAccess;
  #kind = UINT8_ARRAY;
  #byteLength = 0;

  constructor(access: CodecAccess) {
    this.#access = access;
  }

  /** Bytes that the view takes; -1 for any other view, which `write` does not accept. Runs no user code. */
  roomFor(view: object): number {
    const kind = kindOf(this.#access, view, typedArrayName.call(view));
    if (kind < 0) return -1;
    const bytes = kind === NODE_BUFFER
      ? typedArrayLength.call(view)
      : wholeBytes(this.#access, view, MAX_EMBEDDED_BYTES);
    // With 0 bytes the view may be detached or out of bounds.
    if (bytes === 0 || bytes > MAX_EMBEDDED_BYTES) return -1;
    this.#kind = kind;
    this.#byteLength = bytes;
    return HEADER_BYTES + align8Large(bytes);
  }

  /** Writes the view that was last passed to `roomFor`; no other code may have run since. */
  write(writer: BytesWriter, view: object, at: number): number {
    return writeOwnBytes(writer, this.#kind, view, at, this.#byteLength);
  }
}

function writeOwnBytes(
  writer: BytesWriter,
  kind: number,
  view: object,
  from: number,
  length: number,
): number {
  const bytes = kind === UINT8_ARRAY ? view as Uint8Array : bytesOf(view, length);
  return writeBytes(writer, BYTES | (kind << 8), bytes, length, from);
}

/** The reason to refuse a view that is out of bounds. */
export const GONE = "its buffer is detached or too small for it";

/** Writes a typed array or Node Buffer; -1: its buffer may change its length, or it is a DataView. */
export function writeView(encoder: Encoder, view: ArrayBufferView, from: number): number {
  const name = typedArrayName.call(view);
  if (name === undefined) return -1;
  const { access, attachments, seen } = encoder;
  const kind = kindOf(access, view, name);
  if (kind < 0) throw encoder.refuse(view, `heddle does not know ${name}`);
  const buffer = typedArrayBuffer.call(view);
  const isBuffer = kind === NODE_BUFFER && !attachments.isMoving(buffer);
  const hasFixedLength = access.kinds.isArrayBuffer(buffer)
    ? !bufferIsResizable.call(buffer)
    : !sharedIsGrowable.call(buffer);
  if (!isBuffer && !hasFixedLength) return -1;
  const before = seen.visit(view, from);
  if (before >= 0) return encoder.ref(before, from);
  const bytes = isBuffer ? 0 : wholeBytes(access, view, encoder.maxEmbeddedBytes);
  if (
    bytes > 0 && !attachments.isMoving(buffer) && seen.visit(buffer, from + REF_BUFFER) < 0
  ) return writeOwnBytes(encoder, kind, view, from, bytes);
  const length = typedArrayLength.call(view);
  if (length === 0 && !isThere(view)) throw encoder.refuse(view, GONE);
  const offset = typedArrayOffset.call(view);
  if (!isBuffer) return writePart(encoder, kind, offset, length, buffer, from);
  if (length <= encoder.maxEmbeddedBytes) return writeOwnBytes(encoder, kind, view, from, length);
  encoder.countCopied(length, from);
  const copy = access.bytes.copy(buffer, offset, length);
  return encoder.attach(copy, writeHeader(encoder, kind, 0, length, from), true);
}

/** Writes a view and its buffer. `kind`: and flags. */
export function writePart(
  encoder: Encoder,
  kind: number,
  offset: number,
  length: number,
  buffer: ArrayBufferLike,
  from: number,
): number {
  return encoder.value(buffer, writeHeader(encoder, kind, offset, length, from));
}

function writeHeader(
  encoder: Encoder,
  kind: number,
  offset: number,
  length: number,
  from: number,
): number {
  encoder.room(from, VALUE_HEADER_BYTES + 16);
  encoder.f64[(from >> 3) + 2] = length;
  return encoder.double(VIEW | (kind << 8), offset, from) + 8;
}

/** Reads a BUFFER at `at`. */
export function readBuffer(decoder: Decoder, at: number): ArrayBuffer {
  const start = at + HEADER_BYTES;
  const length = decoder.size(at, start);
  return decoder.access.bytes.copyOut(decoder.u8, start, start + length).buffer;
}

/** Reads BYTES at `at`, whose first word is `word`. */
export function readBytes(decoder: Decoder, at: number, word: number): ArrayBufferView {
  const kind = (word >> 8) & 0xff;
  const start = at + HEADER_BYTES;
  const length = decoder.size(at, start);
  const { bytes } = decoder.access;
  const copy = bytes.copyOut(decoder.u8, start, start + length);
  if (kind === UINT8_ARRAY) return copy;
  if (kind === NODE_BUFFER) return bytes.toBuffer(copy.buffer);
  if (length % elementBytes(kind) !== 0) throw decoder.corrupt(`length ${length}`, at);
  return new (classOf(decoder, kind, at))(copy.buffer, 0, length / elementBytes(kind));
}

/** Reads VIEW at `at`, whose first word is `word`. */
export function readView(decoder: Decoder, at: number, word: number): ArrayBufferView {
  decoder.check(at, VALUE_HEADER_BYTES + 16);
  const kind = (word >> 8) & 0xff;
  const offset = decoder.f64[(at >> 3) + 1]!;
  const length = decoder.f64[(at >> 3) + 2]!;
  const buffer = decoder.value(at + VALUE_HEADER_BYTES + 16);
  const { kinds, bytes } = decoder.access;
  const bytesEach = elementBytes(kind);
  const isBuffer = kinds.isArrayBuffer(buffer) || kinds.isSharedArrayBuffer(buffer);
  if (
    !isBuffer || !Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 ||
    length < 0 || offset + length * bytesEach > buffer.byteLength || offset % bytesEach !== 0
  ) {
    throw decoder.corrupt(`view of ${length} elements at byte ${offset}`, at);
  }
  if (kind === NODE_BUFFER) {
    return bytes.toBuffer(buffer as ArrayBuffer).subarray(offset, offset + length);
  }
  const View = classOf(decoder, kind, at);
  return (word & TRACKING) === 0 ? new View(buffer, offset, length) : new View(buffer, offset);
}

function classOf(decoder: Decoder, kind: number, at: number): ViewConstructor {
  const found = KINDS[kind];
  if (found === undefined || kind === NODE_BUFFER) throw decoder.corrupt(`view kind ${kind}`, at);
  return found;
}
