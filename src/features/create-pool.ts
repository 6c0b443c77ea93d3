/** `createPool` with all features. */
import type { PoolOptions } from "../api/options/pool-options.ts";
import { type CreatePool, createPoolWith, type PoolKind } from "../api/pool/pool.ts";
import { withStackAbove } from "../realm/caller-stack.ts";
import { hostFeatures } from "./host.ts";
import { isMain } from "./is-main.ts";

const kind: PoolKind = {
  features: hostFeatures,
  isMain,
  worker: "heddle-worker",
  loadWorkerCode: () => import("../mod-worker.ts"),
};

/**
 * Starts workers. The result takes the tasks: the URL, path or package name of a module, whose exported functions are the
 * tasks, or an object of tasks by name.
 *
 * An idle pool does not keep the process running (option `keepAlive`); calls in flight do. With an object of tasks,
 * workers import the modules of the tasks. If such a module calls `createPool`, guard the call with `if (isMain)`.
 *
 * @example
 * ```ts
 * import { createPool } from "heddle";
 *
 * const url = new URL("./tasks.ts", import.meta.url);
 * const pool = createPool({ threads: 2 })<typeof import("./tasks.ts")>(url);
 * console.log(await pool.call.add(1, 2));
 * await pool.shutdown();
 * ```
 */
export function createPool(options?: PoolOptions): CreatePool {
  // Within `try` it is no tail call, which would take this function off the stack.
  try {
    return createPoolWith(kind, createPool, options, arguments.length);
  } catch (error) {
    throw withStackAbove(error, createPool);
  }
}
