/** The host's side of a pool: creates its parts in the order of their dependencies and connects their events. */
import { Codec } from "../../codec/codec.ts";
import { createAbortEpochs } from "../../sync/abort-epochs.ts";
import { maxInlineBytes } from "../../lane/endpoint.ts";
import { SnapshotEncoder } from "../../lane/snapshot.ts";
import { SnapshotReader } from "../../lane/snapshot-reader.ts";
import { HOST_CONTROL_BYTES } from "../../lane/layout.ts";
import { VARIANTS } from "../../protocol/task-variants.ts";
import { TaskTimings, taskTimingsBytes } from "../../metering/task-timings.ts";
import { MAX_MODULE_TASKS, type PoolStart } from "../../protocol/start-data.ts";
import type { WorkerLostError } from "../../errors.ts";
import { CallerContext } from "../../host/calls/caller-context.ts";
import type { WorkerExit } from "../../host/workers/supervisor.ts";
import { MAX_RESPONSES } from "../../host/dispatch/responses.ts";
import { Backpressure } from "../../host/dispatch/queue/backpressure.ts";
import type { BlockingWait } from "../../host/dispatch/blocking-wait.ts";
import { Broadcasts } from "../../host/dispatch/broadcasts.ts";
import { createChooser } from "../../host/schedule/balancers.ts";
import { Cancellation } from "../../host/limits/cancellation.ts";
import { ArgumentSources } from "../../host/streams/argument-sources.ts";
import { StreamCalls } from "../../host/streams/stream-calls.ts";
import { PollLoop } from "../../host/dispatch/poll-loop.ts";
import { InlineExecutor } from "../../host/dispatch/queue/inline-executor.ts";
import { LastOutput } from "../../host/workers/last-output.ts";
import { type Receiver, Watchdog } from "../../host/workers/watchdog.ts";
import { Dispatcher } from "../../host/dispatch/dispatcher.ts";
import type { DispatcherOptions } from "../../host/dispatch/dispatcher-options.ts";
import type { DispatcherEvents } from "../../host/dispatch/dispatcher-events.ts";
import { Signals } from "../../host/limits/abort-signals.ts";
import { Supervisor, type SupervisorEvents } from "../../host/workers/supervisor.ts";
import { Deadlines } from "../../host/limits/deadlines.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";
import { AUTO_QUEUE_PER_THREAD, type ResolvedOptions } from "../options/options.ts";
import { VERSION } from "../../version.ts";
import type { CallEntry } from "../../host/observe/call-entry.ts";
import { Observing } from "../observe/observing.ts";
import { inCallerContext } from "../calls/in-caller-context.ts";
import { blockableTimers } from "./blockable-timers.ts";
import { createBlocking, createWaiting } from "./blocking.ts";
import { laneOptionsOf, startThreads } from "./threads.ts";
import { AwakeCount } from "../../sync/awake-count.ts";
import type { HostParker } from "../../sync/host-parking.ts";
import type { HostRequests } from "../../host/requests/host-requests.ts";
import { createRequests } from "./host-requests.ts";
import type { Runtime } from "../../runtimes/runtime.ts";

/** Events of the parts that the pool itself handles. */
export interface PartEvents {
  /** Calls are in flight, and the host is about to wait. */
  onBusy(): void;
  /** No call is in flight any more. */
  onEmpty(): void;
  /** Only calls are in flight whose streams nobody waits for. */
  onOnlyIdleStreams(): void;
  /** A worker describes the tasks of the pool's module. Returns an error if the pool cannot use it. */
  onTasks(packed: Uint8Array): Error | undefined | Promise<Error | undefined>;
  /** The minimum number of workers is ready for the first time. */
  onReady(): void;
  /** No further thread can start: the pool goes on with these, or on the host if it has none. */
  onUnavailable(error: Error, threads: number): void;
  /** The pool cannot work. */
  onFailed(error: Error): void;
  onDrain(): void;
  onUnhandledRejection(workerId: number, error: Error): void;
  /** A worker's code posted a message of its own. */
  onMessage(workerId: number, message: unknown): void;
  onWorkerStart(workerId: number): void;
  /** `error`: the worker ended unexpectedly. */
  onWorkerExit(exit: WorkerExit, error: WorkerLostError | undefined): void;
  /** The thread of a stopped worker keeps running. */
  onThreadAbandoned(workerId: number): void;
}

