/**
 * The internal part of a pool, behind its public handles (the pool, its functions): its parts, what they tell each other, its events
 * and its end.
 *
 * Every pool has the parts that are fields. Those of features are made by their first use (`part`), and hear of workers and of the
 * end of the pool only if they have been made.
 *
 * Threads, listeners and timers of a pool reference this object but no handle, so that an unused pool can be collected.
 * While calls are in flight or workers start, this object keeps the handle, for events and `ready`.
 */
import { CustomEvent, FinalizationRegistry, Map, Promise, URL, WeakRef } from "../../builtins.ts";
import { Codec } from "../../codec/codec.ts";
import {
  PoolClosedError,
  TimeoutError,
  type WorkerLostError,
  WorkerStartError,
} from "../../errors.ts";
import { taskName } from "../../host/calls/call-counts.ts";
import type { PendingCall } from "../../host/calls/in-flight.ts";
import { CallEntry } from "../../host/dispatch/call-entry.ts";
import type { DispatcherEvents } from "../../host/dispatch/dispatcher-events.ts";
import type { Dispatcher } from "../../host/dispatch/dispatcher.ts";
import { type HostWaiting, PollLoop } from "../../host/dispatch/poll-loop.ts";
import type { Sender, SenderOptions } from "../../host/dispatch/queue/sender.ts";
import { MAX_RESPONSES } from "../../host/dispatch/responses.ts";
import type { Lane } from "../../host/lanes/lane.ts";
import { printLastOutput } from "../../host/workers/last-output.ts";
import {
  Supervisor,
  type SupervisorEvents,
  type WorkerExit,
} from "../../host/workers/supervisor.ts";
import { Watchdog } from "../../host/workers/watchdog.ts";
import { maxInlineBytes } from "../../lane/endpoint.ts";
import { HOST_PARKED_WORD, HOST_SPINS } from "../../lane/layout.ts";
import { SnapshotEncoder } from "../../lane/snapshot.ts";
import type { TaskDescription } from "../../protocol/start-data.ts";
import { MAX_TIMER_MS, type Timer } from "../../runtimes/runtime.ts";
import { AwakeCount } from "../../sync/awake-count.ts";
import { HostParker } from "../../sync/host-parking.ts";
import { SpinPolicy } from "../../sync/spin-policy.ts";
import type { Learned, ModuleTasks } from "../tasks/module-tasks.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";
import { provided, readRecord } from "./feature.ts";
import type { MakePart, Part, PoolParts } from "./parts.ts";
import {
  createDispatcher,
  createStart,
  laneOptionsOf,
  receiversOf,
  startThreads,
} from "./wiring.ts";

/** What the core asks of the handle, which it does not reference. */
export interface OfHandle {
  /** Makes the tasks of a module pool known to the calls of `handle`. */
  publish(handle: EventTarget): void;
  /** `error`, with the stack of the creation of `handle`. */
  placeError(handle: EventTarget, error: Error): Error;
}

/** Default time for calls in flight to finish in `shutdown()`. */
const DRAIN_MS = 5000;
/** Delay from the collection of a pool to its shutdown: most programs that leave a pool open are about to end. */
const FORGOTTEN_MS = 1000;

/** Whether this thread has printed the warning about pools that were collected while open. */
let hasWarnedOfForgotten = false;

export class PoolCore implements PoolParts, DispatcherEvents, SupervisorEvents {
  readonly spec: PoolSpec;
  readonly codec: Codec;
  readonly snapshots: SnapshotEncoder;
  readonly waiting: HostWaiting;
  readonly dispatcher: Dispatcher;
  readonly loop: PollLoop;
  readonly safety: Watchdog;
  readonly supervisor: Supervisor;
  readonly entry: CallEntry;
  readonly ready: Promise<void>;
  readonly startData: Record<string, unknown> = {};
  readonly ownFolder: string | undefined;
  createSender: ((options: SenderOptions) => Sender) | undefined;
  readonly parts: Map<MakePart<object>, Part> = new Map();
  readonly readyMs: Map<number, number> = new Map();
  isOver = false;
  abortedEarly = 0;
  onWoken: ((workerId: number) => void) | undefined;
  /** Whether the description of the tasks is being read by code that is loaded first. */
  isLearning = false;
  readonly #moduleTasks: ModuleTasks | undefined;
  readonly #settleReady: Pick<PromiseWithResolvers<void>, "resolve" | "reject">;
  readonly #handle: WeakRef<EventTarget>;
  readonly #ofHandle: OfHandle;
  readonly #registry: FinalizationRegistry<undefined>;
  /** Prints no more output of workers. */
  readonly #stopOutput: () => void;
  /** Set while the handle must not be collected. */
  #keptHandle: EventTarget | undefined;
  #isPublished = false;
  #isForgotten = false;
  #isReady = false;
  #closing: Promise<void> | undefined;
  /** Ends the time that calls in flight have, while the pool waits for them. */
  #closeTimer: Timer | undefined;
  #closeAtMs = Infinity;
  #onDrained: (() => void) | undefined;
  /** Ends the watches of streams that nobody reads. */
  #stopWatching: ((() => void) | undefined)[] | undefined;

