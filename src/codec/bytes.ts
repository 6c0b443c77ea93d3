/**
 * ArrayBuffer, typed arrays, DataView and Node's Buffer: one copy in, one copy out.
 *
 * As in `structuredClone`, a view carries the whole buffer it looks at, so that offset and length
 * survive. A Node `Buffer` is ours: it carries its own bytes only (a small one is a slice of a pool
 * of unrelated bytes) and arrives as a `Buffer`.
 *
 * What has to keep its identity or its growing (shared, resizable or detached buffers, views that
 * track a length) is left to structured clone. Kinds are told by internal slots and sizes read through
 * the intrinsic getters, so neither a subclass nor a proxy can run code or lie while a record is open:
 * not even `instanceof` is asked, which runs a proxy's trap.
 */
import { align8Large } from "../memory/align.ts";
import type { Memory } from "../memory/views.ts";
import type { ByteAccess } from "../runtimes/runtime.ts";
import { ProtocolError } from "../errors.ts";
import { BYTES, NO_ROOM, PARTIAL, UNSUPPORTED, VALUE_HEADER_BYTES } from "./tags.ts";

/** Bytes before the buffer's own: tag, length; for a part of a buffer its offset and length too. */
const WHOLE_HEADER_BYTES: number = VALUE_HEADER_BYTES + 8;
const PARTIAL_HEADER_BYTES: number = VALUE_HEADER_BYTES + 24;

type ViewConstructor = new (
  buffer: ArrayBuffer,
  byteOffset: number,
  length: number,
) => ArrayBufferView;

interface ViewKind {
  readonly name: string;
  readonly bytesPerElement: number;
  readonly construct: ViewConstructor | undefined;
}

/** Index = the kind on the wire: append only. */
const KIND_NAMES = [
  "ArrayBuffer",
  "Buffer",
  "DataView",
  "Int8Array",
  "Uint8Array",
  "Uint8ClampedArray",
  "Int16Array",
  "Uint16Array",
  "Int32Array",
  "Uint32Array",
  "Float16Array",
  "Float32Array",
  "Float64Array",
  "BigInt64Array",
  "BigUint64Array",
] as const;

const ARRAY_BUFFER = 0;
const BUFFER = 1;
const DATA_VIEW = 2;

const KINDS: readonly ViewKind[] = KIND_NAMES.map((name) => {
  const construct = (globalThis as unknown as Record<string, ViewConstructor | undefined>)[name];
  const bytes = (construct as { BYTES_PER_ELEMENT?: number } | undefined)?.BYTES_PER_ELEMENT ?? 1;
  return { name, bytesPerElement: bytes, construct };
});
const KIND_OF_NAME: ReadonlyMap<string, number> = new Map(
  KIND_NAMES.map((name, kind) => [name, kind]),
);

function getterOf<Value>(prototype: object, key: PropertyKey): (this: unknown) => Value {
  return Object.getOwnPropertyDescriptor(prototype, key)!.get as (this: unknown) => Value;
}

const typedArrayPrototype = Object.getPrototypeOf(Uint8Array.prototype) as object;
const typedArrayName = getterOf<string | undefined>(typedArrayPrototype, Symbol.toStringTag);
const typedArrayBuffer = getterOf<ArrayBufferLike>(typedArrayPrototype, "buffer");
const typedArrayOffset = getterOf<number>(typedArrayPrototype, "byteOffset");
const typedArrayByteLength = getterOf<number>(typedArrayPrototype, "byteLength");
const typedArrayLength = getterOf<number>(typedArrayPrototype, "length");
const dataViewBuffer = getterOf<ArrayBufferLike>(DataView.prototype, "buffer");
const dataViewOffset = getterOf<number>(DataView.prototype, "byteOffset");
const dataViewLength = getterOf<number>(DataView.prototype, "byteLength");
const bufferLength = getterOf<number>(ArrayBuffer.prototype, "byteLength");
const bufferIsResizable = getterOf<boolean>(ArrayBuffer.prototype, "resizable");

/** Length of a fixed, unshared buffer in bytes; UNSUPPORTED for every other kind of buffer. */
function fixedLength(access: ByteAccess, buffer: unknown): number {
  if (!access.isArrayBuffer(buffer) || bufferIsResizable.call(buffer)) return UNSUPPORTED;
  return bufferLength.call(buffer);
}

/** The buffer a value's bytes live in, if it is a buffer or a view of one that keeps identity. */
export function underlyingBuffer(access: ByteAccess, value: object): object | undefined {
  if (!ArrayBuffer.isView(value)) return access.isArrayBuffer(value) ? value : undefined;
  if (typedArrayName.call(value) === undefined) return dataViewBuffer.call(value);
  return access.isBuffer(value) ? undefined : typedArrayBuffer.call(value);
}

/** Encoded size of a buffer or view (exact, but for a partial view's header), or UNSUPPORTED. */
export function bytesBound(access: ByteAccess, value: object): number {
  if (!ArrayBuffer.isView(value)) {
    const length = fixedLength(access, value);
    return length < 0 ? UNSUPPORTED : WHOLE_HEADER_BYTES + align8Large(length);
  }
  const isDataView = typedArrayName.call(value) === undefined;
  if (!isDataView && access.isBuffer(value)) {
    return WHOLE_HEADER_BYTES + align8Large(typedArrayLength.call(value));
  }
  const total = fixedLength(
    access,
    (isDataView ? dataViewBuffer : typedArrayBuffer).call(value),
  );
  if (total < 0) return UNSUPPORTED;
  const isWhole = !isDataView && typedArrayByteLength.call(value) === total;
  return (isWhole ? WHOLE_HEADER_BYTES : PARTIAL_HEADER_BYTES) + align8Large(total);
}

