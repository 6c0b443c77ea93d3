/** Since when something about a lane has been as it is: for whatever has to tell slow from stuck. */
import type { Lane } from "./balance/lane.ts";

export class LastProgress<State> {
  readonly #seen = new WeakMap<Lane, { readonly state: State; readonly sinceMs: number }>();

  /** When `state` was seen first, at this look or at an earlier one. */
  sinceMs(lane: Lane, state: State, nowMs: number): number {
    const seen = this.#seen.get(lane);
    if (seen?.state === state) return seen.sinceMs;
    this.#seen.set(lane, { state, sinceMs: nowMs });
    return nowMs;
  }
}
