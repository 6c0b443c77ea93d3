/**
 * The in-flight window: how many calls a lane may have before the worker answers.
 *
 * A call in a ring costs the host 0.3 µs; a call that waits on the host costs 2 to 3 µs. So a program that makes
 * thousands of short calls at once runs fastest with deep rings. Otherwise a call should wait on the host: there it
 * is ordered by priority, counted by `maxQueue`, can run in the inline executor or on the first idle worker, and
 * does not go to a worker that is about to be recycled.
 */
import { PER_US } from "../../metering/task-timings.ts";
import type { LaneLoad } from "./lane-load.ts";

/** Enough to keep a worker busy with the shortest tasks. */
const MIN_USUAL = 1024;
/** Maximum backlog of a deep ring, in tenths of a microsecond: 50 ms. */
const DEEPEST: number = 50_000 * PER_US;

export interface DepthLimits {
  /** Async tasks that a worker runs at once: it takes that many calls before it has answered one. */
  readonly maxConcurrency: number;
  /** Maximum of calls that wait on the host. */
  readonly maxQueue: number;
  /** Set if the host runs some calls itself. */
  readonly inliner: unknown;
  /** Calls that a worker gets before another replaces it. */
  readonly recycleAfter: number;
}

export class InFlightWindow {
  /** Maximum of unanswered calls of a lane, unless all are short. */
  readonly usual: number;
  #mayExceed: boolean;

  constructor(limits: DepthLimits, isAdaptive: boolean) {
    // With a bounded queue a worker gets what it may run at once. All else waits where it is counted.
    this.usual = limits.maxQueue === Infinity
      ? Math.max(MIN_USUAL, limits.maxConcurrency)
      : limits.maxConcurrency;
    this.#mayExceed = isAdaptive && limits.maxQueue === Infinity &&
      limits.recycleAfter === Infinity && limits.inliner === undefined;
  }

  /** From now on the order in which calls begin matters. */
  keepUsual(): void {
    this.#mayExceed = false;
  }

  /** Whether a lane may get one more call. `hasOnlyShort`: a response to it comes soon. */
  hasRoom(load: LaneLoad, hasOnlyShort: boolean): boolean {
    return load.outstanding < this.usual ||
      (hasOnlyShort && this.#mayExceed && load.hasOnlyShort && load.backlog < DEEPEST);
  }

  /** Calls of lanes beyond the usual number: they count as waiting, like those on the host. */
  excessOf(lanes: readonly { readonly load: LaneLoad }[]): number {
    let excess = 0;
    for (const { load } of lanes) excess += Math.max(0, load.outstanding - this.usual);
    return excess;
  }
}
