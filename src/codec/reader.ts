/**
 * What the kinds of values need of the decoder that reads them. The decoder knows the kinds; they know
 * it by this face alone.
 */
import type { CodecAccess } from "../runtimes/runtime.ts";

/** Whatever reads in place and can be told that the loan is over. */
export interface Revocable {
  revoke(): void;
}

/** A shape as its receiver sees it. */
export interface ReadableShape {
  readonly keys: readonly string[];
  /** Makes the object whose values start at `at`. */
  readonly read: (reader: Reader, at: number) => object;
}

export interface Reader {
  readonly i32: Int32Array<SharedArrayBuffer>;
  readonly f64: Float64Array<SharedArrayBuffer>;
  readonly u8: Uint8Array<SharedArrayBuffer>;
  /** End of what may be read. */
  readonly limit: number;
  /** After a value was read: where the next one starts. */
  next: number;
  readonly access: CodecAccess;
  /** Lend bytes in place instead of copying them. */
  readonly isLending: boolean;
  /** What was lent. */
  readonly lent: Revocable[];

  /** Reads the value at `at`; sets `next`. */
  value(at: number): unknown;
  /** Reads the ONE_BYTE value at `at`. */
  text(at: number): string;
  /** Reads the TEXT at `at`, which is of so many units; does not set `next`. */
  gathered(units: number, at: number): string;
  /** Reads a string at `at`: a property's name. */
  key(at: number): string;
  shape(id: number): ReadableShape | undefined;
  /** Remembers an object that a REF further on stands for. */
  register(at: number, object: unknown): void;
  /** Checks that `bytes` bytes from `at` may be read. */
  check(at: number, bytes: number): void;
  /** The aux word at `at` as a number of things of at least `bytesEach` bytes, which must be there. */
  count(at: number, bytesEach: number, headerBytes?: number): number;
  /**
   * Whether so many elements may be made before they are read. Damaged arrays within arrays could each claim the same
   * bytes; those of a sound value come to no more than there are bytes for.
   */
  mayReserve(elements: number): boolean;
  /** The f64 behind the header at `at` as a number of bytes from `start`, which must be there. */
  size(at: number, start: number): number;
  corrupt(what: string, at: number): Error;
}
