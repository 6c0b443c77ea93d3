/**
 * Work stealing: calls that wait in one lane behind others are revoked there and given to a lane that has nothing to
 * do. One compare-exchange for each decides whether its worker has begun it (`ring/record-layout.ts`), so exactly one runs
 * it.
 *
 * What is known to last is taken at once. A lane from which no answer has come for a millisecond is stalled: whatever
 * waits behind something there is taken. A worker that has begun nothing is probably waking up, and will be there
 * sooner than another; after ten milliseconds that is no longer believed.
 */
import { NUMBER, VALUE_HEADER_BYTES } from "../../codec/tags.ts";
import {
  CALL,
  countOf,
  FRAME_BYTES,
  GENERATION_WORD,
  kindOf,
  locationOf,
  NUMBER_ONLY,
  PORT,
  SLOT_WORD,
  TASK_WORD,
  WHAT_WORD,
} from "../../lane/frame.ts";
import type { Snapshot } from "../../lane/snapshot.ts";
import { UNKNOWN_LOAD } from "../../lane/task-timings.ts";
import type { RingProducer } from "../../ring/producer.ts";
import type { Timer } from "../../runtimes/runtime.ts";
import type { QueuedCall } from "../dispatch/call-queue.ts";
import { type InFlight, type PendingCall, QUEUED_ON_HOST } from "../in-flight.ts";
import type { Lane } from "./lane.ts";
import type { LaneSet } from "./lane-set.ts";
import { LastProgress } from "../last-progress.ts";
import { backlogOf, isFree, type LaneChooser } from "./placement.ts";

/** Time without an answer from which on a lane is stalled, and from which on it must be relieved of all it has. */
const STALLED_MS = 1;
const FORCED_MS = 10;
/** Waiting calls that are looked at, the oldest, and half as many taken: a ring may hold very many. */
const MAX_LOOKED_AT = 2048;

export interface WorkStealingOptions {
  readonly inFlight: InFlight;
  readonly lanes: LaneSet;
  readonly placement: LaneChooser;
  /** Sends a call to a lane; false: no room. */
  readonly send: (lane: Lane, call: QueuedCall) => boolean;
  /** Queues calls, in this order, before all others of their priority. */
  readonly putBack: (calls: readonly QueuedCall[]) => void;
  readonly failLane: (lane: Lane, error: Error) => void;
  readonly now: () => number;
  readonly setTimeout: (callback: () => void, delayMs: number) => Timer;
  /** Calls were given to another lane by a timer. */
  readonly onMoved: () => void;
}

export class WorkStealing {
  /** Calls revoked to be run elsewhere. */
  moved = 0;
  readonly #options: WorkStealingOptions;
  readonly #answered = new LastProgress<number>();
  #timer: Timer | undefined;

  constructor(options: WorkStealingOptions) {
    this.#options = options;
  }

  /**
   * Gives calls to a lane that has nothing to do. True: some. Without `nowMs` only what is known to last is taken;
   * otherwise stalled lanes as well, and where one might be, it is looked at again.
   */
  rebalance(nowMs?: number): boolean {
    const { lanes, placement } = this.#options;
    const { open } = lanes;
    if (!placement.mayTakeBack || !lanes.isCrowded) return false;
    const thief = findFree(open);
    if (thief === undefined) return false;
    const worthwhile = thief.isAwake ? placement.sharesFrom : placement.wakesFrom;
    const isLasting = (lane: Lane): boolean => lane.load.hasLong || backlogOf(lane) > worthwhile;
    const victims = open.filter((lane) =>
      lane !== thief && lane.load.outstanding > 1 && (nowMs !== undefined || isLasting(lane))
    );
    let isUndecided = false;
    for (const victim of mostLoadedFirst(victims)) {
      const stalledMs = nowMs === undefined ? 0 : this.#stalledMs(victim, nowMs);
      const taken = this.#steal(victim, isLasting(victim), stalledMs);
      if (taken === undefined) isUndecided = true;
      else if (taken.length > 0) {
        this.#give(thief, taken);
        return true;
      }
    }
    if (isUndecided && nowMs !== undefined) this.#lookAgain();
    return false;
  }

  /** Queues all calls of a lane that are not begun. */
  requeue(lane: Lane): void {
    const calls = this.#revoke(lane, unbegunCalls(lane.endpoint.tx));
    this.moved += calls.length;
    this.#options.putBack(calls);
  }

  /** Sees to it that what a lane has not begun never is. */
  revokeAll(lane: Lane): void {
    const { inFlight, failLane } = this.#options;
    const { tx } = lane.endpoint;
    try {
      for (const index of unbegunCalls(tx)) {
        if (tx.revoke(index)) lane.load.remove(callAt(tx, index, inFlight)?.load ?? UNKNOWN_LOAD);
      }
    } catch (error) {
      failLane(lane, error as Error); // only a ProtocolError comes this way
    }
  }

  stop(): void {
    this.#timer?.clear();
    this.#timer = undefined;
  }

