/**
 * Makes calls and writes them into a lane's request ring. No user code runs here until the call is sent or waits on
 * the host.
 *
 * The caller's stack may overflow at any point of this. So the call being made is marked. A poll that finds the
 * mark repairs the state (`recover`): it follows what was published, counts again and wakes every worker. The count
 * of awake workers may be one too low after that. docs/internals/recovery.md explains it.
 */
import { RangeError } from "../../../builtins.ts";
import type { Encoder } from "../../../codec/encoder.ts";
import { isStackOverflow } from "../../../codec/support/stack-overflow.ts";
import { CALL, CALL_WITH_NUMBER, CALL_WITH_VALUE } from "../../../lane/frame.ts";
import { detached, type Snapshot } from "../../../lane/snapshot.ts";
import type { CallLoad } from "../../../metering/task-timings.ts";
import { ProtocolError } from "../../../errors.ts";
import type { ObjectKinds } from "../../../runtimes/runtime.ts";
import type { QueuedCall } from "../../calls/queued-call.ts";
import { type CallSettings, PLAIN } from "../../calls/call-settings.ts";
import {
  type InFlight,
  type PendingCall,
  QUEUED_ON_HOST,
  type Reject,
  type Resolve,
} from "../../calls/in-flight.ts";
import type { Lane } from "../../lanes/lane.ts";
import type { LaneSet } from "../../lanes/lane-set.ts";
import { isFree } from "../../schedule/placement.ts";
import type { PendingWork } from "../../calls/pending-work.ts";
import { messageBytes } from "../../lanes/payload-credit.ts";

const OVERFLOWED = "The stack overflowed while this call was made.";

export interface SenderOptions {
  readonly inFlight: InFlight;
  readonly lanes: LaneSet;
  readonly pending: PendingWork;
  readonly kinds: ObjectKinds;
  /** A call with settings of its own was made. Runs no user code. */
  readonly onSettings: (call: PendingCall) => void;
  /** Whether calls without a worker key may be stolen: by the balancer, and if the pool may have more than one worker. */
  readonly canSteal: boolean;
  /** Maximum of calls per lane; Infinity: no limit. */
  readonly maxCalls: number;
  /** The lane has got that many. Runs no user code. */
  readonly onLastCall: (lane: Lane) => void;
  /** Runs `Sender.recover`. */
  readonly recover: () => void;
  /** The lane's rings or words are damaged. */
  readonly failLane: (lane: Lane, error: Error) => void;
}

