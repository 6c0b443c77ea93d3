/**
 * The waiters of a lock, each in a record of its own, in order of arrival. Everything here happens under the lock's latch,
 * but for two edges: a waiter reads its own state at any time, and takes itself out by WAITING → ABANDONED.
 *
 *   word 0   state    FREE → WAITING: its waiter. WAITING → CALLED, REFUSED: the holder of the latch. → FREE: its waiter, or
 *                     the holder of the latch if the waiter is dead
 *   word 1   token    of the waiter's thread
 *   word 2   order    of arrival; wraps
 *   word 3   request  what it waits for
 */
import { SharedAccessError } from "../../shared-errors.ts";
import { indexOf } from "../threads/root.ts";
import type { ThisThread } from "../threads/this-thread.ts";

const FREE = 0;
export const WAITING = 1;
const ABANDONED = 2;
/** It has got what it waited for. */
export const CALLED = 3;
/** It will not get it: the lock is poisoned. */
export const REFUSED = 4;

const RECORD_WORDS = 4;
const STATE = 0;
const TOKEN = 1;
const ORDER = 2;
const REQUEST = 3;
/** Words before the records: the number of records ever used, and the next order. */
const HIGH = 0;
const NEXT_ORDER = 1;
const HEAD_WORDS = 2;

/** How many may wait at one lock. */
const MAX_WAITERS = 254;
export const WAITERS_WORDS: number = HEAD_WORDS + RECORD_WORDS * MAX_WAITERS;

export class Waiters {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #start: number;
  readonly #thread: ThisThread;

  constructor(words: Int32Array<SharedArrayBuffer>, start: number, thread: ThisThread) {
    this.#words = words;
    this.#start = start;
    this.#thread = thread;
  }

  /** Adds a waiter of this thread: the index of its record. */
  add(request: number): number {
    const words = this.#words;
    const high = words[this.#start + HIGH]!;
    let index = 0;
    while (index < high && words[this.#at(index) + STATE] !== FREE) index++;
    if (index === MAX_WAITERS) {
      throw new SharedAccessError(`${MAX_WAITERS} wait at this lock, and no more can.`);
    }
    const at = this.#at(index);
    words[at + TOKEN] = this.#thread.token;
    words[at + REQUEST] = request;
    words[at + ORDER] = words[this.#start + NEXT_ORDER]!++;
    Atomics.store(words, at + STATE, WAITING);
    if (index === high) words[this.#start + HIGH] = high + 1;
    return index;
  }

  /** For its waiter: the state now. */
  state(index: number): number {
    return Atomics.load(this.#words, this.#at(index) + STATE);
  }

  /** For its waiter: it no longer waits. False: it has been called or refused meanwhile. */
  abandon(index: number): boolean {
    const at = this.#at(index) + STATE;
    return Atomics.compareExchange(this.#words, at, WAITING, ABANDONED) === WAITING;
  }

  free(index: number): void {
    Atomics.store(this.#words, this.#at(index) + STATE, FREE);
  }

  /** The record that has waited longest; -1: there is none. */
  oldest(): number {
    const words = this.#words;
    let oldest = -1;
    for (let index = words[this.#start + HIGH]! - 1; index >= 0; index--) {
      const at = this.#at(index);
      if (Atomics.load(words, at + STATE) !== WAITING) continue;
      const isOlder = oldest < 0 || (words[at + ORDER]! - words[this.#at(oldest) + ORDER]! | 0) < 0;
      if (isOlder) oldest = index;
    }
    return oldest;
  }

  request(index: number): number {
    return this.#words[this.#at(index) + REQUEST]!;
  }

  /** Calls or refuses one that waits, and wakes it. False: it has abandoned its place. */
  answer(index: number, state: typeof CALLED | typeof REFUSED): boolean {
    const at = this.#at(index);
    const seen = Atomics.compareExchange(this.#words, at + STATE, WAITING, state);
    if (seen === WAITING) this.#thread.root.wake(indexOf(this.#words[at + TOKEN]!));
    return seen === WAITING;
  }

  /**
   * Frees the records of the dead; calls back for each that was called before its thread died. Not those that were abandoned: their
   * waiters free them, and another may have the record by then.
   */
  sweep(onDeadCalled?: () => void): void {
    const words = this.#words;
    let isLast = true;
    for (let index = words[this.#start + HIGH]! - 1; index >= 0; index--) {
      const at = this.#at(index);
      const state = Atomics.load(words, at + STATE);
      if (state !== FREE && !this.#thread.root.isAlive(words[at + TOKEN]!)) {
        if (state === CALLED) onDeadCalled?.();
        Atomics.store(words, at + STATE, FREE);
      }
      if (isLast && Atomics.load(words, at + STATE) === FREE) words[this.#start + HIGH] = index;
      else isLast = false;
    }
  }

  /** Sum of the requests, as far as `mask` goes, of those that were called and have not taken it yet. */
  called(mask: number): number {
    const words = this.#words;
    let sum = 0;
    for (let index = words[this.#start + HIGH]! - 1; index >= 0; index--) {
      const at = this.#at(index);
      if (Atomics.load(words, at + STATE) === CALLED) sum += words[at + REQUEST]! & mask;
    }
    return sum;
  }

  #at(index: number): number {
    return this.#start + HEAD_WORDS + RECORD_WORDS * index;
  }
}
