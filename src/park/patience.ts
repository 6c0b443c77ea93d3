/**
 * Spin credit: a thread whose waits often end quickly may spin beyond the usual length, since a late response is then
 * probably held up by a collection, a compiler or the scheduler.
 *
 * Sleeping is expensive there. Where another thread has taken a core, or the guest of a hypervisor takes sleeping cores
 * for unavailable, a woken thread runs on its waker's core: host and worker share one for as long as both keep going
 * to sleep, and each call takes two switches and the host's spin (65 µs instead of 2). Without credit half of a pool's
 * first half second was like that, on one engine three quarters.
 *
 * Waits that end within the usual spin earn credit, longer spins spend it. Infrequent calls therefore earn little.
 */
import { type SpinOptions, spinUntil } from "./spin.ts";

/** Credit earned by a wait that ends within the usual spin. */
const EARNED_MS = 0.01;
const MAX_CREDIT_MS = 50;
/** Engines are slowest at the start. */
const FIRST_CREDIT_MS = 10;
/** Limits of one spin: the event loop turns every millisecond; a multiple of the usual spin. */
const MAX_SPIN_MS = 1;
const MAX_USUAL_SPINS = 20;
/** Shorter spins are not worth their cost. */
const MIN_SPIN_MS = 0.02;
/** Spins of one wait, with turns of the event loop between them. */
const MAX_SPINS = 5;
/**
 * A spin that exceeds its budget by this was interrupted: the scheduler gave the core to another thread, perhaps the one
 * that spinning delays. `LEFT_MS` of credit lasts until the scheduler has moved one of them, if a core is free.
 */
const INTERRUPTED_MS = 0.25;
const LEFT_MS = 5;

/** Outcomes of spinning on. */
export const OUT_OF_PATIENCE = 0;
export const CAME = 1;
/** Not yet; credit is left for another spin after a turn of the event loop. */
export const MAY_COME = 2;
export type Outcome = typeof OUT_OF_PATIENCE | typeof CAME | typeof MAY_COME;

export class Patience {
  readonly #spin: SpinOptions;
  readonly #spinMs: number;
  #creditMs: number = FIRST_CREDIT_MS;
  /** Of the current wait. */
  #waitedMs = 0;

  /** `usualMs`: the longest spin without credit; 0: never spin. */
  constructor(spin: SpinOptions, usualMs: number) {
    this.#spin = spin;
    this.#spinMs = Math.min(MAX_USUAL_SPINS * usualMs, MAX_SPIN_MS);
  }

  /** Sets the credit, whatever was earned. */
  give(creditMs: number): void {
    this.#creditMs = creditMs;
  }

  /** A wait ended within the usual spin. */
  earn(): void {
    this.#waitedMs = 0;
    if (this.#creditMs < MAX_CREDIT_MS) this.#creditMs += EARNED_MS;
  }

  /** The thread goes to sleep or has nothing left to wait for. */
  endWait(): void {
    this.#waitedMs = 0;
  }

  /** Spins on, after a spin of the usual length. */
  spinOn(): Outcome {
    const { now } = this.#spin;
    const waitMs = MAX_SPINS * this.#spinMs;
    const budgetMs = Math.min(this.#creditMs, this.#spinMs, waitMs - this.#waitedMs);
    if (budgetMs < MIN_SPIN_MS) return OUT_OF_PATIENCE;
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
    return this.#waitedMs < waitMs && this.#creditMs > MIN_SPIN_MS ? MAY_COME : OUT_OF_PATIENCE;
  }
}
