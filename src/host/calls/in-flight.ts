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
import type { CallerContext } from "./caller-context.ts";
import type { QueuedCall } from "./queued-call.ts";
import { CallCounts, UNKNOWN_ROW } from "./call-counts.ts";
import { type CallSettings, PLAIN, STATEFUL } from "./call-settings.ts";
import type { LateRuns } from "./late-runs.ts";

export type Resolve = (value: unknown) => void;
export type Reject = (reason: unknown) => void;

/** Wraps the callbacks of a call, as its first ones were wrapped by whoever follows it. */
export type Follow = (resolve: Resolve, reject: Reject) => readonly [Resolve, Reject];

/** Lane of a call that is still queued on the host. */
export const QUEUED_ON_HOST = -1;
/** Lane of a call that the host runs itself. */
export const RUN_BY_HOST = -2;

/** Is notified when a call is over, for any reason. Runs no user code. */
export interface CallWatch {
  onOver(call: PendingCall): void;
}

/** The result stream of a call, as the parts of the host see it. */
export interface ItemSink {
  /** Whether the worker has begun to send it. */
  readonly isOpen: boolean;
  /** Items that its reader has taken. */
  readonly taken: number;
  /** Runs no user code. */
  onItems(items: readonly unknown[], bytes: number): void;
  /** The call is about to be settled by its caller or a time limit: items that have arrived are not read. */
  drop(): void;
  /** The call is about to be rejected because its iterator was asked for items, or by an item. */
  isOfNext: boolean;
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
  /** Who follows the call, for callbacks that replace the first ones: those of a stream. */
  follow: Follow | undefined = undefined;
  settings: CallSettings = PLAIN;
  /** Where its record is in the lane's request ring (`RingProducer.position`). Set when it is sent. */
  position = 0;
  /** When `Deadlines` first saw it, and saw it begun, in milliseconds. -1: not yet. */
  firstSeenMs = -1;
  begunMs = -1;
  /** When its stream was cancelled, if its worker is to be stopped a while later. -1: not, or never. */
  cancelledMs = -1;
  /** Its place among the calls with a time limit. */
  timedIndex = -1;
  /** For making it again if its worker is lost or busy; and how often its worker was lost. */
  retryPayload: QueuedCall | undefined = undefined;
  retries = 0;
  /** The watch of its signal; and that of the promises among its arguments, or of moved buffers later. */
  watch: CallWatch | undefined = undefined;
  waiting: CallWatch | undefined = undefined;
  /** Its result, if that is a stream; its argument streams; and who gets its events. */
  stream: ItemSink | undefined = undefined;
  sources: CallWatch | undefined = undefined;
  onEvents: ((values: readonly unknown[]) => void) | undefined = undefined;
  /** The functions among its arguments. */
  callbacks: CallSettings["callbacks"] = undefined;
  /** Where these run, and functions of the host for the call. */
  context: CallerContext | undefined = undefined;
  /** Parts of its arguments that count as being on their way until it is over, at the longest. */
  departures: readonly Departure[] | undefined = undefined;
  /** Nobody waits for its stream at present, so it does not keep the process running. */
  isIdle = false;

  constructor(slot: number) {
    this.slot = slot;
  }

  /** Sets who follows the call. Attached state needs settings that are not PLAIN, which free it with the slot. */
  followBy(follow: Follow): void {
    this.markStateful().follow = follow;
  }

  /** Its arguments have parts that count as being on their way. */
  carry(departures: readonly Departure[]): void {
    this.markStateful().departures = departures;
    for (const departure of departures) departure.carry(this.settings.retries > 0);
  }

  /** Something is attached to the call, which is dropped when it is over: it is not plain. */
  markStateful(): this {
    if (this.settings === PLAIN) this.settings = STATEFUL;
    return this;
  }
}

export class InFlight {
  readonly #calls: PendingCall[] = [];
  readonly #free: PendingCall[] = [];
  readonly #onEmpty: () => void;
  readonly #onOnlyIdleStreams: () => void;
  /** Calls with a time limit, in no order. */
  readonly #timed: PendingCall[] = [];
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
    if (call.isIdle === isIdle) return;
    call.isIdle = isIdle;
    this.#idle += isIdle ? 1 : -1;
    if (!this.hasAwaitedCalls) this.#onOnlyIdleStreams();
  }

  /** Takes a slot for a call, which waits on the host for now. */
  add(resolve: Resolve, reject: Reject, settings: CallSettings = PLAIN): PendingCall {
    const call = this.#free.length > 0 ? this.#free.pop()! : this.#grow();
    // Only plain stores from here on: if the stack ends before this line, no call was made; after it, the call is
    // complete.
    call.row = UNKNOWN_ROW;
    call.resolve = resolve;
    call.reject = reject;
    call.lane = QUEUED_ON_HOST;
    if (settings !== PLAIN) {
      call.settings = settings;
      call.firstSeenMs = call.begunMs = call.cancelledMs = -1;
      call.retries = 0;
      if (settings.tickMs !== Infinity) {
        call.timedIndex = this.#timed.length;
        this.#timed[call.timedIndex] = call;
      }
    }
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
  renew(call: PendingCall, queued: QueuedCall): QueuedCall {
    call.generation = call.generation === LAST_GENERATION ? 0 : call.generation + 1;
    return call.retryPayload = { ...queued, generation: call.generation };
  }

  /** Replaces the settings of a call, never PLAIN ones, when the options of its task have become known. */
  adopt(call: PendingCall, settings: CallSettings): void {
    call.settings = settings;
    if (settings.tickMs !== Infinity) this.watchTime(call);
  }

  /** The call is among those with a time limit from now on. */
  watchTime(call: PendingCall): void {
    if (call.timedIndex < 0) call.timedIndex = this.#timed.push(call) - 1;
  }

  /** Calls with a time limit, as of now. */
  timedCalls(): PendingCall[] {
    return this.#timed.slice();
  }

  /** Calls whose result is a stream that has begun. */
  get openStreams(): number {
    return this.#calls.reduce(
      (count, { stream }) => stream?.isOpen === true ? count + 1 : count,
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
      this.#timed.length =
        0;
    for (const call of this.#calls) {
      call.timedIndex = -1;
      if (call.resolve === undefined) this.#freeSlot(call); // perhaps a second time, which is harmless
      else {
        this.size++;
        if (call.isIdle) this.#idle++;
        if (call.settings.tickMs !== Infinity || call.cancelledMs >= 0) this.watchTime(call);
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
    if (call.settings !== PLAIN) this.#clearSettings(call);
    this.size--;
    if (this.size === this.#idle) this.#onLast();
  }

  /** No call is left that anybody waits for. */
  #onLast(): void {
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
    if (call.settings !== PLAIN) this.#clearSettings(call);
  }

  #clearSettings(call: PendingCall): void {
    const { watch, waiting, sources, timedIndex, departures } = call;
    call.settings.run?.onOver(call);
    call.settings = PLAIN;
    call.follow = undefined;
    call.retryPayload = undefined;
    call.watch = undefined;
    call.waiting = undefined;
    call.stream =
      call.sources =
      call.onEvents =
      call.callbacks =
      call.context =
      call.departures =
        undefined;
    if (call.isIdle) {
      call.isIdle = false;
      this.#idle--;
    }
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
    sources?.onOver(call);
    if (departures !== undefined) { for (const departure of departures) departure.end(); }
  }
}
