/** A pool of workpool's API: which tasks wait, which worker runs one, and when workers start and end. */
import { availableCpus } from "./environment.ts";
import { WorkerHandler } from "./handler.ts";
import { kindOf, type WorkerKind } from "./options.ts";
import { Promise } from "./promise.ts";
import { createQueue, type Task, type TaskQueue } from "./queues.ts";
import type {
  Any,
  AnyFunction,
  ExecOptions,
  PoolStats,
  Proxy,
  WorkerArg,
  WorkerPoolOptions,
} from "./types.ts";

const DEFAULT_TERMINATE_TIMEOUT = 1000;
const FIRST_DEBUG_PORT = 43210;

/** Of all pools of this program. */
const debugPorts = new Set<number>();

/** Workers and the tasks that wait for them. */
export class Pool {
  /** The path of the script of its workers. */
  readonly script: string | null;
  /** Arguments of processes. */
  readonly forkArgs: readonly string[];
  /** Options of processes. */
  readonly forkOpts: NonNullable<WorkerArg["forkOpts"]>;
  /** Options of web workers. */
  readonly workerOpts: object;
  /** Options of threads. */
  readonly workerThreadOpts: NonNullable<WorkerArg["workerThreadOpts"]>;
  /** As given. */
  readonly workerType: string;
  /** Most tasks that wait. */
  readonly maxQueueSize: number;
  /** Milliseconds that a worker has to end. */
  readonly workerTerminateTimeout: number;
  /** Whether what workers print becomes events. */
  readonly emitStdStreams: boolean;
  /** Most workers. */
  readonly maxWorkers: number;
  /** Workers that are kept. */
  readonly minWorkers: number | undefined;
  /** The workers. */
  readonly workers: WorkerHandler[] = [];
  /** The tasks that wait. */
  readonly taskQueue: TaskQueue;
  readonly onCreateWorker: (arg: WorkerArg) => WorkerArg | undefined | void;
  readonly onTerminateWorker: (arg: WorkerArg) => void;
  readonly #kind: WorkerKind;
  readonly #firstDebugPort: number;

  /** Creates a pool; see `pool`. */
  constructor(script?: string | WorkerPoolOptions | null, options?: WorkerPoolOptions) {
    const isScript = typeof script === "string";
    const given = (isScript ? options : script) ?? {};
    this.script = isScript ? script || null : null;
    this.taskQueue = createQueue(given.queueStrategy || "fifo");
    this.forkArgs = Object.freeze(given.forkArgs ?? []);
    this.forkOpts = Object.freeze(given.forkOpts ?? {});
    this.workerOpts = Object.freeze(given.workerOpts ?? {});
    this.workerThreadOpts = Object.freeze(given.workerThreadOpts ?? {});
    this.workerType = given.workerType || given.nodeWorker || "auto";
    this.maxQueueSize = given.maxQueueSize || Infinity;
    this.workerTerminateTimeout = given.workerTerminateTimeout || DEFAULT_TERMINATE_TIMEOUT;
    this.onCreateWorker = given.onCreateWorker ?? (() => {});
    this.onTerminateWorker = given.onTerminateWorker ?? (() => {});
    this.emitStdStreams = given.emitStdStreams ?? false;
    this.#kind = kindOf(given);
    this.#firstDebugPort = given.debugPortStart || FIRST_DEBUG_PORT;
    const max = "maxWorkers" in given
      ? checkCount("maxWorkers", given.maxWorkers, 1)
      : Math.max((availableCpus || 4) - 1, 1);
    if (!("minWorkers" in given)) {
      this.maxWorkers = max;
      this.minWorkers = undefined;
      return;
    }
    this.minWorkers = given.minWorkers === "max"
      ? max
      : checkCount("minWorkers", given.minWorkers, 0);
    this.maxWorkers = Math.max(this.minWorkers, max);
    this.#startMinimum();
  }

  /** Runs a function in a worker: one of its script by name, or a function by its source. */
  exec<T extends AnyFunction>(
    method: string | T,
    params?: Parameters<T> | null,
    options?: ExecOptions,
  ): Promise<ReturnType<T>, Any> {
    if (params && !Array.isArray(params)) {
      throw new TypeError('Array expected as argument "params"');
    }
    if (typeof method === "function") {
      return this.#enqueue("run", [String(method), params], options);
    }
    if (typeof method === "string") return this.#enqueue(method, params, options);
    throw new TypeError('Function or string expected as argument "method"');
  }

