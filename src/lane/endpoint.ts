/**
 * One side of a lane: a ring to send on, a ring to receive from, a payload port and a codec, as one duplex of
 * frames. Host and worker use the same class. It knows nothing of calls, parking or waking.
 *
 * Sending never blocks and runs no user code. Values whose encoding may run some (getters) are encoded
 * before, in memory of an encoder's own, and the bytes are copied into the claimed record.
 */
import type { Codec } from "../codec/codec.ts";
import type { Decoder } from "../codec/decoder.ts";
import type { Encoder } from "../codec/encoder.ts";
import { normalizeNumber } from "../codec/kinds/numbers.ts";
import type { ReceivedKeyLists } from "../codec/key-lists.ts";
import { ProtocolError } from "../errors.ts";
import { align8 } from "../memory/align.ts";
import { copyWords, viewMemory } from "../memory/views.ts";
import type { RingConsumer } from "../ring/consumer.ts";
import { NO_SPACE, type RingProducer } from "../ring/producer.ts";
import type { PayloadPort } from "../runtimes/runtime.ts";
import {
  CALL_BY_NAME,
  countOf,
  DESCRIPTOR_WORD,
  FRAME_BYTES,
  GENERATION_WORD,
  IN_RECORD,
  INLINE,
  KEY_LISTS,
  type Kind,
  locationOf,
  NUMBER_FRAME_BYTES,
  NUMBER_ONLY,
  packDescriptor,
  PLACEHOLDER_BYTES,
  PORT,
  SLOT_WORD,
  TASK_WORD,
} from "./frame.ts";
import { type Snapshot, SnapshotEncoder } from "./snapshot.ts";
import { bufferOf, PayloadMessages } from "./payload-port.ts";
import { SizedValues } from "./sized-values.ts";

/** The header of the value, in addition to a payload of a quarter of the ring. */
const VALUE_OVERHEAD_BYTES = 32;

/** Key lists sent in one record. */
const KEY_LISTS_PER_RECORD = 32;

/** The maximum of encoded bytes in a record, for rings of this capacity. */
export function maxInlineBytes(capacity: number): number {
  return (capacity >> 2) + VALUE_OVERHEAD_BYTES;
}

export class Endpoint {
  readonly tx: RingProducer;
  readonly rx: RingConsumer;
  readonly decoder: Decoder;
  readonly snapshots: SnapshotEncoder;
  /** Writes values that need no encoder. */
  readonly sized: SizedValues;
  readonly #codec: Codec;
  readonly #messages: PayloadMessages;
  /** Made with the first that arrive. */
  #receivedKeyLists: ReceivedKeyLists | undefined;
  /** Key lists of this side that the other side knows. */
  #announcedKeyLists = 0;
  #isWakePending = false;
  /** The next KEY_LISTS record, if the ring had no room for it. */
  #unannounced: { readonly snapshot: Snapshot; readonly count: number } | undefined;

  constructor(tx: RingProducer, rx: RingConsumer, codec: Codec, port: PayloadPort) {
    this.tx = tx;
    this.rx = rx;
    this.#codec = codec;
    this.decoder = codec.decoder(undefined);
    this.#messages = new PayloadMessages(port);
    const maxBytes = maxInlineBytes(tx.capacity);
    this.snapshots = new SnapshotEncoder(codec, maxBytes);
    this.sized = new SizedValues(
      tx.memory,
      codec.access,
      Math.min(maxBytes, codec.maxPayloadBytes),
    );
  }

  /** Sends a call with one number, or a numeric result. False, here and below: the ring has no room now. */
  sendNumber(
    slot: number,
    generation: number,
    descriptor: number,
    task: number,
    value: number,
  ): boolean {
    const { tx } = this;
    const index = tx.claim(NUMBER_FRAME_BYTES);
    if (index === NO_SPACE) return false;
    const { f64, i32 } = tx.memory;
    const word = index >> 2;
    i32[word + SLOT_WORD] = slot;
    i32[word + GENERATION_WORD] = generation;
    i32[word + DESCRIPTOR_WORD] = descriptor;
    i32[word + TASK_WORD] = task;
    f64[(index + FRAME_BYTES) >> 3] = value;
    tx.commit(index + NUMBER_FRAME_BYTES);
    return true;
  }

  /** Whether the record of the last claim was committed and has this id. For the recovery after a stack overflow. */
  wasLastSent(slot: number, generation: number): boolean {
    const { lastCommitted, memory: { i32 } } = this.tx;
    if (lastCommitted === NO_SPACE) return false;
    const word = lastCommitted >> 2;
    return i32[word + SLOT_WORD] === slot && i32[word + GENERATION_WORD] === generation;
  }

