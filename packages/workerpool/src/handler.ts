/** One worker of a pool: a pool of heddle with one thread or process, which is given up when that ends. */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { ResourceLimits } from "node:worker_threads";
import type { PoolOptions } from "heddle";
import type { CorePool, CorePoolOptions, FeatureName } from "heddle/core";
import { dataToError, type Loss, lossError, TerminateError } from "./errors.ts";
import { type HandlerOptions, poolOptions, type WorkerKind } from "./options.ts";
import { Promise, type Resolver } from "./promise.ts";
import type { Any, ExecOptions } from "./types.ts";
import type { Outcome } from "./worker.ts";

type Tasks = typeof import("./worker.ts");
type WorkerPool = CorePool<Tasks, "streams" | "limits" | "values">;

/** A task that a worker has. */
interface Assigned {
  readonly resolver: Resolver;
  readonly options: ExecOptions | undefined;
}

/** Called when a worker has ended. */
export type Terminated = (error: unknown, worker: WorkerHandler) => void;

const require = createRequire(import.meta.url);
const WORKER = new URL("./worker.js", import.meta.url);

/** What programs see of the thread or process itself. */
export interface WorkerView {
  /** Whether it is a thread. */
  readonly isWorkerThread: boolean;
  /** Whether it is a process. */
  readonly isChildProcess: boolean;
  /** The number of the process, after its start. */
  pid: number | undefined;
  /** The limits of the thread. */
  readonly resourceLimits: ResourceLimits;
  /** Ends it at once. */
  kill(): boolean;
  /** The same. */
  disconnect(): void;
}

/** A worker of a pool. */
export class WorkerHandler {
  /** The path of its script. */
  readonly script: string;
  /** What it was made with. */
  readonly options: HandlerOptions;
  /** The thread or process; null after its end. */
  worker: WorkerView | null;
  /** Whether it ends when its tasks have. */
  terminating = false;
  /** Whether it has ended. */
  terminated = false;
  readonly #pool: WorkerPool;
  readonly #isJson: boolean;
  readonly #tasks = new Map<number, Assigned>();
  /** Tasks that were cancelled and whose abort listeners run. */
  readonly #cancelled = new Map<number, Assigned & { expire(error: Error): void }>();
  #isEnding = false;
  #onTerminated: Terminated | undefined;
  #lastId = 0;

  /** Starts the worker. */
  constructor(options: HandlerOptions) {
    const { kind, script, workerThreadOpts, forkOpts } = options;
    this.options = options;
    this.script = script ?? fileURLToPath(WORKER);
    this.#isJson = kind === "process" && forkOpts?.serialization !== "advanced";
    this.worker = {
      isWorkerThread: kind === "thread",
      isChildProcess: kind === "process",
      pid: undefined,
      resourceLimits: workerThreadOpts?.resourceLimits ?? {},
      kill: () => this.#kill(kind),
      disconnect: () => void this.#kill(kind),
    };
    this.#pool = startPool(
      options,
      this.#isJson,
      (text, stream) => this.#tellAll({ [stream]: text }),
    );
    this.#pool.call.attach.with({ onEvent: (event) => this.#onEvent(event) })(kind === "process")
      .catch((error: Loss) => this.#onLost(error));
    if (kind === "process") this.#askProcessId();
  }

  /** Runs a function of the worker. */
  exec(
    method: string,
    params: readonly unknown[] | null | undefined,
    resolver: Resolver = Promise.defer(),
    options?: ExecOptions,
  ): Promise<Any, Any> {
    const id = ++this.#lastId;
    const task: Assigned = { resolver, options };
    this.#tasks.set(id, task);
    if (this.terminated) resolver.reject(new TerminateError("Worker is terminated"));
    else this.#send(id, method, params ?? [], options);
    return resolver.promise.catch((error) => {
      const isCancelled = error instanceof Promise.CancellationError ||
        error instanceof Promise.TimeoutError;
      this.#tasks.delete(id);
      if (!isCancelled || this.terminated) throw error;
      return this.#cleanUp(id, task, error);
    });
  }

