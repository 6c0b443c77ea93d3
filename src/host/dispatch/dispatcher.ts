/**
 * Sends calls to lanes and settles their responses. Knows rings and the slab, but neither threads nor how the host
 * waits (`poll-loop.ts` drives it).
 *
 * A call is made in two phases. First all user code runs: balancers, and getters while the arguments are encoded.
 * Whatever it does to the pool, calls included, is done before the call exists. Then `sender.ts`, where no user
 * code runs.
 *
 * `placement.ts` chooses the lane of a call. A call that no lane may take waits on the host, in order. Calls that
 * wait in a lane behind others are stolen for an idle lane (`work-stealing.ts`).
 */
import { ARGUMENTS, countDeclared, type Snapshot } from "../../lane/snapshot.ts";
import type { TaskTimings } from "../../lane/task-timings.ts";
import { UNSIZED } from "../../lane/sized-values.ts";
import { DataCloneError, ProtocolError } from "../../errors.ts";
import { MAX_RESPONSES, Responses } from "../responses.ts";
import { hasPromise, ignoreRejections } from "./pending-arguments.ts";
import { type FindTask, PendingCalls } from "./pending-calls.ts";
import type { Backpressure } from "./backpressure.ts";
import { type CallSettings, PLAIN, withStreams } from "../cancel/call-settings.ts";
import { splitStreams } from "../streams/argument-sources.ts";
import { endSource, endStreams } from "../../streams/open-source.ts";
import type { HostWork } from "../poll-loop.ts";
import {
  InFlight,
  type PendingCall,
  QUEUED_ON_HOST,
  type Reject,
  type Resolve,
} from "../in-flight.ts";
import type { Lane } from "../balance/lane.ts";
import { LaneSet } from "../balance/lane-set.ts";
import type { LaneChooser } from "../balance/placement.ts";
import type { DispatcherEvents } from "./dispatcher-events.ts";
import type { DispatcherOptions } from "./dispatcher-options.ts";
import { Sender } from "./sender.ts";
import { WaitingCalls } from "./waiting-calls.ts";
import { WorkStealing } from "../balance/work-stealing.ts";

/** From this `recycleAfter` on a lane gets calls until its successor is ready. */
const MIN_INEXACT_LIMIT = 16;

export class Dispatcher implements HostWork {
  readonly inFlight: InFlight;
  readonly responses: Responses;
  readonly lanes: LaneSet = new LaneSet();
  readonly waiting: WaitingCalls;
  readonly #pending: PendingCalls;
  readonly #options: DispatcherOptions;
  readonly #events: DispatcherEvents;
  readonly #times: TaskTimings;
  readonly #placement: LaneChooser;
  readonly #sender: Sender;
  /** Whether no lane may exceed `recycleAfter`. */
  readonly #isCallLimitExact: boolean;
  readonly #stealing: WorkStealing;
  readonly #failDamaged = (lane: Lane, error: Error): void => this.failLane(lane, error);
  /** The error for further calls, when the pool has been closed or has failed. */
  #closed: Error | undefined;

