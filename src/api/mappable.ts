/** The functions of `pool.call` as `pool.map` uses them. */
import { AbortController, AbortSignal, Promise, WeakMap } from "../builtins.ts";
import { InvalidArgumentError } from "../errors.ts";
import { reasonOf } from "../host/cancel/call-settings.ts";
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

/** A signal that is aborted when one of these is. */
export function anySignal(given: AbortSignal | undefined, own: AbortSignal): AbortSignal {
  return given === undefined ? own : AbortSignal.any([nativeOf(given), own]);
}

const isAborted = Object.getOwnPropertyDescriptor(AbortSignal.prototype, "aborted")!.get!;
const followers = new WeakMap<AbortSignal, AbortSignal>();

/** The signal itself, or one that follows it if it is a polyfill's, which `AbortSignal.any` refuses. */
function nativeOf(signal: AbortSignal): AbortSignal {
  try {
    isAborted.call(signal);
    return signal;
  } catch {
    // not an object of the runtime
  }
  let follower = followers.get(signal);
  if (follower === undefined) {
    const controller = new AbortController();
    const follow = (): void => controller.abort(reasonOf(signal));
    if (signal.aborted) follow();
    else signal.addEventListener("abort", follow);
    followers.set(signal, follower = controller.signal);
  }
  return follower;
}