/** Writes a buffer or view at `offset`; returns the next offset, NO_ROOM or UNSUPPORTED. */
export function encodeBytes(
  access: ByteAccess,
  memory: Memory,
  offset: number,
  limit: number,
  value: object,
): number {
  if (!ArrayBuffer.isView(value)) {
    const length = fixedLength(access, value);
    if (length < 0) return UNSUPPORTED;
    return writeBytes(memory, offset, limit, ARRAY_BUFFER, value as ArrayBuffer, 0, length);
  }
  const name = typedArrayName.call(value);
  if (name === undefined) {
    const buffer = dataViewBuffer.call(value);
    const total = fixedLength(access, buffer);
    if (total < 0) return UNSUPPORTED;
    let start: number;
    let length: number;
    try {
      start = dataViewOffset.call(value);
      length = dataViewLength.call(value);
    } catch {
      return UNSUPPORTED; // detached: let structured clone word the refusal
    }
    return writeView(memory, offset, limit, DATA_VIEW, buffer as ArrayBuffer, total, start, length);
  }
  const start = typedArrayOffset.call(value);
  const length = typedArrayLength.call(value);
  const buffer = typedArrayBuffer.call(value);
  if (access.isBuffer(value)) {
    return writeBytes(memory, offset, limit, BUFFER, buffer, start, length);
  }
  const kind = KIND_OF_NAME.get(name);
  const total = fixedLength(access, buffer);
  if (kind === undefined || total < 0 || (total === 0 && isDetached(buffer))) return UNSUPPORTED;
  return writeView(memory, offset, limit, kind, buffer as ArrayBuffer, total, start, length);
}

function isDetached(buffer: ArrayBufferLike): boolean {
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

function writeView(
  memory: Memory,
  offset: number,
  limit: number,
  kind: number,
  buffer: ArrayBuffer,
  total: number,
  start: number,
  length: number,
): number {
  if (start === 0 && length * KINDS[kind]!.bytesPerElement === total) {
    return writeBytes(memory, offset, limit, kind, buffer, 0, total);
  }
  const next = writeBytes(memory, offset, limit, kind | (PARTIAL << 8), buffer, 0, total);
  if (next < 0) return next;
  const slot = offset >> 3;
  memory.f64[slot + 2] = start;
  memory.f64[slot + 3] = length;
  return next;
}

function writeBytes(
  memory: Memory,
  offset: number,
  limit: number,
  kindAndFlags: number,
  buffer: ArrayBufferLike,
  start: number,
  length: number,
): number {
  const isPartial = kindAndFlags >> 8 !== 0;
  const data = offset + (isPartial ? PARTIAL_HEADER_BYTES : WHOLE_HEADER_BYTES);
  const end = data + align8Large(length);
  if (end > limit) return NO_ROOM;
  if (length > 0) memory.u8.set(new Uint8Array(buffer, start, length), data);
  else if (isDetached(buffer)) return UNSUPPORTED;
  memory.i32[offset >> 2] = BYTES | (kindAndFlags << 8);
  memory.f64[(offset >> 3) + 1] = length;
  return end;
}

/** A decoded value and where it ended. Reused: copy out before the next call. */
export interface DecodedBytes {
  value: unknown;
  end: number;
}

/** Reads the value at `offset`, whose first word is `word`, into `into`. */
export function decodeBytes(
  access: ByteAccess,
  memory: Memory,
  offset: number,
  limit: number,
  word: number,
  into: DecodedBytes,
): void {
  const kind = KINDS[(word >> 8) & 0xff];
  const isPartial = ((word >> 16) & 0xff) === PARTIAL;
  const data = offset + (isPartial ? PARTIAL_HEADER_BYTES : WHOLE_HEADER_BYTES);
  if (kind === undefined || data > limit) throw corrupt("header", offset);
  const total = memory.f64[(offset >> 3) + 1]!;
  if (!Number.isSafeInteger(total) || total < 0 || data + align8Large(total) > limit) {
    throw corrupt(`length ${total}`, offset);
  }
  const start = isPartial ? memory.f64[(offset >> 3) + 2]! : 0;
  const length = isPartial ? memory.f64[(offset >> 3) + 3]! : total / kind.bytesPerElement;
  const fits = Number.isSafeInteger(start) && Number.isSafeInteger(length) && start >= 0 &&
    length >= 0 && start + length * kind.bytesPerElement <= total &&
    start % kind.bytesPerElement === 0;
  if (!fits) throw corrupt(`view of ${length} elements at byte ${start}`, offset);
  const buffer = access.copyOut(memory.u8, data, data + total);
  into.end = data + align8Large(total);
  const wireKind = (word >> 8) & 0xff;
  if (wireKind === ARRAY_BUFFER) into.value = buffer;
  else if (wireKind === BUFFER) into.value = access.toBuffer(buffer);
  else if (kind.construct === undefined) {
    throw new ProtocolError(`This runtime has no ${kind.name}, which the other side sent.`);
  } else into.value = new kind.construct(buffer, start, length);
}

function corrupt(what: string, offset: number): ProtocolError {
  return new ProtocolError(`Encoded bytes at offset ${offset} are corrupt: impossible ${what}.`);
}
