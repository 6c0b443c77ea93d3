/**
 * The limit of a wait in which a thread looks again and again. It counts the time between two looks up to a maximum: if more has passed, the
 * process was suspended, and what the thread waits for with it.
 */
export class CountedWait {
  readonly #now: () => number;
  readonly #maxStepMs: number;
  #leftMs: number;
  #lookedMs: number;

  constructor(now: () => number, limitMs: number, maxStepMs: number) {
    this.#now = now;
    this.#maxStepMs = maxStepMs;
    this.#leftMs = limitMs;
    this.#lookedMs = now();
  }

  /** A look, at which it is not over yet: whether the limit has passed. */
  hasPassed(): boolean {
    const nowMs = this.#now();
    this.#leftMs -= Math.min(nowMs - this.#lookedMs, this.#maxStepMs);
    this.#lookedMs = nowMs;
    return this.#leftMs < 0;
  }
}
