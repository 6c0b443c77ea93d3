/**
 * The ends of a channel. Under their latch: the number of ends of each thread, and of those that it has sent and that have not
 * arrived. When the living have no senders any more the channel ends, and likewise with receivers.
 */
import { Error } from "../../builtins.ts";
import { ChannelClosedError } from "../../shared-errors.ts";
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

const SENDERS = 1;
const RECEIVERS = 2;
/** Number of the next end that this thread sends. */
const DEPARTURES = 3;
/** Bytes: how many were sent and have not arrived, by their numbers, since of a broadcast several arrive with one. */
const AWAY = 8;
const NUMBERS = 64;

const awayOf = (at: number, side: Side): number =>
  4 * (at + AWAY) + (side === "sender" ? 0 : NUMBERS);

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
      const at = ENDS + END_WORDS * indexOf(token);
      const byte = awayOf(at, side) + (number & (NUMBERS - 1));
      const { u8 } = this.#memory.view;
      // First: a thread that dies between the two has no end, and none is on its way to it.
      if (this.words[at] === token && u8[byte]! > 0) u8[byte]!--;
      this.#add(side);
    });
  }

  /** An end of this thread is being sent: what `arrive` needs. */
  depart(side: Side): string {
    return this.locked(() => {
      const at = this.#record();
      const number = this.words[at + DEPARTURES]!++;
      this.#memory.view.u8[awayOf(at, side) + (number & (NUMBERS - 1))]!++;
      return `${this.thread.token}:${number}`;
    });
  }

  #away(at: number, side: Side): number {
    const start = awayOf(at, side);
    let count = 0;
    for (let byte = start; byte < start + NUMBERS; byte++) count += this.#memory.view.u8[byte]!;
    return count;
  }

  #add(side: Side): void {
    this.words[this.#record() + (side === "sender" ? SENDERS : RECEIVERS)]!++;
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
      const at = this.#own + (side === "sender" ? SENDERS : RECEIVERS);
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
      senders += words[at + SENDERS]! + this.#away(at, "sender");
      receivers += words[at + RECEIVERS]! + this.#away(at, "receiver");
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
      if (words[at + SENDERS]! > 0) hadSenders = true;
      Atomics.store(words, at, 0);
    }
    this.#judge(hadSenders);
  }
}

/** Without a stack, which may be long. */
function shortError(message: string): Error {
  const error = new Error(message);
  delete error.stack;
  return error;
}
