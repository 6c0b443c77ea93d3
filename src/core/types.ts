/** The types of pools of `heddle/core`, by their features. */
import type {
  Callable,
  CallerSignature,
  IsGenerator,
  TaskFunction,
} from "../api/calls/call-types.ts";
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
    "runTimeoutMs" | "stallMs" | "timeoutMs" | "timeoutValue" | "killAfterMs" | "signal"
  >;
  /** Of `queue()`. */
  readonly queue: Parts<"maxQueue" | "queuePolicy", never, "needsDrain" | "drained">;
  /** Of `keys()`. */
  readonly keys: Parts<never, "affinity", "broadcast">;
  /** Of `stealing()`. */
  readonly stealing: Parts;
  /** Of `scaling()`. */
  readonly scaling: Parts<
    | "minThreads"
    | "maxThreads"
    | "budget"
    | "idleTimeoutMs"
    | "recycleAfter"
    | "maxWorkerBytes"
    | "minFreeMemory"
  >;
  /** Of `balancers()`. */
  readonly balancers: Parts<"balancer">;
  /** Of `inline()`. */
  readonly inline: Parts<"inliner" | "onUnavailable">;
  /** Of `observe()`. */
  readonly observe: Parts<
    "metrics" | "debug" | "context" | "output",
    never,
    "stats" | "usage" | "addEventListener" | "removeEventListener"
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
  /** Of `objects()`. */
  readonly objects: Parts<never, never, "spawn">;
  /** Of `mirror()`. */
  readonly mirror: Parts<"transport">;
  /** Of `processes()`. */
  readonly processes: Parts<"workers" | "process">;
  /** Of `caching()`. */
  readonly caching: Parts<"compileCache">;
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

/** Options with `timeoutValue`, if that is one of them. */
type WithFallback<Options, Value> = "timeoutValue" extends keyof Options
  ? Options & { readonly timeoutValue: Value }
  : never;

/** A function of `pool.call` or `pool.sync`, with these options. `Fallback`: what may come in the place of the result. */
export type CoreCall<
  F extends AnyFunction,
  Options,
  Kind extends "call" | "sync" = "call",
  Fallback = never,
> = CallerSignature<F, Kind, Fallback> & {
  /** Returns the same function with these options. A `Value` may come in the place of the result. */
  with<Value>(options: WithFallback<Options, Value>): CoreCall<F, Options, Kind, Value>;
  /** Returns the same function with these options, which win over those of an earlier `with` and of the task. */
  with(options: Options): CoreCall<F, Options, Kind, Fallback>;
};

/** A function of `pool.broadcast`, with these options. */
export type CoreBroadcastCall<F extends AnyFunction, Options> = CallerSignature<F, "broadcast"> & {
  /** Returns the same function with these options, which win over those of an earlier `with` and of the task. */
  with(options: Options): CoreBroadcastCall<F, Options>;
};

/** The names of tasks, without those of generators if they cannot be called. */
type TaskName<Tasks, Key extends keyof Tasks, CanStream> = Tasks[Key] extends Callable<Tasks>
  ? CanStream extends true ? Key
  : IsGenerator<TaskFunction<Tasks[Key]>> extends true ? never
  : Key
  : never;

/** `pool.call` of a pool with these features: generators are tasks of one with `streams()`. */
export type CoreCalls<Tasks extends object, Name extends FeatureName> = {
  readonly [
    Key in keyof Tasks as TaskName<Tasks, Key, "streams" extends Name ? true : false>
  ]: CoreCall<TaskFunction<Tasks[Key]>, CoreCallOptions<Name>>;
};

/** Members of a pool whose functions take options. */
interface Calling<Tasks extends object, Name extends FeatureName> {
  readonly sync: {
    readonly [Key in keyof Tasks as TaskName<Tasks, Key, false>]: CoreCall<
      TaskFunction<Tasks[Key]>,
      CoreCallOptions<Name>,
      "sync"
    >;
  };
  readonly broadcast: {
    readonly [Key in keyof Tasks as TaskName<Tasks, Key, true>]: CoreBroadcastCall<
      TaskFunction<Tasks[Key]>,
      CoreBroadcastOptions<Name>
    >;
  };
}

/** A pool with these features. */
export type CorePool<Tasks extends object, Name extends FeatureName = never> =
  & Pick<Pool<Tasks>, "ready" | "shutdown" | typeof Symbol.dispose | typeof Symbol.asyncDispose>
  & { readonly call: CoreCalls<Tasks, Name> }
  & Pick<Pool<Tasks>, Exclude<FeatureParts[Name]["members"], keyof Calling<Tasks, Name>>>
  & Pick<Calling<Tasks, Name>, FeatureParts[Name]["members"] & keyof Calling<Tasks, Name>>;

/** Creates a pool of the tasks of a module, or of a set of tasks. */
export interface CreateCorePool<Name extends FeatureName> {
  /** Every function that the module exports is a task. Only workers load the module. */
  <Module extends object = Readonly<Record<string, AnyFunction>>>(
    module: URL | string,
  ): CorePool<Module, Name>;
  /** Tasks by name: functions that the calling module exports, `task()`s and `importTask()`s. */
  <Tasks extends TaskMap>(tasks: Tasks): CorePool<Tasks, Name>;
}