  /** `moduleTasks`: those of a module pool. Rethrows an error of starting a thread. */
  constructor(
    spec: PoolSpec,
    handle: EventTarget,
    moduleTasks: ModuleTasks | undefined,
    ofHandle: OfHandle,
  ) {
    const spawn = startThreads(spec);
    this.spec = spec;
    this.#moduleTasks = moduleTasks;
    this.#ofHandle = ofHandle;
    this.#keptHandle = handle;
    this.#handle = new WeakRef(handle);
    this.#registry = new FinalizationRegistry(() => this.#onForgotten());
    this.#registry.register(handle, undefined, this);
    const { promise, ...settle } = Promise.withResolvers<void>();
    (this.ready = promise).catch(() => {}); // users of `ready` and calls get the error
    this.#settleReady = settle;
    const { options, runtime, workerEntry: { mark, library } } = spec;
    const { maxPayloadBytes, ringBytes, spinMs } = options;
    // In a bundle, heddle's frames are in the program's file.
    this.ownFolder = mark === undefined ? new URL(library).pathname : undefined;
    for (const prepare of Object.values(options.prepare ?? {})) prepare(this as never);
    const start = createStart(spec, this.startData, this.ownFolder);
    const active = new AwakeCount(spec.active, runtime.cores);
    const words = new Int32Array(start.hostControl);
    const policy = new SpinPolicy(words.subarray(HOST_SPINS), runtime.now, spinMs);
    this.waiting = { parker: new HostParker(words, HOST_PARKED_WORD), active, policy, spinMs };
    this.codec = new Codec({
      access: runtime,
      origin: 0,
      maxPayloadBytes,
      allowsBorrow: true,
      features: spec.uses?.names,
      copiesOnly: options.copiesOnly,
    });
    this.snapshots = new SnapshotEncoder(this.codec, maxInlineBytes(ringBytes.requests));
    const dispatcher = this.dispatcher = createDispatcher(this, start.taskTimings);
    this.loop = new PollLoop(runtime, this.waiting, dispatcher);
    dispatcher.waiting.inliner = options.createInliner?.(this as never);
    this.safety = new Watchdog(runtime, () => receiversOf(this), () => {
      dispatcher.checkLanes();
      this.loop.onTick();
      for (const part of this.parts.values()) part.onTick?.();
    });
    const laneOptions = laneOptionsOf(spec, this.codec, spawn, start);
    this.supervisor = new Supervisor(options, laneOptions, dispatcher, active, this);
    dispatcher.waiting.workerIds = () => this.supervisor.workerIds;
    this.#stopOutput = printLastOutput(runtime, dispatcher.responses, this.supervisor);
    const { follower } = provided;
    const channel = follower && runtime.tracingChannel(follower.channel);
    this.entry = new CallEntry({
      watched: options.isFollowed ? { hasSubscribers: true } : channel ?? { hasSubscribers: false },
      createFollower: () => follower!.create(this, channel!),
      dispatcher,
      ownFolder: this.ownFolder,
      capture: options.capture,
      signatures: spec.signatures,
      names: spec.sources,
    });
  }

  /** Starts the workers. Rethrows an error of starting a thread. */
  start(): void {
    if (this.spec.options.keepAlive) this.safety.ref();
    try {
      this.supervisor.start();
    } catch (error) {
      this.onFailed(error as Error);
      throw error;
    }
  }

  part<Made extends object>(make: MakePart<Made>): Made {
    let made = this.parts.get(make);
    if (made === undefined) {
      this.parts.set(make, made = make(this));
      if (made.onPrepare !== undefined) this.dispatcher.waiting.early?.end();
    }
    return made as Made;
  }

  existing<Made extends object>(make: MakePart<Made>): Made | undefined {
    return this.parts.get(make) as Made | undefined;
  }

  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  get hasWorker(): boolean {
    const { supervisor, dispatcher: { lanes } } = this;
    if (lanes.open.length > 0) return true;
    return supervisor.workerIds.length > lanes.suspended || supervisor.mayStart;
  }

  takeResponses(): void {
    if (this.dispatcher.drain(MAX_RESPONSES) > 0) this.loop.kick();
  }

