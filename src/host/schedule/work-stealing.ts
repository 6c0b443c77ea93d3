/**
 * Work stealing: the host revokes calls that wait in one lane behind others and sends them to an idle lane. One
 * compare-exchange per call decides whether its worker has begun it (`ring/record-layout.ts`), so exactly one
 * worker runs it. docs/internals/revocation.md explains the protocol.
 *
 * Calls behind work that is known to be long, or in a backlog long enough to be worth sharing, move at once. A lane
 * without a response for a millisecond counts as stalled: whatever waits there moves. A worker that has begun no
 * call is probably waking up and will begin sooner than another would; its calls stay for ten milliseconds.
 */
import { NUMBER, VALUE_HEADER_BYTES } from "../../codec/tags.ts";
import {
  CALL,
  countOf,
  DESCRIPTOR_WORD,
  FRAME_BYTES,
  GENERATION_WORD,
  kindOf,
  locationOf,
  NUMBER_ONLY,
  PORT,
  SLOT_WORD,
  TASK_WORD,
} from "../../lane/frame.ts";
import type { Snapshot } from "../../lane/snapshot.ts";
import { UNKNOWN_LOAD } from "../../metering/task-timings.ts";
import type { RingProducer } from "../../ring/producer.ts";
import type { Timer } from "../../runtimes/runtime.ts";
import type { CallSettings } from "../calls/call-settings.ts";
import type { QueuedCall } from "../calls/queued-call.ts";
import { type InFlight, type PendingCall, QUEUED_ON_HOST } from "../calls/in-flight.ts";
import type { Lane } from "../lanes/lane.ts";
import type { LaneSet } from "../lanes/lane-set.ts";
import { LastProgress } from "../lanes/last-progress.ts";
import { backlogOf, isFree, type LaneChooser } from "./placement.ts";

/** Time without a response after which a lane is stalled; after 10 ms, calls move even if the worker has begun none. */
const STALLED_MS = 1;
const FORCED_MS = 10;
/** Time for which a call behind others is seen before it counts as stuck: `FORCED_MS`, and timers may be early. */
const STUCK_MS = 9;
/** Maximum of waiting calls examined, oldest first; half as many move. A ring may hold very many. */
const MAX_EXAMINED = 2048;

export interface WorkStealingOptions {
  readonly inFlight: InFlight;
  readonly lanes: LaneSet;
  readonly placement: LaneChooser;
  /** Sends a call to a lane. False: no room. */
  readonly send: (lane: Lane, call: QueuedCall) => boolean;
  /** Queues calls, in this order, before all others of their priority. */
  readonly putBack: (calls: readonly QueuedCall[]) => void;
  readonly failLane: (lane: Lane, error: Error) => void;
  readonly now: () => number;
  readonly setTimeout: (callback: () => void, delayMs: number) => Timer;
  /** A timer moved calls to another lane. */
  readonly onMoved: () => void;
}

/** Calls in lanes that their workers have not begun and that could move. */
export interface FollowingCalls {
  readonly count: number;
  /** Of these, those behind a long call or in a lane that has begun none for a while. */
  readonly startable: number;
  /** Whether a lane has begun none for a while. */
  readonly isStuck: boolean;
}

const NONE: FollowingCalls = { count: 0, startable: 0, isStuck: false };

export class WorkStealing {
  /** Calls moved so far. */
  moved = 0;
  readonly #options: WorkStealingOptions;
  readonly #responseProgress = new LastProgress<number>();
  /** The oldest call of a lane that waits behind others. */
  readonly #oldest = new LastProgress<number>();
  #timer: Timer | undefined;

