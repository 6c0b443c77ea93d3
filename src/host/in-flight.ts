/**
 * The slab of calls that are not settled yet: the only place where a call's promise settles, and
 * where it does so exactly once.
 *
 * A call's correlation id is its slot and the slot's generation. Taking a call out bumps the
 * generation, and so does making it again: an answer that comes late, for a call that was rejected meanwhile or
 * from its first run, finds nothing.
 *
 * Calls are made wherever the user's stack happens to end. What must hold even then is written by plain
 * stores, without a call in between; the rest is mended by the next poll (`dropCutOff`).
 */
import type { CallLoad } from "../endpoint/service-times.ts";
import type { QueuedCall } from "./call-queue.ts";
import { type CallSettings, KEPT, PLAIN } from "./call-settings.ts";

export type Resolve = (value: unknown) => void;
export type Reject = (reason: unknown) => void;

/** Lane of a call that is still queued on the host. */
export const QUEUED_ON_HOST = -1;
/** Lane of a call that the host runs itself. */
export const RUN_BY_HOST = -2;

/** What must be told when a call is over, whatever ended it. Runs no code of users'. */
export interface CallWatch {
  onOver(call: PendingCall): void;
}

/** Generations count up to here, then start over; a slot is used again after at least one other. */
const LAST_GENERATION = 2 ** 31 - 1;

/** A slot of the slab and the call in it. Used again: its generation tells one call from the next. */
export class PendingCall {
  readonly slot: number;
  generation = 0;
  /** Lane id, QUEUED_ON_HOST or RUN_BY_HOST. */
  lane: number = QUEUED_ON_HOST;
  /** What it amounts to for its lane (`lane-load.ts`). Set when it is sent. */
  load: CallLoad = 0;
  /** Undefined: the slot is free. */
  resolve: Resolve | undefined = undefined;
  reject: Reject | undefined = undefined;
  /** From `add` until it is sent or queued: whoever does that looks whether it is still wanted. */
  isSubmitting = false;
  settings: CallSettings = PLAIN;
  /** Where its record is in the lane's request ring (`RingProducer.position`). Set when it is sent. */
  position = 0;
  /** When the timekeeper first saw it, and saw it begun, in milliseconds; -1: not yet. */
  seenMs = -1;
  begunMs = -1;
  /** Its place among the calls with a time limit. */
  timedIndex = -1;
  /** What makes it again should its worker be lost, or be busy, and how often it was lost. */
  again: QueuedCall | undefined = undefined;
  retries = 0;
  /** Its signal; the promises among its arguments, or then the buffers that moved with it. */
  watch: CallWatch | undefined = undefined;
  waiting: CallWatch | undefined = undefined;

  constructor(slot: number) {
    this.slot = slot;
  }
}

export class InFlight {
  readonly #calls: PendingCall[] = [];
  readonly #free: PendingCall[] = [];
  readonly #onEmpty: () => void;
  /** Those with a time limit, in no order. */
  readonly #timed: PendingCall[] = [];
  #size = 0;
  /** Submissions on the stack: getters of one may make another. */
  #submitting = 0;

  /** `onEmpty` is called whenever the last waiting call has been taken out, before it settles. */
  constructor(onEmpty: () => void = () => {}) {
    this.#onEmpty = onEmpty;
  }

  /** Calls not settled yet. */
  get size(): number {
    return this.#size;
  }

  /** Takes a slot for a call, whose submission ends with `submitted`. */
  add(
    resolve: Resolve,
    reject: Reject,
    lane: number,
    settings: CallSettings = PLAIN,
  ): PendingCall {
    const call = this.#free.length > 0 ? this.#free.pop()! : this.#grow();
    call.resolve = resolve;
    call.reject = reject;
    call.lane = lane;
    call.isSubmitting = true;
    if (settings !== PLAIN) {
      call.settings = settings;
      call.seenMs = call.begunMs = -1;
      call.retries = 0;
      if (settings.tickMs !== Infinity) call.timedIndex = this.#timed.push(call) - 1;
    }
    this.#size++;
    this.#submitting++;
    return call;
  }

  /** The submission of what was this call is over, whatever has become of it meanwhile. */
  submitted(call: PendingCall, generation: number): void {
    if (call.generation === generation) call.isSubmitting = false;
    this.#submitting--;
  }

  /** The call of this id if it is still waiting, whatever numbers these are. */
  find(slot: number, generation: number): PendingCall | undefined {
    const call = this.#calls[slot];
    return call !== undefined && call.generation === generation && call.resolve !== undefined
      ? call
      : undefined;
  }

  /** Whether anybody waits for this queued call still. */
  has({ slot, generation }: QueuedCall): boolean {
    return this.find(slot, generation) !== undefined;
  }

  /** Settles a waiting call; nothing happens to one that is settled. */
  resolve(call: PendingCall, value: unknown): void {
    const { resolve } = call;
    if (resolve === undefined) return;
    this.#release(call);
    resolve(value);
  }

  /** Settles a waiting call; nothing happens to one that is settled. */
  reject(call: PendingCall, reason: unknown): void {
    const { reject } = call;
    if (reject === undefined) return;
    this.#release(call);
    reject(reason);
  }

  /** Gives a call that is made again an id of its own: its first run may go on, and must not be taken for this one. */
  renew(call: PendingCall, again: QueuedCall): QueuedCall {
    call.generation = call.generation === LAST_GENERATION ? 0 : call.generation + 1;
    return call.again = { ...again, generation: call.generation };
  }

  /** Has something kept with the call, to be forgotten when it is over. */
  keep(call: PendingCall): PendingCall {
    if (call.settings === PLAIN) call.settings = KEPT;
    return call;
  }

  /** Calls with a time limit, as of now. */
  timedCalls(): PendingCall[] {
    return this.#timed.slice();
  }

  /** All calls that `lane` holds; every call if `lane` is undefined. */
  callsOf(lane?: number): PendingCall[] {
    return this.#calls.filter((call) =>
      call.resolve !== undefined && (lane === undefined || call.lane === lane)
    );
  }

  /**
   * Rejects the calls whose submission was cut off because the stack overflowed: nothing else would.
   * To be called with no submission on the stack.
   */
  dropCutOff(): void {
    if (this.#submitting === 0) return;
    this.#submitting = 0;
    for (const call of this.#calls) {
      if (!call.isSubmitting) continue;
      this.reject(call, new RangeError("The stack overflowed while this call was made."));
    }
  }

  // Stores instead of `push`, here and below: a stack that overflows in between would lose a slot.
  #grow(): PendingCall {
    const call = new PendingCall(this.#calls.length);
    this.#calls[call.slot] = call;
    return call;
  }

  #release(call: PendingCall): void {
    call.resolve = undefined;
    call.reject = undefined;
    call.isSubmitting = false;
    // No function of its own: a stack that ends in its call would leave the call half released.
    call.generation = call.generation === LAST_GENERATION ? 0 : call.generation + 1;
    this.#free[this.#free.length] = call;
    if (call.settings !== PLAIN) this.#forgetSettings(call);
    if (--this.#size === 0) this.#onEmpty();
  }

  #forgetSettings(call: PendingCall): void {
    const { watch, waiting, timedIndex } = call;
    call.settings = PLAIN;
    call.again = undefined;
    call.watch = undefined;
    call.waiting = undefined;
    if (timedIndex >= 0) {
      const last = this.#timed.pop()!;
      if (last !== call) {
        this.#timed[timedIndex] = last;
        last.timedIndex = timedIndex;
      }
      call.timedIndex = -1;
    }
    watch?.onOver(call);
    waiting?.onOver(call);
  }
}
