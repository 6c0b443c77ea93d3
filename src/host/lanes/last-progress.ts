/** Since when a lane has been in a state: distinguishes a slow lane from a stalled one. */
import { WeakMap } from "../../builtins.ts";
import type { Lane } from "./lane.ts";

export class LastProgress<State> {
  readonly #seen = new WeakMap<Lane, { readonly state: State; readonly sinceMs: number }>();

  /** When `state` was seen for the first time, at this check or an earlier one. */
  sinceMs(lane: Lane, state: State, nowMs: number): number {
    const seen = this.#seen.get(lane);
    if (seen?.state === state) return seen.sinceMs;
    this.#seen.set(lane, { state, sinceMs: nowMs });
    return nowMs;
  }
}
