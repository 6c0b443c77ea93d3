/**
 * One worker of a pool: a pool of heddle with one thread, which is given up when that ends. docs/internals/scheduling.md tells
 * why one pool does not serve all threads.
 */
import { createPool, type Pool, type PoolOptions, WorkerLostError, WorkerStartError } from "heddle";
import { afterTurn, EventEmitterAsyncResource, pathToFileURL, startTimer } from "./runtime.ts";
import { type PiscinaWorker, workerSymbol } from "./balancer.ts";
import { threadTermination, translated, workerExited } from "./errors.ts";
import type { HandlerPlace } from "./handlers.ts";
import type { WorkerSetup } from "./worker-data.ts";
import { Histogram } from "./histogram.ts";
import type { FilledOptions } from "./options.ts";
import type { QueuedTask } from "./task.ts";
import { offerEarly } from "./early-data.ts";
import { limitOptions, threadOptions } from "./worker-options.ts";

/** Their task module, which is also what sets each worker up. */
const WORKER = new URL("./worker.js", import.meta.url);

type Runner = Omit<typeof import("./worker.ts"), "default">;

interface KnownPlace extends HandlerPlace {
  /** Whether one of its tasks has ended well: the number says enough from then on. */
  isLoaded: boolean;
}

export interface WorkerEvents {
  onReady(worker: PoolWorker): void;
  onTaskDone(worker: PoolWorker): void;
  /** It has ended: by an error, or, without one, by itself. */
  onEnd(worker: PoolWorker, error: unknown, isExit: boolean): void;
  onMessage(message: unknown): void;
}

/** Tasks of one worker may wait for each other, so heddle sets them no limit. */
const MAX_CONCURRENCY = 2 ** 20;
/** A worker that is given up ends within this time, in milliseconds. */
const TEARDOWN_MS = 20;

/** Workers that live, and by their events their pools: a program that only listens need not keep its `Piscina`. */
const living = new Set<PoolWorker>();

let lastId = 0;

/** A thread as `pool.threads` shows it. */
export class PoolThread extends EventEmitterAsyncResource {
  readonly threadId: number;
  readonly #terminate: () => Promise<void>;

  constructor(threadId: number, terminate: () => Promise<void>) {
    super({ name: "PiscinaThread" });
    this.threadId = threadId;
    this.#terminate = terminate;
  }

  /** Without effect: tasks keep the process running, idle workers do not. */
  ref(): void {}
  unref(): void {}

  async terminate(): Promise<number> {
    await this.#terminate();
    return 1;
  }
}

export class PoolWorker {
  readonly id: number = ++lastId;
  readonly tasks: Set<QueuedTask> = new Set();
  /** Whether it takes tasks; the first workers of a pool do so while they start. */
  isReady = false;
  hasStarted = false;
  isAnnounced = false;
  isDestroyed = false;
  readonly interface: PiscinaWorker;
  readonly histogram: Histogram | undefined;
  readonly thread: PoolThread;
  readonly #pool: Pool<Runner>;
  readonly #events: WorkerEvents;
  /** Functions that tasks have named, by file and name. */
  readonly #places = new Map<string, KnownPlace>();
  readonly #run: Pool<Runner>["call"]["run"];
  readonly #runFirst: Pool<Runner>["call"]["runFirst"];
  /** The place of the last task. */
  #last: KnownPlace | undefined;
  /** Of its tasks. */
  #abortable = 0;
  #closed: Promise<void> | undefined;
  #idle: { clear(): void } | undefined;

