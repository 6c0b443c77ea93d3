/** How a worker that has nothing to do looks out for the next call before it sleeps. */
import { CAME } from "../park/patience.ts";
import type { SpinOptions } from "../park/spin.ts";
import { CAME_SOON, Spinner } from "../park/spinner.ts";
import { SpinLength } from "../park/spin-length.ts";

export class Anticipation {
  readonly #spinner: Spinner;
  readonly #length: SpinLength;

  /** `spinMs`: longest usual spin. */
  constructor(spin: SpinOptions, spinMs: number) {
    this.#spinner = new Spinner(spin, spinMs);
    this.#length = new SpinLength(spinMs);
  }

  /** Spins for as long as calls have been coming lately, and on if that was often. True: there is one. */
  spin(): boolean {
    const { spinMs } = this.#length;
    if (spinMs === 0) return false;
    const outcome = this.#spinner.spin(spinMs);
    if (outcome === CAME_SOON) this.#length.endedInSpin();
    return outcome === CAME_SOON || outcome === CAME;
  }

  /** The worker has slept from `startMs` to `endMs`; `gapTells`: that says how calls come. */
  slept(startMs: number, endMs: number, gapTells: boolean): void {
    this.#spinner.endWait();
    if (gapTells) this.#length.ended(endMs - startMs);
  }
}
