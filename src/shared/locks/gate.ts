/**
 * The one lock that mutexes, read-write locks and semaphores are: a fair semaphore of weights that knows its holders. A mutex has
 * one permit. A read-write lock has very many: a reader takes one, a writer all.
 *
 *   word
 *   4    latch            everything below is changed under it
 *   5    capacity         written once
 *   6    taken            sum over holders and those that were called
 *   7    poisoned         1: a thread died that held `poisonous` permits or more
 *   8    deaths           of the root, when the tables were last swept
 *   9    poisonous        written once
 *   16   holders          [token, permits] of each thread
 *   528  waiters          waiters.ts
 *
 * A waiter holds its permits from the store of CALLED on. Later it moves them to the holders and frees its record; if its thread dies in
 * between, neither counts. `taken` is derived from both tables.
 */
import { Guarded } from "../guarded.ts";
import { type Kind, OBJECT_WORDS, type ObjectMemory } from "../memory.ts";
import type { WaitOptions } from "../threads/condition.ts";
import { THREAD_NUMBERS_WORDS, ThreadNumbers } from "./thread-numbers.ts";
import { CALLED, REFUSED, Waiters, WAITERS_WORDS, WAITING } from "./waiters.ts";

const LATCH = OBJECT_WORDS;
const CAPACITY = 5;
const TAKEN = 6;
const POISONED = 7;
const DEATHS = 8;
const POISONOUS = 9;
const HOLDERS = 16;
const WAITERS = HOLDERS + THREAD_NUMBERS_WORDS;
export const GATE_BYTES: number = 4 * (WAITERS + WAITERS_WORDS);

/** A bit of a waiter's request: it takes a poisoned lock. */
const RECOVERS = 2 ** 30;
export const MAX_PERMITS: number = 2 ** 30 - 1;

/** "poisoned": the lock is, and the request does not recover it. */
export type Outcome = "held" | "recovered" | "poisoned" | "busy";
/** The outcome of a wait. */
type Settled = Exclude<Outcome, "busy">;

export class Gate extends Guarded {
  readonly #waiters: Waiters;
  readonly #holders: ThreadNumbers;

  constructor(memory: ObjectMemory, kind: Kind) {
    super(memory.view.i32, memory.thread, LATCH, DEATHS, `a ${kind}`);
    this.#waiters = new Waiters(this.words, WAITERS, this.thread);
    this.#holders = new ThreadNumbers(this.words, HOLDERS, this.thread);
  }

  /** Sets up new memory. `poisonous`: how many permits a thread must hold to poison the lock by its death; 0: it never does. */
  static initialize(memory: ObjectMemory, capacity: number, poisonous: number): void {
    const { i32 } = memory.view;
    i32[CAPACITY] = capacity;
    i32[POISONOUS] = poisonous;
    i32[DEATHS] = memory.thread.root.deaths;
  }

  get capacity(): number {
    return this.words[CAPACITY]!;
  }

  /** Permits held by this thread. */
  get own(): number {
    return this.#holders.own;
  }

  get isPoisoned(): boolean {
    return this.locked(() => this.words[POISONED] === 1);
  }

  /** Permits that no thread holds. */
  get available(): number {
    return this.locked(() => this.capacity - this.words[TAKEN]!);
  }

