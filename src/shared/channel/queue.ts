/** The ring of a channel: how values get in and out, without waiting. layout.ts has its words. */
import { PayloadTooLargeError, ProtocolError } from "../../errors.ts";
import { ChannelClosedError } from "../../shared-errors.ts";
import { INT, NUMBER } from "../../codec/tags.ts";
import { copyWords, type Memory, viewMemory } from "../../memory/views.ts";
import { BUSY, Latch } from "../latch.ts";
import type { ObjectMemory } from "../memory.ts";
import type { ThisThread } from "../threads/this-thread.ts";
import type { Encoded, Values } from "../values.ts";
import { WaitSet } from "../wait-set.ts";
import { Ends } from "./ends.ts";
import { Turns } from "./turns.ts";
import {
  ABANDONED,
  CAPACITY,
  HEAD,
  MAX_LATCHED_BYTES,
  RECEIVE_LATCH,
  RECEIVE_WAITS,
  RECEIVED,
  RECORD_HEADER_BYTES,
  RING,
  RING_BYTES,
  SEND_LATCH,
  SEND_WAITS,
  SENT,
  TAIL,
  WRITTEN,
} from "./layout.ts";

/** Word of the state in a record. */
const STATE = 2;
/** Larger values are copied in parts, between which a thread that was stopped notices it. */
const PART_BYTES = 2 ** 20;
/** Memory for a copy that is kept for the next one. */
const MAX_KEPT_BYTES = 2 ** 20;
const NONE = -1;
const LARGE = -2;

/** What `receive` returns if there is no value. */
export const NOTHING: unique symbol = Symbol("nothing");

export class Queue {
  readonly memory: ObjectMemory;
  readonly values: Values;
  readonly ends: Ends;
  readonly thread: ThisThread;
  readonly #i32: Int32Array<SharedArrayBuffer>;
  readonly #ring: Memory;
  readonly #ringBytes: number;
  readonly #capacity: number;
  readonly sends: Turns;
  readonly receives: Turns;
  readonly #sendLatch: Latch;
  readonly #receiveLatch: Latch;
  readonly #sendWaits: WaitSet;
  readonly #receiveWaits: WaitSet;
  /** Where values are copied to before they are decoded. */
  #copy: Memory = viewMemory(new SharedArrayBuffer(1024));
  #number = 0;
  /** Word of the record that this thread writes outside the latch. Set after it was published. */
  #claimed = NONE;
  /** Position and offset of a large record that `#takeOne` has found. */
  #large = { head: 0, at: 0 };

