/**
 * Threads to wake when an object changes: one bit for each, 8 words. A thread sets its bit before it checks its condition; a thread that changes the
 * object takes all bits (`exchange`) and wakes their threads. A bit that is set without need costs one wake.
 */
import { MAX_THREADS } from "./threads/root.ts";
import type { ThisThread } from "./threads/this-thread.ts";

export const WAIT_SET_WORDS: number = MAX_THREADS / 32;

export class WaitSet {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #start: number;
  readonly #thread: ThisThread;
  readonly #own: number;
  readonly #bit: number;

  constructor(words: Int32Array<SharedArrayBuffer>, start: number, thread: ThisThread) {
    this.#words = words;
    this.#start = start;
    this.#thread = thread;
    this.#own = start + (thread.index >> 5);
    this.#bit = 1 << (thread.index & 31);
  }

  /** Adds this thread. Check the object after it. */
  add(): void {
    // SYNC(shared-set): the bit, then the object's words; pairs with `wake`. Needs seq-cst.
    if ((Atomics.load(this.#words, this.#own) & this.#bit) === 0) {
      Atomics.or(this.#words, this.#own, this.#bit);
    }
  }

  /** Wakes all. Change the object before it. */
  wake(): void {
    const words = this.#words;
    const { root } = this.#thread;
    const last = this.#start + (root.high + 31 >> 5);
    for (let word = this.#start; word < last; word++) {
      if (Atomics.load(words, word) === 0) continue;
      let bits = Atomics.exchange(words, word, 0);
      const base = (word - this.#start) << 5;
      while (bits !== 0) {
        const bit = 31 - Math.clz32(bits);
        bits &= ~(1 << bit);
        root.wake(base + bit);
      }
    }
  }
}
