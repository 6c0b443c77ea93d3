/**
 * Short strings of a record that has several: a window of its bytes is read as one string, by one native
 * call, and the strings are sliced from it. Creating a separate string costs an engine 30 to 60 ns, slicing
 * one 10 to 15.
 *
 * A slice keeps the whole window in memory, hence its limited size. The window starts small, and is not used
 * for the rest of a record once too few of its bytes were text: then each string is read separately.
 */
import { align8 } from "../../../../memory/align.ts";
import type { TextAccess } from "../../../../runtimes/runtime.ts";

/** Minimum number of strings for which a window is faster than reading each string separately. */
export const MIN_TEXTS = 3;
/** Longest string that is sliced from a window, in bytes. */
export const MAX_CUT_BYTES = 64;
const FIRST_BYTES = 256;
const MAX_BYTES = 2048;
/** At least one in this many bytes of the window must belong to strings, padding included. */
const MIN_SHARE = 4;

export class TextWindow {
  /** Whether there is too little text for a window. */
  isPoor = false;
  #text = "";
  #start = 0;
  #bytes = FIRST_BYTES;
  /** Bytes of the current window that were sliced, with their padding. */
  #cut = 0;

  /**
   * The `length` bytes from `start`, which are ASCII, of a record that ends at `limit`. Must be called in
   * ascending order of `start`.
   */
  cut(
    access: TextAccess,
    u8: Uint8Array<SharedArrayBuffer>,
    limit: number,
    start: number,
    length: number,
  ): string {
    let from = start - this.#start;
    if (from + length > this.#text.length) {
      this.isPoor = MIN_SHARE * this.#cut < this.#text.length;
      const bytes = this.isPoor ? length : this.#bytes;
      this.#text = access.readOneByte(u8, start, Math.min(start + bytes, limit));
      this.#start = start;
      this.#bytes = Math.min(2 * this.#bytes, MAX_BYTES);
      this.#cut = 0;
      from = 0;
    }
    this.#cut += align8(length);
    return this.#text.substring(from, from + length);
  }
}