export interface PoolParts {
  readonly dispatcher: Dispatcher;
  readonly loop: PollLoop;
  readonly safety: Watchdog;
  readonly supervisor: Supervisor;
  readonly backpressure: Backpressure;
  readonly deadlines: Deadlines;
  readonly cancellation: Cancellation;
  readonly lastOutput: LastOutput;
  readonly broadcasts: Broadcasts;
  readonly streams: StreamCalls;
  readonly observing: Observing;
  readonly entry: CallEntry;
  readonly requests: HostRequests;
  readonly blocking: BlockingWait;
}

/** Memory that the host shares with all workers of a pool. */
function shareMemory({ sources, taskModule }: PoolSpec) {
  const isModule = taskModule !== undefined;
  return {
    hostControl: new SharedArrayBuffer(HOST_CONTROL_BYTES),
    taskTimings: new SharedArrayBuffer(
      taskTimingsBytes(VARIANTS * (isModule ? MAX_MODULE_TASKS : sources.length)),
    ),
    abortEpochs: createAbortEpochs(),
  };
}

function startOf(
  { options, active, sources, taskModule, runtime, workerEntry }: PoolSpec,
  memory: ReturnType<typeof shareMemory>,
  observing: Observing,
): PoolStart {
  const { setup } = options.workerOptions;
  return {
    ...memory,
    version: VERSION,
    library: workerEntry.library,
    ...observing.start,
    active,
    cores: runtime.cores,
    tasks: sources,
    taskModule,
    spinMs: options.spinMs,
    maxConcurrency: options.maxConcurrency,
    maxPayloadBytes: options.maxPayloadBytes,
    limits: options.workerLimits,
    directOutputs: runtime.directOutputs(),
    poolName: options.workerOptions.name,
    setup: setup === undefined ? undefined : runtime.toModuleUrl(setup),
    data: options.workerOptions.data,
    maxMemory: options.maxWorkerBytes,
  };
}

function createBackpressure(options: ResolvedOptions, onDrain: () => void): Backpressure {
  const { maxQueue, queuePolicy: policy, maxThreads } = options;
  const highWaterMark = Math.max(1, Math.min(maxQueue, AUTO_QUEUE_PER_THREAD * maxThreads));
  return new Backpressure({ maxQueue, policy, highWaterMark, onDrain });
}

function createLastOutput(
  { onBeforeExit }: Runtime,
  { responses }: Dispatcher,
  supervisor: Supervisor,
): LastOutput {
  return new LastOutput({
    onBeforeExit,
    responses: () => responses.taken,
    workers: () => supervisor.threads,
  });
}

function createBroadcasts(
  { signatures }: PoolSpec,
  snapshots: SnapshotEncoder,
  dispatcher: Dispatcher,
  supervisor: Supervisor,
): Broadcasts {
  return new Broadcasts({
    snapshots,
    signatures,
    workerIds: () => supervisor.workerIds,
    isStarting: (workerId) => supervisor.isStarting(workerId),
    call: (...call) => dispatcher.submitter.submitSnapshot(...call),
    redeclare: (snapshot, task) => dispatcher.submitter.redeclare(snapshot, task),
    fail: (lane, error) => dispatcher.failLane(lane, error),
  });
}

/** Creates the host's side of results and of arguments that are streams. */
function createStreams(
  { options: { maxPayloadBytes }, runtime }: PoolSpec,
  { inFlight, lanes, responses }: Dispatcher,
  cancellation: Cancellation,
  onWanted: () => void,
): Pick<LinkedParts, "streams" | "sources"> {
  const streams = new StreamCalls({
    inFlight,
    lanes,
    cancellation,
    setInterval: runtime.setInterval,
    onWanted,
  });
  responses.streams = streams;
  return { streams, sources: new ArgumentSources({ runtime, inFlight, maxPayloadBytes }) };
}

function createCodec({ options: { maxPayloadBytes }, runtime }: PoolSpec): Codec {
  return new Codec({ access: runtime, origin: 0, maxPayloadBytes, allowsBorrow: true });
}

function createDispatcher(
  { signatures, runtime, options: { recycleAfter, maxThreads } }: PoolSpec,
  codec: Codec,
  snapshots: SnapshotEncoder,
  parts: Pick<
    DispatcherOptions,
    "placement" | "backpressure" | "taskTimings" | "hasContext" | "stamps" | "events"
  >,
): Dispatcher {
  const { isPromise, now, setTimeout } = runtime;
  const createReader = (): SnapshotReader => new SnapshotReader(codec);
  const common = { signatures, recycleAfter, maxThreads, isPromise, now, setTimeout };
  return new Dispatcher({ ...common, ...parts, snapshots, createReader });
}

