/**
 * Revocation: the host takes back calls that a lane's worker has not begun. One compare-exchange per call decides whether
 * its worker has begun it (`ring/record-layout.ts`), so exactly one worker runs it. docs/internals/revocation.md explains
 * the protocol.
 */
import { NUMBER, VALUE_HEADER_BYTES } from "../../codec/tags.ts";
import {
  CALL,
  CALL_BY_NAME,
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
import type { CallSettings } from "../calls/call-settings.ts";
import type { QueuedCall } from "../calls/queued-call.ts";
import { type InFlight, type PendingCall, QUEUED_ON_HOST } from "../calls/in-flight.ts";
import type { Lane } from "../lanes/lane.ts";

export interface RevocationOptions {
  readonly inFlight: InFlight;
  /** Queues calls, in this order, before all others of their priority. */
  readonly putBack: (calls: readonly QueuedCall[]) => void;
  readonly failLane: (lane: Lane, error: Error) => void;
}

export class Revocation {
  /** Calls revoked so far that run elsewhere. */
  moved = 0;
  readonly #options: RevocationOptions;

  constructor(options: RevocationOptions) {
    this.#options = options;
  }

  /**
   * Queues all calls that a lane has not begun, except calls sent by port without a kept snapshot, which count as
   * running. Broadcasts stay, unless `isForAll`.
   */
  requeue(lane: Lane, isForAll = false): void {
    // A broadcast is for this worker alone.
    const mayMove = ({ affinity }: CallSettings): boolean =>
      isForAll || affinity === undefined || !("workerId" in affinity);
    const calls = this.revoke(lane, unclaimedCalls(lane.endpoint.tx), mayMove);
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

  /** Revokes calls of `lane` and returns them, without those that are already settled. */
  revoke(
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
        const isByName = kindOf(tx.memory.i32[(index >> 2) + DESCRIPTOR_WORD]!) === CALL_BY_NAME;
        const snapshot = revokeRecord(tx, index, call);
        if (snapshot === undefined) continue;
        lane.load.remove(call?.load ?? UNKNOWN_LOAD);
        if (call === undefined) continue;
        call.lane = QUEUED_ON_HOST;
        if (isByName) {
          calls.push(call.extra!.retryPayload!); // the record does not have the task's index
          continue;
        }
        const { slot, generation, settings: { priority } } = call;
        calls.push({ slot, generation, task: taskAt(tx, index), snapshot, priority });
      }
    } catch (error) {
      failLane(lane, error as Error); // always a ProtocolError
    }
    return calls;
  }
}

/** The `max` oldest calls that the worker has not begun, as ring offsets, oldest first. May be stale. */
export function unclaimedCalls(tx: RingProducer, max?: number): number[] {
  const { i32 } = tx.memory;
  return tx.unreleased(
    max,
    (index) => isCall(kindOf(i32[(index >> 2) + DESCRIPTOR_WORD]!)) && tx.isQueued(index),
  );
}

function isCall(kind: number): boolean {
  return kind === CALL || kind === CALL_BY_NAME;
}

/** The call of the record at `index`, unless it is settled. */
export function callAt(
  tx: RingProducer,
  index: number,
  inFlight: InFlight,
): PendingCall | undefined {
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
function revokeRecord(
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
