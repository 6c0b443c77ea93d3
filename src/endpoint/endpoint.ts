/**
 * One side of a lane: a ring to send on, a ring to receive from, a payload port and a codec, as one
 * duplex of frames. Host and worker use the same class; it knows nothing of calls, parking or waking.
 *
 * Sending never blocks. Values that fit are encoded straight into the claimed record. Encoding runs
 * user code, which may send on this same endpoint: while a claim is open everything else is FULL, and
 * is held.
 */
import { type Codec, encodingError } from "../codec/codec.ts";
import type { Decoder } from "../codec/decoder.ts";
import type { Encoder, Grow } from "../codec/encoder.ts";
import { isError } from "../codec/fault.ts";
import { normalizeNumber } from "../codec/numbers.ts";
import { ReceivedShapes } from "../codec/shapes.ts";
import type { DeclaredValues } from "../codec/struct/signature.ts";
import { NUMBER, VALUE_HEADER_BYTES } from "../codec/tags.ts";
import { ProtocolError } from "../errors.ts";
import { viewMemory } from "../memory/views.ts";
import type { RingConsumer } from "../ring/consumer.ts";
import { NO_SPACE, type RingProducer } from "../ring/producer.ts";
import type { PayloadPort } from "../runtimes/runtime.ts";
import {
  CALL,
  countOf,
  FRAME_BYTES,
  GENERATION_WORD,
  IN_RECORD,
  INLINE,
  type Kind,
  kindOf,
  locationOf,
  NUMBER_FRAME_BYTES,
  NUMBER_ONLY,
  packWhat,
  PLACEHOLDER_BYTES,
  PORT,
  type RESULT,
  SHAPES,
  SLOT_WORD,
  TASK_WORD,
  THROWN,
  WHAT_WORD,
} from "./frame.ts";
import {
  ARGUMENTS,
  countDeclared,
  encodeDeclared,
  type Held,
  Holder,
  RESULT_NAME,
} from "./hold.ts";
import { bufferOf, PayloadInbox } from "./payload-inbox.ts";
import { postPayload } from "./post-payload.ts";

/** Committed. */
export const SENT = 0;
/** The ring has no room now: hold the values and try again after the other side has released. */
export const FULL = 1;
/** Sent, not sent and nothing was encoded, or encoded but to be sent by `sendHeld`. */
export type SendOutcome = typeof SENT | typeof FULL | Held;
/** Nobody waits for the call any more: encoding its arguments has run code that gave it up. */
export const UNWANTED = 2;

/** What a call is known by. Its generation changes when it is over, and when it is made again. */
export interface CallId {
  readonly slot: number;
  readonly generation: number;
}

/** What a first claim asks for; most records fit, and `limit` usually allows far more. */
const FIRST_CLAIM_BYTES = 128;

/** Beside a payload of a quarter of the ring: the value's own header. */
const VALUE_OVERHEAD_BYTES = 32;

/** Shapes told in one record. */
const SHAPES_PER_RECORD = 32;

/** Most encoded bytes a record carries inline, for rings of this capacity. */
export function maxInlineBytes(capacity: number): number {
  return (capacity >> 2) + VALUE_OVERHEAD_BYTES;
}

/** A call that was sent and taken back. */
export interface TakenBack {
  readonly slot: number;
  readonly generation: number;
  readonly task: number;
  readonly held: Held;
}

export class Endpoint {
  readonly tx: RingProducer;
  readonly rx: RingConsumer;
  readonly decoder: Decoder;
  readonly holder: Holder;
  readonly #codec: Codec;
  readonly #encoder: Encoder;
  readonly #shapes = new ReceivedShapes();
  readonly #port: PayloadPort;
  readonly #inbox: PayloadInbox;
  readonly #maxInlineBytes: number;
  readonly #grow: Grow;
  /** Shapes of ours that the other side knows. */
  #toldShapes = 0;
  #isEncoding = false;
  #hasTold = false;
  /** The next SHAPES record, for which there was no room. */
  #untold: { readonly held: Held; readonly count: number } | undefined;
  #posted = 0;

