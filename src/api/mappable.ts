/** The functions of `pool.call` as `pool.map` uses them. */
import { InvalidArgumentError } from "../errors.ts";
import type { ChunkResult } from "../lane/task-variants.ts";

/** Calls of one task with the signal of one run of `map`. */
export interface BoundCall {
  readonly single: (...args: readonly unknown[]) => Promise<unknown>;
  /** Calls the task for each item, or reduces the items by it. Undefined: only single calls are possible. */
  readonly chunk:
    | ((items: readonly unknown[], isReduction: boolean) => Promise<ChunkResult>)
    | undefined;
}

export interface Mappable {
  /** The handle of its pool. */
  readonly pool: object;
  /** Further runs may get other results: tasks become known. */
  readonly bind: (signal: AbortSignal) => BoundCall;
}

export const mappable: WeakMap<object, Mappable> = new WeakMap();

/** For generator tasks. */
export const refusedMap: BoundCall = {
  single: () =>
    Promise.reject(
      new InvalidArgumentError("map(), forEach() and reduce() take no generator tasks."),
    ),
  chunk: undefined,
};

export function anySignal(given: AbortSignal | undefined, own: AbortSignal): AbortSignal {
  return given === undefined ? own : AbortSignal.any([given, own]);
}
