/** `createPool` of `heddle/core`: with the features that it is given. */
import { type CreatePool, createPoolWith, type PoolKind } from "../api/pool/pool.ts";
import type { PoolOptions } from "../api/options/pool-options.ts";
import type { FeatureName } from "../api/pool/uses.ts";
import { withStackAbove } from "../realm/caller-stack.ts";
import { currentRuntime } from "../runtimes/current.ts";
import { isMain } from "./is-main.ts";
import type { CorePoolOptions, CreateCorePool } from "./types.ts";
import { type PoolUses, takeFeatures, usesOf } from "./uses.ts";

/** By the names of their features. */
const kinds: Record<string, PoolKind & { readonly uses: PoolUses }> = {};

/**
 * Starts workers, as `createPool` of `heddle` does, for a pool that has only the features in `use`. What belongs to others is no
 * member and no option of it: types say so, and InvalidArgumentError names the feature that is missing.
 *
 * @example
 * ```ts
 * import { createPool } from "heddle/core";
 *
 * const url = new URL("./tasks.ts", import.meta.url);
 * const pool = createPool({ threads: 2 })<typeof import("./tasks.ts")>(url);
 * console.log(await pool.call.add(1, 2));
 * await pool.shutdown();
 * ```
 */
export function createPool<Name extends FeatureName = never>(
  options?: CorePoolOptions<Name>,
): CreateCorePool<Name> {
  try {
    const { features, rest } = takeFeatures(options);
    const kind = kinds[features.map(({ name }) => name).join()] ??= {
      features,
      uses: usesOf(features),
      isMain,
      worker: "heddle-core-worker",
      loadWorkerCode: () => import("../mod-core-worker.ts"),
    };
    kind.uses.needForPool(rest);
    if (currentRuntime.sharesMemory === false) {
      kind.uses.need("mirror", "A page that shares no memory with its workers");
    }
    const create = createPoolWith(
      kind,
      createPool as unknown as (options?: PoolOptions) => CreatePool,
      rest,
      arguments.length,
    );
    return create as unknown as CreateCorePool<Name>;
  } catch (error) {
    throw withStackAbove(error, createPool);
  }
}
