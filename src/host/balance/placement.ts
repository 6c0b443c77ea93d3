/**
 * Which lane a call goes to: pack small, spread large.
 *
 * Waking a worker costs the host several microseconds and the call some tens, so calls of quick tasks
 * pile up on the worker that is awake until its backlog would take longer than a wake pays for. Calls
 * of long tasks, and of tasks that nobody has measured yet, go to workers that have nothing to do; at
 * most a second one waits in a worker's ring, so that it has something to go on with.
 */
import type { AwakeCount } from "../../sync/awake-count.ts";
import type { InFlightWindow } from "./in-flight-window.ts";
import type { Lane } from "./lane.ts";
import {
  type CallLoad,
  KIND_MASK,
  LONG,
  PER_US,
  SHORT,
  tenthsOf,
  UNKNOWN_LOAD,
} from "../../lane/task-timings.ts";

/** A backlog beyond this is worth waking another worker for; this much more for each that is awake. */
export const PACKED: number = 50 * PER_US;
const PACKED_PER_AWAKE: number = 10 * PER_US;
/**
 * The same where another worker would have no core of its own, beside the host and those awake: they
 * would take turns, which costs more than it gains unless there is much to do.
 */
export const PACKED_WHEN_CROWDED: number = 1000 * PER_US;
/** A backlog beyond this is worth sharing with a worker that is awake anyway. */
const SHARED: number = 20 * PER_US;
/**
 * Unanswered calls of a lane with a long one among them, beyond which none is added unless they are done
 * within a millisecond: what waits there can be taken back, but each has to be sent twice then.
 */
const LONG_DEPTH = 2;
const DEEP: number = 1000 * PER_US;

/** How long a lane's worker still has to work, in tenths of a microsecond. */
export function backlogOf({ load, endpoint }: Lane): number {
  if (load.backlog <= PACKED >> 1) return load.backlog;
  // While the host gives out calls it takes no answers: many may be there already.
  const ready = Math.min(endpoint.rx.countReady(), load.outstanding);
  return load.backlog * (1 - ready / load.outstanding);
}

/** Whether a lane has nothing to run, whatever is unanswered. */
export function isFree(lane: Lane): boolean {
  return lane.load.outstanding === 0 || lane.isResting;
}

/** From what backlog on calls are worth giving to another worker, in tenths of a microsecond. */
export interface Worth {
  /** One that has to be woken. */
  readonly wakesFrom: number;
  /** One that is awake, and has nothing to do. */
  readonly sharesFrom: number;
}

function wakesFrom(coresLeft: number): number {
  return coresLeft < 2 ? PACKED_WHEN_CROWDED : PACKED;
}

/** What chooses the lane of a call. */
export interface LaneChooser extends Worth {
  /** Whether calls may be taken back from one lane and given to another. */
  readonly mayTakeBack: boolean;
  /** How many calls it gives to one lane. */
  readonly depth: InFlightWindow;
  /** The lane for a call of this load; undefined: it waits on the host. */
  pick(lanes: readonly Lane[], load: CallLoad): Lane | undefined;
  /** A lane is gone, or took no more: it is not to be preferred. */
  forget(lane: Lane): void;
}

export class Placement implements LaneChooser {
  readonly mayTakeBack = true;
  readonly depth: InFlightWindow;
  readonly #active: Pick<AwakeCount, "coresLeft">;
  /** Where small calls went last. */
  #hot: Lane | undefined;
  /** The backlog up to which they go there, as it was when last asked. */
  #packed = PACKED;

  constructor(depth: InFlightWindow, active: Pick<AwakeCount, "coresLeft">) {
    this.depth = depth;
    this.#active = active;
  }

  get wakesFrom(): number {
    return wakesFrom(this.#active.coresLeft);
  }

  /** Those awake have their cores, but perhaps none is left for the host, which would wake for each few answers. */
  get sharesFrom(): number {
    return this.#active.coresLeft < 1 ? PACKED_WHEN_CROWDED : SHARED;
  }

  pick(lanes: readonly Lane[], load: CallLoad): Lane | undefined {
    if ((load & KIND_MASK) === LONG || load === UNKNOWN_LOAD) return this.#pickForLong(lanes, load);
    const hot = this.#hot;
    if (hot === undefined) return this.#pickForShort(lanes, load);
    const { outstanding, backlog, hasLong } = hot.load;
    // Asked anew for each pile, and only when it gets so high that the answer matters.
    if (outstanding === 0) this.#packed = PACKED;
    return backlog + tenthsOf(load) <= this.#packed && !hasLong && outstanding < this.depth.usual
      ? hot
      : this.#pickForShort(lanes, load);
  }

  forget(lane: Lane): void {
    if (this.#hot === lane) this.#hot = undefined;
  }

  #pickForShort(lanes: readonly Lane[], callLoad: CallLoad): Lane | undefined {
    const busy = tenthsOf(callLoad);
    const isQuick = (callLoad & KIND_MASK) === SHORT;
    let free: Lane | undefined;
    let best: Lane | undefined;
    let least = Infinity;
    let awake = 0;
    for (const lane of lanes) {
      const { load } = lane;
      if (!this.depth.hasRoom(load, isQuick)) continue;
      // Whose worker rests has nothing to do, be there answers to be read or not: it has to be woken.
      if (load.outstanding === 0 || lane.isResting) {
        free ??= lane;
        continue;
      }
      awake++;
      if (load.hasLong) continue;
      const backlog = backlogOf(lane);
      if (backlog < least) {
        least = backlog;
        best = lane;
      }
    }
    const packed = this.#packed = Math.max(this.wakesFrom, awake * PACKED_PER_AWAKE);
    if (best !== undefined && least + busy <= packed) return this.#hot = best;
    const chosen = free ?? best;
    if (chosen !== undefined) return this.#hot = chosen;
    return this.#leastDeep(lanes, busy);
  }

  #pickForLong(lanes: readonly Lane[], load: CallLoad): Lane | undefined {
    let best: Lane | undefined;
    let least = PACKED;
    for (const lane of lanes) {
      if (lane.load.outstanding < this.depth.usual && isFree(lane)) return lane;
      if (lane.load.hasLong) continue;
      const backlog = backlogOf(lane);
      if (backlog < least && lane.load.outstanding < this.depth.usual) {
        least = backlog;
        best = lane;
      }
    }
    return best ?? this.#leastDeep(lanes, load === UNKNOWN_LOAD ? DEEP : tenthsOf(load));
  }

  /** The lane with the least to do among those that may take one more call to wait behind a long one. */
  #leastDeep(lanes: readonly Lane[], busy: number): Lane | undefined {
    let best: Lane | undefined;
    for (const lane of lanes) {
      const { load } = lane;
      const isDeep = load.outstanding >= LONG_DEPTH && load.backlog + busy > DEEP;
      if (isDeep || load.outstanding >= this.depth.usual) continue;
      if (best === undefined || load.backlog < best.load.backlog) best = lane;
    }
    return best;
  }
}
