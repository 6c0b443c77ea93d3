/**
 * Main module of a worker thread: the only module whose import has effects.
 *
 * Builds the worker's side of the lane from its start data, loads the tasks, says that it is ready
 * and enters the loop.
 */
import { Codec, packError } from "../codec/codec.ts";
import { isError, textOf } from "../codec/fault.ts";
import { Endpoint } from "../endpoint/endpoint.ts";
import {
  HOST_PARKED_WORD,
  PARKED_WORD,
  REQUEST_RING,
  REQUEST_SPACE,
  responseRing,
  WANTS_SPACE,
} from "../endpoint/lane-layout.ts";
import { ServiceTimer } from "../endpoint/service-times.ts";
import { unpackReason } from "../endpoint/reason.ts";
import {
  type AbortMessage,
  FLUSH,
  WAKE,
  type WorkerMessage,
  type WorkerStart,
} from "../endpoint/worker-start.ts";
import { TaskNotFoundError } from "../errors.ts";
import { ActiveCount } from "../park/active-count.ts";
import { HostWaker } from "../park/host-word.ts";
import { SpaceFlag } from "../park/space-flag.ts";
import { Parker } from "../park/wake-word.ts";
import { enterWorkerRealm, type WorkerRealm } from "../realm/worker-realm.ts";
import { SpscRing } from "../ring/spsc-ring.ts";
import { currentRuntime } from "../runtimes/current.ts";
import { WorkerLoop } from "./loop.ts";
import { MemoryWatch } from "./memory-watch.ts";
import { Replies } from "./replies.ts";
import { TaskSignals } from "./signals.ts";
import { loadTasks, type WorkerTask } from "./tasks.ts";

const runtime = currentRuntime;
const parent = runtime.parent();
const host = parent.handle;
const start = parent.data as WorkerStart;
runtime.confineSelf(start.limits, [
  import.meta.url,
  ...start.tasks.map(({ moduleUrl }) => moduleUrl),
]);
const realm: WorkerRealm = { isLoading: true, active: start.active, teardowns: [] };
enterWorkerRealm(realm);

function post(message: WorkerMessage): void {
  host.post(message);
}

function pack(reason: unknown): Uint8Array {
  const error = isError(reason) ? reason : new Error(textOf(reason));
  try {
    return packError(runtime, error);
  } catch {
    return packError(runtime, new Error(textOf(reason))); // what it carries cannot be told
  }
}

host.onUnhandledRejection((reason) => post({ heddle: "unhandledRejection", error: pack(reason) }));

const control = new Int32Array(start.lane, 0, REQUEST_RING / 4);
const hostControl = new Int32Array(start.hostControl);
const codec = new Codec({
  access: runtime,
  origin: start.workerId + 1,
  maxPayloadBytes: start.maxPayloadBytes,
  mayLend: false,
});
const endpoint = new Endpoint(
  SpscRing.attach(start.lane, responseRing(start.requestCapacity)).takeProducer(),
  SpscRing.attach(start.lane, REQUEST_RING).takeConsumer(),
  codec,
  runtime.openPort(start.payloadPort),
);
const replies = new Replies(
  endpoint,
  new HostWaker(hostControl, HOST_PARKED_WORD, () => post(WAKE)),
  new SpaceFlag(control, WANTS_SPACE),
  new SpaceFlag(control, REQUEST_SPACE),
  control,
);

let loop: WorkerLoop | undefined;
const signals = new TaskSignals(start.abortWords, runtime.now);

// Listening is what keeps the worker alive; attached before the tasks load, so no wake is missed.
host.onMessage((message) => {
  if (isAbort(message)) {
    signals.deliver(message.slot, message.generation, unpackReason(runtime, message.reason));
  } else if (message === FLUSH) host.flushOutput(() => post({ heddle: "flushed" }));
  else loop?.onWakeMessage();
});

/** Tasks may be sent messages by others; ours are marked. */
function isAbort(message: unknown): message is AbortMessage {
  return typeof message === "object" && message !== null &&
    (message as { readonly heddle?: unknown }).heddle === "abort";
}

function watchMemory(): (() => void) | undefined {
  if (start.maxMemory === Infinity) return undefined;
  const watch = new MemoryWatch({
    maxBytes: start.maxMemory,
    bytes: runtime.memoryBytes,
    now: runtime.now,
    onFull: (isFarOver) => post({ heddle: "full", isFarOver }),
  });
  return () => watch.look();
}

/** How long an uncaught exception has to end the worker. */
const CRASH_MS = 100;

/**
 * An uncaught exception, from a macrotask of its own: ends the worker and tells the host. If a task's module handles
 * such exceptions, it is ended all the same: its loop has stopped.
 */
function crash(error: unknown): void {
  runtime.soon(() => {
    runtime.setTimeout(() => host.exit(1), CRASH_MS);
    throw error;
  });
}

let isLeaving = false;

/** Ends this worker, after the hooks of its tasks' modules. */
async function leave(): Promise<void> {
  if (isLeaving) return;
  isLeaving = true;
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
 * Messages must leave before the thread does. And from a macrotask of its own: ending a thread in the middle of
 * whatever ran the loop (a promise job, the evaluation of a module) has crashed runtimes.
 */
function exitSoon(code: number): void {
  runtime.setTimeout(() => host.exit(code), 0);
}

async function main(): Promise<void> {
  let tasks: readonly WorkerTask[];
  try {
    tasks = await loadTasks(start.tasks);
  } catch (error) {
    post({
      heddle: "failed",
      taskMissing: error instanceof TaskNotFoundError,
      error: pack(error),
    });
    exitSoon(1);
    return;
  }
  realm.isLoading = false;
  const active = new ActiveCount(start.active, runtime.cores);
  loop = new WorkerLoop({
    runtime,
    endpoint,
    replies,
    parker: new Parker(control, PARKED_WORD, active.words),
    active,
    control,
    tasks,
    maxConcurrency: start.maxConcurrency,
    times: new ServiceTimer(start.serviceTimes, runtime.now),
    signals,
    spinMs: start.spinMs,
    onTurn: watchMemory(),
    isDoomed: () => host.isDoomed(),
    onClose: () => void leave(),
    onCrash: crash,
  });
  post({ heddle: "ready" });
  loop.start();
}

// Not awaited: this module has been evaluated before the loop runs for the first time, and no top-level
// await is pending while it does.
runtime.soon(() => main().catch(crash));
