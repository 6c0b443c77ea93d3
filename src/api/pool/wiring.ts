/**
 * The host's side of a pool: its parts, made in the order of their dependencies, and what they tell each other.
 *
 * Every pool has the parts that are fields. The others belong to features that a program may never use: each is made by its first
 * use (a getter), and hears of workers and of the end of the pool only if it has been made (`made`).
 */
import { URL } from "../../builtins.ts";
import { Codec } from "../../codec/codec.ts";
import { ABORT_EPOCHS_BYTES } from "../../sync/abort-epochs.ts";
import { maxInlineBytes } from "../../lane/endpoint.ts";
import { SnapshotEncoder } from "../../lane/snapshot.ts";
import { SnapshotReader } from "../../lane/snapshot-reader.ts";
import { HOST_CONTROL_BYTES, HOST_PARKED_WORD, HOST_SPINS } from "../../lane/layout.ts";
import { VARIANTS } from "../../protocol/task-variants.ts";
import { TaskTimings, taskTimingsBytes } from "../../metering/task-timings.ts";
import {
  MAX_MODULE_TASKS,
  type ObserveData,
  type PoolStart,
  type TaskDescription,
} from "../../protocol/start-data.ts";
import type { CallStamps } from "../../metering/call-metrics.ts";
import type { WorkerLostError } from "../../errors.ts";
import type { PendingCall } from "../../host/calls/in-flight.ts";
import type { LateRuns } from "../../host/calls/late-runs.ts";
import type { Lane } from "../../host/lanes/lane.ts";
import type { WorkerExit } from "../../host/workers/supervisor.ts";
import { MAX_RESPONSES } from "../../host/dispatch/responses.ts";
import { Backpressure } from "../../host/dispatch/queue/backpressure.ts";
import type { BlockingWait } from "../../host/dispatch/blocking-wait.ts";
import type { Broadcasts } from "../../host/dispatch/broadcasts.ts";
import { createChooser } from "../../host/schedule/balancers.ts";
import type { Cancellation } from "../../host/limits/cancellation.ts";
import { ArgumentSources } from "../../host/streams/argument-sources.ts";
import type { StreamCalls } from "../../host/streams/stream-calls.ts";
import { type HostWaiting, PollLoop } from "../../host/dispatch/poll-loop.ts";
import { printLastOutput } from "../../host/workers/last-output.ts";
import { type Receiver, Watchdog } from "../../host/workers/watchdog.ts";
import { Dispatcher } from "../../host/dispatch/dispatcher.ts";
import type { DispatcherEvents } from "../../host/dispatch/dispatcher-events.ts";
import type { Signals } from "../../host/limits/abort-signals.ts";
import { Supervisor, type SupervisorEvents } from "../../host/workers/supervisor.ts";
import type { Deadlines } from "../../host/limits/deadlines.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";
import { AUTO_QUEUE_PER_THREAD } from "../options/options.ts";
import { VERSION } from "../../version.ts";
import { CallEntry } from "../../host/observe/call-entry.ts";
import type { DebugLog } from "../../host/observe/debug-log.ts";
import { CHANNEL, createDebugLog, createStamps } from "../observe/observing.ts";
import { createBlocking } from "./blocking.ts";
import {
  createBroadcasts,
  createCancellation,
  createDeadlines,
  createLateRuns,
  createSignals,
  createStreams,
} from "./features.ts";
import { createInlineExecutor } from "./inlining.ts";
import { laneOptionsOf, startThreads } from "./threads.ts";
import { AwakeCount } from "../../sync/awake-count.ts";
import { SpinPolicy } from "../../sync/spin-policy.ts";
import { HostParker } from "../../sync/host-parking.ts";
import type { HostRequests } from "../../host/requests/host-requests.ts";
import { createRequests } from "./host-requests.ts";
import type { FeatureParts, PoolParts } from "./parts.ts";

export abstract class HostSide implements PoolParts, DispatcherEvents, SupervisorEvents {
  readonly spec: PoolSpec;
  /** With `debug`, and with `metrics: true`. */
  readonly debug: DebugLog | undefined;
  readonly stamps: CallStamps | undefined;
  readonly codec: Codec;
  readonly snapshots: SnapshotEncoder;
  readonly waiting: HostWaiting;
  readonly dispatcher: Dispatcher;
  readonly loop: PollLoop;
  readonly safety: Watchdog;
  readonly supervisor: Supervisor;
  readonly entry: CallEntry;
  /** Prints no more output of workers. */
  readonly stopOutput: () => void;
  readonly made: { -readonly [Name in keyof FeatureParts]?: FeatureParts[Name] } = {};
  /** The pool has ended: closed, or failed. */
  isOver = false;
  readonly abortEpochs: SharedArrayBuffer = new SharedArrayBuffer(ABORT_EPOCHS_BYTES);

