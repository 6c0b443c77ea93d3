/**
 * Sends calls to lanes and settles their answers. Knows rings and the slab; neither threads nor how
 * the host waits (`host-loop.ts` drives it).
 *
 * A call is made in two phases. First all code of the user's: balancers, and getters while the arguments are
 * encoded in memory of their own. What that code does to the pool, calls included, is done before the call exists. Then
 * `sender.ts`, where none of it runs.
 *
 * Which lane a call goes to is `placement.ts`'s to say; a call that no lane may take waits on the host,
 * in order. Calls that wait in a lane behind others are stolen for a lane that has nothing to do
 * (`work-stealing.ts`).
 */
import type { Signature } from "../codec/struct/signature.ts";
import { ARGUMENTS, countDeclared, type Held, type Holder } from "../endpoint/hold.ts";
import type { ServiceTimes } from "../endpoint/service-times.ts";
import { UNSIZED } from "../endpoint/sized-values.ts";
import { ProtocolError } from "../errors.ts";
import type { Timer } from "../runtimes/runtime.ts";
import { Answers, MAX_ANSWERS } from "./answers.ts";
import { ArgumentsInWaiting, disown, hasPromise } from "./arguments-in-waiting.ts";
import type { Backpressure } from "./backpressure.ts";
import { CallQueue, type QueuedCall } from "./call-queue.ts";
import { type CallSettings, PLAIN } from "./call-settings.ts";
import type { HostWork } from "./host-loop.ts";
import {
  InFlight,
  type PendingCall,
  QUEUED_ON_HOST,
  type Reject,
  type Resolve,
} from "./in-flight.ts";
import type { Inliner } from "./inliner.ts";
import type { Lane } from "./lane.ts";
import { LaneSet } from "./lanes.ts";
import type { LaneChooser } from "./placement.ts";
import { Sender } from "./sender.ts";
import { WorkStealing } from "./work-stealing.ts";

export interface SchedulerEvents {
  /** Something may have to be done: see to it that the host polls. */
  onWork(): void;
  /** A call has been made that has settings of its own. Runs no code of the user's. */
  onSettings(call: PendingCall): void;
  /** A call was aborted by its own getters, or by the balancer, before it was sent. */
  onAborted(): void;
  /** A call is made again, with another id. */
  onRenewed(call: PendingCall): void;
  /** A lane has been given as many calls as `recycleAfter` says. May be told again and again. */
  onWorn(lane: Lane): void;
  /** A retired lane has answered every call. */
  onSpent(lane: Lane): void;
  onPark(): void;
  /** A call has to wait on the host. */
  onWait(): void;
  /** Nothing is outstanding; `inFlight.size` says whether calls still wait on the host. */
  onIdle(): void;
  /** No call is waiting for anything any more. */
  onEmpty(): void;
}

export interface SchedulerOptions {
  readonly holder: Holder;
  readonly events: SchedulerEvents;
  readonly isPromise: (value: unknown) => value is Promise<unknown>;
  readonly placement: LaneChooser;
  readonly backpressure: Backpressure;
  /** Calls that a worker is given before another takes its place; Infinity: as many as come. */
  readonly recycleAfter: number;
  readonly now: () => number;
  readonly setTimeout: (callback: () => void, delayMs: number) => Timer;
  readonly serviceTimes: ServiceTimes;
  /** What each task declares of its values, by its index. */
  readonly signatures: readonly (Signature | undefined)[];
}

/** Pauses before an idempotent call is made again. */
const FIRST_RETRY_MS = 10;
const MAX_RETRY_MS = 1000;

