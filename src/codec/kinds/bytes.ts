/**
 * ArrayBuffer, typed arrays, DataView and Node's Buffer: one copy in, one copy out.
 *
 * As in `structuredClone`, a view carries its whole buffer, so that offset and length survive and views
 * of one buffer still share it. Unlike there, a Node `Buffer` carries only its own bytes (a small one is a
 * slice of a pool of unrelated bytes), shares nothing and arrives as a `Buffer`.
 *
 * Kinds are determined by internal slots, and sizes are read through the intrinsic getters, so neither a
 * subclass nor a proxy can run code or fake them.
 */
import { Map, structuredClone } from "../../builtins.ts";
import { align8Large } from "../../memory/align.ts";
import type { Memory } from "../../memory/views.ts";
import type { CodecAccess } from "../../runtimes/runtime.ts";
import {
  bufferIsDetached,
  bufferLength,
  bytesOf,
  getterOf,
  isThere,
  typedArrayBuffer,
  typedArrayBytes,
  typedArrayLength,
  typedArrayName,
  typedArrayOffset,
} from "../support/intrinsics.ts";
import { inherits } from "../support/prototypes.ts";
import type { Reader } from "../reader.ts";
import type { Writer } from "../writer.ts";
import { BUFFER, BYTES, RESIZABLE, TRACKING, VALUE_HEADER_BYTES, VIEW } from "../tags.ts";

type ViewConstructor = new (
  buffer: ArrayBufferLike,
  byteOffset: number,
  length?: number,
) => ArrayBufferView;

interface ViewKind {
  readonly bytesPerElement: number;
  readonly construct: ViewConstructor;
}

/** Names by kind. The index is the encoded kind, so only append. */
const KIND_NAMES: readonly string[] =
  ("Uint8Array Buffer DataView Int8Array Uint8ClampedArray Int16Array Uint16Array Int32Array " +
    "Uint32Array Float16Array Float32Array Float64Array BigInt64Array BigUint64Array").split(" ");

const UINT8_ARRAY = 0;
const NODE_BUFFER = 1;
const DATA_VIEW = 2;

/** Kinds by index; undefined if this runtime lacks the class. */
const KINDS: (ViewKind | undefined)[] = [];
const KIND_OF_NAME: Map<string, number> = new Map();
for (const [kind, name] of KIND_NAMES.entries()) {
  const classes = globalThis as unknown as Record<string, ViewConstructor | undefined>;
  const construct = classes[name];
  const bytes = (construct as { BYTES_PER_ELEMENT?: number } | undefined)?.BYTES_PER_ELEMENT ?? 1;
  KINDS.push(construct && { bytesPerElement: bytes, construct });
  KIND_OF_NAME.set(name, kind);
}

const { getPrototypeOf } = Object;
const Uint8ArrayPrototype = Uint8Array.prototype;
const dataViewBuffer = getterOf<ArrayBufferLike>(DataView.prototype, "buffer");
const dataViewOffset = getterOf<number>(DataView.prototype, "byteOffset");
const dataViewLength = getterOf<number>(DataView.prototype, "byteLength");
const bufferMaximum = getterOf<number>(ArrayBuffer.prototype, "maxByteLength");
const bufferIsResizable = getterOf<boolean>(ArrayBuffer.prototype, "resizable");
const sharedIsGrowable = getterOf<boolean>(SharedArrayBuffer.prototype, "growable");
const sharedLength = getterOf<number>(SharedArrayBuffer.prototype, "byteLength");

/** The part of a writer that is needed to write the bytes of a whole buffer. */
export type BytesWriter = Pick<Writer, "room" | "i32" | "f64" | "u8">;

/** Bytes before a buffer's content. */
const HEADER_BYTES: number = VALUE_HEADER_BYTES + 8;
/**
 * Larger buffers are copied once and the copy is transferred through the port, while the ring would need
 * one copy in and another out. Up to this size the message costs more than the second copy.
 */
export const MAX_EMBEDDED_BYTES: number = 64 * 1024 - 1;

/** Writes an ArrayBuffer that was not written before. */
export function writeBuffer(writer: Writer, buffer: ArrayBuffer, from: number): number {
  if (bufferIsDetached.call(buffer)) throw writer.refuse(buffer, "it is detached");
  const length = bufferLength.call(buffer);
  if (writer.isTransferred(buffer)) return writer.moved(buffer, from);
  const isResizable = bufferIsResizable.call(buffer);
  if (length > writer.maxEmbeddedBytes) {
    writer.countCopied(length, from);
    const copy = isResizable
      ? structuredClone(buffer)
      : writer.access.bytes.copy(buffer, 0, length);
    return writer.attach(copy, from, true);
  }
  const headerBytes = isResizable ? HEADER_BYTES + 8 : HEADER_BYTES;
  const at = writer.room(from, headerBytes + align8Large(length));
  writer.i32[at >> 2] = isResizable ? BUFFER | RESIZABLE : BUFFER;
  writer.f64[(at >> 3) + 1] = length;
  if (isResizable) writer.f64[(at >> 3) + 2] = bufferMaximum.call(buffer);
  if (length > 0) writer.u8.set(new Uint8Array(buffer, 0, length), at + headerBytes);
  return at + headerBytes + align8Large(length);
}

