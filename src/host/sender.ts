/**
 * Puts calls into a lane's request ring and wakes its worker; counts what the lane is given. Which lane,
 * and what becomes of a call for which there is no room, is the scheduler's to say.
 */
import type { Signature } from "../codec/struct/signature.ts";
import { FULL, type SendOutcome, SENT } from "../endpoint/endpoint.ts";
import { CALL, CALL_WITH_NUMBER } from "../endpoint/frame.ts";
import type { CallLoad } from "../endpoint/service-times.ts";
import { ProtocolError } from "../errors.ts";
import type { QueuedCall } from "./call-queue.ts";
import { PLAIN } from "./call-settings.ts";
import { type InFlight, type PendingCall, QUEUED_ON_HOST } from "./in-flight.ts";
import type { Lane } from "./lane.ts";

/** The call was sent, or settled because it cannot be. */
export const DONE = true;

export class Sender {
  readonly #inFlight: InFlight;
  readonly #signatures: readonly (Signature | undefined)[];
  readonly #failLane: (lane: Lane, error: Error) => void;
  #hasUnwoken = false;

  /** `failLane`: its rings or words are damaged. */
  constructor(
    inFlight: InFlight,
    signatures: readonly (Signature | undefined)[],
    failLane: (lane: Lane, error: Error) => void,
  ) {
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
    let outcome: SendOutcome = FULL;
    lane.load.outstanding++;
    try {
      outcome = lane.endpoint.sendCall(slot, generation, task, args, this.#signatures[task]?.args);
    } catch (error) {
      lane.load.outstanding--;
      this.#rejectUnsent(lane, slot, generation, error);
      return DONE;
    }
    // Encoding runs getters, which may do anything to this pool: abort this call, or close it.
    if (outcome === SENT && call.generation !== generation) {
      this.#unsend(lane, slot, generation, load);
      return DONE;
    }
    if (outcome === SENT) {
      this.#sent(lane, call, load);
      return DONE;
    }
    lane.load.outstanding--;
    this.wakeIfTold(lane);
    if (call.generation !== generation) return DONE;
    call.lane = QUEUED_ON_HOST;
    return outcome;
  }

  /** The same with what is held of a waiting call. False: no room. */
  sendHeld(lane: Lane, { slot, generation, task, held }: Held, load: CallLoad): boolean {
    const call = this.#inFlight.find(slot, generation)!;
    call.lane = lane.id;
    lane.load.outstanding++;
    try {
      if (!lane.endpoint.sendHeld(CALL, slot, generation, task, held)) {
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
    this.#sent(lane, call, load);
    return true;
  }

  /** Shapes were told to the lane's worker, but no call followed them. */
  wakeIfTold(lane: Lane): void {
    if (lane.endpoint.takeTold()) this.#wake(lane);
  }

  /** Wakes the workers that nobody could wake because the stack had overflowed. */
  wakeUnwoken(lanes: readonly Lane[]): void {
    if (!this.#hasUnwoken) return;
    this.#hasUnwoken = false;
    for (const lane of lanes.slice()) this.#wake(lane);
  }

  /** A call was committed to the lane's ring, and counted by `outstanding`. */
  #sent(lane: Lane, call: PendingCall, load: CallLoad): void {
    call.load = load;
    if (call.settings !== PLAIN) call.position = lane.endpoint.tx.position;
    lane.load.add(load);
    this.#wake(lane);
  }

  /** A call was committed that had been settled meanwhile. */
  #unsend(lane: Lane, slot: number, generation: number, load: CallLoad): void {
    const { tx } = lane.endpoint;
    lane.load.add(load);
    if (tx.revokeAt(tx.position)) lane.load.remove(load);
    else lane.abandoned.add(slot, generation, { load, killAtMs: Infinity });
    this.#wake(lane);
  }

  /** Sending threw: for damage the lane's end settles the call, for anything else nothing was sent. */
  #rejectUnsent(lane: Lane, slot: number, generation: number, error: unknown): void {
    this.wakeIfTold(lane);
    const call = this.#inFlight.find(slot, generation);
    if (error instanceof ProtocolError) this.#failLane(lane, error);
    else if (call !== undefined) this.#inFlight.reject(call, error);
  }

  #wake(lane: Lane): void {
    try {
      lane.waker.wake();
    } catch (error) {
      if (error instanceof ProtocolError) this.#failLane(lane, error);
      else this.#hasUnwoken = true; // the stack has overflowed: the next poll wakes it
    }
  }
}

/** What is sent of a waiting call; one that was taken back has no more. */
type Held = Pick<QueuedCall, "slot" | "generation" | "task" | "held">;
