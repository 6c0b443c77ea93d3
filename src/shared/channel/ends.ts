/**
 * The ends of a channel. Under their latch: the number of ends of each thread, and of those that it has sent and that have not
 * arrived. When the living have no senders any more the channel ends, and likewise with receivers.
 */
import { Error } from "../../builtins.ts";
import { ChannelClosedError } from "../../shared-errors.ts";
import type { Departure } from "../../realm/handles.ts";
import { Guarded } from "../guarded.ts";
import { indexOf } from "../threads/root.ts";
import type { ObjectMemory } from "../memory.ts";
import type { Values } from "../values.ts";
import type { WaitSet } from "../wait-set.ts";
import {
  DEATHS,
  DIED,
  END_WORDS,
  ENDS,
  ENDS_LATCH,
  IS_NAMED,
  MAX_REASON_BYTES,
  NO_RECEIVERS,
  NO_SENDERS,
  REASON,
  REASON_BYTES,
} from "./layout.ts";

export type Side = "sender" | "receiver";

/** Words of a thread's record; those of receivers follow those of senders. */
const COUNTS = 1;
const LAST_DEPARTURE = 3;
const WITHOUT_SLOT = 4;
const SLOTS = 8;
const SLOT_COUNT = 32;
/** Departures wrap here. An old one that arrives as late as that ends another's way early. */
const LAST_NUMBER = 2 ** 30 - 1;

const bitOf = (side: Side): number => side === "sender" ? 0 : 1;

export class Ends extends Guarded {
  readonly #memory: ObjectMemory;
  readonly #values: Values;
  readonly #waits: readonly WaitSet[];
  readonly #own: number;

  /** `waits`: threads to wake when a side is over. */
  constructor(memory: ObjectMemory, values: Values, waits: readonly WaitSet[]) {
    super(memory.view.i32, memory.thread, ENDS_LATCH, DEATHS, "the ends of a channel");
    this.#memory = memory;
    this.#values = values;
    this.#waits = waits;
    this.#own = ENDS + END_WORDS * memory.thread.index;
  }

  /** This thread has one more end. */
  open(side: Side): void {
    this.locked(() => this.#add(side));
  }

  /** The same of an end that another thread has sent. */
  arrive(side: Side, departure: string): void {
    const [token = 0, number = 0] = departure.split(":").map(Number);
    this.locked(() => {
      // First: a thread that dies between the two has no end, and none is on its way to it.
      this.#leaveSlot(token, number, side);
      this.#add(side);
    });
  }

  #leaveSlot(token: number, number: number, side: Side): boolean {
    const at = ENDS + END_WORDS * indexOf(token);
    if (this.words[at] !== token) return false;
    const slot = this.#slotOf(at, number << 1 | bitOf(side));
    if (slot < 0) return false;
    Atomics.store(this.words, slot, 0);
    return true;
  }

