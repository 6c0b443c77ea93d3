/** Reads the responses of a lane and settles their calls. */
import { normalizeNumber } from "../../codec/kinds/numbers.ts";
import type { Signature } from "../../codec/declared.ts";
import { damagedFrame } from "../../lane/endpoint.ts";
import {
  countOf,
  DESCRIPTOR_WORD,
  FRAME_BYTES,
  GENERATION_WORD,
  KEY_LISTS,
  kindOf,
  NUMBER_FRAME_BYTES,
  OF_RETURN,
  REQUEST,
  RESULT,
  RESULT_NUMBER,
  RESULT_VALUE,
  SLOT_WORD,
  TASK_WORD,
  THROWN,
} from "../../lane/frame.ts";
import { UNKNOWN_LOAD } from "../../metering/task-timings.ts";
import { ProtocolError } from "../../errors.ts";
import { EMPTY } from "../../ring/consumer.ts";
import type { InFlight, PendingCall } from "../calls/in-flight.ts";
import type { Lane } from "../lanes/lane.ts";

/** Takes records of kinds that plain calls do not have (`DispatcherEvents.onRecord`). */
interface RecordSink {
  onRecord(lane: Lane, index: number, call: PendingCall | undefined, kind: number): boolean;
}

/** More responses than a lane can hold. */
export const MAX_RESPONSES: number = 2 ** 30;

export class Responses {
  /** Responses taken so far, about. */
  taken = 0;
  /** Responses for calls that were settled before for another reason. */
  late = 0;
  readonly #inFlight: InFlight;
  readonly #records: RecordSink;
  readonly #signatures: readonly (Signature | undefined)[];
  #hasSignatures: boolean;
  /** Index of the lane that is read first. */
  #next = 0;

  constructor(
    inFlight: InFlight,
    signatures: readonly (Signature | undefined)[],
    records: RecordSink,
  ) {
    this.#inFlight = inFlight;
    this.#records = records;
    this.#signatures = signatures;
    this.#hasSignatures = false;
    this.onTasksKnown();
  }

  /** The list of signatures was filled. */
  onTasksKnown(): void {
    this.#hasSignatures = this.#signatures.some((signature) => signature !== undefined);
  }

