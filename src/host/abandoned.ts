/** Calls of one lane that were settled for their caller while the worker goes on with them. */
import type { CallLoad } from "../endpoint/service-times.ts";

export interface AbandonedCall {
  readonly load: CallLoad;
  /** When the worker is stopped if it has not answered by then, in milliseconds; Infinity: never. */
  readonly killAtMs: number;
}

export class AbandonedCalls {
  readonly #calls = new Map<number, AbandonedCall>();

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

  /** When the worker is to be stopped for the sake of one of them; Infinity: never. */
  get killAtMs(): number {
    let least = Infinity;
    for (const { killAtMs } of this.#calls.values()) least = Math.min(least, killAtMs);
    return least;
  }
}

/** Exact for 2 million slots, far more than there are in flight; beyond, two calls may swap loads. */
function keyOf(slot: number, generation: number): number {
  return slot * 2 ** 32 + (generation >>> 0);
}
