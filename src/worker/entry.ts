/**
 * Main module of a worker thread: the only module whose import has effects.
 *
 * Waits for its start data, loads the tasks, builds the worker's side of the lane, reports that it is ready and enters
 * the loop.
 */
import { Error, Map, Promise, Set } from "../builtins.ts";
import { Codec, pack as packValue, packError } from "../codec/codec.ts";
import { isError, textOf } from "../codec/kinds/errors.ts";
import { Endpoint } from "../lane/endpoint.ts";
import { warmUp } from "../lane/warm-up.ts";
import {
  ENDED,
  HOST_PARKED_WORD,
  LIFE,
  PARKED_WORD,
  REQUEST_RING,
  REQUEST_SPACE,
  responseRing,
  STARTED,
  WANTS_SPACE,
} from "../lane/layout.ts";
import { TaskTimer } from "../metering/task-timings.ts";
import { CallMeter } from "../metering/call-metrics.ts";
import { GaugeWriter } from "../metering/worker-gauges.ts";
import { debugLine } from "../metering/debug-line.ts";
import { unpackReason } from "../protocol/abort-reason.ts";
import {
  type AbortMessage,
  FLUSH,
  type HostMessage,
  type ProfileMessage,
  type ProfileResponse,
  type SharedMessage,
  type StartFailure,
  type StartOutcome,
  type StartPart,
  type StreamMessage,
  WAKE,
  type WorkerMessage,
  type WorkerStart,
} from "../protocol/start-data.ts";
import { InvalidArgumentError, TaskNotFoundError, WorkerStartError } from "../errors.ts";
import { AwakeCount } from "../sync/awake-count.ts";
import { HostWaker, wakeBlockedHost } from "../sync/host-parking.ts";
import { SpaceFlag } from "../sync/space-flag.ts";
import { Parker } from "../sync/worker-parking.ts";
import { unpackData } from "../realm/handles.ts";
import { enterWorkerRealm, type WorkerRealm } from "../realm/worker-realm.ts";
import { SpscRing } from "../ring/spsc-ring.ts";
import { currentRuntime } from "../runtimes/current.ts";
import type { PayloadPort } from "../runtimes/runtime.ts";
import { VERSION } from "../version.ts";
import { CallContext } from "./call-context.ts";
import { HostRequests } from "./host-requests.ts";
import { WorkerLoop } from "./loop.ts";
import { MemoryWatch } from "./memory-watch.ts";
import { Replies } from "./replies.ts";
import type { ResultStreams } from "./result-streams.ts";
import { LoadFailure } from "./import-module.ts";
import { runSetup } from "./setup.ts";
import { TaskSignals } from "./abort-signals.ts";
import { WorkerTaskRequests } from "./task-requests.ts";
import { withVariants } from "./task-variants.ts";
import { loadModule, loadTasks, type WorkerTask } from "./task-modules.ts";

const runtime = currentRuntime;
const host = runtime.parent();

host.onUncaught((error) => post({ heddle: "uncaught", error: pack(error) }));
host.onUnhandledRejection((reason) => post({ heddle: "unhandledRejection", error: pack(reason) }));

/** Handles the messages that follow the first one. */
let receive: ((message: unknown) => void) | undefined;

// The listener keeps the worker alive. The thread may start before its start data exists.
host.onMessage((message) => {
  if (receive === undefined) begin(message as WorkerStart);
  else receive(message);
});

/** Other code may send messages to the worker too, so heddle's messages carry a mark. */
function isMarked(message: unknown): message is AbortMessage | HostMessage | SharedMessage {
  return typeof message === "object" && message !== null && "heddle" in message;
}

function post(message: WorkerMessage): void {
  host.post(message);
}

function pack(reason: unknown): Uint8Array {
  const error = isError(reason) ? reason : new Error(textOf(reason));
  try {
    return packError(runtime, error);
  } catch {
    return packError(runtime, new Error(textOf(reason))); // the reason cannot be encoded
  }
}

