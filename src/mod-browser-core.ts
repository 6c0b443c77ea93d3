/**
 * `heddle/core` in browsers: pools of web workers with the features that they name. In a page that is not cross-origin isolated they
 * need `mirror()`.
 *
 * @example
 * ```ts
 * import { createPool } from "heddle/core";
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
import type { FeatureName } from "./api/pool/uses.ts";
import { createPool as createAnyPool } from "./core/create-pool.ts";
import type { CorePool, CorePoolOptions, CreateCorePool } from "./core/types.ts";
import type { AnyFunction } from "./api/tasks/task-types.ts";

/** Creates a pool of the tasks of a module, of a set of tasks, or of the program's own workers. */
export interface CreateBrowserCorePool<Name extends FeatureName> extends CreateCorePool<Name> {
  /**
   * Workers that the program starts, so that its bundler finds their script. Each calls `serve(tasks)` of
   * `heddle/core/worker`.
   */
  <Module extends object = Readonly<Record<string, AnyFunction>>>(
    createWorker: () => Worker,
  ): CorePool<Module, Name>;
}

/**
 * Starts web workers. The result takes the tasks: the URL of a module, or a function that starts a worker which serves them, or
 * an object of tasks by name.
 */
export const createPool: <Name extends FeatureName = never>(
  options?: CorePoolOptions<Name>,
) => CreateBrowserCorePool<Name> = createAnyPool as <Name extends FeatureName = never>(
  options?: CorePoolOptions<Name>,
) => CreateBrowserCorePool<Name>;

export * from "./mod-core.ts";
