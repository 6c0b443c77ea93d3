/**
 * Which lane a call goes to: pack short calls, spread long ones.
 *
 * A wake costs the host several microseconds and the call some tens. So calls of short tasks go to the worker that
 * is awake until its backlog takes longer than another wake would. Calls of long tasks, and of tasks without
 * measurements, go to idle workers. At most one more waits in a worker's ring, so that the worker can go on at
 * once. Async calls stay with their worker until they end, and nobody knows what they compute then: each goes to the worker
 * with the fewest.
 */
import type { AwakeCount } from "../../sync/awake-count.ts";
import type { InFlightWindow } from "../lanes/in-flight-window.ts";
import type { Lane } from "../lanes/lane.ts";
import {
  ASYNC,
  type CallLoad,
  KIND_BITS,
  KIND_MASK,
  LONG,
  PER_US,
  UNKNOWN_LOAD,
} from "../../metering/task-timings.ts";

/** A backlog above this justifies waking another worker; this much more for each that is awake. */
export const PACKED: number = 50 * PER_US;
const PACKED_PER_AWAKE: number = 10 * PER_US;
/**
 * The same if another worker would have no core of its own, beside the host and the workers awake: they would take
 * turns, which pays only if there is much to do.
 */
export const PACKED_WHEN_CROWDED: number = 1000 * PER_US;
/** A backlog above this justifies sharing with a worker that is awake anyway. */
const SHARED: number = 20 * PER_US;
/**
 * Maximum of unanswered calls of a lane with a long one among them, unless they take less than a millisecond. Calls
 * that wait there can be stolen, but then each is sent twice.
 */
const LONG_DEPTH = 2;
const DEEP: number = 1000 * PER_US;

/** Estimated time of a lane's unfinished calls, in tenths of a microsecond. */
export function backlogOf({ load, endpoint }: Lane): number {
  if (load.backlog <= PACKED >> 1) return load.backlog;
  // While the host submits calls it reads no responses: many may be there already.
  const ready = Math.min(endpoint.rx.countReady(), load.outstanding);
  return load.backlog * (1 - ready / load.outstanding);
}

/** Whether a lane is idle, even if responses are unread. */
export function isFree(lane: Lane): boolean {
  return lane.load.outstanding === 0 || lane.isResting;
}

/** The backlog above which calls are given to another worker, in tenths of a microsecond. */
interface WakeThresholds {
  /** If that worker has to be woken. */
  readonly wakesFrom: number;
  /** If that worker is awake and idle. */
  readonly sharesFrom: number;
}

function wakesFrom(coresLeft: number): number {
  return coresLeft < 2 ? PACKED_WHEN_CROWDED : PACKED;
}

/** Chooses the lane of a call. */
export interface LaneChooser extends WakeThresholds {
  /** Whether calls may be stolen from one lane for another. */
  readonly maySteal: boolean;
  /** The limit of calls per lane. */
  readonly depth: InFlightWindow;
  /** The lane for a call of this load. Undefined: the call waits on the host. */
  pick(lanes: readonly Lane[], load: CallLoad): Lane | undefined;
  /** A lane is gone or full: do not prefer it. */
  forget(lane: Lane): void;
}

export class Placement implements LaneChooser {
  readonly maySteal: boolean;
  readonly depth: InFlightWindow;
  readonly #usual: number;
  readonly #active: Pick<AwakeCount, "coresLeft">;
  /** The lane of the last short call. */
  #preferred: Lane | undefined;
  /** The maximum backlog for further short calls there, as computed last. */
  #packed = PACKED;

  /**
   * `maySteal`: whether a call may move to another lane. If not, it waits behind others only if all are known to be short, and on the
   * host otherwise.
   */
  constructor(depth: InFlightWindow, active: Pick<AwakeCount, "coresLeft">, maySteal = true) {
    this.depth = depth;
    this.maySteal = maySteal;
    this.#usual = depth.usual;
    this.#active = active;
  }

  get wakesFrom(): number {
    return wakesFrom(this.#active.coresLeft);
  }

  /** Awake workers have cores, but the host may have none left: it would wake up for every few responses. */
  get sharesFrom(): number {
    return this.#active.coresLeft < 1 ? PACKED_WHEN_CROWDED : SHARED;
  }

  pick(lanes: readonly Lane[], load: CallLoad): Lane | undefined {
    const kind = load & KIND_MASK;
    if (kind === LONG || load === UNKNOWN_LOAD) return this.#pickByBacklog(lanes, load, false);
    if (kind === ASYNC) return this.#pickForAsync(lanes, load);
    const preferred = this.#preferred;
    if (preferred === undefined) return this.#pickByBacklog(lanes, load, true);
    const { outstanding, backlog, long } = preferred.load;
    // Computed again for each burst, and only once the backlog is high enough to matter.
    if (outstanding === 0) this.#packed = PACKED;
    const busy = backlog + (load >> KIND_BITS) - 1; // `tenthsOf`
    return busy <= this.#packed && long === 0 && outstanding < this.#usual
      ? preferred
      : this.#pickByBacklog(lanes, load, true);
  }

  forget(lane: Lane): void {
    if (this.#preferred === lane) this.#preferred = undefined;
  }

  /** A short call goes to the lane that is awake, unless its backlog is high; another one to an idle lane. */
  #pickByBacklog(
    lanes: readonly Lane[],
    callLoad: CallLoad,
    isShort: boolean,
  ): Lane | undefined {
    let free: Lane | undefined;
    let best: Lane | undefined;
    let least = isShort && this.maySteal ? Infinity : PACKED;
    let awake = 0;
    for (const lane of lanes) {
      const { load } = lane;
      if (!this.depth.hasRoom(load, isShort)) continue;
      // A resting worker is idle even if its responses are unread: it has to be woken.
      if (isFree(lane)) {
        const isFirst = free === undefined ||
          (!isShort && load.outstanding < free.load.outstanding);
        if (isFirst) free = lane;
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
    const busy = callLoad === UNKNOWN_LOAD ? DEEP : (callLoad >> KIND_BITS) - 1; // `tenthsOf`
    if (!isShort) return free ?? best ?? this.#leastDeep(lanes, busy);
    this.#packed = best === undefined || !this.maySteal
      ? PACKED
      : Math.max(this.wakesFrom, awake * PACKED_PER_AWAKE);
    const chosen = best !== undefined && least + busy <= this.#packed ? best : free ?? best;
    if (chosen !== undefined) return this.#preferred = chosen;
    return this.#leastDeep(lanes, busy);
  }

  /** The lane with the fewest async calls; of several the one with the smallest backlog. */
  #pickForAsync(lanes: readonly Lane[], callLoad: CallLoad): Lane | undefined {
    let best: Lane | undefined;
    for (const lane of lanes) {
      const { load } = lane;
      if (load.outstanding >= this.depth.usual || load.hasLong) continue;
      const fewer = best === undefined ? -1 : load.async - best.load.async;
      if (fewer < 0 || (fewer === 0 && load.backlog < best!.load.backlog)) best = lane;
    }
    return best ?? this.#pickByBacklog(lanes, callLoad, false);
  }

  /** The lane with the smallest backlog among those that may take another call behind a long one. */
  #leastDeep(lanes: readonly Lane[], busy: number): Lane | undefined {
    if (!this.maySteal) return undefined;
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