  constructor(memory: ObjectMemory, values: Values) {
    const { thread, view } = memory;
    const { i32 } = view;
    this.memory = memory;
    this.values = values;
    this.thread = thread;
    this.#i32 = i32;
    this.#ringBytes = i32[RING_BYTES]!;
    this.#capacity = i32[CAPACITY]!;
    this.sends = new Turns(thread.loop);
    this.receives = new Turns(thread.loop);
    this.#ring = memory.part(RING, this.#ringBytes);
    this.#sendLatch = new Latch(i32, SEND_LATCH, thread, "a channel");
    this.#receiveLatch = new Latch(i32, RECEIVE_LATCH, thread, "a channel");
    this.#sendWaits = new WaitSet(i32, SEND_WAITS, thread);
    this.#receiveWaits = new WaitSet(i32, RECEIVE_WAITS, thread);
    this.ends = new Ends(memory, values, [this.#sendWaits, this.#receiveWaits]);
  }

  /** Values in the channel. */
  get size(): number {
    const i32 = this.#i32;
    if (Atomics.load(i32, TAIL) === Atomics.load(i32, HEAD)) return 0;
    return Math.max(1, Atomics.load(i32, SENT) - Atomics.load(i32, RECEIVED) | 0);
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** Throws PayloadTooLargeError for a value that never fits. */
  checkSize({ bytes }: Encoded): void {
    const most = (this.#ringBytes >> 1) - RECORD_HEADER_BYTES;
    if (bytes > most) {
      throw new PayloadTooLargeError(bytes, most, undefined, "half of the channel's maxBytes");
    }
  }

  /** Puts an encoded value in. False: there is no room, or another thread is just sending. `registers`: it will be woken then. */
  send(encoded: Encoded, registers: boolean): boolean {
    if (this.ends.isOver("receiver")) throw noReceivers();
    if (registers && !this.#hasRoom(encoded.bytes)) {
      this.ends.refresh();
      this.#sendWaits.add();
      // SYNC(shared-set): the bit, then the positions.
      if (this.ends.isOver("receiver")) throw noReceivers();
      if (!this.#hasRoom(encoded.bytes)) return false;
    }
    let isSent: boolean | typeof BUSY;
    let state = ABANDONED;
    try {
      isSent = this.#enter(this.#sendLatch, this.#sendOne, encoded, registers);
      if (this.#claimed !== NONE) {
        this.#copyIn(encoded);
        state = WRITTEN;
      }
    } finally {
      // By no call, as in `Latch.run`: a record that stayed unfinished would hold up the channel.
      if (this.#claimed !== NONE) {
        // SYNC(channel-value): the value, then its state; pairs with `#takeOne`.
        Atomics.store(this.#ring.i32, this.#claimed + STATE, state);
        this.#claimed = NONE;
      }
    }
    if (isSent === BUSY) return false;
    if (isSent) this.#receiveWaits.wake();
    else if (registers) return this.send(encoded, registers); // another one took the room
    else this.ends.refresh();
    return isSent;
  }

  /** Takes the oldest value: NOTHING if there is none, or another thread is just receiving. */
  receive(registers: boolean): unknown {
    let isRegistered = false;
    for (;;) {
      const isEmpty = this.#isEmpty();
      const bytes = isEmpty
        ? NONE
        : this.#enter(this.#receiveLatch, this.#takeOne, undefined, registers);
      if (bytes === BUSY) return NOTHING;
      if (bytes === LARGE) {
        const taken = this.#takeLarge(registers);
        if (taken !== NOTHING) return taken;
        continue;
      }
      if (bytes >= 0) {
        this.#sendWaits.wake();
        return bytes === 0 ? this.#number : this.values.decode(this.#copy, 0, bytes);
      }
      this.ends.refresh();
      if (!registers || isRegistered) return NOTHING;
      // SYNC(shared-set): the bit, then the positions and the state of the oldest record.
      this.#receiveWaits.add();
      isRegistered = true;
    }
  }

  /** Copies the oldest value without the latch, then takes it, unless another receiver has done so meanwhile: NOTHING. */
  #takeLarge(registers: boolean): unknown {
    const { head, at } = this.#large;
    const bytes = this.#ring.i32[at >> 2]! - RECORD_HEADER_BYTES;
    if (bytes <= 0 || bytes > this.#ringBytes) return NOTHING; // it was overwritten
    this.#copyOut(at + RECORD_HEADER_BYTES, bytes);
    const isTaken = this.#enter(this.#receiveLatch, this.#takeAt, head, registers);
    if (isTaken !== true) return NOTHING;
    this.#sendWaits.wake();
    const value = this.values.decode(this.#copy, 0, bytes);
    if (bytes > MAX_KEPT_BYTES) this.#copy = viewMemory(new SharedArrayBuffer(1024));
    return value;
  }

  /** Whether a receiver has nothing to wait for any more. */
  isEnded(): boolean {
    // In this order: what was sent before the last sender closed is there when its end is seen.
    return this.ends.isOver("sender") && this.#isEmpty();
  }

  /** Runs `f` under the latch. BUSY: another thread has it; `waits` in the event loop, which tries again soon. */
  #enter<Argument, Result>(
    latch: Latch,
    f: (isDamaged: boolean, argument: Argument) => Result,
    argument: Argument,
    waits: boolean,
  ): Result | typeof BUSY {
    const result = latch.run(f, argument, !waits || this.thread.mayBlock);
    if (result === BUSY && waits) this.thread.loop.checkSoon();
    return result;
  }

  /** Under the send latch. False: there is no room. */
  readonly #sendOne = (isDamaged: boolean, encoded: Encoded): boolean => {
    if (isDamaged) this.#recount();
    return this.#write(encoded);
  };

  /**
   * Under the receive latch: takes the oldest record. Its bytes are in `#copy`, 0: it is the number `#number`; NONE: there is none that
   * was written; LARGE: it is at `#large`, and stays there.
   */
  readonly #takeOne = (): number => {
    const at = this.#oldest();
    if (at === NONE) return NONE;
    const { i32, f64 } = this.#ring;
    const bytes = i32[at >> 2]! - RECORD_HEADER_BYTES;
    if (bytes > MAX_LATCHED_BYTES) {
      this.#large = { head: Atomics.load(this.#i32, HEAD), at };
      return LARGE;
    }
    const value = at + RECORD_HEADER_BYTES;
    const tag = i32[value >> 2]!;
    if (tag === INT) this.#number = i32[(value >> 2) + 1]!;
    else if (tag === NUMBER) this.#number = f64[(value >> 3) + 1]!;
    else this.#copyOut(value, bytes);
    this.#pass(at);
    return tag === INT || tag === NUMBER ? 0 : bytes;
  };

  /** Under the receive latch: takes the oldest record if it is at this position. */
  readonly #takeAt = (_: boolean, head: number): boolean => {
    if (Atomics.load(this.#i32, HEAD) !== head) return false;
    this.#pass(head & (this.#ringBytes - 1));
    return true;
  };

  /** Under the receive latch: the oldest record, at this offset, is taken or skipped. */
  #pass(at: number): void {
    const { i32 } = this.#ring;
    Atomics.store(this.#i32, RECEIVED, i32[(at >> 2) + 1]!);
    Atomics.store(this.#i32, HEAD, Atomics.load(this.#i32, HEAD) + i32[at >> 2]! | 0);
  }

  /** Under the send latch, whose last holder has died: `sent` is the number of the last record that is there. */
  #recount(): void {
    const i32 = this.#i32;
    const tail = Atomics.load(i32, TAIL);
    for (let head = Atomics.load(i32, HEAD); (tail - head | 0) > 0;) {
      const at = head & (this.#ringBytes - 1);
      const length = this.#ring.i32[at >> 2]!;
      if (length > 0) Atomics.store(i32, SENT, this.#ring.i32[(at >> 2) + 1]!);
      else if (length === 0) return;
      head = head + Math.abs(length) | 0;
    }
  }

  #isEmpty(): boolean {
    return Atomics.load(this.#i32, HEAD) === Atomics.load(this.#i32, TAIL);
  }

  /** Bytes that a record takes at the tail, with what it skips. */
  #need(tail: number, bytes: number): number {
    const length = bytes + RECORD_HEADER_BYTES;
    const room = this.#ringBytes - (tail & (this.#ringBytes - 1));
    return length <= room ? length : room + length;
  }

  #hasRoom(bytes: number): boolean {
    const i32 = this.#i32;
    const tail = Atomics.load(i32, TAIL);
    const used = tail - Atomics.load(i32, HEAD) | 0;
    return used + this.#need(tail, bytes) <= this.#ringBytes && this.size < this.#capacity;
  }

  /** Under the send latch, which its own words are read without atomics for. False: there is no room. */
  #write({ memory, bytes }: Encoded): boolean {
    const i32 = this.#i32;
    const ring = this.#ring;
    let tail = i32[TAIL]!;
    const sent = i32[SENT]!;
    const head = Atomics.load(i32, HEAD);
    const received = Atomics.load(i32, RECEIVED);
    if (tail !== head) {
      const used = tail - head | 0;
      const size = Math.max(1, sent - received | 0);
      if (size >= this.#capacity || used + this.#need(tail, bytes) > this.#ringBytes) return false;
    }
    let index = tail & (this.#ringBytes - 1);
    const room = this.#ringBytes - index;
    if (bytes + RECORD_HEADER_BYTES > room) {
      ring.i32[index >> 2] = -room;
      tail = tail + room | 0;
      index = 0;
    }
    const number = ((received - sent | 0) > 0 ? received : sent) + 1 | 0;
    const isLarge = bytes > MAX_LATCHED_BYTES;
    ring.i32[index >> 2] = bytes + RECORD_HEADER_BYTES;
    ring.i32[(index >> 2) + 1] = number;
    ring.i32[(index >> 2) + STATE] = isLarge ? this.thread.token : WRITTEN;
    if (!isLarge) copyWords(memory, ring, index + RECORD_HEADER_BYTES, bytes);
    // SYNC(channel-record): the record, then its position; pairs with `#oldest`.
    Atomics.store(i32, TAIL, tail + bytes + RECORD_HEADER_BYTES | 0);
    if (isLarge) this.#claimed = index >> 2;
    Atomics.store(i32, SENT, number);
    return true;
  }

  /** Writes the value of the record that this thread has claimed. */
  #copyIn({ memory, bytes }: Encoded): void {
    const start = 4 * this.#claimed + RECORD_HEADER_BYTES;
    for (let from = 0; from < bytes; from += PART_BYTES) {
      this.thread.checkLife(); // what it claimed belongs to others once it was stopped
      this.#ring.u8.set(memory.u8.subarray(from, Math.min(from + PART_BYTES, bytes)), start + from);
    }
  }

  /** Offset of the oldest record, without those that will never be written. NONE: there is none, or it is not written yet. */
  #oldest(): number {
    const i32 = this.#i32;
    while (!this.#isEmpty()) {
      let head = Atomics.load(i32, HEAD);
      let at = head & (this.#ringBytes - 1);
      const length = this.#ring.i32[at >> 2]!;
      if (length < 0) {
        head = head - length | 0;
        Atomics.store(i32, HEAD, head);
        at = head & (this.#ringBytes - 1);
      }
      const bytes = this.#ring.i32[at >> 2]!;
      if (bytes < RECORD_HEADER_BYTES || bytes > this.#ringBytes - at || (bytes & 7) !== 0) {
        throw new ProtocolError(`A record of ${bytes} bytes in a channel is impossible.`);
      }
      const state = Atomics.load(this.#ring.i32, (at >> 2) + STATE);
      if (state === WRITTEN) return at;
      if (state !== ABANDONED && !this.thread.root.isGone(state, this.thread.nowMs)) return NONE;
      this.#pass(at);
      this.#sendWaits.wake();
    }
    return NONE;
  }

  #copyOut(from: number, bytes: number): void {
    if (bytes > this.#copy.u8.length) {
      this.#copy = viewMemory(new SharedArrayBuffer(2 ** Math.ceil(Math.log2(bytes))));
    }
    this.#copy.u8.set(this.#ring.u8.subarray(from, from + bytes));
  }
}

function noReceivers(): ChannelClosedError {
  return new ChannelClosedError("This channel has no receivers any more.");
}
