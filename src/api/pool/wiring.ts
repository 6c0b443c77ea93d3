/**
 * The host's side of a pool: its parts, made in the order of their dependencies, and what they tell each other.
 *
 * Every pool has the parts that are fields. Those of features are made by their first use (`part`), and hear of workers and of the
 * end of the pool only if they have been made.
 */
import { Map, URL } from "../../builtins.ts";
import { Codec } from "../../codec/codec.ts";
import { maxInlineBytes } from "../../lane/endpoint.ts";
import { SnapshotEncoder } from "../../lane/snapshot.ts";
import { SnapshotReader } from "../../lane/snapshot-reader.ts";
import { HOST_CONTROL_BYTES, HOST_PARKED_WORD, HOST_SPINS } from "../../lane/layout.ts";
import { VARIANTS } from "../../protocol/task-variants.ts";
import { TaskTimings, taskTimingsBytes } from "../../metering/task-timings.ts";
import {
  MAX_MODULE_TASKS,
  type PoolStart,
  type TaskDescription,
} from "../../protocol/start-data.ts";
import type { WorkerLostError } from "../../errors.ts";
import type { PendingCall } from "../../host/calls/in-flight.ts";
import type { Lane } from "../../host/lanes/lane.ts";
import type { WorkerExit } from "../../host/workers/supervisor.ts";
import { MAX_RESPONSES } from "../../host/dispatch/responses.ts";
import { type HostWaiting, PollLoop } from "../../host/dispatch/poll-loop.ts";
import { printLastOutput } from "../../host/workers/last-output.ts";
import { type Receiver, Watchdog } from "../../host/workers/watchdog.ts";
import { Dispatcher } from "../../host/dispatch/dispatcher.ts";
import type { DispatcherEvents } from "../../host/dispatch/dispatcher-events.ts";
import { Supervisor, type SupervisorEvents } from "../../host/workers/supervisor.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";
import { VERSION } from "../../version.ts";
import { CallEntry } from "../../host/dispatch/call-entry.ts";
import { UNBOUNDED } from "../../host/dispatch/queue/queue-bound.ts";
import type { Sender, SenderOptions } from "../../host/dispatch/queue/sender.ts";
import { InFlightWindow } from "../../host/lanes/in-flight-window.ts";
import { Placement } from "../../host/schedule/placement.ts";
import { provided, records, sharedBytes } from "./feature.ts";
import { laneOptionsOf, startThreads } from "./threads.ts";
import { AwakeCount } from "../../sync/awake-count.ts";
import { SpinPolicy } from "../../sync/spin-policy.ts";
import { HostParker } from "../../sync/host-parking.ts";
import type { MakePart, Part, PoolParts } from "./parts.ts";

/** In the place of a channel: whether anybody follows calls. */
const WATCHED = { hasSubscribers: true };
const UNWATCHED = { hasSubscribers: false };

export abstract class HostSide implements PoolParts, DispatcherEvents, SupervisorEvents {
  readonly spec: PoolSpec;
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
  readonly startData: Record<string, unknown> = {};
  readonly ownFolder: string | undefined;
  createSender: ((options: SenderOptions) => Sender) | undefined = undefined;
  readonly parts: Map<MakePart<object>, Part> = new Map();
  /** The pool has ended: closed, or failed. */
  isOver = false;
  abortedEarly = 0;
  abstract readonly readyMs: ReadonlyMap<number, number>;

  /** Rethrows an error of starting a thread. */
  constructor(spec: PoolSpec) {
    const spawn = startThreads(spec);
    this.spec = spec;
    const { options, runtime, workerEntry: { mark, library } } = spec;
    const { maxPayloadBytes, spinMs } = options;
    // In a bundle, heddle's frames are in the program's file.
    this.ownFolder = mark === undefined ? new URL(library).pathname : undefined;
    options.prepare?.(this as never);
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
    this.dispatcher.waiting.inliner = options.createInliner?.(this as never);
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
    const { follower } = provided;
    const channel = follower && runtime.tracingChannel(follower.channel);
    this.entry = new CallEntry({
      watched: options.isFollowed ? WATCHED : channel ?? UNWATCHED,
      createFollower: () => follower!.create(this, channel!),
      dispatcher: this.dispatcher,
      ownFolder: this.ownFolder,
      capture: options.capture,
      signatures: spec.signatures,
      names: spec.sources,
    });
  }

  #createDispatcher(awakeCount: AwakeCount, taskTimings: SharedArrayBuffer): Dispatcher {
    const { codec, snapshots, spec: { signatures, options, runtime } } = this;
    const { recycleAfter = Infinity, maxThreads, createChooser } = options;
    const depth = new InFlightWindow(options, createChooser === undefined);
    const { isPromise, now, setTimeout } = runtime;
    return new Dispatcher({
      signatures,
      recycleAfter,
      maxThreads,
      isPromise,
      now,
      setTimeout,
      placement: createChooser?.(depth) ??
        new Placement(depth, awakeCount, provided.stealing !== undefined || maxThreads === 1),
      backpressure: provided.bound?.(this) ?? UNBOUNDED,
      createSender: this.createSender,
      createStealing: provided.stealing,
      createPinned: provided.pinned,
      taskTimings: new TaskTimings(taskTimings),
      hasContext: options.capture !== undefined,
      snapshots,
      createReader: () => new SnapshotReader(codec),
      events: this,
    });
  }

  /** What workers get. The memory in it is of all of them. */
  #createStart(): PoolStart {
    const { options, active, sources, taskModule, runtime, workerEntry } = this.spec;
    const { workerOptions: { name, data }, modules: { setup } } = options;
    const tasks = taskModule === undefined ? sources.length : MAX_MODULE_TASKS;
    for (const [name, bytes] of Object.entries(sharedBytes)) {
      this.startData[name] = new SharedArrayBuffer(bytes);
    }
    Object.assign(this.startData, options.startData);
    return {
      hostControl: new SharedArrayBuffer(HOST_CONTROL_BYTES),
      taskTimings: new SharedArrayBuffer(taskTimingsBytes(VARIANTS * tasks)),
      version: VERSION,
      library: workerEntry.library,
      features: this.startData,
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

  part<Made extends object>(make: MakePart<Made>): Made {
    let made = this.parts.get(make);
    if (made === undefined) this.parts.set(make, made = make(this));
    return made as Made;
  }

  existing<Made extends object>(make: MakePart<Made>): Made | undefined {
    return this.parts.get(make) as Made | undefined;
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

  onRecord(lane: Lane, index: number, call: PendingCall | undefined, kind: number): boolean {
    const read = records[kind];
    read?.(this, lane, index, call);
    return read !== undefined;
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
  onWoken: ((workerId: number) => void) | undefined = undefined;

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

  onEnded(workerId: number, error: () => Error): void {
    for (const part of this.parts.values()) part.onWorkerLost?.(workerId, error);
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
