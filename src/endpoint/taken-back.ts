/** Taking calls back that were sent, as long as the other side has not begun them. */
import { NUMBER, VALUE_HEADER_BYTES } from "../codec/tags.ts";
import type { RingProducer } from "../ring/producer.ts";
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
} from "./frame.ts";
import type { Held } from "./hold.ts";

/** What a call is known by. Its generation changes when it is over, and when it is made again. */
export interface CallId {
  readonly slot: number;
  readonly generation: number;
}

/** A call that was sent and taken back. */
export interface TakenBack extends CallId {
  readonly task: number;
  readonly held: Held;
}

/** Values that are all in their record. */
const NOTHING_BESIDE: Omit<Held, "count" | "inline"> = {
  payload: undefined,
  transfer: [],
  mayKeep: true,
  attached: [],
  copiedBytes: 0,
};

/** What is held of a call whose record does not have it. */
export type HeldOf = (slot: number, generation: number) => Held | undefined;

/** The `most` oldest calls that the other side has not begun, newest last. May be stale. */
export function unbegunCalls(tx: RingProducer, most?: number): number[] {
  const { i32 } = tx.memory;
  return tx.unreleased(
    most,
    (index) => kindOf(i32[(index >> 2) + WHAT_WORD]!) === CALL && tx.isQueued(index),
  );
}

/**
 * Takes the call at `index` back, to be sent elsewhere. Undefined: the other side has begun it, or a
 * message belongs to it, which has left, and `heldOf` knows no more what was in it.
 */
export function takeBack(tx: RingProducer, index: number, heldOf: HeldOf): TakenBack | undefined {
  const { i32, u8 } = tx.memory;
  const word = index >> 2;
  const what = i32[word + WHAT_WORD]!;
  const [slot, generation, task] = [
    i32[word + SLOT_WORD]!,
    i32[word + GENERATION_WORD]!,
    i32[word + TASK_WORD]!,
  ];
  const location = locationOf(what);
  if (location === PORT) {
    const held = heldOf(slot, generation);
    return held !== undefined && tx.revoke(index) ? { slot, generation, task, held } : undefined;
  }
  if (!tx.revoke(index)) return undefined;
  // A revoked record's bytes are this side's until it claims again.
  const values = u8.subarray(index + FRAME_BYTES, index + i32[word]!);
  const inline = location === NUMBER_ONLY ? encodeNumber(values) : new Uint8Array(values);
  const held = { ...NOTHING_BESIDE, count: countOf(what), inline };
  return { slot, generation, task, held };
}

/** Takes the call at `index` back for good. Undefined: the other side has begun it. */
export function revokeCall(tx: RingProducer, index: number): CallId | undefined {
  if (!tx.revoke(index)) return undefined;
  const { i32 } = tx.memory;
  const word = index >> 2;
  return { slot: i32[word + SLOT_WORD]!, generation: i32[word + GENERATION_WORD]! };
}

/** The value of a NUMBER_ONLY record as the codec writes it. */
function encodeNumber(bits: Uint8Array): Uint8Array<ArrayBuffer> {
  const encoded = new Uint8Array(2 * VALUE_HEADER_BYTES);
  encoded[0] = NUMBER;
  encoded.set(bits.subarray(0, 8), VALUE_HEADER_BYTES);
  return encoded;
}
