/**
 * One side of a lane: a ring to send on, a ring to receive from, a payload port and a codec, as one
 * duplex of frames. Host and worker use the same class; it knows nothing of calls, parking or waking.
 *
 * Sending never blocks. Values that fit are encoded straight into the claimed record.
 */
import type { Codec } from "../codec/codec.ts";
import { type ErrorTable, rebuildError } from "../codec/fault.ts";
import { normalizeNumber } from "../codec/numbers.ts";
import { NO_ROOM } from "../codec/tags.ts";
import { ProtocolError } from "../errors.ts";
import type { RingConsumer } from "../ring/consumer.ts";
import { NO_SPACE, type RingProducer } from "../ring/producer.ts";
import type { PayloadPort } from "../runtimes/runtime.ts";
import {
  CALL,
  CALL_WITH_NUMBER,
  CLONED,
  countOf,
  FRAME_BYTES,
  GENERATION_WORD,
  INLINE,
  type Kind,
  locationOf,
  NUMBER_FRAME_BYTES,
  NUMBER_ONLY,
  packWhat,
  PLACEHOLDER_BYTES,
  RESULT,
  RESULT_NUMBER,
  SHARED,
  SLOT_WORD,
  TASK_WORD,
  WHAT_WORD,
} from "./frame.ts";
import {
  type ClonedValues,
  decodeShared,
  type Held,
  type SharedValues,
  unpackCloned,
} from "./hold.ts";
import { PayloadInbox } from "./payload-inbox.ts";

/** Committed. */
export const SENT = 0;
/** The ring has no room now: hold the values and try again after the other side has released. */
export const FULL = 1;
/** The values cannot go inline: hold them and use `sendHeld`. */
export const NOT_INLINE = 2;
export type SendOutcome = typeof SENT | typeof FULL | typeof NOT_INLINE;

/** What a first claim asks for; most records fit, and `limit` usually allows far more. */
const FIRST_CLAIM_BYTES = 128;

/** Beside a payload of a quarter of the ring: the value's own header. */
const VALUE_OVERHEAD_BYTES = 32;

/** Most encoded bytes a record carries inline, for rings of this capacity. */
export function maxInlineBytes(capacity: number): number {
  return (capacity >> 2) + VALUE_OVERHEAD_BYTES;
}

/** The four strings an error without cause or own properties is sent as. */
type InlineFault = [type: string, name: string | undefined, message: string, stack?: string];

export class Endpoint {
  readonly tx: RingProducer;
  readonly rx: RingConsumer;
  readonly codec: Codec;
  readonly #port: PayloadPort;
  readonly #inbox: PayloadInbox;
  readonly #maxInlineBytes: number;
  #posted = 0;

  constructor(tx: RingProducer, rx: RingConsumer, codec: Codec, port: PayloadPort) {
    this.tx = tx;
    this.rx = rx;
    this.codec = codec;
    this.#port = port;
    this.#inbox = new PayloadInbox(port);
    this.#maxInlineBytes = maxInlineBytes(tx.capacity);
  }

