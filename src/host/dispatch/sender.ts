/**
 * Makes calls and puts them into a lane's request ring: from here on no code of the user's runs until the call is sent or
 * waits on the host.
 *
 * Calls are made wherever the user's stack happens to end. So the call being made is marked, and a poll that finds the mark
 * sets right whatever was cut off (`recover`): it follows what was published, counts anew and wakes every worker. The
 * count of awake workers may be one too low after that.
 */
import type { Encoder } from "../../codec/encoder.ts";
import { isStackOverflow } from "../../codec/kinds/errors.ts";
import { CALL, CALL_WITH_NUMBER, CALL_WITH_VALUE } from "../../lane/frame.ts";
import { detached, type Snapshot } from "../../lane/snapshot.ts";
import type { CallLoad } from "../../lane/task-timings.ts";
import { ProtocolError } from "../../errors.ts";
import type { ObjectKinds } from "../../runtimes/runtime.ts";
import type { QueuedCall } from "./call-queue.ts";
import { type CallSettings, PLAIN } from "../cancel/call-settings.ts";
import {
  type InFlight,
  type PendingCall,
  QUEUED_ON_HOST,
  type Reject,
  type Resolve,
} from "../in-flight.ts";
import type { Lane } from "../balance/lane.ts";
import type { LaneSet } from "../balance/lane-set.ts";
import { messageBytes } from "../workers/payload-credit.ts";

const OVERFLOWED = "The stack overflowed while this call was made.";

export interface SenderOptions {
  readonly inFlight: InFlight;
  readonly lanes: LaneSet;
  readonly kinds: ObjectKinds;
  /** A call has been made that has settings of its own. Runs no code of the user's. */
  readonly onSettings: (call: PendingCall) => void;
  /** Calls that a lane may be sent at most; Infinity: as many as come. */
  readonly maxCalls: number;
  /** The lane has been sent that many. Runs no code of the user's. */
  readonly onUsedUp: (lane: Lane) => void;
  /** Sets right what was cut off (`Sender.recover`). */
  readonly recover: () => void;
  /** The lane's rings or words are damaged. */
  readonly failLane: (lane: Lane, error: Error) => void;
}

