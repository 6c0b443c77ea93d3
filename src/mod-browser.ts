/**
 * heddle in browsers: pools of web workers, with the calls, payloads, errors, limits and streams of the other runtimes. A page
 * that is cross-origin isolated shares memory with its workers; elsewhere calls travel by messages (option `transport`).
 *
 * Not there: `pool.sync`, `host.sync`, profiles, and what browsers do not limit (`permission`, `resourceLimits`,
 * `maxWorkerBytes`, `minFreeMemory`).
 *
 * @example
 * ```ts
 * import { createPool } from "heddle/browser";
 *
 * const pool = createPool({ threads: 2 })<typeof import("./tasks.ts")>(
 *   () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }),
 * );
 * console.log(await pool.call.add(1, 2));
 * ```
 *
 * @module
 */
import "./features/workers/mirror/install.ts";
import type { CreatePool } from "./api/pool/pool.ts";
import { createPool as createAnyPool } from "./features/create-pool.ts";
import type { PoolOptions } from "./api/options/pool-options.ts";
import type { Pool } from "./api/pool/pool-types.ts";
import type { AnyFunction } from "./api/tasks/task-types.ts";

/** Creates a pool of the tasks of a module, of a set of tasks, or of the program's own workers. */
export interface CreateBrowserPool extends CreatePool {
  /**
   * Workers that the program starts, so that its bundler finds their script. Each calls `serve(tasks)` of
   * `heddle/browser/worker`.
   */
  <Module extends object = Readonly<Record<string, AnyFunction>>>(
    createWorker: () => Worker,
  ): Pool<Module>;
}

/**
 * Starts web workers. The result takes the tasks: the URL of a module, or a function that starts a worker which serves them, or
 * an object of tasks by name.
 */
export const createPool: (options?: PoolOptions) => CreateBrowserPool = createAnyPool as (
  options?: PoolOptions,
) => CreateBrowserPool;

export * from "./mod.ts";
