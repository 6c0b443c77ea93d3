/**
 * Borrowed bytes: the caller's bytes are copied into shared memory once, and the task reads them there in
 * place, without a copy of its own.
 *
 * Shared memory cannot be detached, so the task gets no view of it: a `Borrowed` is an accessor that reads
 * until the task first returns or awaits, and throws afterwards. For an async function the accessor reads
 * a copy and never expires.
 */
import { align8Large } from "../../../memory/align.ts";
import { BorrowExpiredError, InvalidArgumentError } from "../../../errors.ts";
import { brandOf, setBrand } from "../../../codec/support/brands.ts";
import type { Decoder, Revocable } from "../../../codec/decoder.ts";
import type { Encoder } from "../../../codec/encoder.ts";
import { isThere, typedArrayName } from "../../../codec/support/intrinsics.ts";
import { BORROWED, VALUE_HEADER_BYTES } from "../../../codec/tags.ts";

const HEADER_BYTES: number = VALUE_HEADER_BYTES + 8;
/** Bytes per chunk of `forEachChunk`: a chunk stays in the first-level cache between copy and use. */
const CHUNK_BYTES = 16 * 1024;

/**
 * Bytes that a task reads in place. Offsets are in bytes. Multi-byte numbers are little-endian unless
 * `isBigEndian` is true. Throws BorrowExpiredError once the task has returned or awaited, and RangeError
 * outside the bytes.
 */
export interface Borrowed {
  /** Bytes. */
  readonly length: number;
  /** The byte at `index`, from the end if negative; undefined outside. */
  at(index: number): number | undefined;
  /** The 8-bit signed integer at `offset`. */
  getInt8(offset: number): number;
  /** The 8-bit unsigned integer at `offset`. */
  getUint8(offset: number): number;
  /** The 16-bit signed integer at `offset`. */
  getInt16(offset: number, isBigEndian?: boolean): number;
  /** The 16-bit unsigned integer at `offset`. */
  getUint16(offset: number, isBigEndian?: boolean): number;
  /** The 32-bit signed integer at `offset`. */
  getInt32(offset: number, isBigEndian?: boolean): number;
  /** The 32-bit unsigned integer at `offset`. */
  getUint32(offset: number, isBigEndian?: boolean): number;
  /** The 64-bit signed integer at `offset`. */
  getBigInt64(offset: number, isBigEndian?: boolean): bigint;
  /** The 64-bit unsigned integer at `offset`. */
  getBigUint64(offset: number, isBigEndian?: boolean): bigint;
  /** The 32-bit floating-point number at `offset`. */
  getFloat32(offset: number, isBigEndian?: boolean): number;
  /** The 64-bit floating-point number at `offset`. */
  getFloat64(offset: number, isBigEndian?: boolean): number;
  /** Index of the first byte of this value at or after `from`, or -1. */
  indexOf(byte: number, from?: number): number;
  /** Copies `[start, end)` to `target` at `targetStart`; returns the number of bytes copied. */
  copyTo(target: Uint8Array, targetStart?: number, start?: number, end?: number): number;
  /** A copy of `[start, end)` that belongs to the task. */
  slice(start?: number, end?: number): Uint8Array<ArrayBuffer>;
  /** `[start, end)` decoded as UTF-8. */
  text(start?: number, end?: number): string;
  /**
   * Visits all bytes in chunks, for hashing or parsing. All chunks are copied into the same buffer, so a
   * chunk is valid only until `visit` returns. Default chunk: 16 KiB.
   */
  forEachChunk(
    visit: (chunk: Uint8Array<ArrayBuffer>, offset: number) => void,
    chunkBytes?: number,
  ): void;
}

/** The object that `borrow` returns on the caller's side. */
export class BorrowedRange {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    setBrand(this, "borrow");
  }

  static is(object: object): object is BorrowedRange {
    return brandOf(object) === "borrow";
  }
}

/**
 * Gives bytes to a task for the duration of a call: its parameter is a {@link Borrowed}, which reads
 * them in place. The caller keeps its bytes; the task does not see later changes.
 */
export function borrow(bytes: ArrayBufferView | ArrayBufferLike): Borrowed {
  // A view of fixed length, since shared memory may grow while it is copied.
  if (!ArrayBuffer.isView(bytes) && !isBuffer(bytes)) {
    throw new InvalidArgumentError(
      `borrow() takes an ArrayBuffer or a view of one, got ${
        bytes === null ? "null" : typeof bytes
      }.`,
    );
  }
  try {
    const shown = isBuffer(bytes)
      ? new Uint8Array(bytes, 0, bytes.byteLength)
      : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    // A typed array that is out of bounds has length 0. For a DataView the length getter would throw.
    if (typedArrayName.call(bytes) === undefined || isThere(bytes)) {
      return new BorrowedRange(shown) as unknown as Borrowed;
    }
  } catch (error) {
    throw new InvalidArgumentError(GONE, { cause: error });
  }
  throw new InvalidArgumentError(GONE);
}

const GONE = "borrow() takes bytes that are there: their buffer is detached, or has shrunk.";

function isBuffer(bytes: unknown): bytes is ArrayBufferLike {
  return bytes instanceof ArrayBuffer || bytes instanceof SharedArrayBuffer;
}