  onSettings(call: PendingCall): void {
    for (const onMade of call.settings.onMade) {
      if (call.resolve !== undefined) onMade(call as never, this as never);
    }
  }

  onRecord(lane: Lane, index: number, call: PendingCall | undefined, kind: number): boolean {
    return readRecord(this, lane, index, call, kind);
  }

  onAborted(): void {
    this.abortedEarly++;
  }

  onDueForRecycling(lane: Lane): void {
    this.supervisor.recycling?.recycle(lane);
  }

  onLastCall(lane: Lane): void {
    this.supervisor.recycling?.replaceAtLimit(lane);
  }

  onWait(): void {
    this.supervisor.checkLoad();
  }

  /** A function of its own, since the loop enters it with each park: `Dispatcher` passes it on. */
  onPark = (): void => {
    const { dispatcher, supervisor } = this;
    this.onIdle();
    if (supervisor.sizing?.isElastic || dispatcher.pending.isDue) supervisor.checkLoad();
  };

  /** Keeps the process running only while calls are in flight, not while a worker runs a call that was given up. */
  onIdle(): void {
    if (this.dispatcher.inFlight.hasAwaitedCalls && this.safety.ref()) this.onBusy();
  }

  onWake = (_worker: { readonly id: number }): void => this.loop.onWakeMessage();

  onPrepare(lane: Lane, onDone: () => void): void {
    if (this.parts.size === 0) return onDone();
    let left = 1;
    const onPrepared = (): void => {
      if (--left === 0) onDone();
    };
    for (const part of this.parts.values()) {
      if (part.onPrepare === undefined) continue;
      left++;
      part.onPrepare(lane, onPrepared);
    }
    onPrepared();
  }

  onEnded(workerId: number, error: () => WorkerLostError): void {
    for (const part of this.parts.values()) part.onWorkerLost?.(workerId, error);
  }

  onLost(call: PendingCall, error: (task?: string) => WorkerLostError): void {
    this.dispatcher.inFlight.rejectLost(call, error(taskName(call.row, this.spec.sources)));
  }

