/** How a worker that has nothing to do looks out for the next call before it sleeps. */
import { CAME, OUT_OF_PATIENCE, type Outcome, Patience } from "../park/patience.ts";
import { type SpinOptions, spinUntil } from "../park/spin.ts";
import { SpinLength } from "../park/spin-length.ts";

export class Anticipation {
  readonly #spin: SpinOptions;
  readonly #length: SpinLength;
  readonly #patience: Patience;

  /** `spinMs`: longest usual spin. */
  constructor(spin: SpinOptions, spinMs: number) {
    this.#spin = spin;
    this.#length = new SpinLength(spinMs);
    this.#patience = new Patience(spin, spinMs);
  }

  /** Spins for as long as calls have been coming lately, and on if that was often. */
  spin(): Outcome {
    const { spinMs } = this.#length;
    if (spinMs === 0) return OUT_OF_PATIENCE;
    if (!spinUntil(this.#spin, spinMs)) return this.#patience.spinOn();
    this.#length.endedInSpin();
    this.#patience.earn();
    return CAME;
  }

  /** The worker has slept from `startMs` to `endMs`; `gapTells`: that says how calls come. */
  slept(startMs: number, endMs: number, gapTells: boolean): void {
    this.#patience.endWait();
    if (gapTells) this.#length.ended(endMs - startMs);
  }
}
