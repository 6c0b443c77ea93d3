/**
 * What the host knows of the answers that a worker still holds, since its ring had no room for them: from when on it
 * can tell which calls were not answered in time.
 *
 * Both counts begin at 0 and wrap. A worker hands its answers over in their order, so once as many have been handed over
 * as were held at some look, all that had been answered by that look is known.
 */

/** A worker's counts, as the host reads them. */
export interface AnswerCounts {
  /** Answers that ever found no room. */
  readonly answersHeld: number;
  /** Those of them that have been handed over since: they can be taken from the ring now. */
  readonly answersHandedOver: number;
}

/** So long at least a worker that holds answers may hand over none: it may have to be woken, or have no core. */
export const LEAST_STUCK_MS = 50;

export class HeldAnswers {
  /** What had been answered by then, in milliseconds, has been taken. */
  knownUntilMs: number = -Infinity;
  /** When the worker last handed an answer over that it had held, began to hold some, or was given room for them. */
  movedMs: number = -Infinity;
  #isHolding = false;
  #handedOver = 0;
  #taken = 0;
  /** How many were held at the look that is waited for, and when that was. */
  #awaited = 0;
  #awaitedMs = 0;

  /** Once for each look, before it takes the answers; `taken`: how far the host has read the ring. */
  look(counts: AnswerCounts, taken: number, nowMs: number): void {
    // In this order: what is handed over in between is held by then.
    const handedOver = counts.answersHandedOver;
    const held = counts.answersHeld;
    const wasHolding = this.#isHolding;
    this.#isHolding = held !== handedOver;
    if (handedOver !== this.#handedOver || taken !== this.#taken || !wasHolding) {
      this.movedMs = nowMs;
    }
    this.#handedOver = handedOver;
    this.#taken = taken;
    if (!this.#isHolding) this.knownUntilMs = nowMs;
    else if (!wasHolding || ((handedOver - this.#awaited) | 0) >= 0) {
      if (wasHolding) this.knownUntilMs = this.#awaitedMs;
      this.#awaited = held;
      this.#awaitedMs = nowMs;
    }
  }

  /**
   * How long what began at `sinceMs` has certainly not been answered, at the look of `lookMs`. A worker that holds answers
   * and hands over no more does not get on: time counts from the last, then.
   */
  unansweredMs(sinceMs: number, lookMs: number): number {
    const knownMs = this.knownUntilMs - sinceMs;
    if (lookMs - this.movedMs < LEAST_STUCK_MS) return knownMs;
    return Math.max(knownMs, lookMs - Math.max(sinceMs, this.movedMs));
  }
}