/** Starts serving the pool that the start data describes. */
function begin(start: WorkerStart): void {
  let loop: WorkerLoop | undefined;
  const signals = new TaskSignals(start.abortEpochs);
  receive = (message) => {
    if (message === WAKE) loop?.onWakeMessage();
    else if (isMarked(message)) {
      if (message.heddle === "shared") realm.shared?.receive?.(message.body);
      else if (message.heddle === "profile") void profile(message);
      else if (message.heddle === "answer") requests.onAnswer(message);
      else onMarked(message, signals, loop);
    } else if (message === FLUSH) host.flushOutput(() => post({ heddle: "flushed" }));
  };
  host.writeDirectly(start.directOutputs);
  if (start.version !== VERSION) return refuse(start.version);
  const modules = modulesOf(start);
  runtime.confineSelf(start.limits, start.library, modules);
  const codec = createCodec(start);
  const control = new Int32Array(start.lane, 0, REQUEST_RING / 4);
  const requests = new HostRequests({ codec: codec.standalone(), control, post });
  const taskRequests = new WorkerTaskRequests(requests, signals, codec.standalone());
  const bare = start.tasks.filter(({ functionName }) => functionName !== undefined);
  let data: unknown;
  const realm: WorkerRealm = {
    isLoading: true,
    info: Object.freeze({
      id: start.workerId,
      pool: start.poolName,
      // At the first reading after the module that reads it has loaded heddle/shared.
      get data(): unknown {
        return data ??= unpackData(start.data);
      },
      context: undefined,
    }),
    modules,
    bareTasks: bare.map(({ name }) => name),
    active: start.active,
    teardowns: [],
    emit: undefined,
    requests: taskRequests,
    shared: start.shared && {
      start: start.shared,
      post: (body) => post({ heddle: "shared", body }),
      receive: undefined,
    },
  };
  enterWorkerRealm(realm);
  host.onExit(() => setLife(start, ENDED));
  const port = runtime.openPort(start.payloadPort);
  const onStarted = (outcome: StartOutcome): void => announceStart(start, port, outcome);
  load(start, realm, onStarted).then((loaded) => {
    if (loaded === undefined) return;
    loop = createLoop(start, realm, { codec, control, signals, requests, port }, loaded);
    taskRequests.tasks = new Map(loaded.tasks.map((task, index) => [loaded.names[index]!, task]));
    onStarted({ heddle: "ready", ...loaded.packed });
    warmUp(runtime); // while the message travels
    loop.start();
  }).catch(crash);
}

function announceStart(start: WorkerStart, port: PayloadPort, outcome: StartOutcome): void {
  // For a host that blocks; a pool of tasks by name needs to know no more than that it has started.
  if (outcome.heddle === "failed" || outcome.tasks !== undefined) port.post(outcome, []);
  setLife(start, STARTED);
  post(outcome);
}

/** Tells a host that blocks. */
function setLife({ lane, hostControl }: WorkerStart, life: typeof STARTED | typeof ENDED): void {
  Atomics.or(new Int32Array(lane, 0, REQUEST_RING / 4), LIFE, life);
  wakeBlockedHost(new Int32Array(hostControl), HOST_PARKED_WORD);
}

/** A bundle names the heddle of the machine that made it, where another version may be installed by now. */
function refuse(version: string): void {
  const message = `heddle ${version} has started a worker of heddle ${VERSION}: bundle again.`;
  post({ heddle: "failed", part: "module", error: pack(new WorkerStartError(message)) });
  exitSoon(1);
}

function onMarked(
  message: AbortMessage | StreamMessage,
  signals: TaskSignals,
  loop: WorkerLoop | undefined,
): void {
  const { slot, generation } = message;
  switch (message.heddle) {
    case "abort":
      signals.deliver(slot, generation, unpackReason(runtime, message.reason));
      loop?.streams.cancel(slot, generation);
      break;
    case "credit":
      loop?.streams.acknowledge(slot, generation, message.batches);
      break;
    case "cancel":
      loop?.streams.cancel(slot, generation);
      break;
    case "items":
    case "end":
      loop?.argumentStreams.onMessage(message);
  }
}