  constructor(tx: RingProducer, rx: RingConsumer, codec: Codec, port: PayloadPort) {
    this.tx = tx;
    this.rx = rx;
    this.#codec = codec;
    this.#encoder = codec.lend();
    this.decoder = codec.decoder(this.#shapes);
    this.#port = port;
    this.#inbox = new PayloadInbox(port);
    this.#maxInlineBytes = maxInlineBytes(tx.capacity);
    this.holder = new Holder(codec, this.#maxInlineBytes);
    this.#grow = (written, bytes) => this.#claimMore(written, bytes);
  }

  /**
   * Sends a call with its arguments, of which some may be of declared shapes, unless it is over when
   * they have been encoded. Throws what encoding them throws; nothing was sent then.
   */
  sendCall(
    call: CallId,
    task: number,
    args: readonly unknown[],
    declared?: DeclaredValues,
  ): SendOutcome | typeof UNWANTED {
    const { slot, generation } = call;
    const { length } = args;
    const index = this.#claim();
    if (index === NO_SPACE) return FULL;
    const encoder = this.#encoder;
    try {
      let at = this.#begin(index);
      encoder.name = ARGUMENTS;
      encoder.list = args;
      let count = length;
      if (declared !== undefined) {
        at = encodeDeclared(encoder, args, declared, at);
        count = countDeclared(args, declared);
      } else {
        for (let argument = 0; argument < length; argument++) at = encoder.root(args[argument], at);
      }
      if (call.generation !== generation) {
        this.tx.abort();
        return UNWANTED;
      }
      return this.#close(at, slot, generation, CALL, count, task);
    } catch (error) {
      throw encodingError(error, ARGUMENTS);
    } finally {
      // A plain store: should the stack have overflowed, no call would get through here.
      this.#isEncoding = false;
      this.#encoder.end();
    }
  }

  /** Sends a call with one number, or a result that is one: the shortest way. */
  sendNumber(
    slot: number,
    generation: number,
    what: number,
    task: number,
    value: number,
  ): typeof SENT | typeof FULL {
    const { tx } = this;
    if (this.#isEncoding) return FULL;
    const index = tx.claim(NUMBER_FRAME_BYTES);
    if (index === NO_SPACE) return FULL;
    tx.memory.f64[(index + FRAME_BYTES) >> 3] = value;
    this.#commit(index, index + NUMBER_FRAME_BYTES, slot, generation, what, task);
    return SENT;
  }

  /**
   * Sends a result, of a declared shape perhaps, or what a task threw. Throws what encoding it throws;
   * nothing was sent then.
   */
  sendValue(
    kind: typeof RESULT | typeof THROWN,
    slot: number,
    generation: number,
    value: unknown,
    task = 0,
    declared?: DeclaredValues,
  ): SendOutcome {
    const index = this.#claim();
    if (index === NO_SPACE) return FULL;
    const encoder = this.#encoder;
    try {
      let at = this.#begin(index);
      encoder.name = RESULT_NAME;
      if (kind === THROWN && isError(value)) {
        encoder.isUnlimited = true;
        at = encoder.error(value, at);
      } else if (declared !== undefined) at = encoder.struct(declared[0]!, 0, value, at);
      else at = encoder.root(value, at);
      return this.#close(at, slot, generation, kind, 1, task);
    } catch (error) {
      throw encodingError(error, RESULT_NAME);
    } finally {
      // A plain store: should the stack have overflowed, no call would get through here.
      this.#isEncoding = false;
      this.#encoder.end();
    }
  }

  /**
   * Sends held values, of which `transfer` moves (all that is `attached` among it); without it they can be
   * sent again. False: no room now, nothing was posted.
   */
  sendHeld(
    kind: Kind,
    slot: number,
    generation: number,
    task: number,
    held: Held,
    transfer: readonly unknown[] = held.transfer,
  ): boolean {
    if (this.#isEncoding || !this.#tellShapes()) return false;
    return this.#send(kind, slot, generation, task, held, transfer);
  }

  /** Whether `sendHeld` would succeed now. May publish what has to be told before (`takeTold`). */
  hasSpaceFor(held: Held): boolean {
    return !this.#isEncoding && this.#tellShapes() && this.tx.hasSpace(Endpoint.#heldBytes(held));
  }

  /** The `most` oldest calls that the other side has not begun, newest last. May be stale. */
  unbegunCalls(most?: number): number[] {
    const { tx } = this;
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
  takeBack(
    index: number,
    heldOf: (slot: number, generation: number) => Held | undefined,
  ): TakenBack | undefined {
    const { tx } = this;
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
    const count = countOf(what);
    const held = { count, inline, payload: undefined, transfer: [], mayKeep: true, attached: [] };
    return { slot, generation, task, held };
  }

  /** Takes the call at `index` back for good. Undefined: the other side has begun it. */
  revokeCall(index: number): CallId | undefined {
    const { tx } = this;
    if (!tx.revoke(index)) return undefined;
    const { i32 } = tx.memory;
    const word = index >> 2;
    return { slot: i32[word + SLOT_WORD]!, generation: i32[word + GENERATION_WORD]! };
  }

  /** Bytes of ring that held values take. */
  static #heldBytes(held: Held): number {
    const { inline, payload } = held;
    return (payload === undefined ? FRAME_BYTES : PLACEHOLDER_BYTES) + (inline?.length ?? 0);
  }

  /** All values of the polled record at `index`. Throws DataCloneError for an unreadable one. */
  readValues(index: number, what: number): unknown[] {
    const { memory, end } = this.rx;
    const count = countOf(what);
    switch (locationOf(what)) {
      case INLINE:
        return this.decoder.all(memory, index + FRAME_BYTES, end, count);
      case NUMBER_ONLY:
        if (end - index < NUMBER_FRAME_BYTES) {
          throw new ProtocolError(`Number record of ${end - index} bytes.`);
        }
        return [normalizeNumber(memory.f64[(index + FRAME_BYTES) >> 3]!)];
      case PORT: {
        if (end - index < PLACEHOLDER_BYTES) {
          throw new ProtocolError(`Placeholder record of ${end - index} bytes.`);
        }
        const word = (index + FRAME_BYTES) >> 2;
        const parts = this.#inbox.take(memory.i32[word]!);
        const bytes = memory.i32[word + 1]!;
        if (bytes === IN_RECORD) {
          return this.decoder.all(memory, index + PLACEHOLDER_BYTES, end, count, parts);
        }
        const buffer = viewMemory(bufferOf(parts, bytes, this.#codec.access.kinds));
        const values = this.decoder.all(buffer, 0, bytes, count, parts);
        this.decoder.forget();
        return values;
      }
      default:
        throw new ProtocolError(`Frame with unknown location ${locationOf(what)}.`);
    }
  }

  /** Drops the polled record at `index`, which its sender has taken back, and the message it stands for. */
  discard(index: number): void {
    const { memory, end } = this.rx;
    const what = memory.i32[(index >> 2) + WHAT_WORD]!;
    if (locationOf(what) !== PORT || end - index < PLACEHOLDER_BYTES) return;
    try {
      this.#inbox.take(memory.i32[(index + FRAME_BYTES) >> 2]!);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      // What cannot be deserialized is dropped as well.
    }
  }

  /** Learns the shapes that the polled SHAPES record at `index` tells. */
  learnShapes(index: number, what: number): void {
    this.#shapes.learn(this.readValues(index, what)[0]);
  }

  /**
   * Whether a record was published that says something about others, and nobody was woken for it. To
   * be asked after everything that was not sent: a record that nobody reads keeps its room.
   */
  takeTold(): boolean {
    const hasTold = this.#hasTold;
    this.#hasTold = false;
    return hasTold;
  }

  close(): void {
    this.#port.close();
  }

  /** Opens a record. NO_SPACE: not now. */
  #claim(): number {
    if (this.#isEncoding || !this.#tellShapes()) return NO_SPACE;
    return this.tx.claim(FIRST_CLAIM_BYTES);
  }

  /** Has the encoder write into the record that was opened at `index`; returns where. */
  #begin(index: number): number {
    this.#isEncoding = true;
    const { tx } = this;
    const start = index + FRAME_BYTES;
    const limit = Math.min(tx.limit, start + this.#maxInlineBytes);
    return this.#encoder.begin(tx.memory, start, limit, this.#toldShapes, this.#grow);
  }

  /** Commits what was encoded up to `end`, if it is in the ring and nothing else belongs to it. */
  #close(
    end: number,
    slot: number,
    generation: number,
    kind: Kind,
    count: number,
    task: number,
  ): SendOutcome {
    const encoder = this.#encoder;
    if (encoder.isInScratch || !encoder.extras.isEmpty) {
      this.tx.abort();
      return this.holder.take(encoder, end, count, true);
    }
    encoder.checkSize(end);
    const index = encoder.base - FRAME_BYTES;
    this.#commit(index, end, slot, generation, packWhat(kind, INLINE, count), task);
    return SENT;
  }

  /** A larger claim for what is being encoded, elsewhere in the ring perhaps. */
  #claimMore(written: number, bytes: number): boolean {
    const { tx } = this;
    const encoder = this.#encoder;
    const needed = written + bytes;
    if (needed > this.#maxInlineBytes) return false;
    const from = encoder.base;
    const index = tx.claim(FRAME_BYTES + needed); // drops the claim so far
    if (index === NO_SPACE) return false;
    const start = index + FRAME_BYTES;
    if (start !== from) tx.memory.u8.copyWithin(start, from, from + written);
    encoder.moveTo(tx.memory, start, Math.min(tx.limit, start + this.#maxInlineBytes));
    return true;
  }

  /** Tells the other side the shapes it does not know yet. False: no room for that now. */
  #tellShapes(): boolean {
    const { shapes } = this.#codec;
    while (this.#toldShapes < shapes.size) {
      const first = this.#toldShapes;
      if (this.#untold === undefined) {
        const lists = shapes.keysFrom(first, SHAPES_PER_RECORD);
        this.#untold = { held: this.holder.holdInternal([first, ...lists]), count: lists.length };
      }
      if (!this.#send(SHAPES, 0, 0, 0, this.#untold.held, [])) return false;
      this.#toldShapes += this.#untold.count;
      this.#untold = undefined;
      this.#hasTold = true;
    }
    return true;
  }

  #send(
    kind: Kind,
    slot: number,
    generation: number,
    task: number,
    held: Held,
    transfer: readonly unknown[],
  ): boolean {
    const { tx } = this;
    const { inline, payload, count } = held;
    const bytes = Endpoint.#heldBytes(held);
    if (payload === undefined) {
      const index = tx.claim(bytes);
      if (index === NO_SPACE) return false;
      tx.memory.u8.set(inline!, index + FRAME_BYTES);
      this.#commit(index, index + bytes, slot, generation, packWhat(kind, INLINE, count), task);
      return true;
    }
    // The message goes first, so that it is there when the record is seen. Space can only grow in
    // between: this side alone claims, and nothing runs here but the post.
    if (!tx.hasSpace(bytes)) return false;
    postPayload(this.#port, held, transfer);
    const sequence = this.#posted;
    this.#posted = (sequence + 1) | 0;
    const index = tx.claim(bytes);
    const { i32 } = tx.memory;
    const word = (index + FRAME_BYTES) >> 2;
    i32[word] = sequence;
    i32[word + 1] = payload.buffer === undefined ? IN_RECORD : payload.bytes;
    if (inline !== undefined) tx.memory.u8.set(inline, index + PLACEHOLDER_BYTES);
    this.#commit(index, index + bytes, slot, generation, packWhat(kind, PORT, count), task);
    return true;
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

/** The value of a NUMBER_ONLY record as the codec writes it. */
function encodeNumber(bits: Uint8Array): Uint8Array<ArrayBuffer> {
  const encoded = new Uint8Array(2 * VALUE_HEADER_BYTES);
  encoded[0] = NUMBER;
  encoded.set(bits.subarray(0, 8), VALUE_HEADER_BYTES);
  return encoded;
}

/** Checks that the polled record can hold a frame. */
export function checkFrame(index: number, end: number): void {
  if (end - index < FRAME_BYTES) throw new ProtocolError(`Frame of ${end - index} bytes.`);
}
