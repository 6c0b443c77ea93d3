/** Calls of one lane that were settled for their caller while the worker still runs them. */
import { Map } from "../../builtins.ts";
import type { CallLoad } from "../../metering/task-timings.ts";
import { keyOf } from "../../protocol/call-key.ts";

export interface OrphanedCall {
  readonly load: CallLoad;
  /** The hard timeout that stops the worker at `killAtMs`. Undefined: the limit is the caller's `killAfterMs`. */
  readonly limitMs: number | undefined;
  /** When the worker is stopped if it has not answered, in milliseconds; Infinity: never. */
  readonly killAtMs: number;
}

export class OrphanedCalls {
  readonly #calls = new Map<number, OrphanedCall>();

  /** How many are unanswered. */
  get size(): number {
    return this.#calls.size;
  }

  add(slot: number, generation: number, call: OrphanedCall): void {
    this.#calls.set(keyOf(slot, generation), call);
  }

  /** The worker has answered: removes the call. */
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
   * The call for which the worker must be stopped now, the longest overdue. Undefined: none. `stretch`: hard
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

  /** The load of each. */
  *loads(): Generator<CallLoad> {
    for (const { load } of this.#calls.values()) yield load;
  }
}