  /** Sends values that take at most `bytes`, the result of `sized.roomFor`. */
  sendSized(
    bytes: number,
    kind: Kind,
    slot: number,
    generation: number,
    task: number,
    values: readonly unknown[],
  ): boolean {
    const index = this.tx.claim(FRAME_BYTES + bytes);
    if (index === NO_SPACE) return false;
    let at = index + FRAME_BYTES;
    const { length } = values;
    for (let each = 0; each < length; each++) at = this.sized.write(values[each], at);
    this.#commit(index, at, slot, generation, packDescriptor(kind, INLINE, length), task);
    return true;
  }

  /** The same for one value. */
  sendSizedOne(
    bytes: number,
    descriptor: number,
    slot: number,
    generation: number,
    task: number,
    value: unknown,
  ): boolean {
    const index = this.tx.claim(FRAME_BYTES + bytes);
    if (index === NO_SPACE) return false;
    this.#commit(
      index,
      this.sized.write(value, index + FRAME_BYTES),
      slot,
      generation,
      descriptor,
      task,
    );
    return true;
  }

  /**
   * Sends `count` values that an encoder has written up to `end` and that fit into a record
   * (`SnapshotEncoder.isInline`).
   */
  sendEncoded(
    encoder: Encoder,
    end: number,
    kind: Kind,
    slot: number,
    generation: number,
    task: number,
    count: number,
  ): boolean {
    const { tx } = this;
    const index = tx.claim(FRAME_BYTES + end);
    if (index === NO_SPACE) return false;
    copyWords(encoder.memory, tx.memory, index + FRAME_BYTES, end);
    const descriptor = kind | (count << 8); // `packDescriptor`: INLINE is 0
    this.#commit(index, index + FRAME_BYTES + end, slot, generation, descriptor, task);
    return true;
  }

  /**
   * Sends a snapshot and moves the objects in `transfer`, which includes all that is `attached`. Without
   * `transfer` the snapshot can be sent again. Throws DataCloneError for values that the port refuses.
   * Nothing was posted then, nor if there is no room.
   */
  sendSnapshot(
    kind: Kind,
    slot: number,
    generation: number,
    task: number,
    snapshot: Snapshot,
    transfer: readonly unknown[] = snapshot.transfer,
  ): boolean {
    const { tx } = this;
    const { inline, payload, count } = snapshot;
    const bytes = bytesOf(snapshot);
    // A message is posted first, so that it is there when the record is seen. Room can only grow in
    // between: only this side claims, and only the post runs here.
    if (payload !== undefined && !tx.hasSpace(bytes)) return false;
    const sequence = payload === undefined ? 0 : this.#messages.post(payload, transfer);
    const index = tx.claim(bytes);
    if (index === NO_SPACE) return false;
    let start = index + FRAME_BYTES;
    if (payload !== undefined) {
      tx.memory.i32[start >> 2] = sequence;
      tx.memory.i32[(start >> 2) + 1] = payload.buffer === undefined ? IN_RECORD : payload.bytes;
      start = index + PLACEHOLDER_BYTES;
    }
    if (inline !== undefined) tx.memory.u8.set(inline, start);
    const descriptor = packDescriptor(kind, payload === undefined ? INLINE : PORT, count);
    this.#commit(index, index + bytes, slot, generation, descriptor, task);
    return true;
  }

  /**
   * Sends a call of the task of this name, to a worker that has not described its tasks. The values are all in `snapshot.inline`.
   * False also if the record would be too large.
   */
  sendByName(slot: number, generation: number, name: string, snapshot: Snapshot): boolean {
    const { length } = snapshot.inline!;
    const inline = new Uint8Array(length + align8(4 * name.length));
    if (inline.length > maxInlineBytes(this.tx.capacity)) return false;
    inline.set(snapshot.inline!);
    const codes = new Int32Array(inline.buffer, length);
    for (let at = 0; at < name.length; at++) codes[at] = name.charCodeAt(at);
    return this.sendSnapshot(CALL_BY_NAME, slot, generation, name.length, { ...snapshot, inline });
  }

  /** The name of the polled CALL_BY_NAME record at `index`, and its arguments. */
  readByName(index: number, descriptor: number): readonly [name: string, args: unknown[]] {
    const { decoder, rx: { memory, end } } = this;
    const { i32 } = memory;
    const length = i32[(index >> 2) + TASK_WORD]!;
    const at = end - align8(4 * length);
    if (length < 0 || at < index + FRAME_BYTES) {
      throw new ProtocolError(`Name of ${length} characters in a record of ${end - index} bytes.`);
    }
    let name = "";
    for (let unit = 0; unit < length; unit++) name += String.fromCharCode(i32[(at >> 2) + unit]!);
    return [name, decoder.all(memory, index + FRAME_BYTES, at, countOf(descriptor))];
  }

  /** Whether `sendSnapshot` would succeed now. */
  hasSpaceFor(snapshot: Snapshot): boolean {
    return this.announceKeyLists() && this.tx.hasSpace(bytesOf(snapshot));
  }

  /** All values of the polled record at `index`. Throws DataCloneError for an unreadable one. */
  readValues(index: number, descriptor: number): unknown[] {
    const { decoder, rx } = this;
    const { memory, end } = rx;
    const count = countOf(descriptor);
    switch (locationOf(descriptor)) {
      case INLINE:
        return decoder.all(memory, index + FRAME_BYTES, end, count);
      case NUMBER_ONLY:
        if (end - index < NUMBER_FRAME_BYTES) {
          throw new ProtocolError(`Number record of ${end - index} bytes.`);
        }
        return [normalizeNumber(memory.f64[(index + FRAME_BYTES) >> 3]!)];
      case PORT:
        return this.#readMessage(index, count);
      default:
        throw new ProtocolError(`Frame with unknown location ${locationOf(descriptor)}.`);
    }
  }

  /** Drops the payload message of the polled record at `index`, if it has one. */
  discard(index: number): void {
    const { i32 } = this.rx.memory;
    if (locationOf(i32[(index >> 2) + DESCRIPTOR_WORD]!) !== PORT) return;
    this.#messages.discard(i32[this.#placeholder(index)]!);
  }

  /** Reads the key lists from the polled KEY_LISTS record at `index`. */
  receiveKeyLists(index: number, descriptor: number): void {
    const keyLists = this.#receivedKeyLists ??= this.#codec.receivedKeyLists();
    this.decoder.keyLists = keyLists;
    keyLists.add(this.readValues(index, descriptor)[0]);
  }

  /**
   * Sends the key lists that the other side does not know. Call this before sending encoded values or a
   * snapshot.
   */
  announceKeyLists(): boolean {
    const { keyLists } = this.#codec;
    while (this.#announcedKeyLists < keyLists.size) {
      const first = this.#announcedKeyLists;
      if (this.#unannounced === undefined) {
        const text = keyLists.textFrom(first, KEY_LISTS_PER_RECORD);
        this.#unannounced = {
          snapshot: this.snapshots.encodeInternal(text),
          count: Math.min(keyLists.size - first, KEY_LISTS_PER_RECORD),
        };
      }
      if (!this.sendSnapshot(KEY_LISTS, 0, 0, 0, this.#unannounced.snapshot, [])) return false;
      this.#announcedKeyLists += this.#unannounced.count;
      this.#unannounced = undefined;
      this.#isWakePending = true;
    }
    return true;
  }

  /**
   * Whether KEY_LISTS records were published without a wake for the other side. Check this after a send that
   * failed: a record that is not read keeps its room.
   */
  takePendingWake(): boolean {
    const isWakePending = this.#isWakePending;
    this.#isWakePending = false;
    return isWakePending;
  }

  /** Messages on the payload port that belong to no record. */
  get messages(): Pick<PayloadMessages, "has" | "postOther" | "takeOther" | "takeNotice"> {
    return this.#messages;
  }

  close(): void {
    this.#messages.close();
  }

  #readMessage(index: number, count: number): unknown[] {
    const { decoder, rx } = this;
    const { memory, end } = rx;
    const word = this.#placeholder(index);
    const parts = this.#messages.take(memory.i32[word]!);
    const bytes = memory.i32[word + 1]!;
    if (bytes === IN_RECORD) {
      return decoder.all(memory, index + PLACEHOLDER_BYTES, end, count, parts);
    }
    const buffer = viewMemory(bufferOf(parts, bytes, this.#codec.access.kinds));
    const values = decoder.all(buffer, 0, bytes, count, parts);
    decoder.forget();
    return values;
  }

  /** Int32 index of the message number in the polled record at `index`. */
  #placeholder(index: number): number {
    const bytes = this.rx.end - index;
    if (bytes < PLACEHOLDER_BYTES) throw new ProtocolError(`Placeholder record of ${bytes} bytes.`);
    return (index + FRAME_BYTES) >> 2;
  }

  #commit(
    index: number,
    end: number,
    slot: number,
    generation: number,
    descriptor: number,
    task: number,
  ): void {
    const i32 = this.tx.memory.i32;
    const word = index >> 2;
    i32[word + SLOT_WORD] = slot;
    i32[word + GENERATION_WORD] = generation;
    i32[word + DESCRIPTOR_WORD] = descriptor;
    i32[word + TASK_WORD] = task;
    this.tx.commit(end);
  }
}

/** Bytes that a snapshot takes in the ring. */
function bytesOf({ inline, payload }: Snapshot): number {
  return (payload === undefined ? FRAME_BYTES : PLACEHOLDER_BYTES) + (inline?.length ?? 0);
}

/** The error for a record of less than FRAME_BYTES. */
export function damagedFrame(bytes: number): ProtocolError {
  return new ProtocolError(`Frame of ${bytes} bytes.`);
}
