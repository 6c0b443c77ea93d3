/**
 * A lock for some instructions of heddle's own: no user code runs while it is held, and what it protects is whole after every
 * single store, so that a holder may die at any point.
 *
 * One word: 0, or the token of the holder. Edges: 0 → token, and dead token or DAMAGED → token, by compare-exchange; token → 0 or
 * DAMAGED by the holder. A thread that finds its own token has lost an earlier hold to an exhausted stack, and recovers.
 */
import { WaitTimeoutError } from "../shared-errors.ts";
import { CountedWait } from "./threads/counted-wait.ts";
import type { ThisThread } from "./threads/this-thread.ts";

/** A token that no thread has, so it counts as dead. */
const DAMAGED = -1;
/** Attempts before a worker sleeps. */
const SPINS = 500;
/** How long a worker sleeps between attempts. A release wakes no thread, so that it costs one store. */
const SLEEP_MS = 0.2;
/**
 * How long the main thread spins. It cannot hear of a death meanwhile, but it knows the threads that heddle is stopping: their latches are free
 * after FENCE_MS.
 */
const MAIN_MS = 250;
const MAIN_STEP_MS = 1;

/** What `run` returns if another thread has the latch. */
export const BUSY: unique symbol = Symbol("busy");

export class Latch {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #index: number;
  readonly #thread: ThisThread;
  readonly #name: string;

  /** `name` of what it protects, for the error of the main thread. */
  constructor(
    words: Int32Array<SharedArrayBuffer>,
    index: number,
    thread: ThisThread,
    name: string,
  ) {
    this.#words = words;
    this.#index = index;
    this.#thread = thread;
    this.#name = name;
  }

  /**
   * Runs `f` under it. `isDamaged`: its last holder has left things half-done. BUSY, if it may not wait: another thread holds it.
   *
   * The release is no call of a function: it needs no stack beyond that of the attempt. Where a stack ended in between, the attempt has
   * perhaps taken the latch, and this frame releases it.
   */
  run<Argument, Result>(
    f: (isDamaged: boolean, argument: Argument) => Result,
    argument: Argument,
    waits: boolean,
  ): Result | typeof BUSY {
    const { token } = this.#thread;
    const words = this.#words;
    const index = this.#index;
    let next = DAMAGED;
    try {
      this.#thread.checkLife();
      let isDamaged = false;
      if (Atomics.compareExchange(words, index, 0, token) !== 0) {
        const outcome = waits ? this.#take() : this.#trySoon();
        if (outcome === "busy") return BUSY;
        isDamaged = outcome === "recover";
      }
      const result = f(isDamaged, argument);
      next = 0;
      return result;
    } finally {
      // Not by a store: of a thread that was stopped and runs on it belongs to another.
      Atomics.compareExchange(words, index, token, next);
    }
  }

  /** Takes it if it is free. "recover": its last holder has died with it. */
  #try(): "taken" | "recover" | "busy" {
    const { token, root } = this.#thread;
    const holder = Atomics.compareExchange(this.#words, this.#index, 0, token);
    if (holder === 0) return "taken";
    if (holder === token) return "recover";
    if (!root.isGone(holder, this.#thread.nowMs)) return "busy";
    const seen = Atomics.compareExchange(this.#words, this.#index, holder, token);
    return seen === holder ? "recover" : "busy";
  }

  /** The same with SPINS attempts, since it is never held for long. */
  #trySoon(): "taken" | "recover" | "busy" {
    for (let look = 0; look < SPINS; look++) {
      const outcome = this.#try();
      if (outcome !== "busy") return outcome;
      this.#thread.runtime.pause();
    }
    return "busy";
  }

  /** Takes it, after a wait if need be. Throws on the main thread after MAIN_MS. */
  #take(): "taken" | "recover" {
    const thread = this.#thread;
    const { now, pause } = thread.runtime;
    let wait: CountedWait | undefined;
    for (let looks = 0;; looks++) {
      const outcome = this.#try();
      if (outcome !== "busy") {
        // It may have slept, and was stopped meanwhile.
        if (looks > SPINS) thread.checkLife();
        return outcome;
      }
      if (looks < SPINS) pause();
      else if (thread.mayBlock) Atomics.wait(this.#words, this.#index, this.#holder(), SLEEP_MS);
      else {
        wait ??= new CountedWait(now, MAIN_MS, MAIN_STEP_MS);
        // Its holder is suspended, or has died: this thread hears of that in a later turn of its event loop.
        if (wait.hasPassed()) {
          throw new WaitTimeoutError(`Getting the turn to change ${this.#name}`, MAIN_MS);
        }
      }
    }
  }

  #holder(): number {
    return Atomics.load(this.#words, this.#index);
  }
}
