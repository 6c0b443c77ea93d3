/**
 * Adaptive spinning: how long the host polls for a response, and a worker for a call, before it sleeps.
 *
 * 1. Short waits earn credit, whether the thread spun through them or slept. Longer waits earn nothing.
 * 2. With credit a thread spins for up to a millisecond; a wait that is not short uses up credit. Without credit the
 *    thread sleeps at once.
 * 3. A spin that the system interrupts ends the credit: another thread needs the core, perhaps the awaited one.
 *
 * So a thread spins only while recent waits were short, and loses at most a fixed share of its time when they no longer
 * are: infrequent calls, code that is still being compiled and busy cores earn nothing. Sleeping is expensive after
 * short waits: a late response is then delayed by a garbage collection or the scheduler, and a woken thread may have to
 * share its waker's core (65 µs a call instead of 0.4 on two cores).
 *
 * The constants were fitted on a machine of two cores.
 */

/** Longest spin: the event loop turns every millisecond. */
const MAX_SPIN_MS = 1;
const MAX_CREDIT_MS = 10;
/** Credit earned by a short wait: a run of short waits pays for one that was not short. */
const EARNED_MS = 0.01;
/** Time between two clock readings that only an interruption explains. */
const INTERRUPTED_MS = 0.25;
/** Polls per clock reading, which costs as much as several polls of a ring (40 to 90 ns). */
const CHECKS_PER_CLOCK = 64;
/** Polls before the first pause, which takes about 35 ns and would delay an imminent response. */
const EAGER_CHECKS = 32;

export interface SpinOptions {
  readonly isReady: () => boolean;
  /** Whether a core is free for spinning. */
  readonly canContinue: () => boolean;
  /** `Atomics.pause`, or nothing on Node 22: a hint to the core, not a delay to count on. */
  readonly pause: () => void;
  /** In milliseconds. */
  readonly now: () => number;
}

export class AdaptiveSpin {
  readonly #options: SpinOptions;
  readonly #shortMs: number;
  #creditMs: number;

  /** `shortMs`: longest wait that earns credit; 0: never spin. */
  constructor(options: SpinOptions, shortMs: number) {
    this.#options = options;
    this.#shortMs = shortMs;
    this.#creditMs = shortMs;
  }

  /** Spins while there is credit and `canContinue`. True: the awaited record arrived. */
  spin(): boolean {
    const shortMs = this.#shortMs;
    if (this.#creditMs < shortMs || shortMs === 0) return false;
    const { isReady, canContinue, pause, now } = this.#options;
    if (!canContinue()) return false;
    for (let check = 0; check < EAGER_CHECKS; check++) if (isReady()) return this.#earn();
    const budgetMs = Math.min(this.#creditMs, MAX_SPIN_MS);
    let startMs = 0;
    let lastMs = 0;
    for (;;) {
      for (let check = 0; check < CHECKS_PER_CLOCK; check++) {
        if (isReady()) {
          return lastMs - startMs > shortMs ? this.#spend(lastMs - startMs, true) : this.#earn();
        }
        pause();
      }
      const nowMs = now();
      if (startMs === 0) startMs = nowMs;
      else if (nowMs - lastMs > INTERRUPTED_MS) {
        this.#creditMs = 0;
        return isReady();
      }
      lastMs = nowMs;
      if (nowMs - startMs >= budgetMs) return this.#spend(nowMs - startMs, isReady());
      if (!canContinue()) return isReady();
    }
  }

  /** Records that the thread slept for `ms` instead of spinning. */
  slept(ms: number): void {
    if (ms <= this.#shortMs) this.#earn();
  }

  #earn(): true {
    if (this.#creditMs < MAX_CREDIT_MS) this.#creditMs += EARNED_MS;
    return true;
  }

  #spend(ms: number, isReady: boolean): boolean {
    this.#creditMs = Math.max(this.#creditMs - ms, 0);
    return isReady;
  }
}
