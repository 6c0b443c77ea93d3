/**
 * heddle without features: `createPool` of this entry point has those that a pool names, each a module of its own
 * (`heddle/features/limits`). For bundles, pages and programs that have to start quickly; `heddle` is the same with all of them.
 *
 * @example
 * ```ts
 * import { createPool } from "heddle/core";
 * import { limits } from "heddle/features/limits";
 *
 * const url = new URL("./tasks.ts", import.meta.url);
 * const pool = createPool({ threads: 2, use: [limits()] })<typeof import("./tasks.ts")>(url);
 * console.log(await pool.call.add.with({ timeoutMs: 5000 })(1, 2));
 * await pool.shutdown();
 * ```
 *
 * @module
 */
export { createPool } from "./core/create-pool.ts";
export { isMain } from "./core/is-main.ts";
export type { Feature, FeatureName } from "./api/pool/uses.ts";
export type {
  CoreBroadcastCall,
  CoreCall,
  CoreCallOptions,
  CoreCalls,
  CorePool,
  CorePoolOptions,
  CreateCorePool,
  FeatureParts,
} from "./core/types.ts";
export { HeddleError, type HeddleErrorCode, isHeddleError } from "./errors.ts";
