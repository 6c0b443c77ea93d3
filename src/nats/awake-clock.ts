/**
 * The time in which this process has run. A process that was suspended, or whose event loop was blocked, has messages to
 * read that arrived meanwhile: that time must not count as the silence of the others.
 */
export class AwakeClock {
  readonly #now: () => number;
  readonly #maxStepMs: number;
  #ms = 0;
  #last: number;

  /** `intervalMs`: `tick` is called as often. Twice this is the most that counts between two calls. */
  constructor(now: () => number, intervalMs: number) {
    this.#now = now;
    this.#maxStepMs = 2 * intervalMs;
    this.#last = now();
  }

  readonly now = (): number => this.#ms + Math.min(this.#now() - this.#last, this.#maxStepMs);

  tick(): void {
    this.#ms = this.now();
    this.#last = this.#now();
  }
}
