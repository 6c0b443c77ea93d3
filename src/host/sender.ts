/**
 * Puts calls into a lane's request ring and wakes its worker; counts what the lane is given. Which lane,
 * and what becomes of a call for which there is no room, is the scheduler's to say.
 */
import type { Signature } from "../codec/struct/signature.ts";
import { FULL, type SendOutcome, SENT, UNWANTED } from "../endpoint/endpoint.ts";
import { CALL, CALL_WITH_NUMBER } from "../endpoint/frame.ts";
import { detached, type Held } from "../endpoint/hold.ts";
import type { CallLoad } from "../endpoint/service-times.ts";
import { ProtocolError } from "../errors.ts";
import type { QueuedCall } from "./call-queue.ts";
import { PLAIN } from "./call-settings.ts";
import { type InFlight, type PendingCall, QUEUED_ON_HOST } from "./in-flight.ts";
import type { Lane } from "./lane.ts";
import { messageBytes } from "./revoked-messages.ts";
import type { ObjectKinds } from "../runtimes/runtime.ts";

/** The call was sent, or settled because it cannot be. */
export const DONE = true;

export class Sender {
  readonly #inFlight: InFlight;
  readonly #signatures: readonly (Signature | undefined)[];
  readonly #failLane: (lane: Lane, error: Error) => void;
  readonly #kinds: ObjectKinds;
  #hasUnwoken = false;

  /** `failLane`: its rings or words are damaged. */
  constructor(
    inFlight: InFlight,
    signatures: readonly (Signature | undefined)[],
    failLane: (lane: Lane, error: Error) => void,
    kinds: ObjectKinds,
  ) {
    this.#kinds = kinds;
    this.#inFlight = inFlight;
    this.#signatures = signatures;
    this.#failLane = failLane;
  }

  /** The shortest way, and the most frequent call. FULL: no room. */
  sendNumber(
    lane: Lane,
    call: PendingCall,
    task: number,
    load: CallLoad,
    value: number,
  ): typeof DONE | typeof FULL {
    const { slot, generation } = call;
    // Before it is sent: should the stack end somewhere in here, the answer is counted all the same.
    lane.load.outstanding++;
    let isSent = false;
    try {
      isSent = lane.endpoint.sendNumber(slot, generation, CALL_WITH_NUMBER, task, value) === SENT;
      if (isSent) {
        this.#sent(lane, call, load);
        return DONE;
      }
    } catch (error) {
      if (!isSent) lane.load.outstanding--;
      this.#rejectUnsent(lane, slot, generation, error);
      return DONE;
    }
    lane.load.outstanding--;
    call.lane = QUEUED_ON_HOST;
    return FULL;
  }

  /** Encodes the arguments into the ring; what is held of them, or FULL, if there is no room. */
  sendCall(
    lane: Lane,
    call: PendingCall,
    task: number,
    load: CallLoad,
    args: readonly unknown[],
  ): typeof DONE | Exclude<SendOutcome, typeof SENT> {
    const { slot, generation } = call;
    let outcome: SendOutcome | typeof UNWANTED = FULL;
    lane.load.outstanding++;
    try {
      outcome = lane.endpoint.sendCall(call, task, args, this.#signatures[task]?.args);
    } catch (error) {
      lane.load.outstanding--;
      this.#rejectUnsent(lane, slot, generation, error);
      return DONE;
    }
    if (outcome === SENT) {
      this.#sent(lane, call, load);
      return DONE;
    }
    lane.load.outstanding--;
    this.wakeIfTold(lane);
    // Encoding runs getters, which may do anything to this pool: abort this call, or close it.
    if (outcome === UNWANTED || call.generation !== generation) return DONE;
    call.lane = QUEUED_ON_HOST;
    return outcome;
  }

  /** The same with what is held of a waiting call. False: no room. */
  sendHeld(lane: Lane, queued: QueuedCall, load: CallLoad): boolean {
    const { slot, generation, task, held } = queued;
    const movedBytes = lane.moved.bytesOf(held);
    if (!lane.hasRoomFor(held, movedBytes)) return false;
    const call = this.#inFlight.find(slot, generation)!;
    const bytes = call.settings === PLAIN ? 0 : messageBytes(held, this.#kinds);
    const keeps = mustKeep(queued, call);
    if (keeps) this.#inFlight.keep(call).again = queued;
    call.lane = lane.id;
    lane.load.outstanding++;
    try {
      const transfer = keeps ? [] : held.transfer;
      if (!lane.endpoint.sendHeld(CALL, slot, generation, task, held, transfer)) {
        lane.load.outstanding--;
        call.lane = QUEUED_ON_HOST;
        this.wakeIfTold(lane);
        return false;
      }
    } catch (error) {
      lane.load.outstanding--;
      this.#rejectUnsent(lane, slot, generation, error);
      return true;
    }
    if (movedBytes > 0) this.#inFlight.keep(call).waiting = lane.moved.add(movedBytes);
    this.#sent(lane, call, load);
    if (bytes > 0) lane.revoked.sent(call.position, bytes);
    return true;
  }

  /** `held` as it can wait on the host. Undefined: something of it cannot be moved, and the call is settled. */
  toKeep(call: PendingCall, held: Held): Held | undefined {
    try {
      return detached(held);
    } catch (error) {
      this.#inFlight.reject(call, error);
      return undefined;
    }
  }

  /** Shapes were told to the lane's worker, but no call followed them. */
  wakeIfTold(lane: Lane): void {
    if (lane.endpoint.takeTold()) this.#wake(lane);
  }

  /** Wakes the workers that nobody could wake because the stack had overflowed. */
  wakeUnwoken(lanes: readonly Lane[]): void {
    if (!this.#hasUnwoken) return;
    this.#hasUnwoken = false;
    for (const lane of lanes.slice()) this.#wake(lane, true);
  }

  /** A call was committed to the lane's ring, and counted by `outstanding`. */
  #sent(lane: Lane, call: PendingCall, load: CallLoad): void {
    call.load = load;
    if (call.settings !== PLAIN) call.position = lane.endpoint.tx.position;
    lane.load.add(load);
    this.#wake(lane);
  }

  /** Sending threw: for damage the lane's end settles the call, for anything else nothing was sent. */
  #rejectUnsent(lane: Lane, slot: number, generation: number, error: unknown): void {
    this.wakeIfTold(lane);
    const call = this.#inFlight.find(slot, generation);
    if (error instanceof ProtocolError) this.#failLane(lane, error);
    else if (call !== undefined) this.#inFlight.reject(call, error);
  }

  #wake(lane: Lane, isAgain = false): void {
    try {
      if (isAgain) lane.waker.wakeAgain();
      else lane.waker.wake();
    } catch (error) {
      if (error instanceof ProtocolError) this.#failLane(lane, error);
      else this.#hasUnwoken = true; // the stack has overflowed: the next poll wakes it
    }
  }
}

/**
 * Whether a call's values are kept while a worker has them, since the ring does not have them: those of a message.
 * Copies of large buffers move, which is twice as fast as copying them once more; only calls that are to be made again
 * after their worker's death pay for that.
 */
function mustKeep({ held }: QueuedCall, { settings }: PendingCall): boolean {
  if (held.payload === undefined || !held.mayKeep) return false;
  return held.transfer.length === 0 || settings.maxRetries > 0;
}