  constructor(options: WorkStealingOptions) {
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
    if (open.some(({ load }) => load.outstanding === 0)) return NONE;
    const nowMs = now();
    let [count, startable, isStuck] = [0, 0, false];
    for (const lane of open) {
      if (lane.load.outstanding < 2) continue;
      const calls = this.#movable(lane);
      if (calls.length === 0) continue;
      const isLaneStuck = nowMs - this.#oldest.sinceMs(lane, calls[0]!, nowMs) >= STUCK_MS;
      count += calls.length;
      if (isLaneStuck || lane.load.hasLong) startable += calls.length;
      isStuck ||= isLaneStuck;
    }
    return { count, startable, isStuck };
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

  /**
   * Queues all calls that a lane has not begun, except calls sent by port without a kept snapshot, which count as
   * running. Broadcasts stay, unless `isForAll`.
   */
  requeue(lane: Lane, isForAll = false): void {
    // A broadcast is for this worker alone.
    const mayMove = ({ affinity }: CallSettings): boolean =>
      isForAll || affinity === undefined || !("workerId" in affinity);
    const calls = this.#revoke(lane, unclaimedCalls(lane.endpoint.tx), mayMove);
    this.moved += calls.length;
    this.#options.putBack(calls);
  }

  /** Revokes all calls that a lane has not begun. They never run. */
  revokeAll(lane: Lane): void {
    const { inFlight, failLane } = this.#options;
    const { tx } = lane.endpoint;
    try {
      for (const index of unclaimedCalls(tx)) {
        if (tx.revoke(index)) lane.load.remove(callAt(tx, index, inFlight)?.load ?? UNKNOWN_LOAD);
      }
    } catch (error) {
      failLane(lane, error as Error); // always a ProtocolError
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
    return this.#revoke(victim, waiting.slice(first, first + MAX_EXAMINED / 2), mayMove);
  }

  #sendTo(thief: Lane, calls: readonly QueuedCall[]): void {
    const { send, putBack } = this.#options;
    this.moved += calls.length;
    putBack(calls.filter((call) => !send(thief, call)));
  }

  /** Revokes calls of `lane` and returns them, without those that are already settled. */
  #revoke(
    lane: Lane,
    indices: readonly number[],
    mayMove: (settings: CallSettings) => boolean,
  ): QueuedCall[] {
    const { inFlight, failLane } = this.#options;
    const { tx } = lane.endpoint;
    const calls: QueuedCall[] = [];
    try {
      for (const index of indices) {
        const call = callAt(tx, index, inFlight);
        if (call !== undefined && !mayMove(call.settings)) continue;
        const snapshot = revoke(tx, index, call);
        if (snapshot === undefined) continue;
        lane.load.remove(call?.load ?? UNKNOWN_LOAD);
        if (call === undefined) continue;
        call.lane = QUEUED_ON_HOST;
        const { slot, generation, settings: { priority } } = call;
        calls.push({ slot, generation, task: taskAt(tx, index), snapshot, priority });
      }
    } catch (error) {
      failLane(lane, error as Error); // always a ProtocolError
    }
    return calls;
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
  return affinity === undefined || "isNested" in affinity;
}

/** The `most` oldest calls that the worker has not begun, as ring offsets, oldest first. May be stale. */
export function unclaimedCalls(tx: RingProducer, max?: number): number[] {
  const { i32 } = tx.memory;
  return tx.unreleased(
    max,
    (index) => kindOf(i32[(index >> 2) + DESCRIPTOR_WORD]!) === CALL && tx.isQueued(index),
  );
}

/** The call of the record at `index`, unless it is settled. */
function callAt(tx: RingProducer, index: number, inFlight: InFlight): PendingCall | undefined {
  const { i32 } = tx.memory;
  return inFlight.find(i32[(index >> 2) + SLOT_WORD]!, i32[(index >> 2) + GENERATION_WORD]!);
}

function taskAt(tx: RingProducer, index: number): number {
  return tx.memory.i32[(index >> 2) + TASK_WORD]!;
}

/** For values that are completely in their record. */
const INLINE_ONLY: Omit<Snapshot, "count" | "inline"> = {
  payload: undefined,
  transfer: [],
  isResendable: true,
  attached: [],
  copiedBytes: 0,
  departures: undefined,
};

/**
 * Revokes the record at `index` and returns its values, to be sent elsewhere. Undefined: the worker has begun it,
 * or its values are in a posted message of which the host kept no snapshot.
 */
function revoke(
  tx: RingProducer,
  index: number,
  call: PendingCall | undefined,
): Snapshot | undefined {
  const { i32, u8 } = tx.memory;
  const descriptor = i32[(index >> 2) + DESCRIPTOR_WORD]!;
  const location = locationOf(descriptor);
  if (location === PORT) {
    const snapshot = call?.extra?.retryPayload?.snapshot;
    return snapshot !== undefined && tx.revoke(index) ? snapshot : undefined;
  }
  if (!tx.revoke(index)) return undefined;
  // The bytes of a revoked record belong to the host until its next claim.
  const values = u8.subarray(index + FRAME_BYTES, index + i32[index >> 2]!);
  const inline = location === NUMBER_ONLY ? encodeNumber(values) : new Uint8Array(values);
  return { ...INLINE_ONLY, count: countOf(descriptor), inline };
}

/** Encodes the value of a NUMBER_ONLY record as the codec does. */
function encodeNumber(bits: Uint8Array): Uint8Array<ArrayBuffer> {
  const encoded = new Uint8Array(2 * VALUE_HEADER_BYTES);
  encoded[0] = NUMBER;
  encoded.set(bits.subarray(0, 8), VALUE_HEADER_BYTES);
  return encoded;
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
