/**
 * How many calls a worker is given ahead.
 *
 * A call in a ring costs the host a third of a microsecond, one that waits on the host two or three, so a program
 * that makes thousands of quick calls at once is served best by rings as deep as they come. What waits on the host is
 * in better hands otherwise: it is ordered by priority, counted by `maxQueue`, run by the inliner, spared a worker
 * that is to be recycled, and goes to whichever is free first.
 */
import { PER_US } from "../../lane/task-timings.ts";
import type { LaneLoad } from "./lane-load.ts";

/** Enough to keep a worker busy with the smallest tasks. */
const LEAST_USUAL = 1024;
/** A deep ring holds no more than this, in tenths of a microsecond: 50 ms. */
const DEEPEST: number = 50_000 * PER_US;

export interface DepthLimits {
  /** Async tasks that a worker runs at once: it takes so many calls without having answered one. */
  readonly maxConcurrency: number;
  /** Calls that may wait on the host. */
  readonly maxQueue: number;
  /** Set if the host runs some calls itself. */
  readonly inliner: unknown;
  /** Calls that a worker is given before another takes its place. */
  readonly recycleAfter: number;
}

export class InFlightWindow {
  /** Unanswered calls of a lane, as a rule. */
  readonly usual: number;
  #mayExceed: boolean;

  constructor(limits: DepthLimits, isAdaptive: boolean) {
    this.usual = Math.max(LEAST_USUAL, limits.maxConcurrency);
    this.#mayExceed = isAdaptive && limits.maxQueue === Infinity &&
      limits.recycleAfter === Infinity && limits.inliner === undefined;
  }

  /** From now on it matters in which order calls begin. */
  keepUsual(): void {
    this.#mayExceed = false;
  }

  /** Whether a lane may be given one more call; `isQuick`: one that is answered soon. */
  hasRoom(load: LaneLoad, isQuick: boolean): boolean {
    return load.outstanding < this.usual ||
      (isQuick && this.#mayExceed && load.isQuick && load.backlog < DEEPEST);
  }

  /** Calls that lanes have beyond the usual: they wait as those on the host do. */
  excessOf(lanes: readonly { readonly load: LaneLoad }[]): number {
    let excess = 0;
    for (const { load } of lanes) excess += Math.max(0, load.outstanding - this.usual);
    return excess;
  }
}
