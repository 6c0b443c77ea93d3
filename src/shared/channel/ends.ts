/**
 * Who has ends of a channel. Under its latch: the ends of each thread, counted, with those that it has sent and that have not
 * arrived. When the living have no senders any more the channel ends, and likewise with receivers.
 */
import { Error } from "../../builtins.ts";
import { ChannelClosedError } from "../../errors.ts";
import { Guarded } from "../guarded.ts";
import type { ObjectMemory } from "../memory.ts";
import type { Values } from "../values.ts";
import type { WaitSet } from "../wait-set.ts";
import {
  DEATHS,
  DIED,
  END_WORDS,
  ENDS,
  ENDS_LATCH,
  MAX_REASON_BYTES,
  NO_RECEIVERS,
  NO_SENDERS,
  REASON,
  REASON_BYTES,
} from "./layout.ts";

export type Side = "sender" | "receiver";

const SENDERS = 1;
const RECEIVERS = 2;
/** Ends that were sent, senders in the low half and receivers in the high one. */
const TRAVELLING = 3;
const RECEIVER_UNIT = 1 << 16;

export class Ends extends Guarded {
  readonly #memory: ObjectMemory;
  readonly #values: Values;
  readonly #waits: readonly WaitSet[];
  readonly #own: number;

  /** `waits`: everybody who has to learn of an end. */
  constructor(memory: ObjectMemory, values: Values, waits: readonly WaitSet[]) {
    super(memory.view.i32, memory.thread, ENDS_LATCH, DEATHS, "the ends of a channel");
    this.#memory = memory;
    this.#values = values;
    this.#waits = waits;
    this.#own = ENDS + END_WORDS * memory.thread.index;
  }

  /** This thread has one more end: `isArrival`: another thread has sent it. */
  open(side: Side, isArrival: boolean): void {
    this.locked(() => {
      const { words } = this;
      const own = this.#own;
      if (words[own] !== this.thread.token) {
        words.fill(0, own + SENDERS, own + END_WORDS);
        Atomics.store(words, own, this.thread.token);
      }
      words[own + (side === "sender" ? SENDERS : RECEIVERS)]!++;
      if (isArrival) this.#arrive(side === "sender" ? 1 : RECEIVER_UNIT);
    });
  }

  /** An end of this thread is being sent. */
  depart(side: Side): void {
    this.locked(() => {
      if (this.words[this.#own] !== this.thread.token) return;
      this.words[this.#own + TRAVELLING]! += side === "sender" ? 1 : RECEIVER_UNIT;
    });
  }

  /** Whoever has sent one. */
  #arrive(unit: number): void {
    const { words } = this;
    for (let at = ENDS; at < REASON; at += END_WORDS) {
      const travelling = words[at + TRAVELLING]!;
      const count = unit === 1 ? travelling & (RECEIVER_UNIT - 1) : travelling >>> 16;
      if (words[at] === 0 || count === 0) continue;
      words[at + TRAVELLING] = travelling - unit;
      return;
    }
  }

  /** This thread has one end less, for this reason if it is the last sender. */
  close(side: Side, reason: unknown): void {
    this.whenFree(() => {
      const at = this.#own + (side === "sender" ? SENDERS : RECEIVERS);
      if (this.words[this.#own] !== this.thread.token || this.words[at] === 0) return;
      this.words[at]!--;
      if (side === "sender" && reason !== undefined) this.#setReason(reason);
      this.#judge();
    });
  }

  /** Looks after the dead if there are new ones. */
  refresh(): void {
    if (this.isStale && this.attempt(() => true) === undefined) this.lookSoon();
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

  #setReason(reason: unknown): void {
    if (Atomics.load(this.words, REASON_BYTES) !== 0) return;
    let bytes = this.#pack(reason);
    if (bytes === undefined || bytes.length > MAX_REASON_BYTES) {
      const text = String((reason as { message?: unknown } | null)?.message ?? reason);
      bytes = this.#pack(new Error(text.slice(0, MAX_REASON_BYTES / 8)))!;
      if (bytes.length > MAX_REASON_BYTES) bytes = this.#pack(text.slice(0, MAX_REASON_BYTES / 8))!;
    }
    this.#memory.view.u8.set(bytes, 4 * REASON);
    Atomics.store(this.words, REASON_BYTES, bytes.length);
  }

  #pack(reason: unknown): Uint8Array | undefined {
    try {
      return this.#values.pack(reason);
    } catch {
      return undefined;
    }
  }

  /** Sets the words that say that a side is over. `hasDied`: a thread that had a sender. */
  #judge(hasDied = false): void {
    const { words } = this;
    let senders = 0;
    let receivers = 0;
    for (let at = ENDS; at < REASON; at += END_WORDS) {
      if (words[at] === 0) continue;
      const travelling = words[at + TRAVELLING]!;
      senders += words[at + SENDERS]! + (travelling & (RECEIVER_UNIT - 1));
      receivers += words[at + RECEIVERS]! + (travelling >>> 16);
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
