/**
 * Borrowed bytes: the caller's bytes are copied into shared memory once, and the task reads them there in
 * place, without a copy of its own.
 *
 * Shared memory cannot be detached, so the task gets no view of it: a `Borrowed` is an accessor that reads
 * until the task first returns or awaits, and throws afterwards. For an async function the accessor reads
 * a copy and never expires.
 */
import { InvalidArgumentError } from "../../../../errors.ts";
import { brandOf, setBrand } from "../../../../codec/support/brands.ts";
import { isThere, typedArrayName } from "../../../../codec/support/intrinsics.ts";

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