  /** Takes permits if they are free and no waiter is before this one. */
  tryAcquire(permits: number, recovers: boolean): Outcome {
    return this.locked(() => this.#take(permits, recovers));
  }

  /** Blocks until it gets them. Throws WaitTimeoutError. `checkWait` may throw if it has to wait. */
  acquireSync(
    permits: number,
    recovers: boolean,
    timeoutMs: number | undefined,
    name: string,
    checkWait?: () => void,
  ): Settled {
    const attempt = new Attempt(this, permits, recovers, checkWait);
    this.thread.blockUntil(attempt, name, timeoutMs);
    return attempt.outcome as Settled;
  }

  /** The same in the event loop. Rejects with the reason of the signal, or WaitTimeoutError, which begins with `name`. */
  async acquire(
    permits: number,
    recovers: boolean,
    options: WaitOptions,
    name: string,
  ): Promise<Settled> {
    const thread = this.thread;
    thread.checkLife();
    const attempt = new Attempt(this, permits, recovers);
    thread.pendingLocks++;
    try {
      await thread.loop.until(attempt, name, options);
    } finally {
      thread.pendingLocks--;
    }
    return attempt.outcome as Settled;
  }

  /** Gives permits back that this thread holds. Always succeeds, perhaps in a moment. */
  release(permits: number): void {
    this.whenFree(() => {
      this.#hold(-permits);
      this.#grant();
    });
  }

  /** For an attempt: takes the permits, or a place among the waiters. Undefined: the latch was taken. */
  arrive(
    permits: number,
    recovers: boolean,
  ): { readonly outcome: Outcome; readonly place: number } | undefined {
    return this.attempt(() => {
      const outcome = this.#take(permits, recovers);
      if (outcome !== "busy") return { outcome, place: -1 };
      const place = this.#waiters.add(permits | (recovers ? RECOVERS : 0));
      return { outcome, place };
    });
  }

  /** For an attempt: whether it is worth a `settle`. */
  isCalled(place: number): boolean {
    if (this.#waiters.state(place) !== WAITING) return true;
    return this.isStale;
  }

  /** For an attempt: its outcome, if it has been called or refused. */
  settle(place: number, permits: number): Outcome | undefined {
    return this.attempt(() => this.#settle(place, permits));
  }

  #settle(place: number, permits: number): Outcome {
    const { words } = this;
    const state = this.#waiters.state(place);
    if (state === REFUSED) {
      this.#waiters.free(place);
      return "poisoned";
    }
    if (state !== CALLED) return "busy";
    this.#hold(permits);
    this.#waiters.free(place);
    if (words[POISONED] === 0) return "held";
    words[POISONED] = 0; // last: a thread that dies before it has recovered nothing
    return "recovered";
  }

  /** For an attempt that ends without an outcome. */
  abandon(place: number, permits: number): void {
    if (!this.thread.root.isEntitled(this.thread.token)) return; // its place may be another's
    this.#waiters.abandon(place);
    this.whenFree(() => {
      // It may have been called meanwhile, and has touched nothing.
      if (this.#waiters.state(place) === CALLED) this.words[TAKEN]! -= permits;
      this.#waiters.free(place);
      this.#grant();
    });
  }

  #take(permits: number, recovers: boolean): Outcome {
    const { words } = this;
    const isPoisoned = words[POISONED] === 1;
    if (isPoisoned && !recovers) return "poisoned";
    if (words[TAKEN]! + permits > words[CAPACITY]! || this.#waiters.oldest() >= 0) return "busy";
    this.#hold(permits);
    words[TAKEN]! += permits;
    if (isPoisoned) words[POISONED] = 0;
    return isPoisoned ? "recovered" : "held";
  }

  /** Adds to the permits of this thread. Negative: they are released, and `taken` is lowered as well. */
  #hold(permits: number): void {
    this.#holders.own += permits;
    if (permits < 0) this.words[TAKEN]! += permits;
  }

  /** Calls those that may go on, in order. */
  #grant(): void {
    const { words } = this;
    for (;;) {
      const oldest = this.#waiters.oldest();
      if (oldest < 0) return;
      const request = this.#waiters.request(oldest);
      const recovers = (request & RECOVERS) !== 0;
      const permits = request & ~RECOVERS;
      if (words[POISONED] === 1 && !recovers) this.#waiters.answer(oldest, REFUSED);
      else if (words[TAKEN]! + permits > words[CAPACITY]!) return;
      else if (this.#waiters.answer(oldest, CALLED)) words[TAKEN]! += permits;
    }
  }

  protected override repair(): void {
    const { words } = this;
    const poisonous = words[POISONOUS]!;
    this.#holders.removeDead((permits) => {
      if (poisonous > 0 && permits >= poisonous) words[POISONED] = 1;
    });
    this.#waiters.sweep();
    words[TAKEN] = this.#holders.sum() + this.#waiters.called(~RECOVERS);
    this.#grant();
  }
}

/** One wait for permits. */
class Attempt {
  outcome: Outcome = "busy";
  readonly #gate: Gate;
  readonly #permits: number;
  readonly #recovers: boolean;
  readonly #checkWait: (() => void) | undefined;
  #place = -1;

  constructor(gate: Gate, permits: number, recovers: boolean, checkWait?: () => void) {
    this.#gate = gate;
    this.#permits = permits;
    this.#recovers = recovers;
    this.#checkWait = checkWait;
  }

  check(): boolean {
    if (this.#place >= 0) {
      if (!this.#gate.isCalled(this.#place)) return false;
      return this.#note(this.#gate.settle(this.#place, this.#permits));
    }
    const arrived = this.#gate.arrive(this.#permits, this.#recovers);
    if (arrived === undefined) return this.#note(undefined);
    this.#place = arrived.place;
    if (arrived.outcome === "busy") {
      try {
        this.#checkWait?.();
      } catch (error) {
        this.leave();
        throw error;
      }
    }
    return this.#note(arrived.outcome);
  }

  #note(outcome: Outcome | undefined): boolean {
    if (outcome === undefined) {
      this.#gate.checkSoon();
      return false;
    }
    this.outcome = outcome;
    if (outcome === "busy") return false;
    this.#place = -1;
    return true;
  }

  leave(): void {
    if (this.#place < 0) return;
    const place = this.#place;
    this.#place = -1;
    this.#gate.abandon(place, this.#permits);
  }
}