  /** Rethrows an error of starting a thread. */
  constructor(spec: PoolSpec) {
    const spawn = startThreads(spec);
    this.spec = spec;
    const { options, runtime, workerEntry: { mark, url } } = spec;
    const { maxPayloadBytes, spinMs } = options;
    const debug = this.debug = options.debug && createDebugLog(spec, options.debug);
    if (debug?.waits === true) this.#printWaits(debug); // before others take these functions
    this.stamps = options.metrics ? createStamps(spec) : undefined;
    const start = this.#createStart();
    const awakeCount = new AwakeCount(spec.active, runtime.cores);
    const words = new Int32Array(start.hostControl);
    const policy = new SpinPolicy(words, HOST_SPINS, runtime.now, spinMs > 0);
    const parker = new HostParker(words, HOST_PARKED_WORD);
    this.waiting = { parker, active: awakeCount, policy, spinMs };
    const codec = this.codec = new Codec({
      access: runtime,
      origin: 0,
      maxPayloadBytes,
      allowsBorrow: true,
    });
    this.snapshots = new SnapshotEncoder(codec, maxInlineBytes(options.ringBytes.requests));
    this.dispatcher = this.#createDispatcher(awakeCount, start.taskTimings);
    this.loop = new PollLoop(runtime, this.waiting, this.dispatcher);
    if (options.inliner !== undefined) {
      this.dispatcher.waiting.inliner = createInlineExecutor(
        spec,
        options.inliner,
        this,
      );
    }
    this.safety = new Watchdog(runtime, () => this.#receivers(), () => {
      this.dispatcher.checkLanes();
      this.loop.onTick();
    });
    const supervisor = this.supervisor = new Supervisor(
      options,
      laneOptionsOf(spec, codec, spawn, start),
      this.dispatcher,
      awakeCount,
      this,
    );
    this.dispatcher.waiting.workerIds = () => supervisor.workerIds;
    this.stopOutput = printLastOutput(runtime, this.dispatcher.responses, supervisor);
    this.entry = new CallEntry({
      channel: runtime.tracingChannel(CHANNEL),
      debug,
      stamps: this.stamps,
      pool: options.workerOptions.name,
      // In a bundle, heddle's frames are in the program's file.
      ownFolder: mark === undefined ? new URL("../", url).pathname : undefined,
      dispatcher: this.dispatcher,
      capture: options.context?.capture,
      signatures: spec.signatures,
      names: spec.sources,
    });
  }

  #createDispatcher(awakeCount: AwakeCount, taskTimings: SharedArrayBuffer): Dispatcher {
    const { codec, snapshots, spec: { signatures, options, runtime } } = this;
    const { recycleAfter, maxQueue, maxThreads, queuePolicy } = options;
    const { isPromise, now, setTimeout } = runtime;
    return new Dispatcher({
      signatures,
      recycleAfter,
      maxThreads,
      isPromise,
      now,
      setTimeout,
      placement: createChooser(options, awakeCount),
      backpressure: new Backpressure({
        maxQueue,
        policy: queuePolicy,
        highWaterMark: Math.max(1, Math.min(maxQueue, AUTO_QUEUE_PER_THREAD * maxThreads)),
        onDrain: () => this.onDrain(),
      }),
      taskTimings: new TaskTimings(taskTimings),
      hasContext: options.context !== undefined,
      stamps: this.stamps,
      snapshots,
      createReader: () => new SnapshotReader(codec),
      events: this,
      features: this,
    });
  }

  /** What workers get. The memory in it is of all of them. */
  #createStart(): PoolStart {
    const { options, active, sources, taskModule, runtime, workerEntry } = this.spec;
    const { maxWorkerBytes, workerOptions: { name, setup, data } } = options;
    const tasks = taskModule === undefined ? sources.length : MAX_MODULE_TASKS;
    return {
      hostControl: new SharedArrayBuffer(HOST_CONTROL_BYTES),
      taskTimings: new SharedArrayBuffer(taskTimingsBytes(VARIANTS * tasks)),
      version: VERSION,
      library: workerEntry.library,
      features: {
        limits: this.abortEpochs,
        observe: this.#observeData(),
        scaling: options.metrics || maxWorkerBytes !== Infinity ? maxWorkerBytes : undefined,
      },
      active,
      cores: runtime.cores,
      tasks: sources,
      taskModule,
      spinMs: options.spinMs,
      maxConcurrency: options.maxConcurrency,
      maxPayloadBytes: options.maxPayloadBytes,
      limits: options.workerLimits,
      directOutputs: runtime.directOutputs(),
      poolName: name,
      setup: setup === undefined ? undefined : runtime.toModuleUrl(setup),
      data,
    };
  }

  /** What workers have to do to be observed. */
  #observeData(): ObserveData | undefined {
    const { debug, stamps, spec: { options: { context }, runtime } } = this;
    const printsWaitsFromMs = debug?.waits === true ? debug.fromMs : undefined;
    if (stamps === undefined && context === undefined && printsWaitsFromMs === undefined) {
      return undefined;
    }
    const url = context && runtime.toModuleUrl(context.run);
    return { metrics: stamps?.buffer, printsWaitsFromMs, context: url };
  }

  /** With `debug`: prints each park, and each wake in either direction. */
  #printWaits(debug: DebugLog): void {
    const { onPark, onWake } = this;
    this.onPark = () => {
      debug.print(`the host parked, ${this.dispatcher.inFlight.size} calls are in flight`);
      onPark();
    };
    this.onWake = (worker) => {
      debug.print(`worker ${worker.id} woke the host`);
      onWake(worker);
    };
    this.onWoken = (id) => debug.print(`the host woke worker ${id}`);
  }

  get cancellation(): Cancellation {
    return this.made.cancellation ??= createCancellation(this);
  }

  get deadlines(): Deadlines {
    return this.made.deadlines ??= createDeadlines(this);
  }

  get signals(): Signals {
    return this.made.signals ??= createSignals(this);
  }

  get broadcasts(): Broadcasts {
    return this.made.broadcasts ??= createBroadcasts(this);
  }

  get requests(): HostRequests {
    return this.made.requests ??= createRequests(this);
  }

  get streams(): StreamCalls {
    return this.made.streams ??= createStreams(this);
  }

  get sources(): ArgumentSources {
    const { spec: { runtime, options: { maxPayloadBytes } }, dispatcher: { inFlight } } = this;
    return this.made.sources ??= new ArgumentSources({ runtime, inFlight, maxPayloadBytes });
  }

  get lateRuns(): LateRuns {
    return (this.dispatcher.inFlight.lateRuns ??= createLateRuns(this)) as LateRuns;
  }

  get blocking(): BlockingWait {
    return this.made.blocking ??= createBlocking(this);
  }

  /** Whether a worker takes calls, is starting, or may be started. */
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

  onAborted(): void {
    this.cancellation.aborted++;
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
  onWoken: ((workerId: number) => void) | undefined = undefined;

  onPrepare(lane: Lane, onDone: () => void): void {
    const { broadcasts } = this.made;
    if (broadcasts === undefined) onDone();
    else broadcasts.prepare(lane, onDone);
  }

  onEnded(workerId: number, error: () => Error): void {
    this.made.broadcasts?.onEnded(workerId, error);
  }

  onLost(call: PendingCall, error: WorkerLostError): void {
    this.dispatcher.inFlight.rejectLost(call, error);
  }

  abstract onBusy(): void;
  abstract onEmpty(): void;
  abstract onOnlyIdleStreams(): void;
  abstract onTasks(
    tasks: readonly TaskDescription[],
  ): Error | undefined | Promise<Error | undefined>;
  abstract onReady(): void;
  abstract onUnavailable(error: Error, threads: number): void;
  abstract onFailed(error: Error): void;
  abstract onDrain(): void;
  abstract onUnhandledRejection(workerId: number, error: Error): void;
  abstract onMessage(workerId: number, message: unknown): void;
  abstract onWorkerStart(workerId: number): void;
  abstract onWorkerExit(exit: WorkerExit, error: WorkerLostError | undefined): void;
  abstract onThreadAbandoned(workerId: number): void;

  /** The receivers of wake-ups, for the safety check. */
  *#receivers(): Generator<readonly [unknown, Receiver]> {
    const { dispatcher: { lanes }, supervisor, loop, waiting: { parker } } = this;
    for (const lane of supervisor.threads) if (lanes.all.includes(lane)) yield [lane, lane];
    if (!lanes.hasResponse) return;
    yield [loop, {
      isAnnounced: parker.isAnnounced,
      isWaitingInLoop: loop.isParked,
      // A sleeping worker has already sent the wake that follows its response.
      isLeftAlone: [...supervisor.threads].some((lane) =>
        lanes.all.includes(lane) && lane.isWaitingInLoop && lane.endpoint.rx.hasRecord
      ),
      hasReason: true,
      progress: lanes.all.map((lane) => lane.endpoint.rx.headPosition).join(),
      wake: () => loop.onWakeMessage(),
      repost: () => loop.onWakeMessage(),
    }];
  }
}
