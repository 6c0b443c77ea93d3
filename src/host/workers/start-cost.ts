/**
 * Whether a further worker is worth its start: only if the calls would keep the present workers busy for longer than a start
 * takes. The estimate may be wrong, so a worker also starts when calls have waited for that long (as in the ski rental
 * problem: no more than twice the time of the better decision).
 *
 * Measured in turn with the rule that a worker starts after 10 ms of waiting: one worker, at most two, a burst of N calls on
 * a machine of two busy cores, medians of six runs.
 *
 *   calls × time     after 10 ms: total, CPU, workers     by cost
 *   600 × 0.1 ms     317 ms, 245 ms, 2                    125 ms, 127 ms, 1
 *   1500 × 0.1 ms    425 ms, 461 ms, 2                    228 ms, 239 ms, 1
 *   40 × 1 ms         76 ms,  71 ms, 2                     59 ms,  44 ms, 1
 *   20 × 5 ms        184 ms, 140 ms, 2                    117 ms,  90 ms, 1
 *   16 × 50 ms       797 ms, 537 ms, 2                    825 ms, 555 ms, 2
 */
import { WeakMap } from "../../builtins.ts";
import type { Lane } from "../lanes/lane.ts";

export class StartCost {
  readonly #now: () => number;
  readonly #begunMs = new WeakMap<Lane, number>();
  /** How long starts take, the latest counting half. 0: none is known. */
  #startMs = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The thread of a worker has started. */
  begin(lane: Lane): void {
    this.#begunMs.set(lane, this.#now());
  }

  /** It is ready. */
  end(lane: Lane): void {
    const startMs = this.#now() - this.#begunMs.get(lane)!;
    this.#startMs = this.#startMs === 0 ? startMs : (this.#startMs + startMs) / 2;
  }

  /**
   * Whether to start a worker beside these, when calls have waited for `waitedMs`. `backlogMs`: the time that all calls
   * take one worker; undefined: not known.
   */
  isWorth(backlogMs: number | undefined, workers: number, waitedMs: number): boolean {
    return backlogMs === undefined || waitedMs >= this.#startMs ||
      backlogMs / workers > this.#startMs;
  }
}