  #enqueue(
    method: string,
    params: unknown[] | null | undefined,
    options: ExecOptions | undefined,
  ): Promise<Any, Any> {
    if (this.taskQueue.size() >= this.maxQueueSize) {
      throw new Error(`Max queue size of ${this.maxQueueSize} reached`);
    }
    const resolver = Promise.defer();
    const { promise } = resolver;
    const task: Task = { method, params, resolver, timeout: null, options };
    this.taskQueue.push(task);
    // The time of a task counts from its start.
    const startTimer = promise.timeout;
    promise.timeout = (delay) => {
      if (!this.taskQueue.contains(task)) return startTimer.call(promise, delay);
      task.timeout = delay;
      return promise;
    };
    this.#next();
    return promise;
  }

  /** The functions of the workers, to be called by their names. */
  proxy<T extends { [name: string]: AnyFunction }>(): Promise<Proxy<T>, Any> {
    if (arguments.length > 0) throw new Error("No arguments expected");
    return this.exec("methods").then((names: readonly string[]) =>
      Object.fromEntries(
        names.map((name) => [name, (...args: unknown[]) => this.exec(name, args)]),
      ) as never
    );
  }

  /** Ends the workers, after their tasks or with `force` at once. Tasks that wait reject. */
  terminate(force?: boolean, timeout?: number): Promise<Any[], Any> {
    while (this.taskQueue.size() > 0) {
      const task = this.taskQueue.pop();
      if (!task) break;
      task.resolver.reject(new Error("Pool terminated"));
    }
    this.taskQueue.clear();
    return Promise.all(
      [...this.workers].map((worker) =>
        worker.terminateAndNotify(force, timeout)
          .then(() => this.#forget(worker))
          .always(() => this.onTerminateWorker(argOf(worker)))
      ),
    );
  }

  /** Numbers of workers and tasks. */
  stats(): PoolStats {
    const totalWorkers = this.workers.length;
    const busyWorkers = this.workers.filter((worker) => worker.busy()).length;
    return {
      totalWorkers,
      busyWorkers,
      idleWorkers: totalWorkers - busyWorkers,
      pendingTasks: this.taskQueue.size(),
      activeTasks: busyWorkers,
    };
  }

  /** Gives the next task to a worker that is free, or to a new one. */
  #next(): void {
    if (this.taskQueue.size() === 0) return;
    const worker = this.#freeWorker();
    const task = worker === undefined ? undefined : this.taskQueue.pop();
    if (worker === undefined || task === undefined) return;
    const { method, params, options, timeout } = task;
    const resolver = task.resolver as ReturnType<typeof Promise.defer>;
    if (!resolver.promise.pending) { // it was cancelled
      this.#next();
      return;
    }
    const done = worker.exec(method as string, params, resolver, options)
      .then(() => this.#next())
      .catch(() => worker.terminated ? this.#remove(worker) : undefined)
      .then(() => this.#next());
    if (typeof timeout === "number") done.timeout(timeout);
  }

  #freeWorker(): WorkerHandler | undefined {
    // Those that ended without a task; workerpool gives each one more task, which fails.
    for (const worker of this.workers.filter((each) => each.terminated)) this.#remove(worker);
    const free = this.workers.find((worker) => !worker.busy());
    if (free !== undefined || this.workers.length >= this.maxWorkers) return free;
    const worker = this.#createWorker();
    this.workers.push(worker);
    return worker;
  }

  /** Takes a worker that has ended out of the pool. */
  #remove(worker: WorkerHandler): Promise<unknown, Any> | undefined {
    if (!this.#forget(worker)) return undefined;
    this.#startMinimum();
    return worker.terminateAndNotify().always(() => this.onTerminateWorker(argOf(worker)));
  }

  /** False: it is not in the pool. */
  #forget(worker: WorkerHandler): boolean {
    const index = this.workers.indexOf(worker);
    if (index < 0) return false;
    debugPorts.delete(worker.options.debugPort);
    this.workers.splice(index, 1);
    return true;
  }

  #startMinimum(): void {
    while (this.workers.length < (this.minWorkers ?? 0)) this.workers.push(this.#createWorker());
  }

  #createWorker(): WorkerHandler {
    const { forkArgs, forkOpts, workerOpts, workerThreadOpts, script } = this;
    const own = { forkArgs, forkOpts, workerOpts, workerThreadOpts, script: script ?? undefined };
    const changed = this.onCreateWorker(own) || {};
    let debugPort = this.#firstDebugPort;
    while (debugPorts.has(debugPort)) debugPort++;
    const worker = new WorkerHandler({
      forkArgs: changed.forkArgs || forkArgs,
      forkOpts: changed.forkOpts || forkOpts,
      workerOpts: changed.workerOpts || workerOpts,
      workerThreadOpts: changed.workerThreadOpts || workerThreadOpts,
      script: changed.script || own.script,
      kind: this.#kind,
      workerTerminateTimeout: this.workerTerminateTimeout,
      emitStdStreams: this.emitStdStreams,
      debugPort,
    });
    debugPorts.add(debugPort);
    return worker;
  }
}

function argOf({ options, script }: WorkerHandler): WorkerArg {
  const { forkArgs, forkOpts, workerThreadOpts } = options;
  return { forkArgs, forkOpts, workerThreadOpts, script };
}

function checkCount(name: string, value: unknown, min: number): number {
  if (Number.isInteger(value) && (value as number) >= min) return value as number;
  throw new TypeError(`Option ${name} must be an integer number >= ${min}`);
}