  /** Calls of `victim` that another worker should run, revoked, oldest first. Undefined: time will show. */
  #steal(victim: Lane, isLasting: boolean, stalledMs: number): QueuedCall[] | undefined {
    const isStalled = stalledMs >= STALLED_MS;
    if (!isLasting && !isStalled) return undefined;
    let waiting: number[];
    try {
      waiting = unbegunCalls(victim.endpoint.tx, MAX_LOOKED_AT);
    } catch (error) {
      this.#options.failLane(victim, error as Error); // only a ProtocolError comes this way
      return [];
    }
    // With more calls than are looked at there is enough to do for both, even if the worker is just waking up.
    if (waiting.length >= victim.load.outstanding && stalledMs < FORCED_MS) return undefined;
    // Behind a long one nothing should wait; otherwise each gets a half, and the older calls stay.
    const first = victim.load.hasLong || isStalled ? 0 : waiting.length - (waiting.length >> 1);
    return this.#revoke(victim, waiting.slice(first, first + MAX_LOOKED_AT / 2));
  }

  #give(thief: Lane, calls: readonly QueuedCall[]): void {
    const { send, putBack } = this.#options;
    this.moved += calls.length;
    putBack(calls.filter((call) => !send(thief, call)));
  }

  /** Calls of `lane` that are its own no more; those that nobody waits for are left out. */
  #revoke(lane: Lane, indices: readonly number[]): QueuedCall[] {
    const { inFlight, failLane } = this.#options;
    const { tx } = lane.endpoint;
    const calls: QueuedCall[] = [];
    try {
      for (const index of indices) {
        const call = callAt(tx, index, inFlight);
        const snapshot = revoke(tx, index, call);
        if (snapshot === undefined) continue;
        lane.load.remove(call?.load ?? UNKNOWN_LOAD);
        if (call === undefined) continue;
        call.lane = QUEUED_ON_HOST;
        const { slot, generation, settings: { priority } } = call;
        calls.push({ slot, generation, task: taskAt(tx, index), snapshot, priority });
      }
    } catch (error) {
      failLane(lane, error as Error); // only a ProtocolError comes this way
    }
    return calls;
  }

  /** How long no answer of the lane has come, as far as was looked; a lane that was idle meanwhile counts from then on. */
  #stalledMs(lane: Lane, nowMs: number): number {
    const answered = lane.endpoint.rx.headPosition + lane.load.emptied;
    return nowMs - this.#answered.sinceMs(lane, answered, nowMs);
  }

  #lookAgain(): void {
    const { now, setTimeout, onMoved } = this.#options;
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.rebalance(now())) onMoved();
    }, STALLED_MS);
    this.#timer.unref();
  }
}

/** The `most` oldest calls that the other side has not begun, by index, newest last. May be stale. */
export function unbegunCalls(tx: RingProducer, most?: number): number[] {
  const { i32 } = tx.memory;
  return tx.unreleased(
    most,
    (index) => kindOf(i32[(index >> 2) + WHAT_WORD]!) === CALL && tx.isQueued(index),
  );
}

/** Whoever waits for the call of the record at `index`. */
function callAt(tx: RingProducer, index: number, inFlight: InFlight): PendingCall | undefined {
  const { i32 } = tx.memory;
  return inFlight.find(i32[(index >> 2) + SLOT_WORD]!, i32[(index >> 2) + GENERATION_WORD]!);
}

function taskAt(tx: RingProducer, index: number): number {
  return tx.memory.i32[(index >> 2) + TASK_WORD]!;
}

/** Values that are all in their record. */
const NOTHING_BESIDE: Omit<Snapshot, "count" | "inline"> = {
  payload: undefined,
  transfer: [],
  mayKeep: true,
  attached: [],
  copiedBytes: 0,
};

/**
 * Revokes the record at `index` and returns its values, to be sent elsewhere. Undefined: the other side has begun it, or a
 * message belongs to it, which has left, and nothing is held of it.
 */
function revoke(
  tx: RingProducer,
  index: number,
  call: PendingCall | undefined,
): Snapshot | undefined {
  const { i32, u8 } = tx.memory;
  const what = i32[(index >> 2) + WHAT_WORD]!;
  const location = locationOf(what);
  if (location === PORT) {
    const snapshot = call?.again?.snapshot;
    return snapshot !== undefined && tx.revoke(index) ? snapshot : undefined;
  }
  if (!tx.revoke(index)) return undefined;
  // A revoked record's bytes are this side's until it claims again.
  const values = u8.subarray(index + FRAME_BYTES, index + i32[index >> 2]!);
  const inline = location === NUMBER_ONLY ? encodeNumber(values) : new Uint8Array(values);
  return { ...NOTHING_BESIDE, count: countOf(what), inline };
}

/** The value of a NUMBER_ONLY record as the codec writes it. */
function encodeNumber(bits: Uint8Array): Uint8Array<ArrayBuffer> {
  const encoded = new Uint8Array(2 * VALUE_HEADER_BYTES);
  encoded[0] = NUMBER;
  encoded.set(bits.subarray(0, 8), VALUE_HEADER_BYTES);
  return encoded;
}

/** A lane that has nothing to do, one whose worker is awake if there is one. */
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
