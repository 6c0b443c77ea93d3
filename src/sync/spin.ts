/**
 * One thread's spin: a host that waits for a response, a worker for a call.
 *
 * A spin that fails is followed by waits without one, twice as many each time, and one that succeeds ends that. So where
 * another thread needs the core, one wait in 128 is a failed spin, and a core that is free again is noticed within as many.
 * Whether the threads of a pool spin at all is decided by its `SpinPolicy`.
 */

/** Polls per clock reading, which costs as much as several polls of a ring (40 to 90 ns). */
const CHECKS_PER_CLOCK = 64;
/** Polls before the first pause, which takes about 35 ns and would delay an imminent response. */
const EAGER_CHECKS = 32;
/** Readings after which a spin ends even if the clock stands still, as one that a program has replaced may. */
export const MAX_READINGS = 4096;
/** Most waits without a spin after one that failed. */
const MAX_SKIPPED = 127;

/** Waits without a spin after one that failed, which followed so many of them. */
export const skipsAfter = (skipped: number): number => Math.min(2 * skipped + 1, MAX_SKIPPED);

export interface SpinOptions {
  readonly isReady: () => boolean;
  /** Whether a core is free for spinning. */
  readonly canContinue: () => boolean;
  /** `Atomics.pause`, or nothing on Node 22: a hint to the core, not a delay to count on. */
  readonly pause: () => void;
  /** In milliseconds. */
  readonly now: () => number;
}

export class Spin {
  readonly #options: SpinOptions;
  readonly #maxMs: number;
  /** Waits without a spin: still to come, and after the last spin that failed. */
  #left = 0;
  #skipped = 0;

  /** `maxMs`: longest spin; 0: never. */
  constructor(options: SpinOptions, maxMs: number) {
    this.#options = options;
    this.#maxMs = maxMs;
    if (maxMs === 0) this.#left = Infinity;
  }

  /** Spins, unless a spin has just failed. True: what the thread waits for is there. */
  spin(): boolean {
    if (this.#left > 0) {
      this.#left--;
      return false;
    }
    const { isReady, canContinue, pause, now } = this.#options;
    if (!canContinue()) return false;
    for (let check = 0; check < EAGER_CHECKS; check++) if (isReady()) return this.#succeed();
    let endMs = 0;
    for (let reading = 0; reading < MAX_READINGS; reading++) {
      for (let check = 0; check < CHECKS_PER_CLOCK; check++) {
        if (isReady()) return this.#succeed();
        pause();
      }
      const nowMs = now();
      if (endMs === 0) endMs = nowMs + this.#maxMs;
      else if (nowMs >= endMs) break;
      if (!canContinue()) return isReady();
    }
    this.#left = this.#skipped = skipsAfter(this.#skipped);
    return isReady();
  }

  #succeed(): true {
    this.#skipped = 0;
    return true;
  }
}