/** Takes a CPU profile of this thread. The code for that is loaded when it is used. */
async function profile({ durationMs, port }: ProfileMessage): Promise<void> {
  let response: ProfileResponse;
  try {
    const { profileThread } = await import("../runtimes/profiler.ts");
    response = { profile: await profileThread(durationMs) };
  } catch (error) {
    response = { reason: textOf(error) };
  }
  port.postMessage(response);
}

/** URLs of the modules that the worker loads. */
function modulesOf({ tasks, taskModule, setup, context }: WorkerStart): readonly string[] {
  const taskModules = tasks.length === 0 && taskModule !== undefined
    ? [taskModule]
    : tasks.map(({ moduleUrl }) => moduleUrl);
  return [...new Set([setup, context, ...taskModules].filter((url) => url !== undefined))];
}

interface LoadedTasks {
  readonly tasks: readonly WorkerTask[];
  /** Their names in `pool.call`. */
  readonly names: readonly string[];
  readonly context: CallContext | undefined;
  /** For the "ready" message: the packed descriptions, if the host has none. */
  readonly packed: { readonly tasks?: Uint8Array };
}

/** Loads the tasks. If that fails, returns undefined and ends the worker. */
async function load(
  start: WorkerStart,
  realm: WorkerRealm,
  onFailed: (failure: StartFailure) => void,
): Promise<LoadedTasks | undefined> {
  let part: StartPart = "setup";
  try {
    if (start.setup !== undefined) await runSetup(start.setup, realm, runtime);
    part = "module";
    const loaded = await loadTasksOf(start);
    realm.isLoading = false;
    return loaded;
  } catch (error) {
    if (part === "module" && error instanceof TaskNotFoundError) part = "export";
    onFailed(startFailure(part, error));
    exitSoon(1);
    return undefined;
  }
}

function startFailure(part: StartPart, error: unknown): StartFailure {
  if (!(error instanceof LoadFailure)) return { heddle: "failed", part, error: pack(error) };
  const { module, place, reason } = error;
  return { heddle: "failed", part, error: pack(reason), module, place };
}

async function loadTasksOf(start: WorkerStart): Promise<LoadedTasks> {
  const { tasks, taskModule } = start;
  const loadContext = (named: readonly { readonly name: string }[]) =>
    start.context === undefined
      ? undefined
      : CallContext.load(start.context, named.map(({ name }) => name), runtime);
  if (tasks.length > 0 || taskModule === undefined) {
    const context = await loadContext(tasks);
    const names = tasks.map(({ name }) => name);
    return { tasks: await loadTasks(tasks, runtime), names, context, packed: {} };
  }
  const { tasks: loaded, descriptions } = await loadModule(taskModule, runtime);
  const packed = packValue(runtime, descriptions);
  if (packed !== undefined) {
    const names = descriptions.map(({ name }) => name);
    const context = await loadContext(descriptions);
    return { tasks: loaded, names, context, packed: { tasks: packed } };
  }
  throw new InvalidArgumentError(
    `The task options of ${taskModule} contain an object that cannot be copied to the host.`,
  );
}

function createCodec({ workerId, maxPayloadBytes }: WorkerStart): Codec {
  return new Codec({ access: runtime, origin: workerId + 1, maxPayloadBytes, allowsBorrow: false });
}

/** What a worker has before it loads its tasks. */
interface EarlyParts {
  readonly codec: Codec;
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly signals: TaskSignals;
  readonly requests: HostRequests;
  readonly port: PayloadPort;
}

