/**
 * Adaptive spinning. Where other threads need the cores too (other processes, compilers, collectors), or host and worker
 * are on one core, a response can only come once the waiter sleeps: a call then takes both spins, 60 to 150 µs instead
 * of 15. After repeated unsuccessful spins in quick succession a thread therefore sleeps at once, and retries now and
 * then. A retry may get enough spin credit for the scheduler to notice that two threads want one core while another
 * is free.
 */
import { MAY_COME, OUT_OF_PATIENCE, type Outcome, Patience } from "./patience.ts";
import { type SpinOptions, spinUntil } from "./spin.ts";

/** Unsuccessful spins in quick succession after which spins are suppressed. */
const FUTILE_MISSES = 8;
/** Longest time between these: a spin does not slow down calls that come further apart. */
const SOON_MS = 2;
/** Time between retries, and their length in usual spins: the other thread has to be woken first. */
const TRY_PAUSE_MS = 3;
const TRY_SPINS = 3;
/** Credit of a retry, and the time until the next one gets any: it doubles, and is reset after a long time without. */
const GIVEN_MS = 5;
const MIN_PAUSE_MS = 6;
const MAX_PAUSE_MS = 100;

/** It came within the usual spin. */
export const CAME_SOON = 3;
/** The spin was suppressed. */
export const FUTILE = 4;
export type SpinOutcome = Outcome | typeof CAME_SOON | typeof FUTILE;

export class Spinner {
  readonly #spin: SpinOptions;
  readonly #patience: Patience;
  /** In a row. */
  #misses = 0;
  /** Whether the current wait began before this turn of the event loop. */
  #goesOn = false;
  #lastMs = 0;
  #nextTryMs = 0;
  #pauseMs = MIN_PAUSE_MS;
  #nextGiftMs = 0;

  /** `usualMs`: the longest spin without credit. */
  constructor(spin: SpinOptions, usualMs: number) {
    this.#spin = spin;
    this.#patience = new Patience(spin, usualMs);
  }

  /** Spins for `budgetMs`, and on if there is credit. `isUrgent`: for exactly `budgetMs`, never suppressed. */
  spin(budgetMs: number, isUrgent = false): SpinOutcome {
    let spinMs = budgetMs;
    if (this.#misses >= FUTILE_MISSES && !this.#goesOn && !isUrgent) {
      if (this.#isFutile()) return FUTILE;
      if (this.#misses > 0) spinMs *= TRY_SPINS;
    }
    if (spinUntil(this.#spin, spinMs)) {
      this.#misses = 0;
      this.#goesOn = false;
      this.#patience.earn();
      return CAME_SOON;
    }
    if (isUrgent) return OUT_OF_PATIENCE;
    if (!this.#goesOn) this.#beginMiss();
    const outcome = this.#patience.spinOn();
    this.#goesOn = outcome === MAY_COME;
    if (outcome === OUT_OF_PATIENCE) this.#missed();
    return outcome;
  }

  /** The thread goes to sleep or has nothing left to wait for. */
  endWait(): void {
    this.#goesOn = false;
    this.#patience.endWait();
  }

  /** Whether this wait is not a retry. */
  #isFutile(): boolean {
    const nowMs = this.#spin.now();
    const isSoon = nowMs - this.#lastMs <= SOON_MS;
    this.#lastMs = nowMs;
    if (!isSoon) this.#misses = 0;
    return isSoon && nowMs < this.#nextTryMs;
  }

  /** The usual spin was unsuccessful. */
  #beginMiss(): void {
    const nowMs = this.#spin.now();
    if (nowMs - this.#lastMs > SOON_MS) this.#misses = 0;
    if (this.#misses < FUTILE_MISSES || nowMs < this.#nextGiftMs) return;
    this.#patience.give(GIVEN_MS);
    this.#pauseMs = Math.min(2 * this.#pauseMs, MAX_PAUSE_MS);
    this.#nextGiftMs = nowMs + this.#pauseMs;
  }

  /** Spinning on was unsuccessful as well. */
  #missed(): void {
    const nowMs = this.#lastMs = this.#spin.now();
    if (++this.#misses < FUTILE_MISSES) return;
    this.#nextTryMs = nowMs + TRY_PAUSE_MS;
    if (nowMs < this.#nextGiftMs + MAX_PAUSE_MS) return;
    this.#pauseMs = MIN_PAUSE_MS;
    this.#nextGiftMs = nowMs + MIN_PAUSE_MS;
  }
}
