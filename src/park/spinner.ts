/**
 * Spinning for what comes soon, as long as that is of any use.
 *
 * Where other threads want the cores as well (another process, compilers and collectors of the engine), or the system has
 * put host and worker on one core, what is waited for can only come once the waiter sleeps: each call took both
 * spins, 60 to 150 µs, where threads that never spin take 15. So a thread whose spins have been in vain
 * many times in a row, one soon after the other, sleeps at once from then on, and tries again now and then. With such a try
 * it may get patience enough for the system to notice that two threads want one core while another is free.
 */
import { MAY_COME, OUT_OF_PATIENCE, type Outcome, Patience } from "./patience.ts";
import { type SpinOptions, spinUntil } from "./spin.ts";

/** So many spins in vain, each soon after the one before, show that spinning is of no use. */
const FUTILE_MISSES = 8;
/** What is soon: calls that come further apart than that are not slowed down by a spin. */
const SOON_MS = 2;
/** From then on it tries again after so long, with a spin as long as several usual ones: the other has to be woken first. */
const TRY_PAUSE_MS = 3;
const TRY_SPINS = 3;
/** Patience that a try may get, and how long after the last one: doubles up to the other, and begins anew when none was due for so long. */
const GIVEN_MS = 5;
const LEAST_PAUSE_MS = 6;
const MOST_PAUSE_MS = 100;

/** It came within the usual spin. */
export const CAME_SOON = 3;
/** Not spun for at all. */
export const FUTILE = 4;
export type SpinOutcome = Outcome | typeof CAME_SOON | typeof FUTILE;

export class Spinner {
  readonly #spin: SpinOptions;
  readonly #patience: Patience;
  /** In a row. */
  #misses = 0;
  /** Within a wait that goes on after a turn of the event loop. */
  #goesOn = false;
  #lastMs = 0;
  #nextTryMs = 0;
  #pauseMs = LEAST_PAUSE_MS;
  #nextGiftMs = 0;

  /** `usualMs`: the longest spin without patience. */
  constructor(spin: SpinOptions, usualMs: number) {
    this.#spin = spin;
    this.#patience = new Patience(spin, usualMs);
  }

  /**
   * Spins for `budgetMs`, and on, if there is patience. `isUrgent`: it is to be known soon that nothing comes,
   * so always for `budgetMs` and no longer.
   */
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

  /** The thread goes to sleep, or has nothing to wait for any more: the wait is over. */
  endWait(): void {
    this.#goesOn = false;
    this.#patience.endWait();
  }

  /** After so many misses: whether this wait is none of those that try again. */
  #isFutile(): boolean {
    const nowMs = this.#spin.now();
    const isSoon = nowMs - this.#lastMs <= SOON_MS;
    this.#lastMs = nowMs;
    if (!isSoon) this.#misses = 0;
    return isSoon && nowMs < this.#nextTryMs;
  }

  /** Nothing came within the usual spin. */
  #beginMiss(): void {
    const nowMs = this.#spin.now();
    if (nowMs - this.#lastMs > SOON_MS) this.#misses = 0;
    if (this.#misses < FUTILE_MISSES || nowMs < this.#nextGiftMs) return;
    this.#patience.give(GIVEN_MS);
    this.#pauseMs = Math.min(2 * this.#pauseMs, MOST_PAUSE_MS);
    this.#nextGiftMs = nowMs + this.#pauseMs;
  }

  /** Nor after it. */
  #missed(): void {
    const nowMs = this.#lastMs = this.#spin.now();
    if (++this.#misses < FUTILE_MISSES) return;
    this.#nextTryMs = nowMs + TRY_PAUSE_MS;
    if (nowMs < this.#nextGiftMs + MOST_PAUSE_MS) return;
    this.#pauseMs = LEAST_PAUSE_MS;
    this.#nextGiftMs = nowMs + LEAST_PAUSE_MS;
  }
}