  /** The word of the slot that has this; -1: none does. */
  #slotOf(at: number, entry: number): number {
    for (let slot = at + SLOTS; slot < at + SLOTS + SLOT_COUNT; slot++) {
      if (this.words[slot] === entry) return slot;
    }
    return -1;
  }

  /**
   * An end of this thread is being sent: what `arrive` needs, and its way. It counts as an end until it has arrived. If it may arrive more than
   * once, or too many are on their way, it counts until `end`. `close` closes the end.
   */
  depart(side: Side, close?: () => void): { readonly name: string; readonly departure: Departure } {
    const { token } = this.thread;
    const number = this.locked(() => {
      const at = this.#record();
      const slot = this.#slotOf(at, 0);
      if (slot < 0) {
        this.words[at + WITHOUT_SLOT + bitOf(side)]!++;
        return 0;
      }
      const next = this.words[at + LAST_DEPARTURE]! % LAST_NUMBER + 1;
      this.words[at + LAST_DEPARTURE] = next;
      Atomics.store(this.words, slot, next << 1 | bitOf(side));
      return next;
    });
    return { name: `${token}:${number}`, departure: new OwnDeparture(this, side, number, close) };
  }

  /** Whether a departure of this thread has left its slot. */
  hasArrived(side: Side, number: number): boolean {
    return number !== 0 && this.#slotOf(this.#own, number << 1 | bitOf(side)) < 0;
  }

  /** A departure of this thread that has a slot may arrive more than once: it counts until `endDeparture`. */
  keepAway(side: Side, number: number): void {
    this.locked(() => {
      this.words[this.#record() + WITHOUT_SLOT + bitOf(side)]!++;
      this.#leaveSlot(this.thread.token, number, side);
    });
  }

  /** A departure of this thread does not arrive any more. `number` 0: it has no slot. */
  endDeparture(side: Side, number: number): void {
    this.whenFree(() => {
      const at = this.#own;
      if (this.words[at] !== this.thread.token) return;
      if (number === 0) this.words[at + WITHOUT_SLOT + bitOf(side)]!--;
      else if (!this.#leaveSlot(this.thread.token, number, side)) return;
      this.#judge();
    });
  }

  /** Ends of a side that a thread has, and has on their way. */
  #countOf(at: number, side: Side): number {
    const bit = bitOf(side);
    let count = this.words[at + COUNTS + bit]! + this.words[at + WITHOUT_SLOT + bit]!;
    for (let slot = at + SLOTS; slot < at + SLOTS + SLOT_COUNT; slot++) {
      const entry = this.words[slot]!;
      if (entry !== 0 && (entry & 1) === bit) count++;
    }
    return count;
  }

  #add(side: Side): void {
    this.words[this.#record() + COUNTS + bitOf(side)]!++;
  }

  /** The record of this thread. */
  #record(): number {
    const { words } = this;
    if (words[this.#own] !== this.thread.token) {
      words.fill(0, this.#own + 1, this.#own + END_WORDS);
      Atomics.store(words, this.#own, this.thread.token);
    }
    return this.#own;
  }

  /** This thread has one end less. `reason` is what receivers get at the end. */
  close(side: Side, reason?: unknown): void {
    const packed = reason === undefined ? undefined : this.#pack(reason); // runs its getters
    this.whenFree(() => {
      const at = this.#own + COUNTS + bitOf(side);
      if (this.words[this.#own] !== this.thread.token || this.words[at] === 0) return;
      // First: a thread that dies between the two must not look like one that closed without a reason.
      if (packed !== undefined && this.words[REASON_BYTES] === 0) {
        this.#memory.view.u8.set(packed, 4 * REASON);
        Atomics.store(this.words, REASON_BYTES, packed.length);
      }
      this.words[at]!--;
      this.#judge();
    });
  }

  /** Looks after the dead if there are new ones. */
  refresh(): void {
    if (this.isStale && this.attempt(() => true) === undefined) this.checkSoon();
  }

  /** Whether no living thread has an end of this side. */
  isOver(side: Side): boolean {
    return Atomics.load(this.words, side === "sender" ? NO_SENDERS : NO_RECEIVERS) === 1;
  }

  /** Why receivers get nothing any more. */
  error(): ChannelClosedError {
    const bytes = Atomics.load(this.words, REASON_BYTES);
    if (bytes === 0) return new ChannelClosedError("This channel has no senders any more.");
    if (bytes === DIED) {
      return new ChannelClosedError("The thread that had the last sender of this channel died.");
    }
    const start = 4 * REASON;
    const cause = this.#values.unpack(this.#memory.view.u8.slice(start, start + bytes));
    return new ChannelClosedError("This channel was closed by a sender.", { cause });
  }

  /** Whether the senders' end was not an ordinary one. */
  get isFailed(): boolean {
    return Atomics.load(this.words, REASON_BYTES) !== 0;
  }

  /** A reason in as many bytes as there are, as a text if need be. */
  #pack(reason: unknown): Uint8Array {
    const fits = (value: unknown): Uint8Array | undefined => {
      try {
        const bytes = this.#values.pack(value);
        return bytes !== undefined && bytes.length <= MAX_REASON_BYTES ? bytes : undefined;
      } catch {
        return undefined;
      }
    };
    const text = (): string => {
      try {
        return String((reason as { message?: unknown } | null)?.message ?? reason);
      } catch {
        return "a reason that cannot be sent";
      }
    };
    return fits(reason) ?? fits(shortError(text().slice(0, 100))) ?? fits(text().slice(0, 100))!;
  }

  /** Sets the words that say that a side is over. `hasDied`: a thread that had a sender. */
  #judge(hasDied = false): void {
    const { words } = this;
    if (words[IS_NAMED] === 1) return;
    let senders = 0;
    let receivers = 0;
    for (let at = ENDS; at < REASON; at += END_WORDS) {
      if (words[at] === 0) continue;
      senders += this.#countOf(at, "sender");
      receivers += this.#countOf(at, "receiver");
    }
    if (senders === 0) {
      if (hasDied && words[REASON_BYTES] === 0 && words[NO_SENDERS] === 0) {
        Atomics.store(words, REASON_BYTES, DIED);
      }
      Atomics.store(words, NO_SENDERS, 1);
    }
    if (receivers === 0) Atomics.store(words, NO_RECEIVERS, 1);
    if (senders === 0 || receivers === 0) { for (const set of this.#waits) set.wake(); }
  }

  protected override repair(): void {
    const { words } = this;
    let hadSenders = false; // not those on their way: perhaps they have arrived
    for (let at = ENDS; at < REASON; at += END_WORDS) {
      if (words[at] === 0 || this.thread.root.isAlive(words[at]!)) continue;
      if (words[at + COUNTS]! > 0) hadSenders = true;
      Atomics.store(words, at, 0);
    }
    this.#judge(hadSenders);
  }
}

/** An end that this thread has sent, as the call that carries it knows it. */
class OwnDeparture implements Departure {
  readonly #ends: Ends;
  readonly #side: Side;
  #number: number;
  /** Refers to the end, which may be collected while it is on its way. */
  #close: (() => void) | undefined;
  #carriers = 0;

  constructor(ends: Ends, side: Side, number: number, close: (() => void) | undefined) {
    this.#ends = ends;
    this.#side = side;
    this.#number = number;
    this.#close = close;
  }

  closeOrigin(): void {
    this.#close?.();
  }

  get hasArrived(): boolean {
    return this.#ends.hasArrived(this.#side, this.#number);
  }

  carry(isRepeated: boolean): void {
    this.#carriers++;
    this.#close = undefined;
    if (this.#number === 0 || !isRepeated) return;
    this.#ends.keepAway(this.#side, this.#number);
    this.#number = 0;
  }

  end(): void {
    if (--this.#carriers <= 0) this.#ends.endDeparture(this.#side, this.#number);
  }
}

/** Without a stack, which may be long. */
function shortError(message: string): Error {
  const error = new Error(message);
  delete error.stack;
  return error;
}