export class Sender {
  readonly #options: SenderOptions;
  readonly #inFlight: InFlight;
  readonly #maxCalls: number;
  /** The mark: the call being made or sent, its lane, and where that lane's ring ended before. */
  #marked: PendingCall | undefined;
  #markedLane: Lane | undefined;
  #tailBefore = 0;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#inFlight = options.inFlight;
    this.#maxCalls = options.maxCalls;
  }

  /** Whether making a call, or sending one, was cut off. */
  get isCutOff(): boolean {
    return this.#marked !== undefined;
  }

  /** Makes a call, which is marked until it is sent or waits on the host (`unmark`). */
  begin(resolve: Resolve, reject: Reject, settings: CallSettings): PendingCall {
    // The stack ended within the last call, and its caller makes another before a poll: one mark, one call.
    if (this.#marked !== undefined) this.#options.recover();
    const call = this.#inFlight.add(resolve, reject, settings);
    this.#markedLane = undefined;
    this.#marked = call;
    if (settings !== PLAIN) this.#options.onSettings(call);
    return call;
  }

  unmark(): void {
    this.#marked = undefined;
  }

  /** The shortest way, and the most frequent call. False, here and below: no room; the call is to be queued. */
  sendNumber(lane: Lane, call: PendingCall, task: number, load: CallLoad, value: number): boolean {
    const { slot, generation } = call;
    this.#aim(lane, call);
    try {
      if (lane.endpoint.sendNumber(slot, generation, CALL_WITH_NUMBER, task, value)) {
        this.#sent(lane, call, load);
        return true;
      }
    } catch (error) {
      return this.#refused(lane, call, error);
    }
    call.lane = QUEUED_ON_HOST;
    return false;
  }

  /** Arguments that take `bytes` at most and need no encoder. */
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
    this.#aim(lane, call);
    try {
      const isSent = args.length === 1
        ? endpoint.sendSizedOne(bytes, CALL_WITH_VALUE, slot, generation, task, args[0])
        : endpoint.sendSized(bytes, CALL, slot, generation, task, args);
      if (isSent) {
        this.#sent(lane, call, load);
        return true;
      }
    } catch (error) {
      return this.#refused(lane, call, error);
    }
    call.lane = QUEUED_ON_HOST;
    return false;
  }

  /** `count` arguments that `encoder` has written up to `end`, and which a record can carry. */
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
      if (endpoint.tellShapes()) {
        this.#aim(lane, call);
        if (endpoint.sendEncoded(encoder, end, CALL, slot, generation, task, count)) {
          this.#sent(lane, call, load);
          return true;
        }
      }
      this.#wakeIfTold(lane);
    } catch (error) {
      return this.#refused(lane, call, error);
    }
    call.lane = QUEUED_ON_HOST;
    return false;
  }

  /** What is held of a call that waits. */
  sendSnapshot(lane: Lane, queued: QueuedCall, load: CallLoad): boolean {
    const { slot, generation, task, snapshot } = queued;
    const bytes = messageBytes(snapshot, this.#options.kinds);
    if (bytes > 0 && !lane.credit.hasRoomFor(bytes)) return false;
    const call = this.#inFlight.find(slot, generation)!;
    const keeps = mustKeep(snapshot, call);
    const { endpoint } = lane;
    this.#markedLane = undefined;
    this.#marked = call;
    try {
      if (endpoint.tellShapes()) {
        if (keeps) this.#inFlight.keep(call).again = queued;
        this.#aim(lane, call);
        const transfer = keeps ? [] : snapshot.transfer;
        if (endpoint.sendSnapshot(CALL, slot, generation, task, snapshot, transfer)) {
          if (bytes > 0) lane.credit.sent(endpoint.tx.position, bytes);
          this.#sent(lane, call, load);
          return true;
        }
      }
      this.#wakeIfTold(lane);
    } catch (error) {
      return this.#refused(lane, call, error);
    }
    call.lane = QUEUED_ON_HOST;
    return false;
  }

  /** `snapshot` as it can wait on the host. Undefined: something of it cannot be moved, and the call is settled. */
  toKeep(call: PendingCall, snapshot: Snapshot): Snapshot | undefined {
    try {
      return detached(snapshot);
    } catch (error) {
      this.#inFlight.reject(call, error);
      return undefined;
    }
  }

  /**
   * Sets right what was left when making or sending a call was cut off: nothing of it is on the stack any more.
   * `isQueued`: whether a call that was not sent waits on the host.
   */
  recover(isQueued: (call: PendingCall) => boolean): void {
    const call = this.#marked!;
    const lane = this.#markedLane;
    this.#inFlight.recount();
    const lanes = this.#options.lanes.all.slice();
    for (const each of lanes) each.endpoint.tx.recover();
    const isSent = lane !== undefined && lane.endpoint.tx.tailPosition !== this.#tailBefore;
    if (!isSent && call.resolve !== undefined) {
      if (isQueued(call)) call.lane = QUEUED_ON_HOST;
      else this.#inFlight.reject(call, new RangeError(OVERFLOWED));
    }
    for (const each of lanes) {
      each.load.recount(this.#inFlight.callsOf(each.id).map(({ load }) => load));
      this.#wake(each, true);
    }
    this.#marked = undefined; // last: the stack may end within this as well
  }

  /** What is published in this lane's ring from now on is this call. */
  #aim(lane: Lane, call: PendingCall): void {
    this.#tailBefore = lane.endpoint.tx.tailPosition;
    this.#markedLane = lane;
    call.lane = lane.id;
  }

  /** A call was committed to the lane's ring. */
  #sent(lane: Lane, call: PendingCall, load: CallLoad): void {
    call.load = load;
    if (call.settings !== PLAIN) call.position = lane.endpoint.tx.position;
    lane.load.add(load);
    if (lane.load.sent >= this.#maxCalls) this.#options.onUsedUp(lane);
    this.#wake(lane);
    this.#marked = undefined;
  }

  /** Sending threw. For damage the lane's end settles the call; what a port refuses is refused for good. */
  #refused(lane: Lane, call: PendingCall, error: unknown): true {
    if (isStackOverflow(error)) throw error; // leaves the mark
    this.#wakeIfTold(lane);
    if (error instanceof ProtocolError) {
      this.#marked = undefined;
      call.lane = lane.id;
      this.#options.failLane(lane, error);
      return true;
    }
    this.#inFlight.reject(call, error);
    this.#marked = undefined; // the stack may end within rejecting
    return true;
  }

  /** Shapes were told to the lane's worker, but no call followed them. */
  #wakeIfTold(lane: Lane): void {
    if (lane.endpoint.takePendingWake()) this.#wake(lane);
  }

  #wake(lane: Lane, isAgain?: boolean): void {
    try {
      lane.wake(isAgain);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#options.failLane(lane, error);
    }
  }
}

/**
 * Whether a call's values are kept while a worker has them, since the ring does not have them: those of a message.
 * Copies of large buffers move, which is twice as fast as copying them once more; only calls that are to be made again
 * after their worker's death pay for that.
 */
function mustKeep({ payload, mayKeep, transfer }: Snapshot, { settings }: PendingCall): boolean {
  if (payload === undefined || !mayKeep) return false;
  return transfer.length === 0 || settings.maxRetries > 0;
}