  constructor(options: FilledOptions, events: WorkerEvents) {
    const { filename, name, workerData } = options;
    this.#events = events;
    this.histogram = options.workerHistogram ? new Histogram() : undefined;
    this.interface = interfaceOf(this);
    this.thread = new PoolThread(this.id, () => {
      this.#end(workerExited(1), true);
      return this.destroy();
    });
    const setup: WorkerSetup = {
      place: filename === null ? undefined : this.#placeOf(filename, name),
      ...(workerData !== undefined && { workerData }),
    };
    const poolOptions: PoolOptions = {
      threads: 1,
      maxConcurrency: MAX_CONCURRENCY,
      startTimeoutMs: Infinity,
      teardownTimeoutMs: TEARDOWN_MS,
      worker: { name: "Piscina", setup: WORKER, data: setup, ...threadOptions(options) },
      ...limitOptions(options),
    };
    const pool = this.#pool = offerEarly(options, () => startPool(poolOptions));
    living.add(this);
    this.#run = pool.call.run;
    this.#runFirst = pool.call.runFirst;
    let startExitCode: number | undefined;
    pool.addEventListener("workerExit", (event) => {
      const { exitCode, error } = event.detail;
      startExitCode = exitCode;
      if (error === undefined) return;
      event.preventDefault(); // the pool tells it
      this.#end(error.cause ?? workerExited(exitCode), error.cause === undefined);
    });
    pool.addEventListener("message", ({ detail }) => events.onMessage(detail.message));
    pool.addEventListener("unhandledRejection", (event) => {
      event.preventDefault();
      this.#end(event.detail.error, false);
    });
    pool.ready.then(() => this.#becomeReady(), (error: WorkerStartError) => {
      const isExit = error.cause === undefined;
      this.#end(isExit ? workerExited(startExitCode) : error.cause, isExit);
    });
  }

  /** Its tasks; Infinity while it runs one that may be aborted. */
  get usage(): number {
    return this.isRunningAbortable ? Infinity : this.tasks.size;
  }

  get isRunningAbortable(): boolean {
    return this.#abortable > 0 && this.tasks.size === 1;
  }

  post(task: QueuedTask, now: () => number): void {
    this.#idle?.clear();
    this.tasks.add(task);
    if (task.isAbortable) this.#abortable++;
    const startMs = this.histogram === undefined ? 0 : now();
    const settle = (error: unknown, isFailed: boolean, result?: unknown): void => {
      if (!this.tasks.delete(task)) return; // it was aborted, or its worker has ended
      if (task.isAbortable) this.#abortable--;
      this.histogram?.record(now() - startMs);
      this.#events.onTaskDone(this);
      task.done(error, isFailed, result);
    };
    try {
      this.#call(task).then(
        (result) => settle(null, false, result),
        (error) => {
          const isOfWorker = error instanceof WorkerLostError || error instanceof WorkerStartError;
          // The event of its end comes first, and fails the task. Without one the task itself has thrown it.
          if (isOfWorker) afterTurn(() => settle(error, true));
          else settle(translated(error), true);
        },
      );
    } catch (error) {
      settle(translated(error), true);
    }
    task.task = null;
  }

  #call({ filename, name, task: value, transferList }: QueuedTask): Promise<unknown> {
    const place = this.#placeOf(filename, name);
    const run = this.#run;
    if (place.isLoaded && transferList.length === 0) {
      return (place.id === 0 ? this.#runFirst(value) : run(place.id, value)) as Promise<unknown>;
    }
    const transfer = { transfer: transferList };
    if (place.isLoaded) return run.with(transfer)(place.id, value) as Promise<unknown>;
    const { id, url } = place;
    const { runNew } = this.#pool.call;
    const result = runNew.with(transfer)({ id, url, filename, name }, value);
    return result.then((settled) => {
      place.isLoaded = true;
      return settled;
    });
  }

  #placeOf(filename: string, name: string): KnownPlace {
    const last = this.#last;
    if (last !== undefined && last.filename === filename && last.name === name) return last;
    const key = `${name}\n${filename}`;
    const known = this.#places.get(key);
    if (known !== undefined) return this.#last = known;
    const url = pathToFileURL(filename).href;
    const place = { id: this.#places.size, url, filename, name, isLoaded: false };
    this.#places.set(key, place);
    return place;
  }

  /** Calls back when it had no task for that time. */
  whenIdle(ms: number, callback: () => void): void {
    this.#idle?.clear();
    this.#idle = startTimer(callback, ms);
  }

  /** Stops the thread. Its tasks fail. */
  destroy(): Promise<void> {
    if (this.#closed !== undefined) return this.#closed;
    this.isDestroyed = true;
    living.delete(this);
    this.#idle?.clear();
    const tasks = [...this.tasks];
    this.tasks.clear();
    this.#closed = this.#pool.shutdown(0).then(() => void this.thread.emit("exit", 1));
    for (const task of tasks) task.done(threadTermination(), true);
    return this.#closed;
  }

  #becomeReady(): void {
    if (this.isDestroyed) return;
    this.hasStarted = true;
    if (this.isReady) return;
    this.isReady = true;
    this.#events.onReady(this);
  }

  #end(error: unknown, isExit: boolean): void {
    if (this.isDestroyed) return;
    this.#events.onEnd(this, error, isExit);
  }
}

function startPool(options: PoolOptions): Pool<Runner> {
  try {
    return createPool(options)<Runner>(WORKER);
  } catch (error) {
    throw translated(error); // `workerData` cannot be cloned, say
  }
}

function interfaceOf(worker: PoolWorker): PiscinaWorker {
  return {
    id: worker.id,
    get currentUsage() {
      return worker.usage;
    },
    get isRunningAbortableTask() {
      return worker.isRunningAbortable;
    },
    get histogram() {
      return worker.histogram?.summary ?? null;
    },
    [workerSymbol]: worker,
    terminating: false,
    get destroyed() {
      return worker.isDestroyed;
    },
  };
}