  #send(
    id: number,
    method: string,
    params: readonly unknown[],
    options: ExecOptions | undefined,
  ): void {
    const { exec, execJson } = this.#pool.call;
    const moved = options?.transfer;
    try {
      const outcome = this.#isJson
        ? execJson(id, method, JSON.stringify(params))
        : moved?.length
        ? exec.with({ transfer: moved })(id, method, params)
        : exec(id, method, params);
      outcome.then(
        (value) => this.#onOutcome(id, this.#isJson ? JSON.parse(value as string ?? "{}") : value),
        (error) => isLoss(error) ? this.#onLost(error) : this.#settle(id)?.reject(error),
      );
    } catch (error) {
      this.#settle(id)?.reject(error);
    }
  }

  #onOutcome(id: number, { result, error }: Outcome = {}): void {
    const resolver = this.#settle(id);
    if (error) resolver?.reject(dataToError(error));
    else resolver?.resolve(result);
  }

  /** Takes a task out, and ends the worker if it was the last one before its end. */
  #settle(id: number): Resolver | undefined {
    const task = this.#tasks.get(id);
    if (task === undefined) return undefined;
    this.#tasks.delete(id);
    if (this.terminating) this.terminate();
    return task.resolver;
  }

  #askProcessId(): void {
    this.#pool.call.processId().then((id) => {
      if (this.worker !== null) this.worker.pid = id;
    }, () => {}); // the call `attach` tells its end
  }

  #onEvent(event: unknown): void {
    const [id, payload] = this.#isJson
      ? JSON.parse(event as string) as [number, unknown]
      : event as [number, unknown];
    (this.#tasks.get(id) ?? this.#cancelled.get(id))?.options?.on?.(payload);
  }

  #tellAll(payload: object): void {
    for (const tasks of [this.#tasks, this.#cancelled]) {
      for (const { options } of tasks.values()) options?.on?.(payload);
    }
  }

  /** Asks the worker whether it has stopped a cancelled task; ends it otherwise. */
  #cleanUp(id: number, task: Assigned, error: Error): Promise<never, Any> {
    const { promise, resolve, reject } = Promise.defer<boolean>();
    const timer = setTimeout(() => resolve(false), this.options.workerTerminateTimeout);
    this.#cancelled.set(id, { ...task, expire: reject });
    this.#pool.call.cleanUp(id).then(resolve, () => resolve(false));
    return promise.always((isStopped) => {
      clearTimeout(timer);
      const wasCancelled = this.#cancelled.delete(id);
      if (isStopped === true || !wasCancelled) {
        if (this.terminating) this.terminate();
        throw error;
      }
      const fail = (): never => {
        throw error;
      };
      return this.terminateAndNotify(true).then(fail, fail);
    });
  }

  /** Whether it has a task, cleans up after one, or ends. */
  busy(): boolean {
    return this.#isEnding || this.#tasks.size > 0 || this.#cancelled.size > 0;
  }

  /** Ends the worker after its tasks; `force`: at once. */
  terminate(force = false, onTerminated?: Terminated): void {
    if (force) this.#rejectAll(() => new Error("Worker terminated"));
    const cancelled = [...this.#cancelled.values()];
    this.#cancelled.clear();
    this.#onTerminated = onTerminated ?? this.#onTerminated;
    if (this.#tasks.size > 0) this.terminating = true;
    else if (!this.#isEnding) this.#end();
    for (const { expire } of cancelled) expire(new Error("Worker Terminating"));
  }

  #end(): void {
    this.#isEnding = true;
    this.#pool.shutdown(0).then(() => {
      this.terminated = true;
      this.#isEnding = this.terminating = false;
      this.worker = null;
      this.#onTerminated?.(undefined, this);
    });
  }

  /** The same as a promise; with a `timeout` it rejects if the worker has not ended by then. */
  terminateAndNotify(force?: boolean, timeout?: number): Promise<WorkerHandler, Any> {
    const { promise, resolve, reject } = Promise.defer<WorkerHandler>();
    if (timeout) promise.timeout(timeout);
    this.terminate(force, (error) => error === undefined ? resolve(this) : reject(error));
    return promise;
  }

  #kill(kind: WorkerKind): boolean {
    this.#onLost(kind === "process" ? { signal: "SIGTERM" } : { exitCode: 1 });
    return true;
  }

  #onLost(loss: Loss): void {
    if (this.terminated || this.#isEnding) return;
    this.terminated = true;
    void this.#pool.shutdown(0); // instead of another worker in its place
    const { kind, forkOpts } = this.options;
    const program = kind === "process" ? forkOpts?.execPath ?? process.execPath : undefined;
    this.#rejectAll(() => lossError(loss, this.script, program));
  }

  #rejectAll(error: () => Error): void {
    const tasks = [...this.#tasks.values()];
    this.#tasks.clear();
    for (const { resolver } of tasks) resolver.reject(error());
  }
}

/** A pool of one worker. Loads heddle here: worker scripts load this package too, and need none of it. */
function startPool(
  options: HandlerOptions,
  isJson: boolean,
  output: (text: string, stream: string) => void,
): WorkerPool {
  const { createPool } = require("heddle/core") as typeof import("heddle/core");
  const { setup, ...pool } = poolOptions(options);
  const { script, workerData } = setup;
  const feature = (name: FeatureName): never =>
    (require(`heddle/features/${name}`) as Record<string, () => never>)[name]!();
  const use: readonly never[] = [
    feature("streams"),
    ...(isJson ? [] : [feature("values")]), // JSON is a string
    ...(options.kind === "process" ? [feature("processes")] : []),
    ...(options.emitStdStreams ? [feature("observe")] : []),
  ];
  const all: PoolOptions = {
    ...pool,
    worker: {
      ...pool.worker,
      ...((script !== undefined || workerData !== undefined) && { setup: WORKER, data: setup }),
    },
    ...(options.emitStdStreams && {
      output: (text: string, { stream }: { stream: string }) => output(text, stream),
    }),
  };
  return createPool({ ...all, use } as CorePoolOptions<never>)<Tasks>(WORKER) as WorkerPool;
}

const isLoss = (error: { code?: unknown }): error is Loss & { code: string } =>
  error.code === "HEDDLE_WORKER_LOST" || error.code === "HEDDLE_WORKER_START" ||
  error.code === "HEDDLE_POOL_CLOSED";
