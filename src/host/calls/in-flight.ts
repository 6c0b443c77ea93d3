/**
 * The slab of calls that are not settled yet: the only place where a call's promise settles, and where it does so
 * exactly once.
 *
 * A call's correlation id is its slot and the slot's generation. Settling a call increments the generation, and so
 * does making it again. A late response, for a call that was rejected meanwhile or from its first run, finds no
 * call.
 */
import type { Departure } from "../../realm/handles.ts";
import type { CallLoad } from "../../metering/task-timings.ts";
import { CallExtra, type Follow, type Reject, type Resolve } from "./call-extra.ts";
import type { QueuedCall } from "./queued-call.ts";
import { CallCounts, UNKNOWN_ROW } from "./call-counts.ts";
import { type CallSettings, PLAIN } from "./call-settings.ts";

export type { Reject, Resolve };

/** Lane of a call that is still queued on the host. */
export const QUEUED_ON_HOST = -1;
/** Lane of a call that the host runs itself. */
export const RUN_BY_HOST = -2;

/** Position of a record that was not noted: it is not in the ring any more, as far as anybody can tell. */
const UNKNOWN_POSITION = -1;

/** Tasks that go on after their calls were settled. */
export interface LateRuns {
  /** The worker is gone. */
  onGone(workerId: number): void;
  /** The worker has responded to a call that was settled before. */
  onResponse(workerId: number, slot: number, generation: number): void;
}

/** Generations count up to this, then start over. A slot is used again after at least one other. */
const LAST_GENERATION = 2 ** 31 - 1;

/** A slot of the slab and the call in it. Slots are reused: the generation distinguishes their calls. */
export class PendingCall {
  readonly slot: number;
  generation = 0;
  /** Lane id, QUEUED_ON_HOST or RUN_BY_HOST. */
  lane: number = QUEUED_ON_HOST;
  /** Its row of `CallCounts`. */
  row: number = UNKNOWN_ROW;
  /** Its load for its lane (`lane-load.ts`). Set when it is sent. */
  load: CallLoad = 0;
  /** Undefined: the slot is free. */
  resolve: Resolve | undefined = undefined;
  reject: Reject | undefined = undefined;
  /** Where its record is in the lane's request ring (`RingProducer.position`), if it has an `extra` when it is sent. */
  position = 0;
  /** Undefined: a plain call. */
  extra: CallExtra | undefined = undefined;

  constructor(slot: number) {
    this.slot = slot;
  }

  get settings(): CallSettings {
    return this.extra === undefined ? PLAIN : this.extra.settings;
  }

  /** What the call carries beyond a plain one, from now on. */
  keep(): CallExtra {
    if (this.extra === undefined) {
      this.extra = new CallExtra();
      this.position = UNKNOWN_POSITION; // of another call of this slot
    }
    return this.extra;
  }

  followBy(follow: Follow): void {
    this.keep().follow = follow;
  }

  /** Its arguments have parts that count as being on their way. */
  carry(departures: readonly Departure[]): void {
    const extra = this.keep();
    extra.departures = departures;
    for (const departure of departures) departure.carry(extra.settings.retries > 0);
  }
}

export class InFlight {
  readonly #calls: PendingCall[] = [];
  readonly #free: PendingCall[] = [];
  readonly #onEmpty: () => void;
  readonly #onOnlyIdleStreams: () => void;
  readonly counts: CallCounts;
  /** Tasks that go on after their calls were settled. Undefined: nobody has asked for their ends. */
  lateRuns: LateRuns | undefined = undefined;
  /** Calls not settled yet. Only this class writes it. */
  size = 0;
  /** Whether `onEmpty` is called the next time, which clears this. Set by whoever waits for that. */
  notifiesEmpty = true;
  #idle = 0;

  /**
   * `onEmpty` is called when the last call has been taken out, before it settles, if `notifiesEmpty` is set; `onOnlyIdleStreams`
   * when only calls are left whose streams nobody waits for. `tasks`: indices of tasks that are counted.
   */
  constructor(onEmpty: () => void = () => {}, onOnlyIdleStreams: () => void = () => {}, tasks = 0) {
    this.counts = new CallCounts(tasks);
    this.#onEmpty = onEmpty;
    this.#onOnlyIdleStreams = onOnlyIdleStreams;
  }

  /** Whether somebody waits for a call. */
  get hasAwaitedCalls(): boolean {
    return this.size > this.#idle;
  }

  /** Whether anybody waits for the stream of a call. */
  setIdle(call: PendingCall, isIdle: boolean): void {
    const extra = call.keep();
    if (extra.isIdle === isIdle) return;
    extra.isIdle = isIdle;
    this.#idle += isIdle ? 1 : -1;
    if (!this.hasAwaitedCalls) this.#onOnlyIdleStreams();
  }

