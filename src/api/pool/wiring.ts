/** What the core of a pool (`pool-core.ts`) is made of: its threads, what they get, and the dispatcher of its calls. */
import type { Codec } from "../../codec/codec.ts";
import { Dispatcher } from "../../host/dispatch/dispatcher.ts";
import type { DispatcherEvents } from "../../host/dispatch/dispatcher-events.ts";
import { UNBOUNDED } from "../../host/dispatch/queue/queue-bound.ts";
import { InFlightWindow } from "../../host/lanes/in-flight-window.ts";
import { Placement } from "../../host/schedule/placement.ts";
import { makers } from "../../host/workers/feature.ts";
import type { LaneOptions } from "../../host/workers/thread-lane.ts";
import type { Receiver } from "../../host/workers/watchdog.ts";
import { HOST_CONTROL_BYTES } from "../../lane/layout.ts";
import { SnapshotReader } from "../../lane/snapshot-reader.ts";
import { warmUp } from "../../lane/warm-up.ts";
import { TaskTimings, taskTimingsBytes } from "../../metering/task-timings.ts";
import { MAX_MODULE_TASKS, type PoolStart } from "../../protocol/start-data.ts";
import { VARIANTS } from "../../protocol/task-variants.ts";
import type { WorkerHandle } from "../../runtimes/worker-handle.ts";
import { VERSION } from "../../version.ts";
import { startFailure } from "../options/worker-options.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";
import { provided, sharedBytes } from "./feature.ts";
import type { PoolParts } from "./parts.ts";

/**
 * Starts the first thread early: it loads its code while the host creates the rest of the pool. Returns a function that
 * returns this thread first, then starts others.
 */
export function startThreads(
  { options, sources, taskModule, runtime, workerEntry }: PoolSpec,
): LaneOptions["spawn"] {
  const { workerLimits, workerOptions: { name, thread }, spawnWorker = runtime.spawnWorker } =
    options;
  const modules = [
    ...Object.values(options.modules).map(runtime.toModuleUrl),
    ...(taskModule === undefined ? sources.map(({ moduleUrl }) => moduleUrl) : [taskModule]),
  ];
  let first: WorkerHandle | undefined;
  const spawn = (workerId: number): WorkerHandle => {
    const handle = first;
    first = undefined;
    if (handle !== undefined) return handle;
    try {
      return spawnWorker(
        workerEntry,
        `${name}-${workerId}`,
        workerLimits,
        modules,
        thread,
        workerId,
      );
    } catch (error) {
      throw startFailure(error, thread);
    }
  };
  if (options.minThreads > 0 && options.isOnHost !== true) {
    try {
      first = spawn(0);
    } catch (error) {
      // Otherwise the supervisor tries again, and deals with the failure.
      if (options.onUnavailable !== "host") throw error;
    }
  }
  // The thread is still unused only if creating the rest of the pool has failed.
  runtime.microtask(() => void first?.terminate());
  return spawn;
}

/** What workers get. The memory in it is of all of them. `features`: their start data, to which this adds. */
export function createStart(
  spec: PoolSpec,
  features: Record<string, unknown>,
  ownFolder: string | undefined,
): PoolStart {
  const { options, active, sources, taskModule, runtime, workerEntry } = spec;
  const { workerOptions, modules: { setup } } = options;
  const tasks = taskModule === undefined ? sources.length : MAX_MODULE_TASKS;
  for (const [name, bytes] of Object.entries(sharedBytes)) {
    features[name] = new SharedArrayBuffer(bytes);
  }
  return {
    hostControl: new SharedArrayBuffer(HOST_CONTROL_BYTES),
    taskTimings: new SharedArrayBuffer(taskTimingsBytes(VARIANTS * (tasks || 1))),
    version: VERSION,
    library: workerEntry.library,
    // In a browser it may be that of the program: heddle is in its bundle.
    hiddenFolder: options.debug === undefined && runtime.importCondition !== "browser"
      ? ownFolder
      : undefined,
    features: Object.assign(features, options.startData),
    uses: spec.uses?.names,
    active,
    cores: runtime.cores,
    tasks: sources,
    taskModule,
    spinMs: options.spinMs,
    maxConcurrency: options.maxConcurrency,
    maxPayloadBytes: options.maxPayloadBytes,
    limits: options.workerLimits,
    directOutputs: runtime.directOutputs(),
    poolName: workerOptions.name,
    setup: setup && runtime.toModuleUrl(setup),
    data: workerOptions.data,
  };
}

export function createDispatcher(
  host: PoolParts & DispatcherEvents,
  taskTimings: SharedArrayBuffer,
): Dispatcher {
  const { codec, snapshots, waiting: { active }, spec: { signatures, options, runtime } } = host;
  const { recycleAfter = Infinity, maxQueue = Infinity, maxThreads, createChooser } = options;
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
      new Placement(depth, active, provided.stealing !== undefined || maxThreads === 1),
    backpressure: provided.bound?.(host) ?? UNBOUNDED,
    // Where calls are counted, ordered or placed by more than their tasks they wait until a worker is ready.
    startsEarly: createChooser === undefined && maxQueue === Infinity &&
      recycleAfter === Infinity &&
      options.createInliner === undefined && options.capture === undefined,
    createSender: host.createSender,
    createStealing: provided.stealing,
    createPinned: provided.pinned,
    taskTimings: new TaskTimings(taskTimings),
    hasContext: options.capture !== undefined,
    snapshots,
    createReader: () => new SnapshotReader(codec),
    events: host,
  });
}

export function laneOptionsOf(
  { options, runtime, known, loadWorkerCode }: PoolSpec,
  codec: Codec,
  spawn: LaneOptions["spawn"],
  start: PoolStart,
): LaneOptions {
  const { startTimeoutMs, teardownTimeoutMs, ringBytes: ringSizes } = options;
  runtime.macrotask(() => { // the thread loads its code meanwhile
    if (codec.keyLists.hasSeenKeys) warmUp(runtime);
  });
  let spawnOnHost: LaneOptions["spawnOnHost"];
  if (options.onUnavailable === "host" && makers.hostWorkers !== undefined) {
    const inContext = runtime.bindContext();
    const { hostWorkers } = makers;
    spawnOnHost = () => hostWorkers({ runtime, known, inContext, loadWorkerCode });
  }
  return {
    runtime,
    codec,
    spawn,
    spawnOnHost,
    ringSizes,
    connect: options.transport === "messages" ? makers.connect : undefined,
    start,
    startTimeoutMs,
    teardownTimeoutMs,
  };
}

/** The receivers of wake-ups, for the safety check. */
export function* receiversOf(
  { dispatcher: { lanes }, supervisor, loop, waiting: { parker } }: PoolParts,
): Generator<readonly [unknown, Receiver]> {
  const threads = [...supervisor.threads].filter((lane) => lanes.all.includes(lane));
  for (const lane of threads) yield [lane, lane];
  if (!lanes.hasResponse) return;
  yield [loop, {
    isAnnounced: parker.isAnnounced,
    isWaitingInLoop: loop.isParked,
    // A sleeping worker has already sent the wake that follows its response.
    isLeftAlone: threads.some((lane) => lane.isWaitingInLoop && lane.endpoint.rx.hasRecord),
    hasReason: true,
    progress: lanes.all.map((lane) => lane.endpoint.rx.headPosition).join(),
    wake: () => loop.onWakeMessage(),
    repost: () => loop.onWakeMessage(),
  }];
}