/** Whether `object` is a `Borrowed` of a task. */
export function isBorrowed(object: object): boolean {
  return Accessor.is(object);
}

export function writeBorrowed(encoder: Encoder, range: BorrowedRange, from: number): number {
  if (!encoder.options.allowsBorrow) {
    throw encoder.refuse(range, "only arguments of a call can be borrowed");
  }
  const { bytes } = range;
  const { length } = bytes;
  if (length === 0 && !isThere(bytes)) throw encoder.refuse(range, "the borrowed bytes are gone");
  const at = encoder.room(from, HEADER_BYTES + align8Large(length));
  encoder.i32[at >> 2] = BORROWED;
  encoder.f64[(at >> 3) + 1] = length;
  encoder.u8.set(bytes, at + HEADER_BYTES);
  return at + HEADER_BYTES + align8Large(length);
}

/** Reads BORROWED at `at`: in place if the reader has `isBorrowing` set, otherwise as a copy. */
export function readBorrowed(decoder: Decoder, at: number): Borrowed {
  const start = at + HEADER_BYTES;
  const length = decoder.size(at, start);
  decoder.next = start + align8Large(length);
  const { text } = decoder.access;
  const end = start + length;
  if (decoder.isBorrowing) {
    const accessor = new Accessor(decoder.u8.subarray(start, end), text);
    decoder.borrows.push(accessor);
    return accessor;
  }
  // The runtime's adapter reads UTF-8 from shared memory, so the copy is shared memory too.
  const copy = new Uint8Array(new SharedArrayBuffer(length));
  copy.set(decoder.u8.subarray(start, end));
  return new Accessor(copy, text);
}

type TextReader = Decoder["access"]["text"];

class Accessor implements Borrowed, Revocable {
  #bytes: Uint8Array<SharedArrayBuffer> | undefined;
  #view: DataView<SharedArrayBuffer> | undefined;
  readonly #text: TextReader;

  constructor(bytes: Uint8Array<SharedArrayBuffer>, text: TextReader) {
    this.#bytes = bytes;
    this.#text = text;
  }

  static is(object: object): object is Accessor {
    return #bytes in object;
  }

  /** Ends the range. */
  revoke(): void {
    this.#bytes = this.#view = undefined;
  }

  get #open(): Uint8Array<SharedArrayBuffer> {
    if (this.#bytes === undefined) throw new BorrowExpiredError();
    return this.#bytes;
  }

  get #data(): DataView<SharedArrayBuffer> {
    const bytes = this.#open;
    return this.#view ??= new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get length(): number {
    return this.#open.length;
  }

  at(index: number): number | undefined {
    return this.#open.at(index);
  }

  getInt8(offset: number): number {
    return this.#data.getInt8(offset);
  }

  getUint8(offset: number): number {
    return this.#data.getUint8(offset);
  }

  getInt16(offset: number, isBigEndian = false): number {
    return this.#data.getInt16(offset, !isBigEndian);
  }

  getUint16(offset: number, isBigEndian = false): number {
    return this.#data.getUint16(offset, !isBigEndian);
  }

  getInt32(offset: number, isBigEndian = false): number {
    return this.#data.getInt32(offset, !isBigEndian);
  }

  getUint32(offset: number, isBigEndian = false): number {
    return this.#data.getUint32(offset, !isBigEndian);
  }

  getBigInt64(offset: number, isBigEndian = false): bigint {
    return this.#data.getBigInt64(offset, !isBigEndian);
  }

  getBigUint64(offset: number, isBigEndian = false): bigint {
    return this.#data.getBigUint64(offset, !isBigEndian);
  }

  getFloat32(offset: number, isBigEndian = false): number {
    return this.#data.getFloat32(offset, !isBigEndian);
  }

  getFloat64(offset: number, isBigEndian = false): number {
    return this.#data.getFloat64(offset, !isBigEndian);
  }

  indexOf(byte: number, from = 0): number {
    return this.#open.indexOf(byte, from);
  }

  copyTo(target: Uint8Array, targetStart = 0, start = 0, end: number = this.length): number {
    const part = this.#open.subarray(start, end);
    target.set(part, targetStart);
    return part.length;
  }

  slice(start = 0, end: number = this.length): Uint8Array<ArrayBuffer> {
    const part = this.#open.subarray(start, end);
    const copy = new Uint8Array(part.length);
    copy.set(part);
    return copy;
  }

  text(start = 0, end: number = this.length): string {
    const part = this.#open.subarray(start, end);
    return this.#text.readUtf8(part, 0, part.length);
  }

  forEachChunk(
    visit: (chunk: Uint8Array<ArrayBuffer>, offset: number) => void,
    chunkBytes: number = CHUNK_BYTES,
  ): void {
    if (!Number.isInteger(chunkBytes) || chunkBytes < 1) {
      throw new InvalidArgumentError(`chunkBytes must be an integer from 1, got ${chunkBytes}.`);
    }
    const chunk = new Uint8Array(Math.min(chunkBytes, this.length));
    for (let offset = 0; offset < this.length; offset += chunkBytes) {
      const copied = this.copyTo(chunk, 0, offset, Math.min(offset + chunkBytes, this.length));
      visit(copied < chunk.length ? chunk.subarray(0, copied) : chunk, offset);
    }
  }
}