export class Scheduler implements HostWork {
  readonly inFlight: InFlight;
  readonly answers: Answers;
  readonly lanes: LaneSet = new LaneSet();
  /** The host's own share of the work, if it has one. */
  inliner: Inliner | undefined;
  readonly #queue = new CallQueue();
  readonly #options: SchedulerOptions;
  readonly #events: SchedulerEvents;
  readonly #times: ServiceTimes;
  readonly #placement: LaneChooser;
  readonly #sender: Sender;
  readonly #stealing: WorkStealing;
  readonly #failDamaged = (lane: Lane, error: Error): void => this.failLane(lane, error);
  /** Calls in the queue, about, that nobody waits for any more. */
  #endedInQueue = 0;
  /** Calls that are to be queued: when promises among their arguments settle, or after a pause. */
  #toCome = 0;
  /** Why there are no further calls, when the pool has been closed or has failed. */
  #closed: Error | undefined;

  constructor(options: SchedulerOptions) {
    const { events, placement, signatures } = options;
    this.#options = options;
    this.#events = events;
    this.#times = options.serviceTimes;
    this.#placement = placement;
    this.inFlight = new InFlight(() => events.onEmpty());
    this.answers = new Answers(this.inFlight, signatures);
    this.#sender = new Sender({
      inFlight: this.inFlight,
      lanes: this.lanes,
      kinds: options.holder.kinds,
      onSettings: (call) => {
        if (call.settings.priority !== 0) placement.depth.keepUsual();
        events.onSettings(call);
      },
      failLane: this.#failDamaged,
    });
    this.#stealing = new WorkStealing({
      inFlight: this.inFlight,
      lanes: this.lanes,
      placement,
      send: (lane, call) => this.#sendHeld(lane, call),
      putBack: (calls) => this.#queue.putBackAll(calls),
      failLane: this.#failDamaged,
      now: options.now,
      setTimeout: options.setTimeout,
      onMoved: () => events.onWork(),
    });
  }

  /** Calls stolen from one worker for another. */
  get moved(): number {
    return this.#stealing.moved;
  }

  /** Whether calls wait that a further worker would run: on the host, or behind a long one. */
  get isShortOfWorkers(): boolean {
    return this.#waiting > this.#toCome || this.lanes.isBlocked;
  }

  get hasQueued(): boolean {
    return this.#queue.size > 0 && this.lanes.open.length > 0;
  }

  get queued(): number {
    return this.#queue.size;
  }

  /** Calls that wait: on the host, or are going to, or deep in a ring. */
  get #waiting(): number {
    return this.#queue.size + this.#toCome + this.#placement.depth.excessOf(this.lanes.open);
  }

  /**
   * Takes the arguments as they are now and sends the call now or later. Settles by `resolve` or `reject`, or throws
   * why there is no call; returns the call unless it is over already.
   */
  submit(
    task: number,
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
    settings: CallSettings = PLAIN,
  ): PendingCall | undefined {
    try {
      this.#check(settings, false);
      const isPending = hasPromise(args, this.#options.isPromise);
      const mayGo = !isPending && this.#queue.size === 0 &&
        this.inliner?.takesFirst(task, 1) !== true;
      const lane = mayGo
        ? this.#placement.pick(this.lanes.open, this.#times.loadOf(task))
        : undefined;
      if (lane === undefined) this.#admit();
      if (isPending) return this.#submitPending(task, args, resolve, reject, settings);
      const isPlain = settings.maxRetries === 0 && this.#options.signatures[task] === undefined;
      if (lane !== undefined && isPlain) {
        const call = this.#submitSized(lane, task, args, resolve, reject, settings);
        if (call !== undefined) return call.resolve === resolve ? call : undefined;
      }
      return this.#submitEncoded(lane, task, args, resolve, reject, settings);
    } catch (error) {
      disown(args, this.#options.isPromise);
      throw error;
    }
  }

  /** Throws if there may be no call: to be asked before any, and after the last code of the user's. */
  #check({ signal }: CallSettings, isBegun = true): void {
    if (this.#closed !== undefined) throw this.#closed;
    if (signal?.aborted !== true) return;
    if (isBegun) this.#events.onAborted();
    throw signal.reason;
  }

  /** The shorter way, for arguments that need no encoder. Undefined: they do, or there is no room for them. */
  #submitSized(
    lane: Lane,
    task: number,
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
    settings: CallSettings,
  ): PendingCall | undefined {
    const only = args.length === 1 ? args[0] : undefined;
    const bytes = typeof only === "number" ? 0 : lane.endpoint.sized.roomFor(args);
    if (bytes === UNSIZED) return undefined;
    this.#check(settings); // a balancer may have done anything
    this.#events.onWork();
    const call = this.#sender.begin(resolve, reject, settings);
    const load = this.#times.loadOf(task);
    const isSent = typeof only === "number"
      ? this.#sender.sendNumber(lane, call, task, load, only)
      : this.#sender.sendSized(lane, call, task, load, args, bytes);
    if (!isSent) this.#enqueue(call, task, this.#options.holder.hold(args));
    else if (lane.load.outstanding > this.#placement.depth.usual) this.#grown();
    return call;
  }

  #submitEncoded(
    chosen: Lane | undefined,
    task: number,
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
    settings: CallSettings,
  ): PendingCall | undefined {
    const { holder, signatures } = this.#options;
    const declared = signatures[task]?.args;
    const encoder = holder.acquire();
    try {
      const end = holder.encode(encoder, args, ARGUMENTS, declared);
      const count = declared === undefined ? args.length : countDeclared(args, declared);
      this.#check(settings);
      const lane = chosen !== undefined && this.lanes.open.includes(chosen) ? chosen : undefined;
      this.#events.onWork();
      const mayCopy = lane !== undefined && settings.maxRetries === 0 && this.#queue.size === 0 &&
        holder.isInline(encoder, end);
      // What a port refuses, or must not move, is refused before there is a call.
      const held = mayCopy ? undefined : holder.take(encoder, end, count, true);
      const call = this.#sender.begin(resolve, reject, settings);
      const load = this.#times.loadOf(task);
      if (mayCopy && this.#sender.sendEncoded(lane, call, task, load, encoder, end, count)) {
        if (lane.load.outstanding > this.#placement.depth.usual) this.#grown();
      } else this.#enqueue(call, task, held ?? holder.take(encoder, end, count, true), lane);
      return call.resolve === resolve ? call : undefined;
    } finally {
      holder.release(encoder);
    }
  }

  /** Promises among the arguments are awaited; the others are taken as they are now. */
  #submitPending(
    task: number,
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
    settings: CallSettings,
  ): PendingCall | undefined {
    const { isPromise, holder, signatures, backpressure } = this.#options;
    const waiting = new ArgumentsInWaiting(args, isPromise, holder, signatures[task]?.args);
    this.#check(settings);
    this.#events.onWork();
    const call = this.#sender.begin(resolve, reject, settings);
    this.inFlight.keep(call).waiting = {
      onOver: () => {
        waiting.onOver();
        this.#toCome--;
        this.#events.onWork(); // a poll tells who waits for the queue to shrink
      },
    };
    this.#toCome++;
    waiting.whenKnown((held) => {
      call.waiting = undefined;
      this.#toCome--;
      this.#enqueue(call, task, held);
      this.#events.onWork();
    }, (reason) => this.inFlight.reject(call, reason));
    backpressure.grown(this.#waiting);
    this.#sender.unmark();
    return call;
  }

  /** Throws QueueFullError if no further call may wait. */
  #admit(): void {
    const { backpressure } = this.#options;
    if (this.#endedInQueue > 0 && backpressure.isFull(this.#waiting)) this.#prune();
    backpressure.admit(this.#waiting);
  }

  /** A call that waited on the host has been settled: it must not take up room for long. */
  onEndedInQueue(): void {
    if (++this.#endedInQueue * 2 > this.#queue.size) this.#prune();
  }

  #prune(): void {
    this.#endedInQueue = 0;
    this.#queue.prune((call) => this.#callOf(call) !== undefined);
    this.#options.backpressure.shrunk(this.#waiting);
  }

  /** Whoever waits for this call, as long as it waits on the host. */
  #callOf({ slot, generation }: QueuedCall): PendingCall | undefined {
    const call = this.inFlight.find(slot, generation);
    return call?.lane === QUEUED_ON_HOST ? call : undefined;
  }

  /** A lane is ready to take calls. */
  addLane(lane: Lane): void {
    this.lanes.add(lane);
    this.#events.onWork();
  }

  /**
   * A lane is gone: delivers what it answered, keeps what it had not begun for others, and returns the
   * calls it was running, still unsettled.
   */
  removeLane(lane: Lane): PendingCall[] {
    this.#drop(lane);
    try {
      this.answers.take(lane, MAX_ANSWERS);
      this.#stealing.requeue(lane);
    } catch (error) {
      // Damaged beyond this point: the calls behind it are among those returned.
      if (!(error instanceof ProtocolError)) throw error;
    }
    lane.load.clear();
    this.#events.onWork();
    return this.inFlight.callsOf(lane.id);
  }

  /** Rejects every further call with `error`, unless that is so already. */
  refuse(error: Error): void {
    this.#closed ??= error;
  }

  /** Rejects every call that waits on the host or in a lane. What no worker has begun never runs. */
  rejectAll(error: () => unknown): void {
    this.#stealing.stop();
    for (const lane of this.lanes.all.slice()) this.#stealing.revokeAll(lane);
    this.#queue.clear();
    this.#options.backpressure.shrunk(0);
    for (const call of this.inFlight.callsOf()) this.inFlight.reject(call, error());
  }

  drain(max: number): number {
    const settled = this.answers.takeFrom(this.lanes.all, max, this.#failDamaged);
    if (settled > 0) {
      if (this.#queue.size === 0) this.#stealing.rebalance();
      this.#lookForWorn();
      this.#lookForSpent();
    }
    return settled;
  }

  rebalance(): boolean {
    return this.lanes.isCrowded && this.#stealing.rebalance(this.#options.now());
  }

  onPark(): void {
    for (const lane of this.lanes.findUnasked()) {
      const what = `Worker ${lane.id} answered a call that it was not given.`;
      this.failLane(lane, new ProtocolError(what));
    }
    this.#events.onPark();
  }

  onIdle(): void {
    this.#events.onIdle();
  }

  /** Takes a lane out whose rings or words are damaged; its end settles the calls it has. */
  failLane(lane: Lane, error: Error): void {
    this.#drop(lane);
    lane.fail(error);
  }

  #drop(lane: Lane): void {
    this.lanes.remove(lane);
    this.#placement.forget(lane);
  }

  /** Gives a lane no further calls; `onSpent` follows when it has answered those it has begun. */
  retire(lane: Lane): void {
    if (!this.lanes.retire(lane)) return;
    this.#placement.forget(lane);
    this.#stealing.requeue(lane);
    this.#events.onWork();
    this.#lookForSpent();
  }

  #lookForSpent(): void {
    for (const lane of this.lanes.findSpent()) this.#events.onSpent(lane);
  }

  #lookForWorn(): void {
    if (this.#options.recycleAfter === Infinity) return;
    for (const lane of this.lanes.findWorn(this.#options.recycleAfter)) this.#events.onWorn(lane);
  }

  /** The call, which has been made, waits on the host, unless a lane was chosen for it that can have it. */
  #enqueue(call: PendingCall, task: number, held: Held, chosen?: Lane): void {
    const { slot, generation, settings } = call;
    const queued = { slot, generation, task, held, priority: settings.priority };
    if (settings.maxRetries > 0 && held.mayKeep) call.again = queued;
    if (chosen !== undefined && this.#queue.size === 0 && this.#sendHeld(chosen, queued)) return;
    const kept = this.#sender.toKeep(call, held);
    if (kept !== undefined) {
      this.#queue.push(kept === held ? queued : { ...queued, held: kept });
      this.#sender.unmark();
      this.#pushed();
    } else this.#sender.unmark();
  }

  #pushed(): void {
    try {
      this.flush();
      this.#grown();
    } catch {
      // The caller's stack has ended: the poll that is to come goes on.
    }
  }

  #grown(): void {
    const waiting = this.#waiting;
    this.#options.backpressure.grown(waiting);
    if (waiting > this.#toCome) this.#events.onWait();
  }

  /** Makes a call again whose worker was lost. False: it must not be. */
  retry(call: PendingCall): boolean {
    if (call.again === undefined || call.retries >= call.settings.maxRetries) return false;
    const again = this.inFlight.renew(call, call.again);
    this.#events.onRenewed(call);
    call.retries++;
    call.lane = QUEUED_ON_HOST;
    call.begunMs = -1;
    this.#toCome++;
    const timer = this.#options.setTimeout(() => {
      this.#toCome--;
      if (this.#callOf(again) !== undefined) {
        this.#queue.push(again);
        this.#pushed();
      }
      this.#events.onWork();
    }, retryDelayMs(call.retries));
    timer.unref();
    return true;
  }

  /** Sends queued calls, oldest first, while there is a lane and room for them. True: some. */
  flush(): boolean {
    let hasSent = false;
    for (let next = this.#queue.peek(); next !== undefined; next = this.#queue.peek()) {
      if (this.#callOf(next) === undefined) this.#queue.take();
      else if (!this.#trySend(next)) break;
      hasSent = true;
    }
    const { backpressure } = this.#options;
    if (hasSent || backpressure.needsDrain) backpressure.shrunk(this.#waiting);
    return hasSent;
  }

  /** What was cut off by the end of a caller's stack is set right. */
  recover(): void {
    if (!this.#sender.isCutOff) return;
    this.#sender.recover(({ slot, generation }) => this.#queue.has(slot, generation));
    this.#prune();
  }

  /**
   * False: nobody can take it now. Balancers may do anything, so it is looked at the queue anew afterwards. A call
   * that the balancer fails, or that cannot be sent at all, is settled.
   */
  #trySend(queued: QueuedCall): boolean {
    const { inliner } = this;
    if (inliner?.takesFirst(queued.task, 0) === true && this.#inline(queued)) return true;
    const load = this.#times.loadOf(queued.task);
    for (let left: readonly Lane[] = this.lanes.open;;) {
      let lane: Lane | undefined;
      try {
        lane = this.#placement.pick(left, load);
      } catch (error) {
        const call = this.#callOf(queued);
        if (call !== undefined) this.inFlight.reject(call, error);
        return true;
      }
      if (this.#queue.peek() !== queued || this.#callOf(queued) === undefined) return true;
      if (lane === undefined) break;
      if (this.#sendHeld(lane, queued)) {
        this.#queue.take();
        return true;
      }
      this.#placement.forget(lane);
      left = left.filter((other) => other !== lane);
    }
    return inliner?.hasRoom(queued.task, 0) === true && this.#inline(queued);
  }

  #inline(queued: QueuedCall): boolean {
    if (!this.inliner!.take(queued)) return false;
    this.#queue.take();
    return true;
  }

  /** False: no room in the lane. A call that cannot be sent at all is settled. */
  #sendHeld(lane: Lane, call: QueuedCall): boolean {
    return this.#sender.sendHeld(lane, call, this.#times.loadOf(call.task));
  }
}

/**
 * Exponential back-off with full jitter (AWS Architecture Blog, "Exponential Backoff And Jitter"), but
 * never none: `retry` counts from 1.
 */
export function retryDelayMs(retry: number): number {
  return 1 + Math.random() * Math.min(FIRST_RETRY_MS * 2 ** (retry - 1), MAX_RETRY_MS);
}
