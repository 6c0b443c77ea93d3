/** How borrowed bytes are sent, and what a task gets. */
import { align8Large } from "../../../../memory/align.ts";
import { BorrowExpiredError, InvalidArgumentError } from "../../../../errors.ts";
import type { Decoder, Revocable } from "../../../../codec/decoder.ts";
import type { Encoder } from "../../../../codec/encoder.ts";
import { isThere } from "../../../../codec/support/intrinsics.ts";
import { BORROWED, VALUE_HEADER_BYTES } from "../../../../codec/tags.ts";
import type { Borrowed, BorrowedRange } from "../kinds/borrow.ts";

const HEADER_BYTES: number = VALUE_HEADER_BYTES + 8;
/** Bytes per chunk of `forEachChunk`: a chunk stays in the first-level cache between copy and use. */
const CHUNK_BYTES = 16 * 1024;

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
