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
import { ReceivedShapes } from "../codec/shapes.ts";
import { located } from "../codec/struct/mismatch.ts";
import type { DeclaredValue, DeclaredValues } from "../codec/struct/signature.ts";
import { ProtocolError } from "../errors.ts";
import type { RingConsumer } from "../ring/consumer.ts";
import { NO_SPACE, type RingProducer } from "../ring/producer.ts";
import type { PayloadPort } from "../runtimes/runtime.ts";
import {
  CALL,
  CALL_WITH_VALUE,
  FRAME_BYTES,
  GENERATION_WORD,
  IN_RECORD,
  INLINE,
  type Kind,
  NUMBER_FRAME_BYTES,
  packWhat,
  PLACEHOLDER_BYTES,
  PORT,
  RESULT,
  RESULT_VALUE,
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
import { postPayload } from "./post-payload.ts";
import { ReceivedValues } from "./received-values.ts";
import { SizedValues, UNSIZED } from "./sized-values.ts";
import {
  type CallId,
  type HeldOf,
  revokeCall,
  takeBack,
  type TakenBack,
  unbegunCalls,
} from "./taken-back.ts";

/** Committed. */
export const SENT = 0;
/** The ring has no room now: hold the values and try again after the other side has released. */
export const FULL = 1;
/** Sent, not sent and nothing was encoded, or encoded but to be sent by `sendHeld`. */
export type SendOutcome = typeof SENT | typeof FULL | Held;
/** Nobody waits for the call any more: encoding its arguments has run code that gave it up. */
export const UNWANTED = 2;

/** What a first claim asks for; most records fit, and `limit` usually allows far more. */
const FIRST_CLAIM_BYTES = 128;

const FIRST_ARGUMENT = `${ARGUMENTS}[0]`;

/** Beside a payload of a quarter of the ring: the value's own header. */
const VALUE_OVERHEAD_BYTES = 32;

/** Shapes told in one record. */
const SHAPES_PER_RECORD = 32;

/** Most encoded bytes a record carries inline, for rings of this capacity. */
export function maxInlineBytes(capacity: number): number {
  return (capacity >> 2) + VALUE_OVERHEAD_BYTES;
}

export class Endpoint {
  readonly tx: RingProducer;
  readonly rx: RingConsumer;
  readonly decoder: Decoder;
  readonly holder: Holder;
  readonly #codec: Codec;
  readonly #encoder: Encoder;
  readonly #port: PayloadPort;
  readonly #received: ReceivedValues;
  readonly #maxInlineBytes: number;
  readonly #grow: Grow;
  readonly #sized: SizedValues;
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
    const shapes = new ReceivedShapes();
    this.decoder = codec.decoder(shapes);
    this.#port = port;
    this.#received = new ReceivedValues(rx, this.decoder, shapes, port, codec.access.kinds);
    this.#maxInlineBytes = maxInlineBytes(tx.capacity);
    this.holder = new Holder(codec, this.#maxInlineBytes);
    this.#grow = (written, bytes) => this.#claimMore(written, bytes);
    const maxBytes = Math.min(this.#maxInlineBytes, codec.maxPayloadBytes);
    this.#sized = new SizedValues(tx.memory, codec.access, maxBytes);
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
    if (length === 1 && (declared === undefined || declared.length <= 1)) {
      const bytes = this.#sized.roomFor(args[0], declared?.[0]);
      if (bytes !== UNSIZED) {
        return this.#sendSized(
          bytes,
          CALL_WITH_VALUE,
          slot,
          generation,
          task,
          args[0],
          declared?.[0],
          FIRST_ARGUMENT,
          call,
        );
      }
    }
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
    if (kind === RESULT) {
      const bytes = this.#sized.roomFor(value, declared?.[0]);
      if (bytes !== UNSIZED) {
        // There is no call that could be given up.
        return this.#sendSized(
          bytes,
          RESULT_VALUE,
          slot,
          generation,
          task,
          value,
          declared?.[0],
          RESULT_NAME,
        ) as SendOutcome;
      }
    }
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
   * The shorter way for a value that takes `bytes` at most, as is known beforehand. `call`: over perhaps, when its
   * getters have run.
   */
  #sendSized(
    bytes: number,
    what: number,
    slot: number,
    generation: number,
    task: number,
    value: unknown,
    declared: DeclaredValue | undefined,
    path: string,
    call?: CallId,
  ): typeof SENT | typeof FULL | typeof UNWANTED {
    if (this.#isEncoding) return FULL;
    const { tx } = this;
    const index = tx.claim(FRAME_BYTES + bytes);
    if (index === NO_SPACE) return FULL;
    const start = index + FRAME_BYTES;
    if (declared === undefined) {
      this.#commit(index, this.#sized.write(value, start), slot, generation, what, task);
      return SENT;
    }
    this.#isEncoding = true;
    try {
      const end = this.#sized.writeStruct(declared.codec, value, start);
      if (call !== undefined && call.generation !== generation) {
        tx.abort();
        return UNWANTED;
      }
      this.#commit(index, end, slot, generation, what, task);
      return SENT;
    } catch (error) {
      throw encodingError(located(error, path), path);
    } finally {
      this.#isEncoding = false;
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
    return unbegunCalls(this.tx, most);
  }

  /** Takes the call at `index` back, to be sent elsewhere, if that can be. */
  takeBack(index: number, heldOf: HeldOf): TakenBack | undefined {
    return takeBack(this.tx, index, heldOf);
  }

  /** Takes the call at `index` back for good. Undefined: the other side has begun it. */
  revokeCall(index: number): CallId | undefined {
    return revokeCall(this.tx, index);
  }

  /** Bytes of ring that held values take. */
  static #heldBytes(held: Held): number {
    const { inline, payload } = held;
    return (payload === undefined ? FRAME_BYTES : PLACEHOLDER_BYTES) + (inline?.length ?? 0);
  }

  /** All values of the polled record at `index`. Throws DataCloneError for an unreadable one. */
  readValues(index: number, what: number): unknown[] {
    return this.#received.values(index, what);
  }

  /** Drops the polled record at `index`, which its sender has taken back, and the message it stands for. */
  discard(index: number): void {
    this.#received.discard(index);
  }

  /** Learns the shapes that the polled SHAPES record at `index` tells. */
  learnShapes(index: number, what: number): void {
    this.#received.learnShapes(index, what);
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

/** Checks that the polled record can hold a frame. */
export function checkFrame(index: number, end: number): void {
  if (end - index < FRAME_BYTES) throw new ProtocolError(`Frame of ${end - index} bytes.`);
}