function supervisorEvents(
  parts: () => LinkedParts,
  events: PartEvents,
  loop: PollLoop,
  observing: Observing,
): SupervisorEvents {
  return {
    ...events,
    onPrepare: (lane, onDone) => parts().broadcasts.prepare(lane, onDone),
    onEnded: (workerId, error) => parts().broadcasts.onEnded(workerId, error),
    ...observing.wakeEvents(() => loop.onWakeMessage()),
    onTaskMessage: (lane, message) => {
      const { sources, requests } = parts();
      if (message.heddle === "credit" || message.heddle === "cancel") {
        sources.onMessage(lane, message);
      } else requests.onMessage(lane, message);
    },
    onWorkerExit: (exit, error) => {
      parts().requests.onEnded(exit.workerId);
      events.onWorkerExit(exit, error);
    },
    onLost: (call, error) => parts().cancellation.rejectLost(call, error),
  };
}

/** Creates the parts of a pool. Rethrows an error of starting a thread. */
export function wire(given: PoolSpec, events: PartEvents): PoolParts {
  const spawn = startThreads(given);
  const timers = blockableTimers(given.runtime);
  const spec = { ...given, runtime: timers.runtime };
  const { options, runtime } = spec;
  const memory = shareMemory(spec);
  const observing = new Observing(spec);
  const codec = createCodec(spec);
  const snapshots = new SnapshotEncoder(codec, maxInlineBytes(options.ringBytes.requests));
  const awakeCount = new AwakeCount(spec.active, runtime.cores);
  const waiting = createWaiting(spec, memory.hostControl, awakeCount);
  const dispatcher = createDispatcher(spec, codec, snapshots, {
    placement: createChooser(options, awakeCount),
    backpressure: createBackpressure(options, events.onDrain),
    taskTimings: new TaskTimings(memory.taskTimings),
    hasContext: observing.hasContext,
    stamps: observing.stamps,
    // Runs with each call, so it does not go through `parts`.
    events: {
      ...dispatcherEvents(() => parts, events, spec, observing),
      onWork: () => loop.kick(),
    },
  });
  const loop: PollLoop = new PollLoop(runtime, waiting, dispatcher);
  dispatcher.waiting.inliner = createInlineExecutor(spec, codec, snapshots, dispatcher, loop.kick);
  const safety = new Watchdog(given.runtime, () => receivers(parts, waiting.parker), () => {
    dispatcher.checkLanes();
    loop.onTick();
  });
  const limits = createLimits(spec, dispatcher, memory.abortEpochs, loop.kick, () => supervisor);
  const supervisor: Supervisor = new Supervisor(
    options,
    laneOptionsOf(spec, codec, spawn, startOf(spec, memory, observing)),
    dispatcher,
    awakeCount,
    supervisorEvents(() => parts, events, loop, observing),
  );
  dispatcher.waiting.workerIds = () => supervisor.workerIds;
  const broadcasts = createBroadcasts(spec, snapshots, dispatcher, supervisor);
  const streams = createStreams(spec, dispatcher, limits.cancellation, () => {
    safety.ref();
    events.onBusy();
  });
  const parts: LinkedParts = {
    dispatcher,
    requests: createRequests(spec, { codec, snapshots, dispatcher, supervisor, loop, ...limits }),
    loop,
    safety,
    supervisor,
    backpressure: dispatcher.backpressure,
    lastOutput: createLastOutput(runtime, dispatcher, supervisor),
    broadcasts,
    observing,
    entry: observing.createEntry(dispatcher),
    blocking: createBlocking(spec, waiting, dispatcher, loop, timers, () => parts),
    ...streams,
    ...limits,
  };
  return parts;
}

interface LinkedParts extends PoolParts {
  readonly signals: Signals;
  readonly sources: ArgumentSources;
}

