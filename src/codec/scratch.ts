/** The memory of an encoder, which grows while values are written, and the parts that all values consist of. */
import { PayloadTooLargeError } from "../errors.ts";
import { align8Large } from "../memory/align.ts";
import { type Memory, viewMemory } from "../memory/views.ts";
import { VALUE_HEADER_BYTES } from "./tags.ts";

/** Maximum bytes that writers of short strings reserve in advance and may leave unused. */
const MAX_SPARE_BYTES = 512;
/** Initial memory, and the maximum kept for the next value: the size of the largest records of usual rings. */
const SCRATCH_BYTES = 64 * 1024;
const MAX_KEPT_BYTES: number = 2 * 1024 * 1024;
/** Offsets are int32. */
const MAX_ENCODED_BYTES: number = 2 ** 31 - 4096;
const NO_MEMORY: Memory = viewMemory(new SharedArrayBuffer(0));

export class Scratch {
  memory!: Memory;
  i32!: Int32Array<SharedArrayBuffer>;
  f64!: Float64Array<SharedArrayBuffer>;
  u8!: Uint8Array<SharedArrayBuffer>;
  /** End of the memory that may be written. */
  limit = 0;
  /** No limit but memory: for errors, which must always arrive. */
  isUnlimited = false;
  /** Bytes copied for the payload message, including those of values encoded before that these continue. */
  copiedBytes = 0;
  readonly #maxBytes: number;
  #kept: Memory | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns where to write. */
  begin(): number {
    this.#kept ??= viewMemory(new SharedArrayBuffer(SCRATCH_BYTES));
    if (this.memory !== this.#kept) this.#moveTo(this.#kept);
    return 0;
  }

  end(): void {
    this.copiedBytes = 0;
    this.isUnlimited = false;
    // Memory that one very large value needed is not kept.
    if (this.memory !== this.#kept) this.#moveTo(NO_MEMORY);
  }

  #moveTo(memory: Memory): void {
    this.memory = memory;
    this.i32 = memory.i32;
    this.f64 = memory.f64;
    this.u8 = memory.u8;
    this.limit = memory.u8.length;
  }

  /** Returns the memory, which the encoder no longer uses. */
  takeScratch(): SharedArrayBuffer {
    if (this.memory === this.#kept) this.#kept = undefined;
    return this.memory.u8.buffer;
  }

  /** Ensures that `bytes` bytes may be written from `at`, the end of what is written, and returns `at`. */
  room(at: number, bytes: number): number {
    if (at + bytes > this.limit) this.#grow(at, bytes);
    return at;
  }

  #grow(at: number, bytes: number): void {
    // The request may exceed the need. The written size is checked at the end.
    this.checkSize(at + Math.max(0, bytes - MAX_SPARE_BYTES));
    const length = Math.max(align8Large(at + bytes + 64), Math.min(2 * at, 2 ** 30));
    let larger: Memory;
    try {
      larger = viewMemory(new SharedArrayBuffer(length));
    } catch (error) {
      throw new PayloadTooLargeError(length, undefined, { cause: error });
    }
    larger.u8.set(this.u8.subarray(0, at));
    if (length <= MAX_KEPT_BYTES) this.#kept = larger;
    this.#moveTo(larger);
  }

  /** Throws PayloadTooLargeError if the values from the first one to `end` are too large. */
  checkSize(end: number): void {
    const bytes = end + this.copiedBytes;
    const limit = this.isUnlimited
      ? MAX_ENCODED_BYTES
      : Math.min(this.#maxBytes, MAX_ENCODED_BYTES);
    if (bytes > limit) throw new PayloadTooLargeError(bytes, limit);
  }

  /** Counts bytes of a part that will be copied for the payload message. Throws if there are too many. */
  countCopied(bytes: number, at: number): void {
    this.copiedBytes += bytes;
    this.checkSize(at);
  }

  /** Writes a value without data. */
  tag(word: number, at: number): number {
    if (at + VALUE_HEADER_BYTES > this.limit) this.#grow(at, VALUE_HEADER_BYTES);
    this.i32[at >> 2] = word;
    return at + VALUE_HEADER_BYTES;
  }

  /** Writes the first word and aux of a value whose data follows. */
  header(word: number, aux: number, at: number): number {
    if (at + VALUE_HEADER_BYTES > this.limit) this.#grow(at, VALUE_HEADER_BYTES);
    const { i32 } = this;
    i32[at >> 2] = word;
    i32[(at >> 2) + 1] = aux;
    return at + VALUE_HEADER_BYTES;
  }

  /** Writes the first word and an f64. */
  double(word: number, value: number, at: number): number {
    if (at + 16 > this.limit) this.#grow(at, 16);
    this.i32[at >> 2] = word;
    this.f64[(at >> 3) + 1] = value;
    return at + 16;
  }
}
