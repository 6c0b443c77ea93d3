/**
 * What a worker does: waits for its start data, loads the tasks, builds its side of the lane, reports that it is ready and
 * enters the loop. `mod-worker.ts` calls `serveThread` when it has attached the features. A host where no thread can start
 * imports that as well, to serve workers on its own thread.
 */
import { Promise } from "../builtins.ts";
import { WorkerStartError } from "../errors.ts";
import { Endpoint } from "../lane/endpoint.ts";
import {
  BEGUN,
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
import { links } from "../lane/links.ts";
import {
  FLUSH,
  type SharedMessage,
  type StartOutcome,
  WAKE,
  type WorkerStart,
} from "../protocol/start-data.ts";
import { hostWorkers } from "../realm/host-workers.ts";
import { enterWorkerRealm, type WorkerRealm } from "../realm/worker-realm.ts";
import { SpscRing } from "../ring/spsc-ring.ts";
import { workerRuntime } from "../runtimes/worker.ts";
import { unpackData } from "../shared-entry.ts";
import { AwakeCount } from "../sync/awake-count.ts";
import { HostWaker, wakeBlockedHost } from "../sync/host-parking.ts";
import { HostThreadParker } from "../sync/host-thread-parking.ts";
import { SpaceFlag } from "../sync/space-flag.ts";
import { Parker } from "../sync/worker-parking.ts";
import { VERSION } from "../version.ts";
import { seams } from "./feature.ts";
import { load, modulesOf, packReasonOf } from "./loading/load-tasks.ts";
import { WorkerLoop } from "./loop.ts";
import { Replies } from "./replies.ts";
import { reportErrors } from "./report-errors.ts";
import type { Serve, Site } from "./site.ts";
import { WorkerCore } from "./worker-core.ts";

const runtime = workerRuntime;

/** Serves a worker: returns what takes its messages, the start data first. */
export const serve: Serve = (site) => {
  let receive: ((message: unknown) => void) | undefined;
  return (message) => {
    if (receive === undefined) receive = begin(message as WorkerStart, site);
    else receive(message);
  };
};

/** Serves the host of this thread by `serve`, or that of this process, unless it is a host itself. */
export function serveThread(serve: Serve): void {
  if (hostWorkers() !== undefined) return;
  if (runtime.isProcess === true) {
    void seams.loadServing?.().then((serveProcess) => serveProcess(serve, runtime));
    return;
  }
  const parent = runtime.parent();
  reportErrors(parent, runtime);
  // The listener keeps the worker alive. The thread may start before its start data exists.
  parent.onMessage(serve({
    parent,
    isHost: false,
    known: [],
    enter: (realm, { limits, library }, f) => {
      const enter = (): void => {
        enterWorkerRealm(realm);
        f();
      };
      if (limits.permission === undefined) enter();
      else runtime.confine(limits, library, realm.modules).then(enter).catch(crash);
    },
    crash,
  }));
}

/** Other code may send messages to the worker too, so heddle's messages carry a mark. */
function isMarked(message: unknown): message is { readonly heddle: string } {
  return typeof message === "object" && message !== null && "heddle" in message;
}

/** Starts serving the pool that the start data describes. Returns what takes further messages. */
function begin(given: WorkerStart, site: Site): (message: unknown) => void {
  const { parent } = site;
  if (given.version !== VERSION) return refuse(given, site);
  const core = new WorkerCore(given, site, runtime, seams.starts);
  const { start } = core;
  setLife(start, BEGUN);
  core.signals?.wake(); // at once: it may end while it loads its modules
  const realm = core.realm = createRealm(core);
  const receive = (message: unknown): void => {
    if (message === WAKE) core.loop?.onWakeMessage();
    else if (message === FLUSH) parent.flushOutput(() => core.post({ heddle: "flushed" }));
    else if (isMarked(message)) {
      const { heddle: name } = message;
      if (name === "notice") realm.shared.take();
      else if (name === "shared") realm.shared.receive?.((message as SharedMessage).body);
      else for (const take of seams.messages.get(name) ?? []) take(message as never, core);
    }
  };
  if (start.directOutputs.length > 0) parent.writeDirectly(start.directOutputs);
  const { messages } = core.endpoint = createEndpoint(core);
  // A worker that waits without its event loop finds messages of the host on the payload port.
  realm.shared.take = () => {
    for (let next = messages.takeNotice(); next !== undefined; next = messages.takeNotice()) {
      receive(next);
    }
  };
  parent.onExit(() => {
    try {
      setLife(start, ENDED);
    } catch {
      // A task has removed Atomics. The thread must end nevertheless.
    }
  });
  site.enter(realm, start, () => {
    load(core).then((outcome) => {
      if (outcome.heddle === "failed") {
        announceStart(outcome, core);
        exitSoon(1, site);
        return;
      }
      for (const onLoaded of core.onLoaded) onLoaded();
      const { promise, resolve } = Promise.withResolvers<void>();
      void promise.then(() => core.onOutside()); // in the context of now, whenever it is resolved
      core.callOutside = resolve;
      const loop = core.loop = createLoop(core);
      const { emit } = seams;
      if (emit !== undefined) realm.emit = (value) => emit(value, core);
      announceStart(outcome, core);
      loop.start();
    }).catch(site.crash);
  });
  return receive;
}

/**
 * Tells a host that blocks of the worker's life, by bits of the word LIFE: after what it tells of was posted. A host in its event
 * loop gets messages.
 */
function setLife(
  { lane, hostControl }: WorkerStart,
  life: typeof BEGUN | typeof STARTED | typeof ENDED,
): void {
  // SYNC(life): after what it tells was posted, before the host is woken. Pairs with ThreadLane.checkLife. Needs seq-cst.
  Atomics.or(new Int32Array(lane, 0, REQUEST_RING / 4), LIFE, life);
  wakeBlockedHost(new Int32Array(hostControl), HOST_PARKED_WORD);
}

function createRealm(core: WorkerCore): WorkerRealm {
  const { start } = core;
  let data: unknown;
  const realm: WorkerRealm = {
    isLoading: true,
    info: Object.freeze({
      id: start.workerId,
      slot: start.slot,
      pool: start.poolName,
      // At the first reading: it may need heddle/shared.
      get data(): unknown {
        return data ??= realm.unpack(start.data);
      },
      context: undefined,
    }),
    get modules() {
      return modulesOf(core);
    },
    get bareTasks() {
      return start.tasks.filter(({ functionName }) => functionName !== undefined)
        .map(({ name }) => name);
    },
    active: start.active,
    teardowns: [],
    emit: undefined,
    get requests() {
      return seams.requests && core.part(seams.requests);
    },
    shared: {
      post: (body) => core.notify({ heddle: "shared", body }),
      receive: undefined,
      take: () => {},
    },
    unpack: (data) => unpackData(data, runtime),
  };
  return realm;
}

function announceStart(outcome: StartOutcome, { start, port, post, mayWait }: WorkerCore): void {
  // For a host that blocks; a pool of tasks by name needs to know no more than that it has started.
  const isTold = outcome.heddle === "failed" || outcome.tasks !== undefined;
  if (isTold && mayWait) port.post(outcome, []);
  setLife(start, STARTED);
  post(outcome);
}

/** A bundle names the heddle of the machine that made it, where another version may be installed by now. */
function refuse(start: WorkerStart, site: Site): (message: unknown) => void {
  const { post } = site.parent;
  if (start.lane !== undefined) setLife(start, BEGUN);
  const message =
    `heddle ${start.version} has started a worker of heddle ${VERSION}: bundle again.`;
  post({
    heddle: "failed",
    part: "module",
    error: packReasonOf(runtime, new WorkerStartError(message)),
  });
  exitSoon(1, site);
  return (message) => {
    if (message === FLUSH) site.parent.flushOutput(() => post({ heddle: "flushed" }));
  };
}

function createLoop(core: WorkerCore): WorkerLoop {
  const { start, endpoint, control, signals, site, port } = core;
  links.current?.attach(endpoint, port, () => loop.onWakeMessage());
  const hostWords = new Int32Array(start.hostControl);
  core.replies = new Replies(
    endpoint,
    signals ?? new HostWaker(hostWords, HOST_PARKED_WORD, site.parent.post, WAKE),
    signals ?? new SpaceFlag(control, WANTS_SPACE),
    signals ?? new SpaceFlag(control, REQUEST_SPACE),
    control,
  );
  // In a bundle, the worker may have features that its pool has not.
  core.replies.hasResults = start.uses?.has("streams") !== false;
  const active = new AwakeCount(start.active, start.cores);
  const WorkerParker = core.staysInLoop ? HostThreadParker : Parker;
  const parker = new WorkerParker(control, PARKED_WORD, active.words);
  const loop: WorkerLoop = new WorkerLoop(core, parker, active, () => void leave(core));
  return loop;
}

function createEndpoint({ start, codec, port, site }: WorkerCore): Endpoint {
  const requests = SpscRing.attach(start.lane, REQUEST_RING);
  const responses = SpscRing.attach(start.lane, responseRing(start.requestCapacity));
  const consumer = (site.takeConsumer ?? links.current?.takeConsumer)?.(requests) ??
    requests.takeConsumer();
  return new Endpoint(responses.takeProducer(), consumer, codec, port);
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

/** Time allowed for what features end, such as the iterators of open streams. */
const END_MS = 1000;

/** Ends this worker after its features have ended what is open, and the teardown hooks of its task modules have run. */
async function leave(core: WorkerCore): Promise<void> {
  if (core.isLeaving) return;
  core.isLeaving = true;
  if (core.onEnd.length > 0) {
    await Promise.race([
      Promise.all(core.onEnd.map((end) => end())),
      new Promise<void>((resolve) => runtime.setTimeout(resolve, END_MS)),
    ]);
  }
  const { teardowns } = core.realm;
  for (let hook = teardowns.pop(); hook !== undefined; hook = teardowns.pop()) {
    try {
      await hook();
    } catch (error) {
      core.post({ heddle: "unhandledRejection", error: packReasonOf(runtime, error) });
    }
  }
  exitSoon(0, core.site);
}

/**
 * Exits after pending messages have left, from a separate macrotask: ending a thread inside a promise job or the
 * evaluation of a module has crashed runtimes.
 */
function exitSoon(code: number, { parent }: Site): void {
  runtime.setTimeout(() => parent.exit(code), 0);
}
