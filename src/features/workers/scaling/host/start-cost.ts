/**
 * Whether a further worker is worth its start: only if its part of the work is worth two starts. The estimate may be wrong, so a worker
 * also starts when calls have waited for twice that time, or for that time if nothing is known of them (as in the ski rental problem: a
 * bounded multiple of the time of the better decision).
 *
 * Measured by `benchmarks/lint-cli`: a program that lints files of 2 ms (5 to 20 ms while the code is cold), on two cores, with two
 * workers from the start, with one, and with up to two by this rule. Medians of seven fresh processes on Node 26, which took turns, in
 * milliseconds of wall time and of processor time. (The rule before, a start after 10 ms of waiting, gave 391 and 648 for 50 files.)
 *
 *   files     two          one          by this rule
 *    20     301,  482    268,  345      269,  357
 *    50     370,  610    331,  424      331,  419
 *   200     588, 1032    662,  792      624, 1014
 *   500     927, 1698   1277, 1524      973, 1723
 */
import { WeakMap } from "../../../../builtins.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";

/** What a worker costs, in starts: its first calls are slow as well, because nothing of its code is compiled yet. */
const STARTS = 2;
/** Most that a worker is taken to cost: modules that load for seconds do so beside the calls that run. */
const MAX_COST_MS = 200;
/** Time after which a worker that has not started yet no longer holds up others, if none has. */
const FIRST_MS = 250;

export class StartCost {
  readonly #now: () => number;
  readonly #begunMs = new WeakMap<Lane, number>();
  #lastBegunMs = 0;
  /** How long starts take, the latest counting half. Undefined: none is known. */
  #startMs: number | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The thread of a worker has started. */
  begin(lane: Lane): void {
    this.#lastBegunMs = this.#now();
    this.#begunMs.set(lane, this.#lastBegunMs);
  }

  /** It is ready. */
  end(lane: Lane): void {
    const begunMs = this.#begunMs.get(lane);
    if (begunMs === undefined) return; // it began before anything was measured
    const startMs = this.#now() - begunMs;
    this.#startMs = ((this.#startMs ?? startMs) + startMs) / 2;
  }

  /**
   * Whether to start a worker beside these, when calls have waited for `waitedMs`. `backlogMs`: the time that all calls
   * take one worker; undefined: not known.
   */
  isWorth(backlogMs: number | undefined, workers: number, waitedMs: number): boolean {
    if (this.#startMs === undefined) return this.#now() - this.#lastBegunMs >= FIRST_MS;
    const costMs = Math.min(STARTS * this.#startMs, MAX_COST_MS);
    if (backlogMs === undefined) return waitedMs >= costMs;
    return backlogMs / (workers + 1) > costMs || waitedMs >= 2 * costMs; // the estimate may be wrong
  }
}