  /** Sends a call with its arguments inline. */
  sendCall(slot: number, generation: number, task: number, args: readonly unknown[]): SendOutcome {
    const { tx, codec } = this;
    const count = args.length;
    if (count === 1 && typeof args[0] === "number") {
      return this.#sendNumber(slot, generation, CALL_WITH_NUMBER, task, args[0]);
    }
    const index = tx.claim(FIRST_CLAIM_BYTES);
    if (index === NO_SPACE) return FULL;
    const memory = tx.memory;
    const start = index + FRAME_BYTES;
    const limit = Math.min(tx.limit, start + this.#maxInlineBytes);
    let end = start;
    let objects = 0;
    for (let argument = 0; argument < count; argument++) {
      const value = args[argument];
      if (typeof value === "object" && value !== null) objects++;
      end = codec.encode(memory, end, limit, value);
      if (end < 0) {
        tx.abort();
        return end === NO_ROOM ? this.#sendLarger(CALL, slot, generation, task, args) : NOT_INLINE;
      }
    }
    if (objects > 1 && codec.hasSharedBuffers(args)) {
      tx.abort();
      return NOT_INLINE;
    }
    this.#commit(index, end, slot, generation, packWhat(CALL, INLINE, count), task);
    return SENT;
  }

  /** Sends one value inline. */
  sendValue(kind: Kind, slot: number, generation: number, value: unknown): SendOutcome {
    const { tx } = this;
    if (typeof value === "number" && kind === RESULT) {
      return this.#sendNumber(slot, generation, RESULT_NUMBER, 0, value);
    }
    const index = tx.claim(FIRST_CLAIM_BYTES);
    if (index === NO_SPACE) return FULL;
    const start = index + FRAME_BYTES;
    const limit = Math.min(tx.limit, start + this.#maxInlineBytes);
    const end = this.codec.encode(tx.memory, start, limit, value);
    if (end < 0) {
      tx.abort();
      return end === NO_ROOM ? this.#sendLarger(kind, slot, generation, 0, [value]) : NOT_INLINE;
    }
    this.#commit(index, end, slot, generation, packWhat(kind, INLINE, 1), 0);
    return SENT;
  }

  /** Sends held values. False: no room now, nothing was posted. */
  sendHeld(kind: Kind, slot: number, generation: number, task: number, held: Held): boolean {
    const { tx } = this;
    const what = packWhat(kind, held.location, held.count);
    if (held.location === INLINE) {
      const index = tx.claim(FRAME_BYTES + held.bytes.length);
      if (index === NO_SPACE) return false;
      tx.memory.u8.set(held.bytes, index + FRAME_BYTES);
      this.#commit(index, index + FRAME_BYTES + held.bytes.length, slot, generation, what, task);
      return true;
    }
    // The message goes first, so that it is there when the record is seen. Space can only grow in
    // between: this side alone claims, and nothing runs here but the post.
    if (!tx.hasSpace(PLACEHOLDER_BYTES)) return false;
    const sequence = this.#posted;
    this.#port.post([sequence, held.payload]);
    this.#posted = (sequence + 1) | 0;
    const index = tx.claim(PLACEHOLDER_BYTES);
    tx.memory.i32[(index + FRAME_BYTES) >> 2] = sequence;
    this.#commit(index, index + PLACEHOLDER_BYTES, slot, generation, what, task);
    return true;
  }

  /** Bytes of ring `sendHeld` needs. */
  static heldBytes(held: Held): number {
    return held.location === INLINE ? FRAME_BYTES + held.bytes.length : PLACEHOLDER_BYTES;
  }

  /** An error without cause or own properties as inline strings; others as a held table. */
  static inlineFault(table: ErrorTable): InlineFault | undefined {
    const { type, name, message, stack, ...more } = table[0]!;
    return table.length > 1 || Object.keys(more).length > 0
      ? undefined
      : [type, name, message, stack!];
  }

  /** All values of the polled record at `index`. Throws DataCloneError for an unreadable message. */
  readValues(index: number, what: number): unknown[] {
    const { memory, end } = this.rx;
    const count = countOf(what);
    switch (locationOf(what)) {
      case INLINE:
        return this.codec.decodeAll(memory, index + FRAME_BYTES, end, count);
      case NUMBER_ONLY:
        if (end - index < NUMBER_FRAME_BYTES) {
          throw new ProtocolError(`Number record of ${end - index} bytes.`);
        }
        return [normalizeNumber(memory.f64[(index + FRAME_BYTES) >> 3]!)];
      case SHARED:
        return decodeShared(this.codec, this.#takePayload(index) as SharedValues, count);
      case CLONED:
        return unpackCloned(this.codec.bytes, this.#takePayload(index) as ClonedValues);
      default:
        throw new ProtocolError(`Frame with unknown location ${locationOf(what)}.`);
    }
  }

  /** The error a FAULT record at `index` carries. */
  readFault(index: number, what: number): Error {
    if (locationOf(what) === CLONED) return rebuildError(this.#takePayload(index) as ErrorTable);
    const [type, name, message, stack] = this.readValues(index, what) as InlineFault;
    return rebuildError([{ type, name, message, stack }]);
  }

  close(): void {
    this.#port.close();
  }

  #sendNumber(
    slot: number,
    generation: number,
    what: number,
    task: number,
    value: number,
  ): SendOutcome {
    const { tx } = this;
    const index = tx.claim(NUMBER_FRAME_BYTES);
    if (index === NO_SPACE) return FULL;
    tx.memory.f64[(index + FRAME_BYTES) >> 3] = value;
    this.#commit(index, index + NUMBER_FRAME_BYTES, slot, generation, what, task);
    return SENT;
  }

  #takePayload(index: number): unknown {
    if (this.rx.end - index < PLACEHOLDER_BYTES) {
      throw new ProtocolError(`Placeholder record of ${this.rx.end - index} bytes.`);
    }
    return this.#inbox.take(this.rx.memory.i32[(index + FRAME_BYTES) >> 2]!);
  }

  /** The values did not fit the contiguous rest of the ring: claim what they are bound to need. */
  #sendLarger(
    kind: Kind,
    slot: number,
    generation: number,
    task: number,
    values: readonly unknown[],
  ): SendOutcome {
    const { tx, codec } = this;
    let bound = 0;
    for (const value of values) {
      const bytes = codec.bound(value);
      if (bytes < 0) return NOT_INLINE;
      bound += bytes;
    }
    if (bound > this.#maxInlineBytes || codec.hasSharedBuffers(values)) return NOT_INLINE;
    const index = tx.claim(FRAME_BYTES + bound);
    if (index === NO_SPACE) return FULL;
    let end = index + FRAME_BYTES;
    for (const value of values) {
      end = codec.encode(tx.memory, end, tx.limit, value);
      if (end < 0) {
        tx.abort();
        return NOT_INLINE;
      }
    }
    this.#commit(index, end, slot, generation, packWhat(kind, INLINE, values.length), task);
    return SENT;
  }

  #commit(
    index: number,
    end: number,
    slot: number,
    generation: number,
    what: number,
    task: number,
  ): void {
    const i32 = this.tx.memory.i32;
    const word = index >> 2;
    i32[word + SLOT_WORD] = slot;
    i32[word + GENERATION_WORD] = generation;
    i32[word + WHAT_WORD] = what;
    i32[word + TASK_WORD] = task;
    this.tx.commit(end);
  }
}

/** Checks that the polled record can hold a frame. */
export function checkFrame(index: number, end: number): void {
  if (end - index < FRAME_BYTES) throw new ProtocolError(`Frame of ${end - index} bytes.`);
}