function createLoop(
  start: WorkerStart,
  realm: WorkerRealm,
  { codec, control, signals, requests, port }: EarlyParts,
  { tasks, context }: LoadedTasks,
): WorkerLoop {
  const endpoint = new Endpoint(
    SpscRing.attach(start.lane, responseRing(start.requestCapacity)).takeProducer(),
    SpscRing.attach(start.lane, REQUEST_RING).takeConsumer(),
    codec,
    port,
  );
  const replies = new Replies(
    endpoint,
    new HostWaker(new Int32Array(start.hostControl), HOST_PARKED_WORD, host.post, WAKE),
    new SpaceFlag(control, WANTS_SPACE),
    new SpaceFlag(control, REQUEST_SPACE),
    control,
  );
  const active = new AwakeCount(start.active, start.cores);
  const gauges = new GaugeWriter(start.lane);
  const sharedNow = (): number => runtime.originMs + runtime.now();
  const meter = start.metrics && new CallMeter(start.metrics, tasks.length, sharedNow);
  const loop = new WorkerLoop({
    runtime,
    endpoint,
    replies,
    parker: new Parker(control, PARKED_WORD, active.words),
    active,
    control,
    tasks: withVariants(tasks, runtime.now),
    maxConcurrency: start.maxConcurrency,
    times: new TaskTimer(
      start.taskTimings,
      runtime.now,
      meter && ((task, tenths) => meter.ended(task, tenths)),
    ),
    meter,
    context,
    gauges,
    onParked: parkPrinter(start, sharedNow),
    signals,
    post,
    callBack: (call, index, args) => requests.request(["callback", index], args, undefined, call),
    spinMs: start.spinMs,
    onTurn: watchMemory(start, gauges),
    isTerminating: host.isTerminating,
    onClose: () => void leave(realm, loop.streams),
    onCrash: crash,
  });
  realm.emit = (value) => loop.events.emit(value);
  requests.start({ endpoint, replies, loop });
  return loop;
}

function parkPrinter(
  { printsWaitsFromMs: fromMs, poolName, workerId }: WorkerStart,
  sharedNow: () => number,
): (() => void) | undefined {
  if (fromMs === undefined) return undefined;
  return () =>
    runtime.printError(debugLine(poolName, sharedNow() - fromMs, `worker ${workerId} parked`));
}

/** Measures the memory of the worker if it has a limit, or for `metrics: true`. */
function watchMemory(
  { maxMemory: maxBytes, metrics }: WorkerStart,
  gauges: GaugeWriter,
): (() => void) | undefined {
  if (maxBytes === Infinity && metrics === undefined) return undefined;
  const watch = new MemoryWatch({
    maxBytes,
    bytes: () => {
      const bytes = runtime.memoryBytes(maxBytes);
      gauges.measured(bytes);
      return bytes;
    },
    now: runtime.now,
    onFull: (isFarOver) => post({ heddle: "full", isFarOver }),
  });
  return () => watch.check();
}

/** Time allowed for an uncaught exception to end the worker. */
const CRASH_MS = 100;

/**
 * Throws an uncaught exception from a separate macrotask, which ends the worker and notifies the host. The worker also
 * ends if a task's module handles such exceptions, since its loop has stopped.
 */
function crash(error: unknown): void {
  runtime.macrotask(() => {
    runtime.setTimeout(() => host.exit(1), CRASH_MS);
    throw error;
  });
}

/** Time allowed for the iterators of open streams to end, before the teardown hooks run. */
const STREAM_CLOSE_MS = 1000;

let isLeaving = false;

/** Ends this worker after its streams have ended and the teardown hooks of its task modules have run. */
async function leave(realm: WorkerRealm, streams: ResultStreams): Promise<void> {
  if (isLeaving) return;
  isLeaving = true;
  await Promise.race([
    streams.close(),
    new Promise<void>((resolve) => runtime.setTimeout(resolve, STREAM_CLOSE_MS)),
  ]);
  for (let hook = realm.teardowns.pop(); hook !== undefined; hook = realm.teardowns.pop()) {
    try {
      await hook();
    } catch (error) {
      post({ heddle: "unhandledRejection", error: pack(error) });
    }
  }
  exitSoon(0);
}

/**
 * Exits after pending messages have left, from a separate macrotask: ending a thread inside a promise job or the
 * evaluation of a module has crashed runtimes.
 */
function exitSoon(code: number): void {
  runtime.setTimeout(() => host.exit(code), 0);
}