  /** Takes a slot for a call, which waits on the host for now. */
  add(resolve: Resolve, reject: Reject, settings: CallSettings = PLAIN): PendingCall {
    let extra: CallExtra | undefined;
    if (settings !== PLAIN) {
      extra = new CallExtra();
      extra.settings = settings;
    }
    const call = this.#free.length > 0 ? this.#free.pop()! : this.#grow();
    // Only plain stores from here on: if the stack ends before this line, no call was made; after it, the call is
    // complete.
    call.row = UNKNOWN_ROW;
    call.resolve = resolve;
    call.reject = reject;
    call.lane = QUEUED_ON_HOST;
    call.extra = extra;
    this.size++;
    return call;
  }

  /** The call of this id if it is not settled, for any two numbers. */
  find(slot: number, generation: number): PendingCall | undefined {
    const call = this.#calls[slot];
    return call !== undefined && call.generation === generation && call.resolve !== undefined
      ? call
      : undefined;
  }

  /** Settles a waiting call; nothing happens to one that is settled. */
  resolve(call: PendingCall, value: unknown): void {
    const { resolve } = call;
    if (resolve === undefined) return;
    this.counts.completed[call.row]!++;
    this.#release(call);
    resolve(value);
  }

  /** Settles a waiting call; nothing happens to one that is settled. */
  reject(call: PendingCall, reason: unknown): void {
    const { reject } = call;
    if (reject === undefined) return;
    this.counts.failed[call.row]!++;
    this.#release(call);
    reject(reason);
  }

  /** Gives a call that is made again a new id: its first run may go on and must not settle it. */
  renew(call: PendingCall, extra: CallExtra, queued: QueuedCall): QueuedCall {
    call.generation = call.generation === LAST_GENERATION ? 0 : call.generation + 1;
    extra.retries++;
    extra.onRenewed(call);
    return extra.retryPayload = { ...queued, generation: call.generation };
  }

  /** The call is about to be settled without a response, and its task may go on. */
  leaveRunning(call: PendingCall): void {
    if (call.lane !== QUEUED_ON_HOST) call.extra?.onLeftRunning(call);
  }

  /** The call's worker is lost or stopped. Its thread may go on. */
  rejectLost(call: PendingCall, error: Error): void {
    this.leaveRunning(call);
    this.reject(call, error);
  }

  /** Calls whose result is a stream that has begun. */
  get openStreams(): number {
    return this.#calls.reduce(
      (count, { extra }) => extra?.stream?.isOpen === true ? count + 1 : count,
      0,
    );
  }

  /** Calls that a worker or the host has. */
  get sentCalls(): number {
    return this.#calls.reduce(
      (count, { resolve, lane }) =>
        resolve !== undefined && lane !== QUEUED_ON_HOST ? count + 1 : count,
      0,
    );
  }

  /** All calls of `lane`, or every call if `lane` is undefined. */
  callsOf(lane?: number): PendingCall[] {
    return this.#calls.filter((call) =>
      call.resolve !== undefined && (lane === undefined || call.lane === lane)
    );
  }

  /** Counts everything again after a stack overflow interrupted a change. */
  recount(): void {
    this.size =
      this.#idle =
      this.#free.length =
        0;
    for (const call of this.#calls) {
      if (call.resolve === undefined) this.#freeSlot(call); // perhaps a second time, which is harmless
      else {
        this.size++;
        if (call.extra?.isIdle === true) this.#idle++;
      }
    }
  }

  #grow(): PendingCall {
    const call = new PendingCall(this.#calls.length);
    this.#calls.push(call);
    return call;
  }

  #release(call: PendingCall): void {
    call.resolve = undefined;
    call.reject = undefined;
    // `#freeSlot`, written out: every call comes here.
    call.generation = call.generation === LAST_GENERATION ? 0 : call.generation + 1;
    this.#free.push(call);
    if (call.extra !== undefined) this.#dropExtra(call, call.extra);
    this.size--;
    if (this.size > this.#idle) return;
    // No call is left that anybody waits for.
    if (this.size > 0) this.#onOnlyIdleStreams();
    else if (this.notifiesEmpty) {
      this.notifiesEmpty = false;
      this.#onEmpty();
    }
  }

  /** Frees the slot. A late response for its call finds no call. */
  #freeSlot(call: PendingCall): void {
    call.generation = call.generation === LAST_GENERATION ? 0 : call.generation + 1;
    this.#free.push(call);
    if (call.extra !== undefined) this.#dropExtra(call, call.extra);
  }

  /** The call is over. A stack overflow may end this, and a recount repeats it: each part hears of it once. */
  #dropExtra(call: PendingCall, extra: CallExtra): void {
    if (extra.isIdle) {
      extra.isIdle = false;
      this.#idle--;
    }
    const { parts, departures } = extra;
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) part.onOver?.(call);
    if (departures !== undefined) { for (const departure of departures) departure.end(); }
    call.extra = undefined; // last
  }
}
