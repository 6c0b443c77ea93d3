/**
 * Work stealing: the host revokes calls that wait in one lane behind others (`revocation.ts`) and sends them to an idle lane.
 *
 * Calls behind work that is known to be long, or in a backlog long enough to be worth sharing, move at once. A lane
 * without a response for a millisecond counts as stalled: whatever waits there moves. A worker that has begun no
 * call is probably waking up and will begin sooner than another would; its calls stay for ten milliseconds.
 */
import type { Timer } from "../../../runtimes/runtime.ts";
import type { CallSettings } from "../../../host/calls/call-settings.ts";
import type { QueuedCall } from "../../../host/calls/queued-call.ts";
import type { Lane } from "../../../host/lanes/lane.ts";
import { LastProgress } from "../../../host/lanes/last-progress.ts";
import { backlogOf, isFree } from "../../../host/schedule/placement.ts";
import { callAt, unclaimedCalls } from "../../../host/schedule/revocation.ts";
import {
  type FollowingCalls,
  NONE_FOLLOWING,
  type Stealing,
  type StealingOptions,
} from "../../../host/schedule/stealing.ts";

/** Time without a response after which a lane is stalled; after 10 ms, calls move even if the worker has begun none. */
const STALLED_MS = 1;
const FORCED_MS = 10;
/** Time for which a call behind others is seen before it counts as stuck: `FORCED_MS`, and timers may be early. */
const STUCK_MS = 9;
/** Maximum of waiting calls examined, oldest first; half as many move. A ring may hold very many. */
const MAX_EXAMINED = 2048;

export class WorkStealing implements Stealing {
  readonly #options: StealingOptions;
  readonly #responseProgress = new LastProgress<number>();
  /** The oldest call of a lane that waits behind others. */
  readonly #oldest = new LastProgress<number>();
  #timer: Timer | undefined;

  constructor(options: StealingOptions) {
    this.#options = options;
  }

  /**
   * Moves calls to an idle lane. True: it moved some. Without `nowMs` it takes only calls behind known long work or
   * in a backlog above `worthwhile`. With `nowMs` it considers stalled lanes as well, and checks again later if a
   * lane may be stalled.
   */
  rebalance(nowMs?: number): boolean {
    const { lanes, placement } = this.#options;
    const { open } = lanes;
    if (!placement.maySteal || !lanes.isCrowded) return false;
    const thief = findFree(open);
    if (thief === undefined) return false;
    const threshold = thief.isAwake ? placement.sharesFrom : placement.wakesFrom;
    const isLasting = (lane: Lane): boolean => lane.load.hasLong || backlogOf(lane) > threshold;
    const victims = open.filter((lane) =>
      lane !== thief && lane.load.outstanding > 1 && (nowMs !== undefined || isLasting(lane))
    );
    let mustRetryLater = false;
    for (const victim of mostLoadedFirst(victims)) {
      const stalledMs = nowMs === undefined ? 0 : this.#stalledMs(victim, nowMs);
      const stolen = this.#steal(victim, isLasting(victim), stalledMs);
      if (stolen === undefined) mustRetryLater = true;
      else if (stolen.length > 0) {
        this.#sendTo(thief, stolen);
        return true;
      }
    }
    if (mustRetryLater && nowMs !== undefined) this.#checkAgain();
    return false;
  }

  /** Looks for calls behind others that a further worker would get. None if one is idle, which gets them. */
  findFollowing(): FollowingCalls {
    const { lanes: { open }, now } = this.#options;
    if (open.some(({ load }) => load.outstanding === 0)) return NONE_FOLLOWING;
    const nowMs = now();
    let [count, startable] = [0, 0];
    for (const lane of open) {
      if (lane.load.outstanding < 2) continue;
      const calls = this.#movable(lane);
      if (calls.length === 0) continue;
      const isLaneStuck = nowMs - this.#oldest.sinceMs(lane, calls[0]!, nowMs) >= STUCK_MS;
      count += calls.length;
      if (isLaneStuck || lane.load.hasLong) startable += calls.length;
    }
    return { count, startable };
  }

  /** Calls that `lane` has not begun and that may move, by their positions, oldest first. */
  #movable(lane: Lane): number[] {
    const { inFlight, failLane } = this.#options;
    const { tx } = lane.endpoint;
    try {
      return unclaimedCalls(tx, MAX_EXAMINED)
        .map((index) => callAt(tx, index, inFlight))
        .filter((call) => call !== undefined && mayMove(call.settings))
        .map((call) => call!.position);
    } catch (error) {
      failLane(lane, error as Error); // always a ProtocolError
      return [];
    }
  }

  stop(): void {
    this.#timer?.clear();
    this.#timer = undefined;
  }

  /** Calls of `victim` that another worker should run, revoked, oldest first. Undefined: not clear yet. */
  #steal(victim: Lane, isLasting: boolean, stalledMs: number): QueuedCall[] | undefined {
    const isStalled = stalledMs >= STALLED_MS;
    if (!isLasting && !isStalled) return undefined;
    let waiting: number[];
    try {
      waiting = unclaimedCalls(victim.endpoint.tx, MAX_EXAMINED);
    } catch (error) {
      this.#options.failLane(victim, error as Error); // always a ProtocolError
      return [];
    }
    // Nothing begun: probably waking; wait. Beyond `MAX_EXAMINED` calls this test never holds.
    if (waiting.length >= victim.load.outstanding && stalledMs < FORCED_MS) return undefined;
    // No call should wait behind a long one. Otherwise each lane gets half, and the older calls stay.
    const first = victim.load.hasLong || isStalled ? 0 : waiting.length - (waiting.length >> 1);
    const { revocation } = this.#options;
    return revocation.revoke(victim, waiting.slice(first, first + MAX_EXAMINED / 2), mayMove);
  }

  #sendTo(thief: Lane, calls: readonly QueuedCall[]): void {
    const { send, putBack, revocation } = this.#options;
    revocation.moved += calls.length;
    putBack(calls.filter((call) => !send(thief, call)));
  }

  /** Time since a check first saw the current response count; becoming idle resets it. */
  #stalledMs(lane: Lane, nowMs: number): number {
    const progress = lane.endpoint.rx.headPosition + lane.load.emptied;
    return nowMs - this.#responseProgress.sinceMs(lane, progress, nowMs);
  }

  #checkAgain(): void {
    const { now, setTimeout, onMoved } = this.#options;
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.rebalance(now())) onMoved();
    }, STALLED_MS);
    this.#timer.unref();
  }
}

/** Whether a call may go to any worker. */
function mayMove({ affinity }: CallSettings): boolean {
  return affinity === undefined || ("isNested" in affinity && !("workerId" in affinity));
}

/** An idle lane, preferably one whose worker is awake. */
function findFree(lanes: readonly Lane[]): Lane | undefined {
  let free: Lane | undefined;
  for (const lane of lanes) {
    if (!isFree(lane)) continue;
    if (lane.isAwake) return lane;
    free ??= lane;
  }
  return free;
}

function mostLoadedFirst(lanes: readonly Lane[]): Lane[] {
  const backlog = (lane: Lane): number => lane.load.hasLong ? Number.MAX_VALUE : backlogOf(lane);
  return lanes.toSorted((a, b) => backlog(b) - backlog(a));
}
