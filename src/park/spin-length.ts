/**
 * How long it is worth spinning for the next call: twice as long as calls have been coming lately, not
 * at all when they come further apart than a spin may last.
 */

/** Weight of a new gap. */
const WEIGHT = 0.25;
/** What a gap that ended in the spin is taken for: no clock was read. */
const SHORT_GAP_MS = 0.005;
/** A spin is twice the gap it is for, and never shorter than this. */
const LEAST_SPIN_MS = 0.01;

export class SpinLength {
  readonly #maxMs: number;
  #gapMs = SHORT_GAP_MS;

  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  /** Milliseconds; 0: do not spin. */
  get spinMs(): number {
    if (this.#gapMs > this.#maxMs) return 0;
    return Math.min(Math.max(2 * this.#gapMs, LEAST_SPIN_MS), this.#maxMs);
  }

  endedInSpin(): void {
    this.#learn(SHORT_GAP_MS);
  }

  /** The rest was ended, after a block, so long after it began. */
  ended(gapMs: number): void {
    this.#learn(Math.min(gapMs, 2 * this.#maxMs));
  }

  #learn(gapMs: number): void {
    this.#gapMs += (gapMs - this.#gapMs) * WEIGHT;
  }
}
