/**
 * workerpool on the pools of heddle: a pool of threads or processes that run functions by their source, or by the names that
 * a worker script registers.
 *
 * @example
 * ```ts
 * import workerpool from "@heddle/workerpool";
 *
 * const pool = workerpool.pool({ maxWorkers: 2 });
 * console.log(await pool.exec((a: number, b: number) => a + b, [1, 2]));
 * await pool.terminate();
 * ```
 *
 * @module
 */
import { bridge, Transfer } from "./bridge.ts";
import { availableCpus, isMainThread, platform } from "./environment.ts";
import { TerminateError } from "./errors.ts";
import { Pool as PoolClass } from "./pool.ts";
import { Promise } from "./promise.ts";
import type { Any, AnyFunction, WorkerPoolOptions, WorkerRegisterOptions } from "./types.ts";

export type { CancellationError, Resolver, TimeoutError } from "./promise.ts";
export type { Task, TaskQueue } from "./queues.ts";
export type {
  Any,
  AnyFunction,
  ExecOptions,
  PoolStats,
  Proxy,
  PublicWorker,
  WorkerArg,
  WorkerPoolOptions,
  WorkerRegisterOptions,
} from "./types.ts";

/** A pool of workers. */
export type Pool = PoolClass;

/** Creates a pool whose workers run a script, an absolute path, or functions that `exec` gets. */
export function pool(options?: WorkerPoolOptions): Pool;
/** Creates a pool whose workers run a script, an absolute path, or functions that `exec` gets. */
export function pool(script?: string, options?: WorkerPoolOptions): Pool;
export function pool(script?: string | WorkerPoolOptions, options?: WorkerPoolOptions): Pool {
  return new PoolClass(script, options);
}

/** In a worker script: registers the functions that `exec` may name, and takes tasks from then on. */
export function worker(
  methods?: { [name: string]: AnyFunction },
  options?: WorkerRegisterOptions,
): void {
  const found = bridge();
  if (found === undefined) {
    throw new Error(
      "Script must be executed as a worker: workerpool.worker() works in a script that a pool of @heddle/workerpool has started",
    );
  }
  found.register(methods, options);
}

/** In a worker: sends a value to the option `on` of the task that runs. */
export function workerEmit(payload: Any): void {
  bridge()?.emit(payload);
}

/** The number of cores. */
export const cpus: number = availableCpus;

export { isMainThread, platform, Promise, TerminateError, Transfer };

/** What `require` returns, and the default export. */
export interface Workerpool {
  /** See `pool`. */
  pool: typeof pool;
  /** See `worker`. */
  worker: typeof worker;
  /** See `workerEmit`. */
  workerEmit: typeof workerEmit;
  /** See `Promise`. */
  Promise: typeof Promise;
  /** See `Transfer`. */
  Transfer: typeof Transfer;
  /** See `platform`. */
  platform: typeof platform;
  /** See `isMainThread`. */
  isMainThread: boolean;
  /** See `cpus`. */
  cpus: number;
  /** See `TerminateError`. */
  TerminateError: typeof TerminateError;
}

const workerpool: Workerpool = {
  pool,
  worker,
  workerEmit,
  Promise,
  Transfer,
  platform,
  isMainThread,
  cpus,
  TerminateError,
};

export { workerpool as "module.exports" };
export default workerpool;
