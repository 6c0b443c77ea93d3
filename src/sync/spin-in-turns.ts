/**
 * The spin of a worker whose async tasks are in flight: it looks for calls in one turn of its event loop after the other, so that
 * timers and I/O of the tasks go on. It ends and backs off as a `Spin` does.
 */
import { MAX_READINGS, skipsAfter, type SpinOptions } from "./spin.ts";

export class SpinInTurns {
  readonly #options: Pick<SpinOptions, "canContinue" | "now">;
  readonly #maxMs: number;
  /** Turns in a row in which the thread has looked by now. */
  turns = 0;
  #endMs = 0;
  /** Waits without a spin: still to come, and after the last spin that failed. */
  #left = 0;
  #skipped = 0;

  /** `maxMs`: longest spin; 0: never. */
  constructor(options: Pick<SpinOptions, "canContinue" | "now">, maxMs: number) {
    this.#options = options;
    this.#maxMs = maxMs;
    if (maxMs === 0) this.#left = Infinity;
  }

  /** Whether to look again in the next turn. `end()` when the thread need not wait any more. */
  again(): boolean {
    if (this.turns === 0 && this.#left > 0) {
      this.#left--;
      return false;
    }
    if (this.#options.canContinue()) {
      const nowMs = this.#options.now();
      if (this.turns === 0) this.#endMs = nowMs + this.#maxMs;
      if (nowMs < this.#endMs && this.turns < MAX_READINGS) {
        this.turns++;
        return true;
      }
      this.#left = this.#skipped = skipsAfter(this.#skipped);
    }
    this.turns = 0;
    return false;
  }

  /** Ends a spin, which has succeeded. */
  end(): void {
    this.turns = this.#skipped = 0;
  }
}
