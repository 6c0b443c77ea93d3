/** The types of pools of `heddle/core`, by their features. */
import type { BroadcastCalls, Calls, SyncCalls } from "../api/calls/call-types.ts";
import type { BroadcastOptions, CallOptions } from "../api/options/call-option-types.ts";
import type { PoolOptions } from "../api/options/pool-options.ts";
import type { Pool } from "../api/pool/pool-types.ts";
import type { Feature, FeatureName } from "../api/pool/uses.ts";
import type { AnyFunction, TaskMap } from "../api/tasks/task-types.ts";

interface Parts<
  Options extends keyof PoolOptions = never,
  Call extends keyof CallOptions = never,
  Members extends keyof Pool<object> = never,
> {
  readonly options: Options;
  readonly callOptions: Call;
  readonly members: Members;
}

/** What each feature adds: options of `createPool`, options of calls, members of pools. */
export interface FeatureParts {
  /** Of `values()`. */
  readonly values: Parts<never, "transfer">;
  /** Of `structs()`. */
  readonly structs: Parts;
  /** Of `streams()`. */
  readonly streams: Parts<never, "onEvent">;
  /** Of `limits()`. */
  readonly limits: Parts<
    "hardTimeoutMs" | "maxAbandonedThreads",
    "runTimeoutMs" | "timeoutMs" | "timeoutValue" | "killAfterMs" | "signal"
  >;
  /** Of `queue()`. */
  readonly queue: Parts<"maxQueue" | "queuePolicy", never, "needsDrain" | "drained">;
  /** Of `keys()`. */
  readonly keys: Parts<never, "affinity", "broadcast">;
  /** Of `stealing()`. */
  readonly stealing: Parts;
  /** Of `scaling()`. */
  readonly scaling: Parts<
    "minThreads" | "maxThreads" | "budget" | "idleTimeoutMs" | "recycleAfter" | "maxWorkerBytes"
  >;
  /** Of `balancers()`. */
  readonly balancers: Parts<"balancer">;
  /** Of `inline()`. */
  readonly inline: Parts<"inliner" | "onUnavailable">;
  /** Of `observe()`. */
  readonly observe: Parts<
    "metrics" | "debug" | "context",
    never,
    "stats" | "addEventListener" | "removeEventListener"
  >;
  /** Of `profile()`. */
  readonly profile: Parts<never, never, "profile">;
  /** Of `requests()`. */
  readonly requests: Parts<"host">;
  /** Of `map()`. */
  readonly map: Parts<never, never, "map" | "forEach" | "reduce">;
  /** Of `scopes()`. */
  readonly scopes: Parts<never, never, "scope">;
  /** Of `sync()`. */
  readonly sync: Parts<never, never, "sync">;
  /** Of `mirror()`. */
  readonly mirror: Parts<"transport">;
}

/** What the features add that are not in use. */
type Missing<Name extends FeatureName, Part extends keyof Parts> = FeatureParts[
  Exclude<FeatureName, Name>
][Part];

/** Options of `createPool` of a pool with these features. */
export type CorePoolOptions<Name extends FeatureName> =
  & Pick<PoolOptions, Exclude<keyof PoolOptions, Missing<Name, "options">>>
  & {
    /**
     * The features of the pool, each with those that it needs.
     *
     * @default none
     */
    readonly use?: readonly Feature<Name>[];
  };

/** Options of calls of a pool with these features. */
export type CoreCallOptions<Name extends FeatureName> = Pick<
  CallOptions,
  Exclude<keyof CallOptions, Missing<Name, "callOptions">>
>;

/** Options of broadcasts of a pool with these features. */
type CoreBroadcastOptions<Name extends FeatureName> = Pick<
  BroadcastOptions,
  Exclude<keyof BroadcastOptions, Missing<Name, "callOptions">>
>;

/** `pool.call` of a pool with these features: generators are tasks of one with `streams()`. */
export type CoreCalls<Tasks extends object, Name extends FeatureName> = "streams" extends Name
  ? Calls<Tasks, CoreCallOptions<Name>>
  : Pick<Calls<Tasks, CoreCallOptions<Name>>, keyof SyncCalls<Tasks> & keyof Calls<Tasks>>;

/** The members whose calls have options. */
type Calling = "sync" | "broadcast";

/** A pool with these features. */
export type CorePool<Tasks extends object, Name extends FeatureName = never> =
  & Pick<Pool<Tasks>, "ready" | "shutdown" | typeof Symbol.dispose | typeof Symbol.asyncDispose>
  & { readonly call: CoreCalls<Tasks, Name> }
  & Pick<Pool<Tasks>, Exclude<FeatureParts[Name]["members"], Calling>>
  & ("sync" extends Name ? { readonly sync: SyncCalls<Tasks, CoreCallOptions<Name>> } : unknown)
  & ("keys" extends Name ? { readonly broadcast: BroadcastCalls<Tasks, CoreBroadcastOptions<Name>> }
    : unknown);

/** Creates a pool of the tasks of a module, or of a set of tasks. */
export interface CreateCorePool<Name extends FeatureName> {
  /** Every function that the module exports is a task. Only workers load the module. */
  <Module extends object = Readonly<Record<string, AnyFunction>>>(
    module: URL | string,
  ): CorePool<Module, Name>;
  /** Tasks by name: functions that the calling module exports, `task()`s and `importTask()`s. */
  <Tasks extends TaskMap>(tasks: Tasks): CorePool<Tasks, Name>;
}
