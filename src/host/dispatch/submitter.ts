/**
 * Makes calls, in two phases. First all user code runs: balancers, and getters while the arguments are encoded.
 * Whatever it does to the pool, calls included, is done before the call exists. Then `sender.ts`, where no user code
 * runs.
 *
 * Most calls are plain: without options, of a task without declared shapes, in a pool without context, inline executor
 * or balancer function. Which calls are is known when their function is made (`api/calls/call-proxy.ts`), so `submitPlain` asks
 * for none of that. Arguments of unknown size, and those of calls that cannot be sent yet, are encoded by `#submitEncoded`.
 */
import type { Signature } from "../../codec/declared.ts";
import {
  ARGUMENTS,
  countDeclared,
  type Snapshot,
  type SnapshotEncoder,
} from "../../lane/snapshot.ts";
import { UNSIZED } from "../../lane/sized-values.ts";
import type { SnapshotReader } from "../../lane/snapshot-reader.ts";
import { type TaskTimings, UNKNOWN_LOAD } from "../../metering/task-timings.ts";
import { HeddleError } from "../../errors.ts";
import { hasPromise, ignoreRejections, redeclare } from "./pending-arguments.ts";
import { DeferredCalls } from "./deferred-calls.ts";
import { CallExtra } from "../calls/call-extra.ts";
import { dropArguments, replaceArguments } from "../calls/feature.ts";
import { type CallSettings, createSettings, PLAIN } from "../calls/call-settings.ts";
import { reasonOf } from "../../protocol/abort-reason.ts";
import {
  type CalledTask,
  type EarlyTask,
  type FindTask,
  UNKNOWN_TASK,
} from "../calls/queued-call.ts";
import type { InFlight, PendingCall, Reject, Resolve } from "../calls/in-flight.ts";
import type { Lane } from "../lanes/lane.ts";
import type { LaneSet } from "../lanes/lane-set.ts";
import type { LaneChooser } from "../schedule/placement.ts";
import type { DispatcherEvents } from "./dispatcher-events.ts";
import type { DispatcherOptions } from "./dispatcher-options.ts";
import type { PendingWork } from "../calls/pending-work.ts";
import type { Sender } from "./queue/sender.ts";
import type { WaitingCalls } from "./queue/waiting-calls.ts";

/** The parts of the host that calls pass through. */
export interface SubmitterParts {
  readonly inFlight: InFlight;
  readonly lanes: LaneSet;
  readonly pending: PendingWork;
  readonly sender: Sender;
  readonly waiting: WaitingCalls;
}

export class Submitter {
  readonly #lanes: LaneSet;
  readonly #sender: Sender;
  readonly #waiting: WaitingCalls;
  /** Calls with promises among their arguments. Made with the first. */
  #deferred: DeferredCalls | undefined;
  #areTasksKnown = false;
  /** Reads calls that were made before the host knew the declared shapes of their tasks. */
  #reader: SnapshotReader | undefined;
  readonly #options: DispatcherOptions;
  readonly #parts: SubmitterParts;
  readonly #events: DispatcherEvents;
  readonly #pending: PendingWork;
  readonly #isPromise: DispatcherOptions["isPromise"];
  readonly #times: TaskTimings;
  readonly #loads: Int32Array<SharedArrayBuffer>;
  readonly #placement: LaneChooser;
  readonly #snapshots: SnapshotEncoder;
  readonly #signatures: readonly (Signature | undefined)[];
  /** Maximum of unanswered calls of a lane, unless all are short. */
  readonly #usualDepth: number;
  /** The error for further calls, when the pool has been closed or has failed. */
  #closed: Error | undefined;

  constructor(options: DispatcherOptions, parts: SubmitterParts) {
    const { events, placement } = options;
    this.#options = options;
    this.#parts = parts;
    this.#lanes = parts.lanes;
    this.#sender = parts.sender;
    this.#waiting = parts.waiting;
    this.#events = events;
    this.#pending = parts.pending;
    this.#isPromise = options.isPromise;
    this.#times = options.taskTimings;
    this.#loads = options.taskTimings.loads;
    this.#placement = placement;
    this.#snapshots = options.snapshots;
    this.#signatures = options.signatures;
    this.#usualDepth = placement.depth.usual;
  }

  /** Calls made before their tasks were known that are not in the queue. */
  get early(): number {
    return this.#deferred?.early ?? 0;
  }

