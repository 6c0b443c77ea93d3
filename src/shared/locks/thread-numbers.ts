/**
 * A number for each thread, `[token, number]`, under the latch of its object. A record with token 0, or with the token of a dead thread, does
 * not count, so the number is stored before the token.
 */
import { MAX_THREADS } from "../threads/root.ts";
import type { ThisThread } from "../threads/this-thread.ts";

export const THREAD_NUMBERS_WORDS: number = 2 * MAX_THREADS;

export class ThreadNumbers {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #start: number;
  readonly #end: number;
  readonly #own: number;
  readonly #thread: ThisThread;

  constructor(words: Int32Array<SharedArrayBuffer>, start: number, thread: ThisThread) {
    this.#words = words;
    this.#start = start;
    this.#end = start + THREAD_NUMBERS_WORDS;
    this.#own = start + 2 * thread.index;
    this.#thread = thread;
  }

  /** The number of this thread; it may be read without the latch. */
  get own(): number {
    return this.#words[this.#own] === this.#thread.token ? this.#words[this.#own + 1]! : 0;
  }

  set own(value: number) {
    this.#words[this.#own + 1] = value;
    Atomics.store(this.#words, this.#own, value === 0 ? 0 : this.#thread.token);
  }

  /** Sum of all numbers. Those of the dead count until `removeDead`. */
  sum(): number {
    let sum = 0;
    for (let at = this.#start; at < this.#end; at += 2) {
      if (this.#words[at] !== 0) sum += this.#words[at + 1]!;
    }
    return sum;
  }

  /** Removes the numbers of dead threads; calls back with each before. */
  removeDead(onDead: (number: number) => void): void {
    for (let at = this.#start; at < this.#end; at += 2) {
      const token = this.#words[at]!;
      if (token === 0 || this.#thread.root.isAlive(token)) continue;
      onDead(this.#words[at + 1]!);
      Atomics.store(this.#words, at, 0);
    }
  }

  clear(): void {
    for (let at = this.#start; at < this.#end; at += 2) this.#words[at] = 0;
  }
}
