/**
 * Short strings of a record that has several: some of its bytes are read as one string, by one native
 * call, and the strings cut out of that. A string of its own costs an engine 30 to 60 ns to make, a
 * slice of one 10 to 15.
 *
 * A slice keeps the whole in memory, hence its limited size. It begins small, and is given up for the
 * record once little of what was read was text: then each string is read by itself.
 */
import { align8 } from "../../memory/align.ts";
import type { TextAccess } from "../../runtimes/runtime.ts";

/** From so many strings on it is quicker than reading each by itself. */
export const MIN_TEXTS = 3;
/** Longest string that is cut out, in bytes. */
export const MAX_CUT_BYTES = 64;
const FIRST_BYTES = 256;
const MAX_BYTES = 2048;
/** Of what was read, so much has to be strings, each with its padding: one part in this many. */
const MIN_SHARE = 4;

export class TextWindow {
  /** Whether there is too little text for this. */
  isPoor = false;
  #text = "";
  #start = 0;
  #bytes = FIRST_BYTES;
  /** Bytes of the present text that were cut out, with their padding. */
  #cut = 0;

  /**
   * The `length` bytes from `start`, which are ASCII, of a record that ends at `limit`. Strings are asked
   * for from front to back.
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