  #createDeferred(): DeferredCalls {
    return new DeferredCalls({
      ...this.#options,
      ...this.#parts,
      check: (settings) => this.#check(settings),
      redeclare: (snapshot, task) => this.redeclare(snapshot, task),
    });
  }

  /** Rejects every further call with `error`, unless an earlier error does so. */
  refuse(error: Error): void {
    this.#closed ??= error;
  }

  /** Makes a plain call (above). As `submit`, but returns nothing. */
  submitPlain(task: number, args: readonly unknown[], resolve: Resolve, reject: Reject): void {
    if (args.length === 1 && this.#closed === undefined && this.#waiting.queue.size === 0) {
      const value = args[0];
      const type = typeof value;
      if (type === "number") {
        const load = this.#loads[task]! || UNKNOWN_LOAD; // `TaskTimings.loadOf`
        const lane = this.#placement.pick(this.#lanes.open, load);
        if (lane !== undefined) {
          this.#pending.kick();
          const call = this.#sender.begin(resolve, reject, PLAIN, task);
          if (!this.#sender.sendNumber(lane, call, task, load, value as number)) {
            this.#waiting.add(call, task, this.#snapshots.capture(args));
          } else if (lane.load.outstanding > this.#usualDepth) this.#waiting.onGrown();
          return;
        }
      } else if (
        type === "object" && value !== null && !this.#isPromise(value) && !ArrayBuffer.isView(value)
      ) {
        try {
          const lane = this.#placement.pick(this.#lanes.open, this.#times.loadOf(task));
          if (lane === undefined) this.#waiting.admit();
          this.#submitEncoded(lane, task, args, resolve, reject, PLAIN);
        } catch (error) {
          this.#submitOthers(
            error,
            args,
            PLAIN,
            (others, own) => this.submit(task, others, resolve, reject, own),
          );
        }
        return;
      }
    }
    this.submit(task, args, resolve, reject, PLAIN);
  }

  /**
   * Takes the arguments as they are now and sends the call now or later. Settles by `resolve` or `reject`, or
   * throws the reason that there is no call. Returns the call unless it is already over. A call whose task is not known yet
   * waits in the queue; promises among its arguments defer it.
   */
  submit(
    called: CalledTask,
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
    settings: CallSettings = PLAIN,
  ): PendingCall | undefined {
    try {
      this.#check(settings, false);
      if (hasPromise(args, this.#isPromise)) {
        this.#waiting.admit();
        this.#deferred ??= this.#createDeferred();
        const call = this.#deferred.submit(called, args, resolve, reject, settings);
        // A getter of an argument may have waited for the tasks (`pool.sync`).
        if (this.#areTasksKnown) this.#deferred.onTasksKnown();
        this.#events.onWait();
        return call;
      }
      const task = typeof called === "number" ? called : UNKNOWN_TASK;
      const lane = task === UNKNOWN_TASK ? undefined : this.#laneNow(task, settings);
      if (lane === undefined) this.#waiting.admit();
      const isSized = settings.retries === 0 && this.#signatures[task] === undefined;
      if (lane !== undefined && isSized) {
        const call = this.#submitSized(lane, task, args, resolve, reject, settings);
        if (call !== undefined) return call.resolve === resolve ? call : undefined;
      }
      return this.#submitEncoded(lane, called, args, resolve, reject, settings);
    } catch (error) {
      return this.#submitOthers(
        error,
        args,
        settings,
        (others, own) => this.submit(called, others, resolve, reject, own),
      );
    }
  }

  /** The lane that may get the call at once. */
  #laneNow(task: number, { affinity }: CallSettings): Lane | undefined {
    const waiting = this.#waiting;
    if (affinity !== undefined) return waiting.pinned?.laneNow(affinity);
    if (waiting.queue.size > 0 || waiting.inliner?.takesFirst(task, 1) === true) return undefined;
    return this.#placement.pick(this.#lanes.open, this.#times.loadOf(task));
  }

  /** Makes a call with what features send in the place of its arguments. If that is nothing, rethrows why it was refused. */
  #submitOthers<Call>(
    error: unknown,
    args: readonly unknown[],
    settings: CallSettings,
    submit: (args: readonly unknown[], settings: CallSettings) => Call,
  ): Call {
    const others = replaceArguments(args, error);
    if (others === undefined) {
      ignoreRejections(args, this.#isPromise);
      dropArguments(args);
      throw error;
    }
    try {
      const own = createSettings({ ...settings, ...others.settings });
      const make = (): Call => submit(others.args, own);
      return others.encode === undefined ? make() : others.encode(make);
    } catch (refusal) {
      others.drop?.();
      throw refusal;
    }
  }

  /** Throws if no call may be made. Called first, and again after the last user code. */
  #check({ signal }: CallSettings, isBegun = true): void {
    if (this.#closed !== undefined) throw this.#closed;
    if (signal?.aborted !== true) return;
    if (isBegun) this.#events.onAborted();
    throw reasonOf(signal);
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
    this.#pending.kick();
    const call = this.#sender.begin(resolve, reject, settings, task);
    const load = this.#times.loadOf(task);
    const isSent = typeof only === "number"
      ? this.#sender.sendNumber(lane, call, task, load, only)
      : this.#sender.sendSized(lane, call, task, load, args, bytes);
    if (!isSent) this.#waiting.add(call, task, this.#snapshots.capture(args));
    else if (lane.load.outstanding > this.#usualDepth) this.#waiting.onGrown();
    return call;
  }

  /** Encodes the arguments and makes the call. `chosen`: the lane for it. */
  #submitEncoded(
    chosen: Lane | undefined,
    called: CalledTask,
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
    settings: CallSettings,
  ): PendingCall | undefined {
    const snapshots = this.#snapshots;
    const task = typeof called === "number" ? called : UNKNOWN_TASK;
    const declared = this.#signatures[task]?.args;
    const encoder = snapshots.codec.acquire();
    try {
      const end = snapshots.encode(encoder, args, ARGUMENTS, declared);
      const count = declared === undefined ? args.length : countDeclared(args, declared);
      // Getters may have made calls, closed the pool or aborted the signal. No user code runs from here on.
      if (this.#closed !== undefined || settings.signal !== undefined) this.#check(settings);
      const isOpen = chosen !== undefined && this.#waiting.queue.size === 0 &&
        this.#lanes.open.includes(chosen);
      const lane = isOpen ? chosen : undefined;
      this.#pending.kick();
      const mayCopy = lane !== undefined && settings.retries === 0 &&
        snapshots.isInline(encoder, end);
      // Objects that cannot be moved are refused here, before there is a call.
      const snapshot = mayCopy ? undefined : snapshots.take(encoder, end, count, true);
      const call = this.#sender.begin(resolve, reject, settings, task);
      const load = this.#times.loadOf(task);
      if (mayCopy && this.#sender.sendEncoded(lane, call, task, load, encoder, end, count)) {
        if (lane.load.outstanding > this.#usualDepth) this.#waiting.onGrown();
      } else {
        const kept = snapshot ?? snapshots.take(encoder, end, count, true);
        if (typeof called === "number") this.#waiting.add(call, task, kept, lane);
        else this.#addEarly(call, called, kept);
      }
      return call.resolve === resolve ? call : undefined;
    } finally {
      snapshots.codec.release(encoder);
    }
  }

  #addEarly(call: PendingCall, called: EarlyTask, snapshot: Snapshot): void {
    const extra = call.extra ??= new CallExtra();
    extra.madeMs = this.#options.now(); // its deadline counts from the call
    this.#waiting.add(call, UNKNOWN_TASK, snapshot, undefined, called);
    // A getter of an argument may have waited for the tasks (`pool.sync`).
    if (this.#areTasksKnown) this.#startEarly();
  }

  /** The tasks of the pool are known, and so is where calls that were made before go. */
  onTasksKnown(): void {
    this.#areTasksKnown = true;
    this.#deferred?.onTasksKnown();
    this.#waiting.early?.onTasksKnown();
    this.#startEarly();
  }

  /** Queues the calls that waited for their tasks again, as these require. */
  #startEarly(): void {
    const { inFlight } = this.#parts;
    for (const { slot, generation, early, snapshot } of this.#waiting.takeEarly()) {
      const call = inFlight.find(slot, generation);
      const known = call && this.#knownOf(call, early!.find(), snapshot);
      this.#waiting.endDeferred();
      if (known !== undefined) this.#waiting.add(call!, known.task, known.snapshot);
    }
  }

  /** The task of an early call and its arguments for that. Undefined: the call is rejected. */
  #knownOf(call: PendingCall, found: ReturnType<FindTask>, snapshot: Snapshot) {
    const { inFlight } = this.#parts;
    if (found instanceof HeddleError) return void inFlight.reject(call, found);
    const { task } = found;
    this.#sender.adopt(call, found.settings, task);
    try {
      return { task, snapshot: this.redeclare(snapshot, task) };
    } catch (error) {
      return void inFlight.reject(call, error);
    }
  }

  /** Arguments taken before their task was known, encoded again if it declares shapes for them. */
  redeclare(snapshot: Snapshot, task: number): Snapshot {
    const { signatures, createReader, hasContext } = this.#options;
    const declared = signatures[task]?.args;
    if (declared === undefined) return snapshot;
    this.#reader ??= createReader();
    return redeclare(snapshot, declared, this.#reader, this.#snapshots, hasContext);
  }

  /** Makes a nested call, with arguments that are encoded already. It is made while the pool closes, too. */
  submitNested(
    task: number,
    snapshot: Snapshot,
    settings: CallSettings,
    resolve: Resolve,
    reject: Reject,
  ): PendingCall {
    this.#pending.kick();
    const call = this.#sender.begin(resolve, reject, settings, task);
    this.#waiting.add(call, task, snapshot);
    return call;
  }

  /** Makes a call with arguments that are encoded already. Throws if the pool takes no calls. */
  submitSnapshot(
    task: number,
    snapshot: Snapshot,
    settings: CallSettings,
    resolve: Resolve,
    reject: Reject,
  ): void {
    this.#check(settings, false);
    this.submitNested(task, snapshot, settings, resolve, reject);
  }
}
