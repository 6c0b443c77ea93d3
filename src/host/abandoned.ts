/** Calls of one lane that were settled for their caller while the worker goes on with them. */
import type { CallLoad } from "../endpoint/service-times.ts";
import { type HeldAnswers, LEAST_STUCK_MS } from "./held-answers.ts";

export interface AbandonedCall {
  readonly load: CallLoad;
  /** The hard timeout that stops the worker then; undefined: what its caller allowed after an abort. */
  readonly limitMs: number | undefined;
  /** When the worker is stopped if it has not answered by then, in milliseconds; Infinity: never. */
  readonly killAtMs: number;
  /** What it was allowed until then, counted from when it began or was given up, in milliseconds. */
  readonly allowedMs: number;
}

export class AbandonedCalls {
  readonly #calls = new Map<number, AbandonedCall>();

  /** How many the worker has not answered. */
  get size(): number {
    return this.#calls.size;
  }

  add(slot: number, generation: number, call: AbandonedCall): void {
    this.#calls.set(keyOf(slot, generation), call);
  }

  /** The worker has answered after all. */
  take(slot: number, generation: number): AbandonedCall | undefined {
    if (this.#calls.size === 0) return undefined;
    const key = keyOf(slot, generation);
    const call = this.#calls.get(key);
    this.#calls.delete(key);
    return call;
  }

  /** Whether the worker may have to be stopped for one of them. */
  get hasLimits(): boolean {
    for (const { killAtMs } of this.#calls.values()) if (killAtMs !== Infinity) return true;
    return false;
  }

  /** The one for whose sake the worker is to be stopped at the look of `lookMs`, the longest overdue; undefined: for none. */
  findLate(held: HeldAnswers | undefined, lookMs: number): AbandonedCall | undefined {
    let first: AbandonedCall | undefined;
    for (const call of this.#calls.values()) {
      const { killAtMs, allowedMs } = call;
      if (killAtMs > lookMs || killAtMs >= (first?.killAtMs ?? Infinity)) continue;
      // A worker that holds answers is given as long again as it last handed one over, and a moment at least.
      const isLate = held === undefined || held.knownUntilMs >= killAtMs ||
        lookMs - held.movedMs >= Math.max(allowedMs, LEAST_STUCK_MS);
      if (isLate) first = call;
    }
    return first;
  }
}

/** Exact for 4 million slots. */
function keyOf(slot: number, generation: number): number {
  return slot * 2 ** 31 + generation;
}