/** Connects events of the dispatcher to the other parts, which exist before the first event. */
function dispatcherEvents(
  parts: () => LinkedParts,
  events: PartEvents,
  { runtime }: PoolSpec,
  observing: Observing,
): Omit<DispatcherEvents, "onWork"> {
  /** Keeps the process running only while calls are in flight, not while a worker runs a call that was given up. */
  const keepRunningIfBusy = (): void => {
    const { dispatcher, safety } = parts();
    if (dispatcher.inFlight.hasAwaitedCalls && safety.ref()) events.onBusy();
  };
  const linked: Omit<DispatcherEvents, "onWork"> = {
    onSettings: (call) => {
      const { hasSignal, signal, tickMs, streams, onEvent, callbacks } = call.settings;
      const { cancellation, deadlines, signals, sources } = parts();
      if (streams !== undefined) sources.attach(call, streams);
      if (onEvent !== undefined) {
        // Already there if the call was made before its task was known.
        call.onEvents ??= inCallerContext(runtime, onEvent);
      }
      if (callbacks !== undefined) call.callbacks = callbacks;
      if (call.settings.asksHost || callbacks !== undefined) {
        call.context ??= call.settings.context ?? new CallerContext();
      }
      if (hasSignal) cancellation.begin(call);
      if (tickMs !== Infinity) deadlines.watch(tickMs);
      if (signal !== undefined && call.watch === undefined) signals.watch(call, signal);
    },
    onAborted: () => parts().cancellation.aborted++,
    onRenewed: (call) => {
      if (call.settings.hasSignal) parts().cancellation.begin(call);
    },
    onDueForRecycling: (lane) => void parts().supervisor.recycle(lane),
    onLastCall: (lane) => parts().supervisor.replaceAtLimit(lane),
    onDrained: (lane) => parts().supervisor.retire(lane),
    onPark: () => {
      const { dispatcher, supervisor } = parts();
      keepRunningIfBusy();
      if (supervisor.sizing.budget.isElastic || dispatcher.pending.isDue) supervisor.checkLoad();
    },
    onWait: () => parts().supervisor.checkLoad(),
    onIdle: keepRunningIfBusy,
    onEmpty: events.onEmpty,
    onOnlyIdleStreams: events.onOnlyIdleStreams,
  };
  return observing.printingParks(linked, () => parts().dispatcher.inFlight.size);
}

/** Creates the parts that settle calls before their response: deadlines, cancellation, signals. */
function createLimits(
  { options, runtime }: PoolSpec,
  dispatcher: Dispatcher,
  abortEpochs: SharedArrayBuffer,
  poll: () => void,
  supervisor: () => Supervisor,
): Pick<LinkedParts, "cancellation" | "deadlines" | "signals"> {
  const { inFlight, lanes } = dispatcher;
  const cancellation: Cancellation = new Cancellation({
    inFlight,
    lanes,
    abortEpochs: new Int32Array(abortEpochs),
    now: runtime.now,
    onQueuedSettled: () => dispatcher.waiting.onQueuedSettled(),
    onRevoked: poll,
    onOrphaned: () => deadlines.watch(),
  });
  const deadlines = new Deadlines({
    inFlight,
    cancellation,
    lanes,
    hardTimeoutMs: options.hardTimeoutMs,
    now: runtime.now,
    setTimeout: runtime.setTimeout,
    takeResponses: () => {
      if (dispatcher.drain(MAX_RESPONSES) > 0) poll();
    },
    stretch: () => supervisor().stretch,
    stop: (lane, error) => supervisor().stop(lane, error),
  });
  const signals = new Signals((call, reason) => cancellation.abort(call, reason));
  return { cancellation, deadlines, signals };
}

function createInlineExecutor(
  { options, tasks, signatures, runtime }: PoolSpec,
  codec: Codec,
  snapshots: SnapshotEncoder,
  { inFlight }: Dispatcher,
  poll: () => void,
): InlineExecutor | undefined {
  if (options.inliner === undefined) return undefined;
  const inContext = runtime.bindContext();
  return new InlineExecutor({
    ...options.inliner,
    codec,
    snapshots,
    inFlight,
    functions: tasks.map(({ f, settings, isStream }) =>
      settings.hasSignal === true || isStream ? undefined : f
    ),
    signatures,
    maxConcurrency: options.maxConcurrency,
    // As in a worker, a task sees no store of the call that happens to be on the stack.
    soon: (callback) => runtime.macrotask(() => inContext(callback)),
    onRoom: poll,
  });
}

/** The receivers of wake-ups, for the safety check. */
function* receivers(
  { dispatcher: { lanes }, supervisor, loop }: PoolParts,
  parker: HostParker,
): Generator<readonly [unknown, Receiver]> {
  const threads = [...supervisor.threads].filter((lane) => lanes.all.includes(lane));
  for (const lane of threads) yield [lane, lane];
  yield [loop, {
    isAnnounced: parker.isAnnounced,
    isWaitingInLoop: loop.isParked,
    // A sleeping worker has already sent the wake that follows its response.
    isLeftAlone: threads.some(({ endpoint, isWaitingInLoop }) =>
      isWaitingInLoop && endpoint.rx.hasRecord
    ),
    hasReason: lanes.hasResponse,
    progress: lanes.all.map((lane) => lane.endpoint.rx.headPosition).join(),
    wake: () => loop.onWakeMessage(),
    repost: () => loop.onWakeMessage(),
  }];
}
