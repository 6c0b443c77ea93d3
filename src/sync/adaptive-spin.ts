/**
 * Adaptive spinning: how long the host looks for a response, and a worker for a call, before it sleeps.
 *
 * 1. Short waits earn credit, whether the thread spun through them or slept. Longer ones earn nothing.
 * 2. With credit a thread spins, for up to a millisecond; what is not short is paid for. Without, it sleeps at once.
 * 3. A spin that the system interrupts ends the credit: another thread wants the core, perhaps the one waited for.
 *
 * So a thread spins only while what it waits for has lately come within a spin, and loses at most a fixed share of its
 * time where that ends: calls that come rarely, code that is still being compiled and busy cores earn nothing. Sleeping
 * is expensive where a thread has lately been quick: a response that is late then is held up by a collection or the
 * scheduler, and a woken thread may have to share its waker's core (65 µs a call instead of 0.4 on two cores).
 *
 * The constants were fitted on a machine of two cores.
 */

/** Longest spin: the event loop turns every millisecond. */
const MAX_SPIN_MS = 1;
const MAX_CREDIT_MS = 10;
/** Earned by a short wait: so many in a row pay for one that was not short. */
const EARNED_MS = 0.01;
/** Time between two looks at the clock that only an interruption explains. */
const INTERRUPTED_MS = 0.25;
/** A clock reading costs as much as several looks at a ring (40 to 90 ns). */
const LOOKS_PER_CLOCK = 64;
/** Looks before the first pause, which takes some 35 ns and would delay a response that is nearly there. */
const EAGER_LOOKS = 32;

export interface SpinOptions {
  readonly isReady: () => boolean;
  /** Whether a core is free for spinning. */
  readonly mayGoOn: () => boolean;
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

  /** Spins for as long as there is credit. True: it came. */
  spin(): boolean {
    const shortMs = this.#shortMs;
    if (this.#creditMs < shortMs || shortMs === 0) return false;
    const { isReady, mayGoOn, pause, now } = this.#options;
    for (let look = 0; look < EAGER_LOOKS; look++) if (isReady()) return this.#earn();
    const budgetMs = Math.min(this.#creditMs, MAX_SPIN_MS);
    let startMs = 0;
    let lastMs = 0;
    for (;;) {
      for (let look = 0; look < LOOKS_PER_CLOCK; look++) {
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
      if (!mayGoOn()) return isReady();
    }
  }

  /** The thread has slept for so long instead. */
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
