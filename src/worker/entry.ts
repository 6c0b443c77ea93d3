/**
 * Main module of a worker thread: the only module whose import has effects. A host where no thread can start imports it as
 * well, to serve workers on its own thread (`api/pool/host-worker.ts`).
 *
 * Waits for its start data, loads the tasks, builds the worker's side of the lane, reports that it is ready and enters
 * the loop.
 */
import { Promise } from "../builtins.ts";
import { Codec } from "../codec/codec.ts";
import { textOf } from "../codec/kinds/errors.ts";
import { Endpoint } from "../lane/endpoint.ts";
import { links } from "../lane/links.ts";
import type { WorkerMirror } from "../lane/mirror/worker-mirror.ts";
import {
  BEGUN,
  HOST_PARKED_WORD,
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
import type { MirroredStart } from "../protocol/mirrored-start.ts";
import {
  type AbortMessage,
  FLUSH,
  type HostMessage,
  type NoticeMessage,
  type ProfileMessage,
  type ProfileResponse,
  type SharedMessage,
  type StartOutcome,
  type StreamMessage,
  WAKE,
  type WorkerMessage,
  type WorkerStart,
} from "../protocol/start-data.ts";
import { WorkerStartError } from "../errors.ts";
import { AwakeCount } from "../sync/awake-count.ts";
import { HostWaker } from "../sync/host-parking.ts";
import { SpaceFlag } from "../sync/space-flag.ts";
import { HostThreadParker } from "../sync/host-thread-parking.ts";
import { Parker } from "../sync/worker-parking.ts";
import { hostWorkers } from "../realm/host-workers.ts";
import { enterWorkerRealm, type WorkerRealm } from "../realm/worker-realm.ts";
import { SpscRing } from "../ring/spsc-ring.ts";
import { currentRuntime } from "../runtimes/current.ts";
import type { PayloadPort } from "../runtimes/runtime.ts";
import { unpackData } from "../shared-entry.ts";
import { VERSION } from "../version.ts";
import { IN_BROWSER, ON_HOST } from "./requests/host-requests.ts";
import { WorkerLoop } from "./loop.ts";
import { announceEnd, setLife } from "./life.ts";
import { MemoryWatch } from "./memory-watch.ts";
import { followEndpoint, openMirrored } from "./mirrored.ts";
import { type Notice, postNotice } from "./notices.ts";
import { Replies } from "./replies.ts";
import type { ResultStreams } from "./streams/result-streams.ts";
import { load, type LoadedTasks, modulesOf, packReasonOf } from "./loading/load-tasks.ts";
import type { Serve, Site } from "./site.ts";
import { RareParts } from "./rare-parts.ts";

const runtime = currentRuntime;

/** A worker of a site, with what its functions share. */
interface Served extends Site {
  post: (message: WorkerMessage, transfer?: readonly unknown[]) => void;
  isLeaving: boolean;
}

/** Serves a worker: returns what takes its messages, the start data first. */
export const serve: Serve = (site) => {
  const served: Served = { ...site, post: site.parent.post, isLeaving: false };
  let receive: ((message: unknown) => void) | undefined;
  return (message) => {
    if (receive === undefined) receive = begin(message as WorkerStart, served);
    else receive(message);
  };
};

/** Serves the host of this thread. */
function serveThread(): void {
  const parent = runtime.parent();
  parent.onUncaught((error) =>
    parent.post({ heddle: "uncaught", error: packReasonOf(runtime, error) })
  );
  parent.onUnhandledRejection((reason) =>
    parent.post({ heddle: "unhandledRejection", error: packReasonOf(runtime, reason) })
  );
  // The listener keeps the worker alive. The thread may start before its start data exists.
  parent.onMessage(serve({
    parent,
    isHost: false,
    known: [],
    enter: (realm, { limits, library }, f) => {
      if (limits.permission !== undefined) runtime.confineSelf(limits, library, realm.modules);
      enterWorkerRealm(realm);
      f();
    },
    crash,
  }));
}

/** Other code may send messages to the worker too, so heddle's messages carry a mark. */
function isMarked(
  message: unknown,
): message is AbortMessage | HostMessage | SharedMessage | NoticeMessage {
  return typeof message === "object" && message !== null && "heddle" in message;
}

/** Starts serving the pool that the start data describes. Returns what takes further messages. */
function begin(given: WorkerStart | MirroredStart, site: Served): (message: unknown) => void {
  const { start, mirror } = "mirror" in given
    ? openMirrored(given, site, runtime.now)
    : { start: given, mirror: undefined };
  const { parent, post } = site;
  setLife(start, BEGUN);
  let loop: WorkerLoop | undefined;
  const { workerId, maxPayloadBytes } = start;
  const origin = workerId + 1;
  const codec = new Codec({ access: runtime, origin, maxPayloadBytes, allowsBorrow: false });
  const control = new Int32Array(start.lane, 0, REQUEST_RING / 4);
  const port = runtime.openPort(start.payloadPort);
  const notify: (message: Notice) => void = site.isHost || mirror !== undefined || !runtime.blocks
    ? post
    : (message) => postNotice(port, post, message);
  const rare = new RareParts(start.abortEpochs, {
    codec,
    control,
    post: notify,
    refusal: site.isHost ? ON_HOST : runtime.blocks ? undefined : IN_BROWSER,
  });
  const realm = createRealm(start, notify, rare);
  const receive = (message: unknown): void => {
    if (message === WAKE) loop?.onWakeMessage();
    else if (isMarked(message)) {
      if (message.heddle === "notice") realm.shared.take();
      else if (message.heddle === "shared") realm.shared.receive?.(message.body);
      else if (message.heddle === "profile") void profile(message);
      else if (message.heddle === "answer") rare.requests.onAnswer(message);
      else if (message.heddle === "mirror") {
        mirror!.receive(message);
        loop?.onWakeMessage();
      } else onMarked(message, rare, loop);
    } else if (message === FLUSH) parent.flushOutput(() => post({ heddle: "flushed" }));
  };
  if (start.directOutputs.length > 0) parent.writeDirectly(start.directOutputs);
  if (start.version !== VERSION) {
    refuse(start.version, site);
    return receive;
  }
  const endpoint = createEndpoint(start, codec, port);
  realm.shared.take = () => takeNotices(endpoint, receive);
  parent.onExit(() => announceEnd(start));
  site.enter(realm, start, () => {
    load(start, realm, runtime, site.known).then((loaded) => {
      if ("heddle" in loaded) {
        announceStart(loaded, start, port, site);
        exitSoon(1, site);
        return;
      }
      const early = { endpoint, control, rare, port, mirror, notify };
      const made = loop = createLoop(start, realm, early, loaded, site);
      realm.emit = (value) => made.events.emit(value);
      announceStart({ heddle: "ready", tasks: loaded.descriptions }, start, port, site);
      made.start();
    }).catch(site.crash);
  });
  return receive;
}

function createRealm(
  start: WorkerStart,
  notify: (message: Notice) => void,
  rare: RareParts,
): WorkerRealm {
  let data: unknown;
  const realm: WorkerRealm = {
    isLoading: true,
    info: Object.freeze({
      id: start.workerId,
      pool: start.poolName,
      // At the first reading: it may need heddle/shared.
      get data(): unknown {
        return data ??= realm.unpack(start.data);
      },
      context: undefined,
    }),
    get modules() {
      return modulesOf(start);
    },
    get bareTasks() {
      const bare = start.tasks.filter(({ functionName }) => functionName !== undefined);
      return bare.map(({ name }) => name);
    },
    active: start.active,
    teardowns: [],
    emit: undefined,
    get requests() {
      return rare.taskRequests;
    },
    shared: {
      post: (body) => notify({ heddle: "shared", body }),
      receive: undefined,
      take: () => {},
    },
    unpack: (data) => unpackData(data, runtime),
  };
  return realm;
}

/** Takes what the host has posted on the payload port, where a worker that waits without its event loop finds it. */
function takeNotices({ messages }: Endpoint, receive: (message: unknown) => void): void {
  for (let next = messages.takeNotice(); next !== undefined; next = messages.takeNotice()) {
    receive(next);
  }
}

function announceStart(
  outcome: StartOutcome,
  start: WorkerStart,
  port: PayloadPort,
  { post }: Served,
): void {
  // For a host that blocks; a pool of tasks by name needs to know no more than that it has started.
  const isTold = outcome.heddle === "failed" || outcome.tasks !== undefined;
  if (isTold && runtime.blocks) port.post(outcome, []);
  setLife(start, STARTED);
  post(outcome);
}

/** A bundle names the heddle of the machine that made it, where another version may be installed by now. */
function refuse(version: string, site: Served): void {
  const message = `heddle ${version} has started a worker of heddle ${VERSION}: bundle again.`;
  site.post({
    heddle: "failed",
    part: "module",
    error: packReasonOf(runtime, new WorkerStartError(message)),
  });
  exitSoon(1, site);
}

function onMarked(
  message: AbortMessage | StreamMessage,
  rare: RareParts,
  loop: WorkerLoop | undefined,
): void {
  const { slot, generation } = message;
  switch (message.heddle) {
    case "abort":
      rare.signals.deliver(slot, generation, unpackReason(runtime, message.reason));
      loop?.streams?.cancel(slot, generation);
      break;
    case "credit":
      loop?.streams?.acknowledge(slot, generation, message.batches);
      break;
    case "cancel":
      loop?.streams?.cancel(slot, generation);
      break;
    case "items":
    case "end":
      loop?.argumentStreams?.onMessage(message);
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

/** What a worker has before it loads its tasks. */
interface EarlyParts {
  readonly endpoint: Endpoint;
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly rare: RareParts;
  readonly port: PayloadPort;
  /** If it shares no memory with its host. */
  readonly mirror: WorkerMirror | undefined;
  readonly notify: (message: Notice) => void;
}

function createLoop(
  start: WorkerStart,
  realm: WorkerRealm,
  { endpoint, control, rare, port, mirror, notify }: EarlyParts,
  { tasks, named, context }: LoadedTasks,
  site: Served,
): WorkerLoop {
  const { parent, post, isHost } = site;
  links.current?.attach(endpoint, port, () => loop.onWakeMessage());
  if (mirror !== undefined) followEndpoint(mirror, endpoint, start);
  const hostWords = new Int32Array(start.hostControl);
  const replies = new Replies(
    endpoint,
    mirror ?? new HostWaker(hostWords, HOST_PARKED_WORD, parent.post, WAKE),
    mirror ?? new SpaceFlag(control, WANTS_SPACE),
    mirror ?? new SpaceFlag(control, REQUEST_SPACE),
    control,
  );
  const staysInLoop = isHost || mirror !== undefined;
  const WorkerParker = staysInLoop ? HostThreadParker : Parker;
  const maxMemory = isHost ? Infinity : start.maxMemory;
  const active = new AwakeCount(start.active, start.cores);
  const gauges = new GaugeWriter(start.lane);
  const sharedNow = (): number => runtime.originMs + runtime.now();
  const meter = start.metrics && new CallMeter(start.metrics, tasks.length, sharedNow);
  const loop: WorkerLoop = new WorkerLoop({
    runtime,
    endpoint,
    replies,
    parker: new WorkerParker(control, PARKED_WORD, active.words),
    active,
    control,
    tasks,
    maxConcurrency: start.maxConcurrency,
    times: new TaskTimer(
      start.taskTimings,
      runtime.now,
      meter && ((task, tenths) => meter.ended(task, tenths)),
    ),
    meter,
    context,
    gauges,
    onParked: start.printsWaitsFromMs === undefined ? undefined : parkPrinter(start, sharedNow),
    rare,
    post,
    callBack: (call, index, args) =>
      rare.requests.request(["callback", index], args, undefined, call),
    spinMs: staysInLoop ? 0 : start.spinMs,
    hostWords,
    mayBlock: !staysInLoop,
    onTurn: maxMemory === Infinity && start.metrics === undefined
      ? undefined
      : watchMemory(maxMemory, gauges, notify),
    isTerminating: parent.isTerminating,
    onClose: () => void leave(realm, loop.streams, site),
    onCrash: site.crash,
  });
  rare.start({ endpoint, replies, loop, tasks, named });
  return loop;
}

function createEndpoint(start: WorkerStart, codec: Codec, port: PayloadPort): Endpoint {
  const requests = SpscRing.attach(start.lane, REQUEST_RING);
  const responses = SpscRing.attach(start.lane, responseRing(start.requestCapacity));
  const consumer = links.current?.takeConsumer(requests) ?? requests.takeConsumer();
  return new Endpoint(responses.takeProducer(), consumer, codec, port);
}

function parkPrinter(
  { printsWaitsFromMs: fromMs, poolName, workerId }: WorkerStart,
  sharedNow: () => number,
): () => void {
  return () =>
    runtime.printError(debugLine(poolName, sharedNow() - fromMs!, `worker ${workerId} parked`));
}

/** Measures the memory of the worker if it has a limit, or for `metrics: true`. */
function watchMemory(
  maxBytes: number,
  gauges: GaugeWriter,
  post: (message: Notice) => void,
): () => void {
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
    runtime.setTimeout(() => runtime.parent().exit(1), CRASH_MS);
    throw error;
  });
}

/** Time allowed for the iterators of open streams to end, before the teardown hooks run. */
const STREAM_CLOSE_MS = 1000;

/** Ends this worker after its streams have ended and the teardown hooks of its task modules have run. */
async function leave(
  realm: WorkerRealm,
  streams: ResultStreams | undefined,
  site: Served,
): Promise<void> {
  if (site.isLeaving) return;
  site.isLeaving = true;
  await (streams && Promise.race([
    streams.close(),
    new Promise<void>((resolve) => runtime.setTimeout(resolve, STREAM_CLOSE_MS)),
  ]));
  for (let hook = realm.teardowns.pop(); hook !== undefined; hook = realm.teardowns.pop()) {
    try {
      await hook();
    } catch (error) {
      site.post({ heddle: "unhandledRejection", error: packReasonOf(runtime, error) });
    }
  }
  exitSoon(0, site);
}

/**
 * Exits after pending messages have left, from a separate macrotask: ending a thread inside a promise job or the
 * evaluation of a module has crashed runtimes.
 */
function exitSoon(code: number, { parent }: Site): void {
  runtime.setTimeout(() => parent.exit(code), 0);
}

// Last: all above exists.
if (hostWorkers() === undefined) serveThread();
