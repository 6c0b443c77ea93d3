/**
 * Copies what was published in a ring to another copy of that ring. Both have the same capacity, so each record keeps its
 * place. A padding travels as its header.
 */
import {
  lengthSlot,
  QUEUED,
  RECORD_HEADER_BYTES,
  SENT,
  STATE_MASK,
  stateSlot,
} from "../../../ring/record-layout.ts";
import { ProtocolError } from "../../../errors.ts";
import {
  CAPACITY,
  HEAD_POSITION,
  RING_HEADER_BYTES,
  TAIL_POSITION,
} from "../../../ring/ring-layout.ts";

type Words = Int32Array<SharedArrayBuffer>;

/** One thread's copy of a ring. */
export class RingCopy {
  readonly #header: Words;
  readonly #words: Words;
  readonly #mask: number;
  /** Up to here its records were taken. */
  taken = 0;

  constructor(buffer: SharedArrayBuffer, byteOffset: number) {
    this.#header = new Int32Array(buffer, byteOffset, RING_HEADER_BYTES / 4);
    const capacity = this.#header[CAPACITY]!;
    this.#words = new Int32Array(buffer, byteOffset + RING_HEADER_BYTES, capacity / 4);
    this.#mask = capacity - 1;
  }

  get head(): number {
    return Atomics.load(this.#header, HEAD_POSITION);
  }

  /** The other side's consumer has released everything before this. Throws ProtocolError if it cannot have. */
  set head(position: number) {
    const { head } = this;
    if (((position - head) | 0) < 0 || ((this.taken - position) | 0) < 0 || (position & 7) !== 0) {
      throw new ProtocolError(`Ring head ${position} is not between ${head} and ${this.taken}.`);
    }
    Atomics.store(this.#header, HEAD_POSITION, position);
  }

  /**
   * The records published and not taken yet, in order, up to the first that `mayTake` refuses. Undefined: none. `isSent`: they
   * become records that this side can no longer revoke.
   */
  take(mayTake: (word: number) => boolean, isSent: boolean): Words | undefined {
    const words = this.#words;
    const tail = Atomics.load(this.#header, TAIL_POSITION);
    let end = this.taken;
    let bytes = 0;
    while (end !== tail) {
      const index = end & this.#mask;
      const length = words[lengthSlot(index)]!;
      if (length > 0 && !mayTake(index >> 2)) break;
      bytes += length > 0 ? length : RECORD_HEADER_BYTES;
      end = (end + Math.abs(length)) | 0;
    }
    if (bytes === 0) return undefined;
    const copy = new Int32Array(bytes >> 2);
    for (let at = 0; this.taken !== end;) {
      const index = this.taken & this.#mask;
      const length = words[lengthSlot(index)]!;
      const count = (length > 0 ? length : RECORD_HEADER_BYTES) >> 2;
      copy.set(words.subarray(index >> 2, (index >> 2) + count), at);
      // A revoked record stays one: its call may run elsewhere by now.
      const state = words[stateSlot(index)]!;
      if (isSent && length > 0 && (state & STATE_MASK) === QUEUED) {
        words[stateSlot(index)] = (state & ~STATE_MASK) | SENT;
      }
      at += count;
      this.taken = (this.taken + Math.abs(length)) | 0;
    }
    return copy as Int32Array as Words;
  }

  /** Publishes records that the other side has taken. Throws ProtocolError for such as cannot be. */
  put(records: Words): void {
    const words = this.#words;
    let tail = Atomics.load(this.#header, TAIL_POSITION);
    let free = this.#mask + 1 - ((tail - this.head) | 0);
    for (let at = 0; at < records.length;) {
      const index = tail & this.#mask;
      const length = records[at]!;
      const bytes = Math.abs(length);
      const count = (length > 0 ? length : RECORD_HEADER_BYTES) >> 2;
      free -= bytes;
      const isPossible = bytes >= RECORD_HEADER_BYTES && (bytes & 7) === 0 && free >= 0 &&
        index + bytes <= this.#mask + 1 && at + count <= records.length;
      if (!isPossible) {
        throw new ProtocolError(`Record length ${length} at index ${index} is impossible.`);
      }
      words.set(records.subarray(at, at + count), index >> 2);
      at += count;
      tail = (tail + Math.abs(length)) | 0;
    }
    Atomics.store(this.#header, TAIL_POSITION, tail);
  }

  /** The other side has ended. It had begun the records before `noted`, so those behind can be revoked again. */
  recover(noted: number): void {
    if (((this.taken - noted) | 0) < 0 || (noted & 7) !== 0) return; // it cannot have begun that
    // It has also released revoked records, of which it notes nothing.
    const position = ((noted - this.head) | 0) > 0 ? noted : this.head;
    const words = this.#words;
    for (let at = position; at !== this.taken;) {
      const index = at & this.#mask;
      const length = words[lengthSlot(index)]!;
      if (length > 0 && (words[stateSlot(index)]! & STATE_MASK) === SENT) {
        words[stateSlot(index)] = (words[stateSlot(index)]! & ~STATE_MASK) | QUEUED;
      }
      at = (at + Math.abs(length)) | 0;
    }
    this.head = this.taken = position;
  }

  /** The words of the records, by which `mayTake` looks at one. */
  get words(): Words {
    return this.#words;
  }
}