  onTasks(tasks: readonly TaskDescription[]): Learned | Promise<Learned> {
    const learned = this.#moduleTasks!.learn(tasks);
    this.isLearning = learned instanceof Promise;
    if (learned instanceof Promise) return learned.then((error) => error ?? this.#publish());
    return learned ?? this.#publish();
  }

  /** Makes the tasks known to the calls of the handle, once. */
  #publish(): undefined {
    if (this.#isPublished) return;
    this.#isPublished = true;
    for (const part of this.parts.values()) part.onTasksKnown?.();
    const handle = this.#handle.deref();
    if (handle !== undefined) this.#ofHandle.publish(handle);
  }

  onBusy(): void {
    this.dispatcher.inFlight.notifiesEmpty = true;
    if (this.#keptHandle === undefined) this.#keptHandle = this.#handle.deref();
  }

  onEmpty(): void {
    if (!this.spec.options.keepAlive) this.safety.unref();
    this.#onDrained?.();
    this.#letGo();
    if (this.#isForgotten) this.#onForgotten();
  }

  onOnlyIdleStreams(): void {
    if (!this.spec.options.keepAlive) this.safety.unref();
    this.#watchUnread();
  }

  /** The pool waits for calls in flight, and perhaps only for streams that nobody reads. */
  #watchUnread(): void {
    const onDrained = this.#onDrained;
    if (onDrained === undefined || this.dispatcher.inFlight.hasAwaitedCalls) return;
    this.#stopWatching ??= [...this.parts.values()].map((part) => part.onUnread?.(onDrained));
  }

  onReady(): void {
    this.#isReady = true;
    this.#letGo();
    this.#settleReady.resolve();
  }

  /** Allows the collection of the handle if no event or promise still needs it. */
  #letGo(): void {
    const { inFlight } = this.dispatcher;
    if (!this.#isReady || this.spec.options.keepAlive) return;
    if (inFlight.size === 0) this.#keptHandle = undefined;
    else inFlight.notifiesEmpty = true;
  }

  /** The handle was collected, so no further call can be made. */
  #onForgotten(): void {
    const { dispatcher: { inFlight }, spec: { runtime } } = this;
    this.#isForgotten = true;
    inFlight.notifiesEmpty = true;
    if (this.isClosing || inFlight.size > 0) return;
    runtime.setTimeout(() => {
      if (this.isClosing) return;
      if (!hasWarnedOfForgotten) {
        hasWarnedOfForgotten = true;
        runtime.warn(
          "heddle: a pool without references was closed. Use shutdown(), `await using` or keepAlive: true.",
        );
      }
      void this.shutdown(0);
    }, FORGOTTEN_MS).unref();
  }

  /** Closes the pool. A further call may shorten the time of the first, and reject what waits. */
  shutdown(timeoutMs: number | undefined, isQueuedRun = true): Promise<void> {
    const { dispatcher, supervisor, loop } = this;
    const isFirst = this.#closing === undefined;
    if (isFirst) {
      dispatcher.submitter.refuse(new PoolClosedError());
      supervisor.drain();
    }
    const notBegun = "The pool was closed before this call began.";
    if (!isQueuedRun) dispatcher.rejectQueued(() => new PoolClosedError(notBegun));
    if (isFirst) {
      loop.kick(); // settles calls whose submission was cut off by a stack overflow
      this.#closing = this.#close(timeoutMs ?? DRAIN_MS);
    } else if (timeoutMs !== undefined) this.#closeWithin(timeoutMs);
    return this.#closing!;
  }

  #closeWithin(timeoutMs: number): void {
    const { runtime } = this.spec;
    const atMs = runtime.now() + timeoutMs;
    const isLater = timeoutMs > MAX_TIMER_MS || atMs >= this.#closeAtMs;
    if (isLater || this.#onDrained === undefined) return;
    this.#closeTimer?.clear();
    this.#closeAtMs = atMs;
    this.#closeTimer = runtime.setTimeout(this.#onDrained, timeoutMs);
  }

  async #close(timeoutMs: number): Promise<void> {
    const { inFlight } = this.dispatcher;
    if (inFlight.size > 0 && timeoutMs > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onDrained = resolve;
      inFlight.notifiesEmpty = true;
      this.#closeWithin(timeoutMs);
      this.#watchUnread();
      await promise;
      this.#onDrained = undefined;
      this.#closeTimer?.clear();
      for (const stop of this.#stopWatching ?? []) stop?.();
    }
    const unfinished = "The pool was closed before this call got a response.";
    await this.#end(new PoolClosedError(), () => new PoolClosedError(unfinished));
  }

  /** Fails the pool: rejects waiting and future calls with `error`. */
  onFailed(reason: Error): void {
    const handle = this.#handle.deref();
    const error = handle === undefined ? reason : this.#ofHandle.placeError(handle, reason);
    this.dispatcher.submitter.refuse(error);
    void this.#end(error, () => error);
  }

  /** Rejects unfinished calls and stops workers and timers. */
  #end(closed: Error, unfinished: () => Error): Promise<void> {
    const { dispatcher, parts } = this;
    this.isOver = true;
    this.#settleReady.reject(closed);
    if (dispatcher.inFlight.size > 0) {
      const reason = unfinished();
      for (const part of parts.values()) part.onPoolEnding?.(reason);
    }
    dispatcher.rejectAll(unfinished);
    for (const part of parts.values()) part.onPoolEnd?.(unfinished);
    this.safety.stop();
    this.#stopOutput();
    this.#registry.unregister(this);
    this.#keptHandle = undefined;
    return this.supervisor.close();
  }

  onDrain(): void {
    this.emit("drain", {});
  }

  onWorkerStart(workerId: number): void {
    const { runtime, options } = this.spec;
    this.readyMs.set(workerId, runtime.coarseNow());
    for (const part of this.parts.values()) part.onWorkerStart?.(workerId);
    this.emit("workerStart", { workerId, name: `${options.workerOptions.name}-${workerId}` });
  }

  /** Prints an exception that ended a worker, unless a call rejected with it or a listener handled it. */
  onWorkerExit(exit: WorkerExit, error: WorkerLostError | undefined): void {
    const { workerId, reason, exitCode, callsLost, replacedBy } = exit;
    const { runtime: { printsUncaught }, options: { spawnWorker } } = this.spec;
    this.readyMs.delete(workerId);
    for (const part of this.parts.values()) part.onWorkerExit?.(exit);
    const detail = { workerId, reason, exitCode, callsLost, replacedBy, error };
    const cause = error?.cause;
    const isPrinted = callsLost === 0 && cause !== undefined && !(printsUncaught && !spawnWorker) &&
      !(cause instanceof TimeoutError || cause instanceof WorkerStartError); // errors of heddle itself
    const warning = isPrinted ? `uncaught exception in worker ${workerId}:` : undefined;
    this.emit("workerExit", detail, warning, cause);
  }

  emit(name: string, detail: object, warning?: string, ...causes: unknown[]): boolean {
    const event = new CustomEvent(name, { detail, cancelable: true });
    const isDue = this.#handle.deref()?.dispatchEvent(event) ?? true;
    if (isDue && warning !== undefined) this.spec.runtime.warn(`heddle: ${warning}`, ...causes);
    return isDue;
  }
}
