/** Reads the answers of a lane and settles their calls. */
import { normalizeNumber } from "../codec/numbers.ts";
import type { Signature } from "../codec/struct/signature.ts";
import { checkFrame } from "../endpoint/endpoint.ts";
import {
  countOf,
  FRAME_BYTES,
  GENERATION_WORD,
  kindOf,
  NUMBER_FRAME_BYTES,
  RESULT,
  RESULT_NUMBER,
  RESULT_VALUE,
  SHAPES,
  SLOT_WORD,
  TASK_WORD,
  THROWN,
  WHAT_WORD,
} from "../endpoint/frame.ts";
import { type CallLoad, UNKNOWN_LOAD } from "../endpoint/service-times.ts";
import { ProtocolError } from "../errors.ts";
import { EMPTY } from "../ring/consumer.ts";
import type { InFlight } from "./in-flight.ts";
import type { Lane } from "./lane.ts";

export class Answers {
  /** Answers read. */
  taken = 0;
  /** Of those, answers for calls that were settled otherwise before. */
  late = 0;
  readonly #inFlight: InFlight;
  readonly #signatures: readonly (Signature | undefined)[];
  readonly #hasSignatures: boolean;

  constructor(inFlight: InFlight, signatures: readonly (Signature | undefined)[]) {
    this.#inFlight = inFlight;
    this.#signatures = signatures;
    this.#hasSignatures = signatures.some((signature) => signature !== undefined);
  }

  /** Settles up to `max` calls that `lane` has answered. Throws ProtocolError for a damaged ring. */
  take(lane: Lane, max: number): number {
    const { rx, decoder } = lane.endpoint;
    const { memory } = rx;
    const { i32, f64 } = memory;
    const inFlight = this.#inFlight;
    let answers = 0;
    while (answers < max && lane.load.outstanding > 0) {
      const index = rx.poll();
      if (index === EMPTY) break;
      rx.verify(index);
      checkFrame(index, rx.end);
      const word = index >> 2;
      const slot = i32[word + SLOT_WORD]!;
      const generation = i32[word + GENERATION_WORD]!;
      const what = i32[word + WHAT_WORD]!;
      if (this.#hasSignatures) {
        decoder.declared = this.#signatures[i32[word + TASK_WORD]!]?.returns;
      }
      answers++;
      if (!inFlight.has(slot, generation)) {
        this.#settleOther(lane, index, slot, generation, what);
      } else if (what === RESULT_NUMBER && rx.end - index >= NUMBER_FRAME_BYTES) {
        const value = normalizeNumber(f64[(index + FRAME_BYTES) >> 3]!);
        this.#answered(lane, this.#inFlight.loadOf[slot]!);
        inFlight.resolve(slot, value);
      } else if (what === RESULT_VALUE) {
        let value: unknown;
        let isRead = true;
        try {
          value = decoder.one(memory, index + FRAME_BYTES, rx.end);
        } catch (error) {
          if (error instanceof ProtocolError) throw error;
          value = error; // too deep for the stack as it is now: fails its own call only
          isRead = false;
        }
        this.#answered(lane, this.#inFlight.loadOf[slot]!);
        if (isRead) inFlight.resolve(slot, value);
        else inFlight.reject(slot, value);
      } else {
        this.#settleOther(lane, index, slot, generation, what);
      }
    }
    return answers;
  }

  /** Answers that are not one inline result of a waiting call. */
  #settleOther(lane: Lane, index: number, slot: number, generation: number, what: number): void {
    const { endpoint } = lane;
    const kind = kindOf(what);
    if (kind === SHAPES) {
      endpoint.learnShapes(index, what);
      release(lane);
      return;
    }
    if ((kind !== RESULT && kind !== THROWN) || countOf(what) !== 1) {
      throw new ProtocolError(`Answer of kind ${kind} with ${countOf(what)} values.`);
    }
    let value: unknown;
    let isRejection = kind === THROWN;
    try {
      // Read even if nobody waits any more: the payload message must not stay in the port.
      value = endpoint.readValues(index, what)[0];
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      value = error; // what could not be deserialized fails its own call only
      isRejection = true;
    }
    const isWaiting = this.#inFlight.has(slot, generation);
    this.#answered(lane, isWaiting ? this.#inFlight.loadOf[slot]! : UNKNOWN_LOAD);
    if (!isWaiting) this.late++;
    else if (isRejection) this.#inFlight.reject(slot, value);
    else this.#inFlight.resolve(slot, value);
  }

  /** Done with the polled answer, to a call of this load. */
  #answered(lane: Lane, load: CallLoad): void {
    this.taken++;
    lane.load.remove(load);
    release(lane);
  }
}

/** Done with the polled record. */
function release(lane: Lane): void {
  // A worker that waits for room can only be helped by room just handed back.
  if (lane.endpoint.rx.release() && lane.spaceFlag.take()) lane.waker.wake();
}
