/** The public types of workerpool. */
import type { ForkOptions } from "node:child_process";
import type { WorkerOptions as ThreadOptions } from "node:worker_threads";
import type { Promise as WorkerpoolPromise } from "./promise.ts";
import type { TaskQueue } from "./queues.ts";

/** Values of which workerpool says nothing: arguments and results of the program's own functions. */
// deno-lint-ignore no-explicit-any -- programs pass these on without casts, as with workerpool's own types
export type Any = any;

/** Any function. */
export type AnyFunction = (...args: Any[]) => Any;

/** What workers are made with: the argument of `onCreateWorker` and `onTerminateWorker`. */
export interface WorkerArg {
  /** The arguments of a process. */
  forkArgs?: readonly string[] | undefined;
  /** The options of a process. */
  forkOpts?: ForkOptions | undefined;
  /** The options of a web worker, which there are none of. */
  workerOpts?: object | undefined;
  /** The options of a thread. */
  workerThreadOpts?: ThreadOptions | undefined;
  /** The path of its script. */
  script?: string | undefined;
}

/** The options of `pool`. */
export interface WorkerPoolOptions {
  /** Workers that are kept; "max": as many as `maxWorkers`. */
  minWorkers?: number | "max" | undefined;
  /** Most workers. Default: the number of cores less one. */
  maxWorkers?: number | undefined;
  /** Most tasks that wait. Default: no limit. */
  maxQueueSize?: number | undefined;
  /** Threads (the default, "auto") or processes. */
  workerType?: "auto" | "web" | "process" | "thread" | undefined;
  /** The former name of `workerType`. */
  nodeWorker?: "auto" | "web" | "process" | "thread" | undefined;
  /** The order in which tasks are taken. Default: "fifo". */
  queueStrategy?: "fifo" | "lifo" | TaskQueue | undefined;
  /** Milliseconds that a worker has to end. Default: 1000. */
  workerTerminateTimeout?: number | undefined;
  /** Arguments of processes. */
  forkArgs?: readonly string[] | undefined;
  /** Options of processes: `cwd`, `env`, `execPath`, `execArgv`, `serialization`. */
  forkOpts?: ForkOptions | undefined;
  /** Options of web workers, which have no effect. */
  workerOpts?: object | undefined;
  /** Options of threads: `argv`, `env`, `execArgv`, `name`, `resourceLimits`, `workerData`. */
  workerThreadOpts?: ThreadOptions | undefined;
  /** The first port of `--inspect` of processes. Default: 43210. */
  debugPortStart?: number | undefined;
  /** Events `{ stdout }` and `{ stderr }` for what workers print. */
  emitStdStreams?: boolean | undefined;
  /** Called before a worker starts; may return other options for it. */
  onCreateWorker?: ((arg: WorkerArg) => WorkerArg | undefined | void) | undefined;
  /** Called after a worker has ended. */
  onTerminateWorker?: ((arg: WorkerArg) => void) | undefined;
}

/** The options of `exec`. */
export interface ExecOptions<T = Any> {
  /** Gets what the task sends by `workerEmit`. */
  on?: ((payload: Any) => unknown) | undefined;
  /** What is moved to the worker; processes get copies. */
  transfer?: readonly Any[] | undefined;
  /** For a queue of the program's own. */
  metadata?: T | undefined;
}

/** The options of `worker`. */
export interface WorkerRegisterOptions {
  /** Called before the worker ends, and awaited. */
  onTerminate?: ((code: number | undefined) => PromiseLike<void> | void) | undefined;
  /** Milliseconds that abort listeners have. Default: 1000. */
  abortListenerTimeout?: number | undefined;
}

/** What `stats` returns. */
export interface PoolStats {
  /** Workers. */
  totalWorkers: number;
  /** Workers that have a task, or clean up after one. */
  busyWorkers: number;
  /** Workers that have none. */
  idleWorkers: number;
  /** Tasks that wait. */
  pendingTasks: number;
  /** Tasks that run. */
  activeTasks: number;
}

/** The functions of a worker, as `proxy` returns them. */
export type Proxy<T extends { [name: string]: AnyFunction }> = {
  [Name in keyof T]: (...args: Parameters<T[Name]>) => WorkerpoolPromise<ReturnType<T[Name]>, Any>;
};

/** `this.worker` of a function in a worker. */
export interface PublicWorker {
  /** Adds a function that is called when the task is cancelled or times out. If all fulfil, the worker lives on. */
  addAbortListener(listener: () => PromiseLike<unknown> | unknown): void;
  /** Sends a value to the `on` of the task. */
  emit(payload: unknown): void;
}
