/** The public types of scopes. */
import type { Calls, SyncCalls } from "../../../api/calls/call-types.ts";
import type { Mappings } from "../map/host/map-types.ts";
import type { ScopeOptions } from "./scope-options.ts";

/** What joiners take: the promise of a call of the scope, or a function that makes calls in a scope of its own. */
export type Joinable<Tasks extends object> =
  | PromiseLike<unknown>
  | ((scope: PoolScope<Tasks>) => unknown);

/** What a joined call resolves to. */
export type Joined<Item> = Item extends (...args: never[]) => infer Result ? Awaited<Result>
  : Awaited<Item>;

/** Opens scopes: `pool.scope` and `scope.scope`. */
export interface OpenScope<Tasks extends object> {
  /**
   * Opens a scope that ends with its block, `await using scope = pool.scope()`, or with `scope.close()`. An error that the block
   * throws cancels nothing, as the scope does not learn of it. So an error of a call counts even if the block handles it.
   */
  (options?: ScopeOptions): PoolScope<Tasks>;
  /**
   * Runs a function in a scope, which is left when the promise of the function has settled. An error of the function cancels the
   * calls, and is thrown again. An error of a call that the function handles is none of the scope.
   */
  <Result>(body: (scope: PoolScope<Tasks>) => Result | PromiseLike<Result>): Promise<Result>;
  /** The same with options. */
  <Result>(
    options: ScopeOptions,
    body: (scope: PoolScope<Tasks>) => Result | PromiseLike<Result>,
  ): Promise<Result>;
}

/**
 * Calls that end together: leaving the scope waits until no task of it runs any more, on the host and in workers. Its methods may
 * be used without it: `const { call, race } = scope`.
 *
 * @see [scopes](https://github.com/heddle-js/heddle/blob/main/docs/scopes.md)
 */
export interface PoolScope<Tasks extends object> extends Mappings, AsyncDisposable {
  /** The tasks as on `pool.call`. Rejections that are not handled are no uncaught errors: leaving the scope throws them. */
  readonly call: Calls<Tasks>;
  /**
   * The tasks as on `pool.sync`: they block this thread. Nothing else of the program runs meanwhile, so only the time limit of the
   * scope and functions of the host cancel such a call.
   */
  readonly sync: SyncCalls<Tasks>;
  /** Aborted when the scope is cancelled, for other work of its block, such as `fetch`. */
  readonly signal: AbortSignal;
  /**
   * The results of all calls, as `Promise.all`. The first error cancels the others. From then on errors of these calls are those
   * of the joiner, here and below: the scope counts only an error of the joiner itself.
   */
  all<const Items extends readonly Joinable<Tasks>[]>(
    calls: Items,
  ): Promise<{ -readonly [Index in keyof Items]: Joined<Items[Index]> }>;
  /** The outcome of the first call that settles, as `Promise.race`. Cancels the others. */
  race<const Items extends readonly Joinable<Tasks>[]>(
    calls: Items,
  ): Promise<Joined<Items[number]>>;
  /** The first result, as `Promise.any`. Cancels the others. */
  any<const Items extends readonly Joinable<Tasks>[]>(
    calls: Items,
  ): Promise<Joined<Items[number]>>;
  /** The outcomes of all calls, as `Promise.allSettled`. Cancels nothing. */
  settled<const Items extends readonly Joinable<Tasks>[]>(
    calls: Items,
  ): Promise<{ -readonly [Index in keyof Items]: PromiseSettledResult<Joined<Items[Index]>> }>;
  /**
   * Opens a scope within this one, which cannot outlive it: cancelling this one cancels it, and leaving this one waits for it. Its
   * errors go to those that leave it.
   */
  readonly scope: OpenScope<Tasks>;
  /**
   * Cancels all calls, which reject with `reason` (default: a ScopeCancelledError), and refuses further ones. Leaving waits for
   * their tasks and throws nothing for it.
   */
  cancel(reason?: unknown): void;
  /**
   * Leaves the scope: refuses further calls, waits for all that were made, ends their streams, and throws the errors of calls. A
   * further call returns the same promise.
   */
  close(): Promise<void>;
  /** Leaves the scope as `close()`, but throws no errors that `close()` has thrown. */
  [Symbol.asyncDispose](): Promise<void>;
}
