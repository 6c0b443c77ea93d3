/** Since when a lane has been in a state: distinguishes a slow lane from a stalled one. */
import { WeakMap } from "../../builtins.ts";
import type { Lane } from "./lane.ts";

export class LastProgress<State> {
  readonly #seen = new WeakMap<Lane, { readonly state: State; sinceMs: number }>();

  /** When `state` was seen for the first time, at this check or an earlier one; `lostMs` since the last one do not count. */
  sinceMs(lane: Lane, state: State, nowMs: number, lostMs = 0): number {
    const seen = this.#seen.get(lane);
    if (seen?.state === state) return seen.sinceMs += lostMs;
    this.#seen.set(lane, { state, sinceMs: nowMs });
    return nowMs;
  }
}
