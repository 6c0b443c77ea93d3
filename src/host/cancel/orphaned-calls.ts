/** Calls of one lane that were settled for their caller while the worker goes on with them. */
import type { CallLoad } from "../../lane/task-timings.ts";

export interface OrphanedCall {
  readonly load: CallLoad;
  /** The hard timeout that stops the worker then; undefined: what its caller allowed after an abort. */
  readonly limitMs: number | undefined;
  /** When the worker is stopped if it has not answered by then, in milliseconds; Infinity: never. */
  readonly killAtMs: number;
}

export class OrphanedCalls {
  readonly #calls = new Map<number, OrphanedCall>();

  /** How many the worker has not answered. */
  get size(): number {
    return this.#calls.size;
  }

  add(slot: number, generation: number, call: OrphanedCall): void {
    this.#calls.set(keyOf(slot, generation), call);
  }

  /** The worker has answered after all. */
  take(slot: number, generation: number): OrphanedCall | undefined {
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

  /**
   * The one for whose sake the worker is to be stopped, the longest overdue; undefined: for none. `stretch`: hard
   * timeouts are longer by this factor.
   */
  findLate(nowMs: number, stretch: number): OrphanedCall | undefined {
    let first: OrphanedCall | undefined;
    for (const call of this.#calls.values()) {
      const dueMs = call.killAtMs + (stretch - 1) * (call.limitMs ?? 0);
      if (dueMs <= nowMs && call.killAtMs < (first?.killAtMs ?? Infinity)) first = call;
    }
    return first;
  }

  /** What each of them amounts to. */
  *loads(): Generator<CallLoad> {
    for (const { load } of this.#calls.values()) yield load;
  }
}

/** Exact for 4 million slots. */
function keyOf(slot: number, generation: number): number {
  return slot * 2 ** 31 + generation;
}
