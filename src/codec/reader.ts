/**
 * The interface of the decoder for the readers of the kinds of values. The decoder imports the kinds; they
 * depend only on this interface.
 */
import type { CodecAccess } from "../runtimes/runtime.ts";

/** An accessor that reads in place and can be revoked when the borrow ends. */
export interface Revocable {
  revoke(): void;
}

/** The receiver's side of a key list. */
export interface ReadableKeyList {
  readonly keys: readonly string[];
  /** Creates the object whose values start at `at`. */
  readonly read: (reader: Reader, at: number) => object;
}

/** Creates what a task gets in the place of a stream, or of a callback, among its arguments. `kind`: of STREAM (tags.ts). */
export type OpenStream = (index: number, kind: number) => object;

export interface Reader {
  readonly i32: Int32Array<SharedArrayBuffer>;
  readonly f64: Float64Array<SharedArrayBuffer>;
  readonly u8: Uint8Array<SharedArrayBuffer>;
  /** End of the readable bytes. */
  readonly limit: number;
  /** After a value was read: offset of the next one. */
  next: number;
  readonly access: CodecAccess;
  /** Decode borrowed bytes in place instead of copying them. */
  readonly isBorrowing: boolean;
  /** The borrows made so far. */
  readonly borrows: Revocable[];

  /** Reads the value at `at`; sets `next`. */
  value(at: number): unknown;
  /** Reads the ONE_BYTE value at `at`. */
  text(at: number): string;
  /** Reads the TEXT at `at`, which has `units` units; does not set `next`. */
  gathered(units: number, at: number): string;
  /** Reads a string at `at`: a property's name. */
  key(at: number): string;
  keyList(id: number): ReadableKeyList | undefined;
  /** Registers an object that a later REF refers to. */
  register(at: number, object: unknown): void;
  /** Checks that `bytes` bytes from `at` may be read. */
  check(at: number, bytes: number): void;
  /** The aux word at `at` as a count. Checks that `bytesEach` bytes for each can be read. */
  count(at: number, bytesEach: number, headerBytes?: number): number;
  /**
   * Whether this number of elements may be allocated before they are read. Damaged nested arrays could each claim the
   * same bytes; the elements of an intact value never exceed the available bytes.
   */
  mayReserve(elements: number): boolean;
  /** A buffer of this length that may grow to `maximum`, if the reader allows so much. */
  resizable(length: number, maximum: number): ArrayBuffer;
  /** The f64 after the header at `at` as a size in bytes. Checks that this many bytes can be read from `start`. */
  size(at: number, start: number): number;
  corrupt(kind: string, at: number): Error;
}
