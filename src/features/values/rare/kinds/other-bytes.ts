/** Resizable buffers, views of these and of growable shared memory, and DataViews. */
import { structuredClone } from "../../../../builtins.ts";
import { align8Large } from "../../../../memory/align.ts";
import type { Decoder } from "../../../../codec/decoder.ts";
import type { Encoder } from "../../../../codec/encoder.ts";
import { DATA_VIEW, elementBytes, GONE, kindOf, writePart } from "../../../../codec/kinds/bytes.ts";
import {
  bufferIsResizable,
  bufferLength,
  getterOf,
  isThere,
  sharedIsGrowable,
  typedArrayBuffer,
  typedArrayLength,
  typedArrayName,
  typedArrayOffset,
} from "../../../../codec/support/intrinsics.ts";
import { RESIZABLE, TRACKING, VALUE_HEADER_BYTES } from "../../../../codec/tags.ts";

const dataViewBuffer = getterOf<ArrayBufferLike>(DataView.prototype, "buffer");
const dataViewOffset = getterOf<number>(DataView.prototype, "byteOffset");
const dataViewLength = getterOf<number>(DataView.prototype, "byteLength");
const bufferMaximum = getterOf<number>(ArrayBuffer.prototype, "maxByteLength");
const sharedLength = getterOf<number>(SharedArrayBuffer.prototype, "byteLength");

/** Bytes before the content of a resizable buffer. */
const HEADER_BYTES: number = VALUE_HEADER_BYTES + 16;
/** What a resizable buffer counts at least: an engine maps pages for each, of which a process has a limited number. */
const MIN_GROWTH_BYTES = 64 * 1024;

/** A view and the part of its buffer that it covers: `length` elements. */
interface Part {
  readonly kind: number;
  readonly view: ArrayBufferView;
  readonly buffer: ArrayBufferLike;
  readonly offset: number;
  readonly length: number;
}

function partOf(encoder: Encoder, view: ArrayBufferView): Part {
  const name = typedArrayName.call(view);
  if (name !== undefined) {
    const kind = kindOf(encoder.access, view, name);
    const length = typedArrayLength.call(view);
    if (length === 0 && !isThere(view)) throw encoder.refuse(view, GONE);
    const offset = typedArrayOffset.call(view);
    return { kind, view, buffer: typedArrayBuffer.call(view), offset, length };
  }
  const buffer = dataViewBuffer.call(view);
  try {
    const offset = dataViewOffset.call(view);
    return { kind: DATA_VIEW, view, buffer, offset, length: dataViewLength.call(view) };
  } catch {
    throw encoder.refuse(view, GONE);
  }
}

export function writeOtherView(encoder: Encoder, view: ArrayBufferView, from: number): number {
  const seen = encoder.seen.visit(view, from);
  if (seen >= 0) return encoder.ref(seen, from);
  const part = partOf(encoder, view);
  const tracking = isTracking(encoder, part);
  // Only the runtime knows whether a view of growable shared memory follows its growth.
  if (tracking === undefined) return encoder.attach(view, from, false);
  const word = part.kind | (tracking ? TRACKING >> 8 : 0);
  return writePart(encoder, word, part.offset, part.length, part.buffer, from);
}

/** Whether the view tracks the length of its buffer. Undefined if this cannot be determined. */
function isTracking(
  encoder: Encoder,
  { kind, view, buffer, offset, length }: Part,
): boolean | undefined {
  const endOfNext = offset + (length + 1) * elementBytes(kind);
  if (encoder.access.kinds.isSharedArrayBuffer(buffer)) {
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

/** Writes a resizable ArrayBuffer that was not written before. */
export function writeResizable(encoder: Encoder, buffer: ArrayBuffer, from: number): number {
  const length = bufferLength.call(buffer);
  if (length > encoder.maxEmbeddedBytes) {
    encoder.countCopied(length, from);
    return encoder.attach(structuredClone(buffer), from, true);
  }
  const end = from + HEADER_BYTES + align8Large(length);
  encoder.room(from, end - from);
  encoder.double(RESIZABLE, length, from);
  encoder.f64[(from >> 3) + 2] = bufferMaximum.call(buffer);
  if (length > 0) encoder.u8.set(new Uint8Array(buffer, 0, length), from + HEADER_BYTES);
  return end;
}

/** Reads RESIZABLE at `at`. */
export function readResizable(decoder: Decoder, at: number): ArrayBuffer {
  const start = at + HEADER_BYTES;
  const length = decoder.size(at, start);
  const maximum = decoder.f64[(at >> 3) + 2]!;
  if (!Number.isSafeInteger(maximum) || maximum < length) throw decoder.corrupt("maximum", at);
  const buffer = createResizable(decoder, length, maximum);
  new Uint8Array(buffer).set(decoder.u8.subarray(start, start + length));
  return buffer;
}

/** A buffer of this length that may grow to `maximum`, if the decoder allows so much. */
export function createResizable(decoder: Decoder, length: number, maximum: number): ArrayBuffer {
  const growth = Math.max(maximum - length, MIN_GROWTH_BYTES);
  if (growth > decoder.growthBytes) return new ArrayBuffer(length);
  decoder.growthBytes -= growth;
  return new ArrayBuffer(length, { maxByteLength: maximum });
}