export class Sender {
  readonly #options: SenderOptions;
  readonly #inFlight: InFlight;
  readonly #maxCalls: number;
  /** Holds the mark: the call being made or sent. */
  readonly #pending: PendingWork;
  /** The lane that it is sent to: the next record published in its ring is this call. */
  #markedLane: Lane | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#inFlight = options.inFlight;
    this.#maxCalls = options.maxCalls;
    this.#pending = options.pending;
  }

  /** Makes a call and marks it until it is sent or waits on the host (`unmark`). `task`: it may be UNKNOWN_TASK. */
  begin(resolve: Resolve, reject: Reject, settings: CallSettings, task: number): PendingCall {
    // The stack overflowed in the last call, and its caller makes another before a poll.
    const pending = this.#pending;
    if (pending.marked !== undefined) this.#options.recover();
    const call = this.#inFlight.add(resolve, reject, settings);
    call.row = task + 1;
    this.#markedLane = undefined;
    pending.marked = call;
    if (settings !== PLAIN) this.#options.onSettings(call);
    return call;
  }

  /** The task of the call is known, and so are its settings. */
  adopt(call: PendingCall, settings: CallSettings, task: number): void {
    call.row = task + 1;
    const extra = call.extra!; // it was made before its task was known
    if (extra.settings === settings) return;
    extra.settings = settings;
    this.#options.onSettings(call);
  }

  unmark(): void {
    this.#pending.marked = undefined;
  }

  /** Sends one number, the most frequent call. False, here and below: no room; the call must be queued. */
  sendNumber(lane: Lane, call: PendingCall, task: number, load: CallLoad, value: number): boolean {
    const { endpoint } = lane;
    this.#markedLane = lane;
    call.lane = lane.id;
    try {
      if (endpoint.sendNumber(call.slot, call.generation, CALL_WITH_NUMBER, task, value)) {
        this.#onSent(lane, call, load);
        return true;
      }
    } catch (error) {
      return this.#onSendError(lane, call, error);
    }
    call.lane = QUEUED_ON_HOST;
    return false;
  }

  /** Sends arguments that take at most `bytes` and need no encoder. */
  sendSized(
    lane: Lane,
    call: PendingCall,
    task: number,
    load: CallLoad,
    args: readonly unknown[],
    bytes: number,
  ): boolean {
    const { slot, generation } = call;
    const { endpoint } = lane;
    this.#markedLane = lane;
    call.lane = lane.id;
    try {
      const isSent = args.length === 1
        ? endpoint.sendSizedOne(bytes, CALL_WITH_VALUE, slot, generation, task, args[0])
        : endpoint.sendSized(bytes, CALL, slot, generation, task, args);
      if (isSent) {
        this.#onSent(lane, call, load);
        return true;
      }
    } catch (error) {
      return this.#onSendError(lane, call, error);
    }
    call.lane = QUEUED_ON_HOST;
    return false;
  }

  /** Sends `count` arguments that `encoder` has written up to `end` and that fit into a record. */
  sendEncoded(
    lane: Lane,
    call: PendingCall,
    task: number,
    load: CallLoad,
    encoder: Encoder,
    end: number,
    count: number,
  ): boolean {
    const { slot, generation } = call;
    const { endpoint } = lane;
    try {
      if (endpoint.announceKeyLists()) {
        this.#markedLane = lane;
        call.lane = lane.id;
        if (endpoint.sendEncoded(encoder, end, CALL, slot, generation, task, count)) {
          this.#onSent(lane, call, load);
          return true;
        }
      }
      this.#wakeIfAnnounced(lane);
    } catch (error) {
      return this.#onSendError(lane, call, error);
    }
    call.lane = QUEUED_ON_HOST;
    return false;
  }

  /** Sends the snapshot of a queued call. */
  sendSnapshot(lane: Lane, queued: QueuedCall, load: CallLoad): boolean {
    const { slot, generation, task, early, snapshot } = queued;
    const { payload } = snapshot;
    const bytes = payload === undefined ? 0 : messageBytes(snapshot, this.#options.kinds);
    if (bytes > 0 && !lane.credit.hasRoomFor(bytes)) return false;
    const call = this.#inFlight.find(slot, generation)!;
    const keepsSnapshot = payload !== undefined && mustKeepSnapshot(snapshot, call);
    // It could not be stolen from a worker that is busy for longer than expected, so it waits for an idle one.
    const maySteal = this.#options.canSteal && call.extra?.settings.affinity === undefined;
    if (bytes > 0 && !keepsSnapshot && maySteal && !isFree(lane)) return false;
    const { endpoint } = lane;
    const pending = this.#pending;
    const isNew = pending.marked === call; // otherwise it stays in the queue until it is sent
    this.#markedLane = undefined;
    pending.marked = call;
    try {
      if (endpoint.announceKeyLists()) {
        if (keepsSnapshot) call.keep().retryPayload = queued;
        this.#markedLane = lane;
        call.lane = lane.id;
        const transfer = keepsSnapshot ? [] : snapshot.transfer;
        const isSent = early === undefined
          ? endpoint.sendSnapshot(CALL, slot, generation, task, snapshot, transfer)
          : endpoint.sendByName(slot, generation, early.name, snapshot);
        if (isSent) {
          if (bytes > 0) lane.credit.sent(endpoint.tx.position, bytes);
          this.#onSent(lane, call, load);
          return true;
        }
      }
      this.#wakeIfAnnounced(lane);
    } catch (error) {
      return this.#onSendError(lane, call, error);
    }
    call.lane = QUEUED_ON_HOST;
    if (!isNew) pending.marked = undefined;
    return false;
  }

  /**
   * `snapshot` in a form that can wait on the host. Undefined: an object cannot be moved, and the call is settled.
   */
  detachForQueue(call: PendingCall, snapshot: Snapshot): Snapshot | undefined {
    try {
      return detached(snapshot);
    } catch (error) {
      this.#inFlight.reject(call, error);
      return undefined;
    }
  }

  /**
   * Repairs the state after a stack overflow interrupted making or sending a call. Nothing of that call is on the
   * stack any more. `isQueued`: whether a call that was not sent waits on the host.
   */
  recover(isQueued: (call: PendingCall) => boolean): void {
    const call = this.#pending.marked!;
    const lane = this.#markedLane;
    this.#inFlight.recount();
    const lanes = this.#options.lanes.withCalls;
    for (const each of lanes) each.endpoint.tx.recover();
    const isSent = lane?.endpoint.wasLastSent(call.slot, call.generation) === true;
    if (!isSent && call.resolve !== undefined) {
      if (isQueued(call)) call.lane = QUEUED_ON_HOST;
      else this.#inFlight.reject(call, new RangeError(OVERFLOWED));
    }
    for (const each of lanes) {
      each.load.recount(this.#inFlight.callsOf(each.id).map(({ load }) => load));
      this.#wake(each, true);
    }
    this.#pending.marked = undefined; // last: the stack may overflow here too
  }

  /** A call was committed to the lane's ring. */
  #onSent(lane: Lane, call: PendingCall, load: CallLoad): void {
    call.load = load;
    if (call.extra !== undefined) call.position = lane.endpoint.tx.position;
    lane.load.add(load);
    if (lane.load.sent >= this.#maxCalls) this.#options.onLastCall(lane);
    try {
      lane.wake();
    } catch (error) {
      this.#onWakeError(lane, error);
    }
    this.#pending.marked = undefined;
  }

  /** Sending threw. After damage the lane's end settles the call; an error of the port rejects it. */
  #onSendError(lane: Lane, call: PendingCall, error: unknown): true {
    if (isStackOverflow(error)) throw error; // keeps the mark
    this.#wakeIfAnnounced(lane);
    if (error instanceof ProtocolError) {
      this.#pending.marked = undefined;
      call.lane = lane.id;
      this.#options.failLane(lane, error);
      return true;
    }
    this.#inFlight.reject(call, error);
    this.#pending.marked = undefined; // last: the stack may overflow in `reject`
    return true;
  }

  /** Wakes the worker if key lists were sent without a call after them. */
  #wakeIfAnnounced(lane: Lane): void {
    if (lane.endpoint.takePendingWake()) this.#wake(lane);
  }

  #wake(lane: Lane, isAgain?: boolean): void {
    try {
      lane.wake(isAgain);
    } catch (error) {
      this.#onWakeError(lane, error);
    }
  }

  #onWakeError(lane: Lane, error: unknown): void {
    if (!(error instanceof ProtocolError)) throw error;
    this.#options.failLane(lane, error);
  }
}

/**
 * Whether to keep the snapshot while a worker has the call: values in a message cannot be read back from the ring.
 * Copies of large buffers move, which is twice as fast as copying them once more; only calls with retries pay for
 * that copy.
 */
function mustKeepSnapshot(
  { isResendable, transfer }: Snapshot,
  { settings }: PendingCall,
): boolean {
  if (!isResendable) return false;
  return transfer.length === 0 || settings.retries > 0;
}
