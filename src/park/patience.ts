/**
 * Spinning on for a while beyond the usual, for threads that have been busy: what they wait for has come
 * quickly so often that it is probably only held up, by a collection, a compiler or the system.
 *
 * Going to sleep then is dear. Where another thread of the engine has taken a core, or the system takes sleeping
 * cores for unavailable (guests of a hypervisor), a thread that is woken runs on its waker's core: host
 * and worker share one, each call takes two switches and whatever the host spins (65 µs instead of 2,
 * measured), and the system does not spread them as long as both keep going to sleep. Without patience, half of a
 * pool's first half second was like that, on one engine three quarters.
 *
 * Patience is earned by waits that end within the usual spin, and spent by spinning on: so only those have
 * it whom a sleep would cost more, many quick calls, and it costs nothing where calls come rarely.
 */
import { type SpinOptions, spinUntil } from "./spin.ts";

/** What a wait earns that ends within the usual spin. */
const EARNED_MS = 0.01;
/** Most that can be earned. */
const MOST_CREDIT_MS = 50;
/** What a thread begins with, as engines are at their slowest then. */
const FIRST_CREDIT_MS = 10;
/** Longest spin at once: an event loop turns every millisecond. It is also so many usual ones at most. */
const MOST_SPIN_MS = 1;
const USUAL_SPINS = 20;
/** Less is not worth it. */
const LEAST_SPIN_MS = 0.02;
/** So many spins are one wait at most, with turns of the event loop between. */
const SPINS = 5;
/**
 * A spin that outlasts its budget by so much was interrupted: the system gave the core to another thread, that which is
 * waited for perhaps. Then spinning is what keeps it from coming, and some turns of the system's clock later, for which
 * patience is left, it has either moved one of the two to another core or has none.
 */
const INTERRUPTED_MS = 0.25;
const LEFT_MS = 5;

/** What came of spinning on. */
export const OUT_OF_PATIENCE = 0;
export const CAME = 1;
/** Not yet; there is patience left for more when the event loop has turned. */
export const MAY_COME = 2;
export type Outcome = typeof OUT_OF_PATIENCE | typeof CAME | typeof MAY_COME;

export class Patience {
  readonly #spin: SpinOptions;
  readonly #spinMs: number;
  #creditMs: number = FIRST_CREDIT_MS;
  /** Of the wait that goes on. */
  #waitedMs = 0;

  /** `usualMs`: the longest spin without patience; none at all, if it is 0. */
  constructor(spin: SpinOptions, usualMs: number) {
    this.#spin = spin;
    this.#spinMs = Math.min(USUAL_SPINS * usualMs, MOST_SPIN_MS);
  }

  /** Patience for so long, whatever was earned. */
  give(creditMs: number): void {
    this.#creditMs = creditMs;
  }

  /** A wait has ended within the usual spin. */
  earn(): void {
    this.#waitedMs = 0;
    if (this.#creditMs < MOST_CREDIT_MS) this.#creditMs += EARNED_MS;
  }

  /** The thread goes to sleep, or has nothing to wait for any more: the wait is over. */
  endWait(): void {
    this.#waitedMs = 0;
  }

  /** Spins on, after a spin of the usual length. */
  spinOn(): Outcome {
    const { now } = this.#spin;
    const waitMs = SPINS * this.#spinMs;
    const budgetMs = Math.min(this.#creditMs, this.#spinMs, waitMs - this.#waitedMs);
    if (budgetMs < LEAST_SPIN_MS) return OUT_OF_PATIENCE;
    const startMs = now();
    const isReady = spinUntil(this.#spin, budgetMs);
    const spentMs = now() - startMs;
    this.#creditMs -= spentMs;
    if (spentMs > budgetMs + INTERRUPTED_MS) this.#creditMs = Math.min(this.#creditMs, LEFT_MS);
    if (isReady) {
      this.#waitedMs = 0;
      return CAME;
    }
    this.#waitedMs += spentMs;
    return this.#waitedMs < waitMs && this.#creditMs > LEAST_SPIN_MS ? MAY_COME : OUT_OF_PATIENCE;
  }
}