  constructor(options: DispatcherOptions) {
    const { events, placement, signatures } = options;
    this.#options = options;
    this.#isCallLimitExact = options.recycleAfter < MIN_INEXACT_LIMIT;
    this.#events = events;
    this.#times = options.taskTimings;
    this.#placement = placement;
    this.inFlight = new InFlight(
      () => events.onEmpty(),
      () => events.onUnwanted(),
      options.taskTimings.tasks,
    );
    this.responses = new Responses(this.inFlight, signatures);
    this.#sender = new Sender({
      inFlight: this.inFlight,
      lanes: this.lanes,
      kinds: options.snapshots.kinds,
      stamps: options.stamps,
      onSettings: (call) => {
        if (call.settings.priority !== 0) placement.depth.keepUsual();
        events.onSettings(call);
      },
      maxCalls: this.#isCallLimitExact ? options.recycleAfter : Infinity,
      onLastCall: (lane) => this.#close(lane),
      recover: () => this.recover(),
      failLane: this.#failDamaged,
    });
    this.waiting = new WaitingCalls({
      ...options,
      inFlight: this.inFlight,
      lanes: this.lanes,
      sender: this.#sender,
      onWork: () => events.onWork(),
      onWait: () => events.onWait(),
      onRenewed: (call) => events.onRenewed(call),
    });
    this.#pending = new PendingCalls({
      ...options,
      inFlight: this.inFlight,
      sender: this.#sender,
      waiting: this.waiting,
      check: (settings) => this.#check(settings),
      onWork: () => events.onWork(),
    });
    this.#stealing = new WorkStealing({
      inFlight: this.inFlight,
      lanes: this.lanes,
      placement,
      send: (lane, call) => this.#sender.sendSnapshot(lane, call, this.#times.loadOf(call.task)),
      putBack: (calls) => this.waiting.putBack(calls),
      failLane: this.#failDamaged,
      now: options.now,
      setTimeout: options.setTimeout,
      onMoved: () => events.onWork(),
    });
  }

  get backpressure(): Backpressure {
    return this.#options.backpressure;
  }

  /** Calls stolen from one worker for another. */
  get moved(): number {
    return this.#stealing.moved;
  }

  /** Whether calls wait that a further worker would run: on the host, or behind a long one. */
  get isShortOfWorkers(): boolean {
    return this.waiting.runnable > 0 || this.#pending.early > 0 || this.lanes.isBlocked;
  }

  get hasQueued(): boolean {
    const { queued, pinned } = this.waiting;
    return (queued > 0 && this.lanes.open.length > 0) || pinned.isSendable;
  }

  /**
   * Takes the arguments as they are now and sends the call now or later. Settles by `resolve` or `reject`, or
   * throws the reason that there is no call. Returns the call unless it is already over.
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
      const canSendNow = !isPending && settings.affinity === undefined &&
        this.waiting.queued === 0 &&
        this.waiting.inliner?.takesFirst(task, 1) !== true;
      const lane = canSendNow
        ? this.#placement.pick(this.lanes.open, this.#times.loadOf(task))
        : undefined;
      if (lane === undefined) this.waiting.admit();
      if (isPending) return this.#pending.submit(task, args, resolve, reject, settings);
      const isPlain = settings.maxRetries === 0 && this.#options.signatures[task] === undefined;
      if (lane !== undefined && isPlain) {
        const call = this.#submitSized(lane, task, args, resolve, reject, settings);
        if (call !== undefined) return call.resolve === resolve ? call : undefined;
      }
      return this.#submitEncoded(lane, task, args, resolve, reject, settings);
    } catch (error) {
      return this.#submitStreams(
        error,
        args,
        settings,
        (others, own) => this.submit(task, others, resolve, reject, own),
      );
    }
  }

  /** Makes a call with placeholders for the streams among its arguments. If there are none, rethrows why it was refused. */
  #submitStreams<Call>(
    error: unknown,
    args: readonly unknown[],
    settings: CallSettings,
    submit: (args: readonly unknown[], settings: CallSettings) => Call,
  ): Call {
    const split = error instanceof DataCloneError ? splitStreams(args) : undefined;
    if (split === undefined) {
      ignoreRejections(args, this.#options.isPromise);
      endStreams(args);
      throw error;
    }
    try {
      return submit(split.args, withStreams(settings, split.sources));
    } catch (refusal) {
      split.sources.forEach((source) => endSource(source));
      throw refusal;
    }
  }

  /** Throws if no call may be made. Called first, and again after the last user code. */
  #check({ signal }: CallSettings, isBegun = true): void {
    if (this.#closed !== undefined) throw this.#closed;
    if (signal?.aborted !== true) return;
    if (isBegun) this.#events.onAborted();
    throw signal.reason;
  }

  /** The shorter path, for arguments without an encoder. Undefined: they need one. */
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
    this.#check(settings); // a balancer may have closed the pool or aborted the signal
    this.#events.onWork();
    const call = this.#sender.begin(resolve, reject, settings, task);
    const load = this.#times.loadOf(task);
    const isSent = typeof only === "number"
      ? this.#sender.sendNumber(lane, call, task, load, only)
      : this.#sender.sendSized(lane, call, task, load, args, bytes);
    if (!isSent) this.waiting.add(call, task, this.#options.snapshots.capture(args));
    else if (lane.load.outstanding > this.#placement.depth.usual) this.waiting.onGrown();
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
    const { snapshots, signatures } = this.#options;
    const declared = signatures[task]?.args;
    const encoder = snapshots.acquire();
    try {
      const end = snapshots.encode(encoder, args, ARGUMENTS, declared);
      const count = declared === undefined ? args.length : countDeclared(args, declared);
      this.#check(settings);
      const lane = chosen !== undefined && this.lanes.open.includes(chosen) ? chosen : undefined;
      this.#events.onWork();
      const mayCopy = lane !== undefined && settings.maxRetries === 0 &&
        this.waiting.queued === 0 &&
        snapshots.isInline(encoder, end);
      // Objects that cannot be moved are refused here, before there is a call.
      const snapshot = mayCopy ? undefined : snapshots.take(encoder, end, count, true);
      const call = this.#sender.begin(resolve, reject, settings, task);
      const load = this.#times.loadOf(task);
      if (mayCopy && this.#sender.sendEncoded(lane, call, task, load, encoder, end, count)) {
        if (lane.load.outstanding > this.#placement.depth.usual) this.waiting.onGrown();
      } else {
        const kept = snapshot ?? snapshots.take(encoder, end, count, true);
        this.waiting.add(call, task, kept, lane);
      }
      return call.resolve === resolve ? call : undefined;
    } finally {
      snapshots.release(encoder);
    }
  }

  /** The same for a task that no worker has described yet. `find` is called when one has. */
  submitEarly(
    find: FindTask,
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
    settings: CallSettings,
  ): PendingCall {
    try {
      this.#check(settings, false);
      this.waiting.admit();
      const call = this.#pending.submitEarly(find, args, resolve, reject, settings);
      this.#events.onWait();
      return call;
    } catch (error) {
      return this.#submitStreams(
        error,
        args,
        settings,
        (others, own) => this.submitEarly(find, others, resolve, reject, own),
      );
    }
  }

  /** The tasks of the pool are known: calls made before are queued. */
  onTasksKnown(): void {
    this.responses.onTasksKnown();
    this.#pending.startEarly();
  }

  /** Arguments taken before their task was known, as its declared shapes require. */
  redeclare(snapshot: Snapshot, task: number): Snapshot {
    return this.#pending.redeclare(snapshot, task);
  }

  /** Makes a call with arguments that are encoded already. Throws if the pool takes no calls. */
  submitSnapshot(task: number, snapshot: Snapshot, settings: CallSettings): Promise<unknown> {
    return new Promise((resolve: Resolve, reject: Reject) => {
      this.#check(settings, false);
      this.#events.onWork();
      this.waiting.add(this.#sender.begin(resolve, reject, settings, task), task, snapshot);
    });
  }

  /** A worker has started. It gets only calls that are pinned to it until `openLane`. */
  addLane(lane: Lane): void {
    this.lanes.add(lane);
  }

  /** A worker may run any call from now on. False: it is gone. */
  openLane(lane: Lane): boolean {
    if (!this.lanes.setOpen(lane)) return false;
    this.waiting.pinned.onOpened();
    this.#events.onWork();
    return true;
  }

  /**
   * A lane is gone: settles the calls that it answered, queues those that it had not begun, except calls sent by port
   * without a kept snapshot, which count as running, and returns those that it was running, still unsettled.
   */
  removeLane(lane: Lane): PendingCall[] {
    this.#drop(lane);
    this.waiting.pinned.onClosed(lane.id, "it ended");
    try {
      this.responses.take(lane, MAX_RESPONSES);
      this.#stealing.requeue(lane);
    } catch (error) {
      // Damaged beyond this point: the calls behind it are among those returned.
      if (!(error instanceof ProtocolError)) throw error;
    }
    lane.load.clear();
    this.#events.onWork();
    return this.inFlight.callsOf(lane.id);
  }

  /** Rejects every further call with `error`, unless an earlier error does so. */
  refuse(error: Error): void {
    this.#closed ??= error;
  }

  /** Rejects the calls that no worker has begun. */
  rejectQueued(error: () => unknown): void {
    for (const lane of this.lanes.all.slice()) this.#stealing.requeue(lane, true);
    for (const call of this.inFlight.callsOf(QUEUED_ON_HOST)) this.inFlight.reject(call, error());
    this.waiting.clear();
  }

  /** Rejects every call in flight. Calls that no worker has begun never run. */
  rejectAll(error: () => unknown): void {
    this.#stealing.stop();
    for (const lane of this.lanes.all.slice()) this.#stealing.revokeAll(lane);
    this.waiting.clear();
    for (const call of this.inFlight.callsOf()) this.inFlight.reject(call, error());
  }

  drain(max: number): number {
    const settled = this.responses.takeFrom(this.lanes.all, max, this.#failDamaged);
    if (settled > 0) {
      if (this.waiting.queued === 0) this.#stealing.rebalance();
      this.#reportDueForRecycling();
      this.#reportDrained();
    }
    return settled;
  }

  rebalance(): boolean {
    return this.lanes.isCrowded && this.#stealing.rebalance(this.#options.now());
  }

  onPark(): void {
    for (const lane of this.lanes.findUnsolicited()) {
      const message = `Worker ${lane.id} answered a call that it was not given.`;
      this.failLane(lane, new ProtocolError(message));
    }
    this.#events.onPark();
  }

  onIdle(): void {
    this.#events.onIdle();
  }

  /** Removes a lane whose rings or words are damaged; its end settles its calls. */
  failLane(lane: Lane, error: Error): void {
    this.#drop(lane);
    lane.fail(error);
  }

  #drop(lane: Lane): void {
    this.lanes.remove(lane);
    this.#placement.forget(lane);
  }

  /** Sends no further calls to a lane. False: it got none before. */
  #close(lane: Lane): boolean {
    this.#placement.forget(lane);
    const wasOpen = this.lanes.retire(lane);
    if (wasOpen) this.waiting.pinned.onClosed(lane.id, "it takes no more calls");
    return wasOpen;
  }

  /** The same, and requeues calls that it has not begun. `onDrained` follows when it has answered the others. */
  retire(lane: Lane): void {
    if (!this.#close(lane)) return;
    this.#stealing.requeue(lane);
    this.#events.onWork();
    this.#reportDrained();
  }

  #reportDrained(): void {
    for (const lane of this.lanes.findDrained()) this.#events.onDrained(lane);
  }

  #reportDueForRecycling(): void {
    if (this.#isCallLimitExact || this.#options.recycleAfter === Infinity) return;
    for (const lane of this.lanes.findDueForRecycling(this.#options.recycleAfter)) {
      this.#events.onDueForRecycling(lane);
    }
  }

  flush(): boolean {
    const hasSent = this.waiting.flush();
    if (this.#isCallLimitExact) {
      for (const lane of this.lanes.findAtLimit(this.#options.recycleAfter)) {
        this.#events.onLastCall(lane);
      }
    }
    return hasSent;
  }

  /** Repairs the state after a caller's stack overflowed. */
  recover(): void {
    if (!this.#sender.wasInterrupted) return;
    this.#sender.recover((call) => this.waiting.has(call));
    this.waiting.prune();
  }
}