  /**
   * Settles up to `max` calls that `lanes` have answered. Starts where it stopped the last time, so that the
   * responses of one lane do not delay those of another. `onDamaged` takes a lane whose ring is damaged out of
   * `lanes`.
   */
  takeFrom(
    lanes: readonly Lane[],
    max: number,
    onDamaged: (lane: Lane, error: Error) => void,
  ): number {
    let settled = 0;
    for (let left = lanes.length; left > 0 && settled < max; left--) {
      if (this.#next >= lanes.length) this.#next = 0;
      const lane = lanes[this.#next++]!;
      if (lane.load.outstanding === 0) continue;
      try {
        settled += this.take(lane, max - settled);
      } catch (error) {
        // `take` throws only ProtocolError.
        onDamaged(lane, error as Error);
        this.#next--;
      }
    }
    return settled;
  }

  /** Settles up to `max` calls that `lane` has answered. Throws ProtocolError for a damaged ring. */
  take(lane: Lane, max: number): number {
    const { load } = lane;
    const { rx, decoder } = lane.endpoint;
    const { memory } = rx;
    const { i32, f64 } = memory;
    const inFlight = this.#inFlight;
    let taken = 0;
    while (taken < max && load.outstanding > 0) {
      const index = rx.poll();
      if (index === EMPTY) break;
      rx.verify(index);
      if (rx.end - index < FRAME_BYTES) throw damagedFrame(rx.end - index);
      const word = index >> 2;
      const descriptor = i32[word + DESCRIPTOR_WORD]!;
      const call = inFlight.find(i32[word + SLOT_WORD]!, i32[word + GENERATION_WORD]!);
      if (this.#hasSignatures) {
        decoder.declared = this.#signatures[i32[word + TASK_WORD]!]?.returns;
      }
      taken++;
      if (call === undefined) {
        this.#settleOther(lane, index, call, descriptor);
      } else if (descriptor === RESULT_NUMBER && rx.end - index >= NUMBER_FRAME_BYTES) {
        const value = normalizeNumber(f64[(index + FRAME_BYTES) >> 3]!);
        load.remove(call.load);
        if (rx.release()) lane.wakeForSpace();
        inFlight.resolve(call, value);
      } else if (descriptor === RESULT_VALUE) {
        let value: unknown;
        let isRead = true;
        try {
          value = decoder.one(memory, index + FRAME_BYTES, rx.end);
        } catch (error) {
          if (error instanceof ProtocolError) throw error;
          value = error; // too deep for the present stack: fails its own call only
          isRead = false;
        }
        load.remove(call.load);
        if (rx.release()) lane.wakeForSpace();
        if (isRead) inFlight.resolve(call, value);
        else inFlight.reject(call, value);
      } else {
        this.#settleOther(lane, index, call, descriptor);
      }
    }
    if (taken > 0) load.isWaking = false;
    this.taken += taken;
    return taken;
  }

  /** Responses that are not one inline result of a waiting call. */
  #settleOther(lane: Lane, index: number, call: PendingCall | undefined, descriptor: number): void {
    const { endpoint, load } = lane;
    const kind = kindOf(descriptor);
    if (kind === KEY_LISTS) {
      endpoint.receiveKeyLists(index, descriptor);
      if (endpoint.rx.release()) lane.wakeForSpace();
      return;
    }
    if (kind !== RESULT && kind !== THROWN) {
      if (this.#records.onRecord(lane, index, call, kind)) return;
      throw new ProtocolError(`Response of kind ${kind}.`);
    }
    if (countOf(descriptor) !== 1) {
      throw new ProtocolError(`Response of kind ${kind} with ${countOf(descriptor)} values.`);
    }
    if (call === undefined) {
      // Perhaps its caller was settled before.
      const { i32 } = endpoint.rx.memory;
      const word = index >> 2;
      const slot = i32[word + SLOT_WORD]!;
      const generation = i32[word + GENERATION_WORD]!;
      const orphan = load.orphaned.take(slot, generation);
      endpoint.discard(index);
      load.remove(orphan?.load ?? UNKNOWN_LOAD);
      if (endpoint.rx.release()) lane.wakeForSpace();
      this.late++;
      this.#inFlight.lateRuns?.onResponse(lane.id, slot, generation);
      return;
    }
    let value: unknown;
    let isRejection = kind === THROWN;
    try {
      value = endpoint.readValues(index, descriptor)[0];
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      value = error; // a value that cannot be deserialized fails its own call only
      isRejection = true;
    }
    const stream = call.extra?.stream;
    if (isRejection && stream !== undefined) {
      stream.isOfNext = endpoint.rx.memory.i32[(index >> 2) + TASK_WORD] !== OF_RETURN;
    }
    load.remove(call.load);
    if (endpoint.rx.release()) lane.wakeForSpace();
    if (isRejection) this.#inFlight.reject(call, value);
    else this.#inFlight.resolve(call, value);
  }

  /**
   * Takes what a lane without calls has sent: requests of code that goes on when its call has ended. False: it has sent something
   * else. Throws ProtocolError for a damaged ring.
   */
  takeRequests(lane: Lane): boolean {
    const { rx } = lane.endpoint;
    for (let index = rx.poll(); index !== EMPTY; index = rx.poll()) {
      rx.verify(index);
      if (rx.end - index < FRAME_BYTES) throw damagedFrame(rx.end - index);
      const descriptor = rx.memory.i32[(index >> 2) + DESCRIPTOR_WORD]!;
      const kind = kindOf(descriptor);
      if (kind !== REQUEST && kind !== KEY_LISTS) return false;
      this.#settleOther(lane, index, undefined, descriptor);
    }
    return true;
  }
}