/** Like `instanceof`, but runs no trap of a proxy in the view's prototype chain. */
function isNodeBuffer({ bytes, kinds }: CodecAccess, view: object): boolean {
  const { bufferPrototype } = bytes;
  const prototype = getPrototypeOf(view) as object | null;
  if (prototype === Uint8ArrayPrototype || prototype === null) return false;
  return prototype === bufferPrototype ||
    inherits(kinds, prototype, (parent) => parent === bufferPrototype);
}

/** The kind of a typed array of this name, or undefined. Runs no user code. */
function kindOf(access: CodecAccess, view: object, name: string): number | undefined {
  if (name !== "Uint8Array") return KIND_OF_NAME.get(name);
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

/** Size of `buffer` if it is unshared, of fixed size, small enough to embed, and `view` covers all of it; otherwise 0. */
function wholeBytes(
  { kinds }: CodecAccess,
  view: object,
  buffer: ArrayBufferLike,
  most: number,
): number {
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
    const name = typedArrayName.call(view);
    if (name === undefined) return -1;
    const kind = kindOf(this.#access, view, name);
    if (kind === undefined) return -1;
    const bytes = kind === NODE_BUFFER
      ? typedArrayLength.call(view)
      : wholeBytes(this.#access, view, typedArrayBuffer.call(view), MAX_EMBEDDED_BYTES);
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

/** A view and the part of its buffer that it covers: `length` elements. */
interface Part {
  readonly kind: number;
  readonly view: ArrayBufferView;
  readonly buffer: ArrayBufferLike;
  readonly offset: number;
  readonly length: number;
}

const GONE = "its buffer is detached or too small for it";

/** Writes a typed array, DataView or Node Buffer. */
export function writeView(writer: Writer, view: ArrayBufferView, from: number): number {
  const seen = writer.seenAt(view, from);
  if (seen >= 0) return writer.ref(seen, from);
  const name = typedArrayName.call(view);
  if (name === undefined) return writeDataView(writer, view, from);
  const { access } = writer;
  const buffer = typedArrayBuffer.call(view);
  const length = typedArrayLength.call(view);
  const kind = kindOf(access, view, name);
  if (kind === undefined) throw writer.refuse(view, `heddle does not know ${name}`);
  const bytes = kind === NODE_BUFFER
    ? 0
    : wholeBytes(access, view, buffer, writer.maxEmbeddedBytes);
  if (bytes > 0 && !writer.isTransferred(buffer)) {
    return writer.bufferSeenAt(buffer, from) < 0
      ? writeOwnBytes(writer, kind, view, from, bytes)
      : writePart(writer, { kind, view, buffer, offset: 0, length }, from);
  }
  if (length === 0 && !isThere(view)) throw writer.refuse(view, GONE);
  const part: Part = { kind, view, buffer, offset: typedArrayOffset.call(view), length };
  return kind === NODE_BUFFER && !writer.isTransferred(buffer)
    ? writeNodeBuffer(writer, part, from)
    : writePart(writer, part, from);
}

function writeDataView(writer: Writer, view: ArrayBufferView, from: number): number {
  const buffer = dataViewBuffer.call(view);
  let part: Part;
  try {
    const offset = dataViewOffset.call(view);
    part = { kind: DATA_VIEW, view, buffer, offset, length: dataViewLength.call(view) };
  } catch {
    throw writer.refuse(view, GONE);
  }
  return writePart(writer, part, from);
}

function writeNodeBuffer(writer: Writer, part: Part, from: number): number {
  const { kind, view, buffer, offset, length } = part;
  if (length <= writer.maxEmbeddedBytes) return writeOwnBytes(writer, kind, view, from, length);
  writer.countCopied(length, from);
  const copy = writer.access.bytes.copy(buffer, offset, length);
  return writer.attach(copy, writeViewHeader(writer, kind, 0, length, from), true);
}

function writeOwnBytes(
  writer: BytesWriter,
  kind: number,
  view: object,
  from: number,
  length: number,
): number {
  const at = writer.room(from, HEADER_BYTES + align8Large(length));
  writer.i32[at >> 2] = BYTES | (kind << 8);
  writer.f64[(at >> 3) + 1] = length;
  const bytes = kind === UINT8_ARRAY ? view as Uint8Array : bytesOf(view, length);
  writer.u8.set(bytes, at + HEADER_BYTES);
  return at + HEADER_BYTES + align8Large(length);
}

function writePart(writer: Writer, part: Part, from: number): number {
  const { kind, view, buffer, offset, length } = part;
  const tracking = isTracking(writer, part);
  // Only the runtime knows whether a view of growable shared memory follows its growth.
  if (tracking === undefined) return writer.attach(view, from, false);
  const word = kind | (tracking ? TRACKING >> 8 : 0);
  return writer.value(buffer, writeViewHeader(writer, word, offset, length, from));
}

/** Writes a VIEW except its buffer, which follows. */
function writeViewHeader(
  writer: Writer,
  kindAndFlags: number,
  offset: number,
  length: number,
  from: number,
): number {
  const at = writer.room(from, VALUE_HEADER_BYTES + 16);
  writer.i32[at >> 2] = VIEW | (kindAndFlags << 8);
  writer.f64[(at >> 3) + 1] = offset;
  writer.f64[(at >> 3) + 2] = length;
  return at + VALUE_HEADER_BYTES + 16;
}

/** Whether the view tracks the length of its buffer. Undefined if this cannot be determined. */
function isTracking(
  writer: Writer,
  { kind, view, buffer, offset, length }: Part,
): boolean | undefined {
  const endOfNext = offset + (length + 1) * (KINDS[kind]?.bytesPerElement ?? 1);
  if (writer.access.kinds.isSharedArrayBuffer(buffer)) {
    const isOpen = sharedIsGrowable.call(buffer) && endOfNext > sharedLength.call(buffer);
    return isOpen ? undefined : false;
  }
  return bufferIsResizable.call(buffer) && endOfNext > bufferLength.call(buffer) &&
    followsItsBuffer(view, offset);
}

/** Resizes the buffer of a clone of the view, since no property shows whether a view tracks its buffer. */
function followsItsBuffer(view: ArrayBufferView, offset: number): boolean {
  const copy = structuredClone(view);
  const buffer = copy.buffer as ArrayBuffer;
  if (copy.byteLength === 0) {
    buffer.resize(buffer.maxByteLength);
    return copy.byteLength > 0;
  }
  buffer.resize(offset);
  try {
    // A view of fixed length is now out of bounds: a DataView throws, a typed array has offset 0.
    return copy.byteOffset === offset && (typedArrayName.call(copy) === undefined || isThere(copy));
  } catch {
    return false;
  }
}

/** Reads a BUFFER at `at`, whose first word is `word`. */
export function readBuffer(reader: Reader, at: number, word: number): ArrayBuffer {
  const isResizable = (word & RESIZABLE) !== 0;
  const start = at + (isResizable ? HEADER_BYTES + 8 : HEADER_BYTES);
  const length = reader.size(at, start);
  reader.next = start + align8Large(length);
  if (!isResizable) {
    return reader.access.bytes.copyOut(reader.u8, start, start + length).buffer;
  }
  const maximum = reader.f64[(at >> 3) + 2]!;
  if (!Number.isSafeInteger(maximum) || maximum < length) throw reader.corrupt("maximum", at);
  const buffer = reader.resizable(length, maximum);
  new Uint8Array(buffer).set(reader.u8.subarray(start, start + length));
  return buffer;
}

/** Reads BYTES at `at`, whose first word is `word`. */
export function readBytes(reader: Reader, at: number, word: number): ArrayBufferView {
  const kind = (word >> 8) & 0xff;
  const start = at + HEADER_BYTES;
  const length = reader.size(at, start);
  reader.next = start + align8Large(length);
  const { bytes } = reader.access;
  const copy = bytes.copyOut(reader.u8, start, start + length);
  if (kind === UINT8_ARRAY) return copy;
  if (kind === NODE_BUFFER) return bytes.toBuffer(copy.buffer);
  const { construct, bytesPerElement } = kindAt(reader, kind, at);
  if (length % bytesPerElement !== 0) throw reader.corrupt(`length ${length}`, at);
  return new construct(copy.buffer, 0, length / bytesPerElement);
}

/** Reads VIEW at `at`, whose first word is `word`. */
export function readView(reader: Reader, at: number, word: number): ArrayBufferView {
  reader.check(at, VALUE_HEADER_BYTES + 16);
  const kind = (word >> 8) & 0xff;
  const found = kind === NODE_BUFFER ? undefined : kindAt(reader, kind, at);
  const bytesPerElement = found?.bytesPerElement ?? 1;
  const offset = reader.f64[(at >> 3) + 1]!;
  const length = reader.f64[(at >> 3) + 2]!;
  const buffer = reader.value(at + VALUE_HEADER_BYTES + 16);
  const { kinds, bytes } = reader.access;
  const isBuffer = kinds.isArrayBuffer(buffer) || kinds.isSharedArrayBuffer(buffer);
  if (
    !isBuffer || !Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 ||
    length < 0 || offset + length * bytesPerElement > buffer.byteLength ||
    offset % bytesPerElement !== 0
  ) {
    throw reader.corrupt(`view of ${length} elements at byte ${offset}`, at);
  }
  if (found === undefined) {
    return bytes.toBuffer(buffer as ArrayBuffer).subarray(offset, offset + length);
  }
  return (word & TRACKING) === 0
    ? new found.construct(buffer, offset, length)
    : new found.construct(buffer, offset);
}

function kindAt(reader: Reader, kind: number, at: number): ViewKind {
  const found = KINDS[kind];
  if (found === undefined || kind === NODE_BUFFER) throw reader.corrupt(`view kind ${kind}`, at);
  return found;
}
