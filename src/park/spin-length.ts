/**
 * Length of the spin for the next call: twice the recent gap between calls, or 0 if that is longer than a spin may last.
 */

/** Weight of a new gap. */
const WEIGHT = 0.25;
/** Assumed for a gap that ended in the spin, where no clock is read. */
const SHORT_GAP_MS = 0.005;
const MIN_SPIN_MS = 0.01;

export class SpinLength {
  readonly #maxMs: number;
  #gapMs = SHORT_GAP_MS;

  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  /** Milliseconds; 0: do not spin. */
  get spinMs(): number {
    if (this.#gapMs > this.#maxMs) return 0;
    return Math.min(Math.max(2 * this.#gapMs, MIN_SPIN_MS), this.#maxMs);
  }

  endedInSpin(): void {
    this.#learn(SHORT_GAP_MS);
  }

  /** The gap ended after a block. */
  ended(gapMs: number): void {
    this.#learn(Math.min(gapMs, 2 * this.#maxMs));
  }

  #learn(gapMs: number): void {
    this.#gapMs += (gapMs - this.#gapMs) * WEIGHT;
  }
}
