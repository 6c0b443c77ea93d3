/**
 * Whether a further worker is worth its start: only if the calls would keep the present workers busy for longer than a start
 * takes. The estimate may be wrong, so a worker also starts when calls have waited for that long in all (as in the ski rental
 * problem: no more than twice the time of the better decision).
 *
 * Measured in turn with the rule that a worker starts after 10 ms of waiting: a pool of one worker, at most two, gets a burst
 * of calls of a known task, on a busy machine of two cores. Medians of ten runs on Node 26.
 *
 *   calls × time     after 10 ms: total, CPU, workers     by cost
 *   600 × 0.1 ms     252 ms, 221 ms, 2                    152 ms, 128 ms, 1
 *   1500 × 0.1 ms    456 ms, 481 ms, 2                    348 ms, 263 ms, 1
 *   4000 × 0.1 ms   1001 ms, 919 ms, 2                    887 ms, 905 ms, 2
 *   40 × 1 ms         96 ms,  86 ms, 2                     65 ms,  44 ms, 1
 *   200 × 1 ms       402 ms, 455 ms, 2                    320 ms, 227 ms, 1
 *   20 × 5 ms        153 ms, 159 ms, 2                    210 ms,  93 ms, 1
 *   16 × 50 ms       818 ms, 629 ms, 2                    794 ms, 657 ms, 2
 */
import { WeakMap } from "../../../../builtins.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";

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
    const begunMs = this.#begunMs.get(lane);
    if (begunMs === undefined) return; // it began before anything was measured
    const startMs = this.#now() - begunMs;
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
