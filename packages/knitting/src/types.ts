/** The types of Knitting's call surface and options, as `@heddle/knitting` takes them. */
import type { BalancerName, PoolOptions as HeddleOptions } from "heddle";

/** The second argument of a task with `abortSignal`. */
export interface AbortToolkit {
  /** Whether the call was aborted. */
  hasAborted(): boolean;
  /** `performance.now()` of the worker. */
  now(): number;
}

/** Requests an {@link AbortToolkit}. */
export type AbortSignalOption = true | { readonly hasAborted: true };

/**
 * Milliseconds, and the outcome after them: `default`, then undefined (`maybe`), then a rejection with `error`, then one
 * with `Error("Task timeout")`. Without `time`, or with a negative one, there is no limit.
 */
export type TaskTimeout = number | {
  readonly time: number;
  readonly maybe?: true;
  readonly default?: unknown;
  readonly error?: unknown;
};

/** Options of a task besides its function. */
export interface TaskSettings {
  /** Limit of the run time of each call. Default: none. */
  readonly timeout?: TaskTimeout;
}

/** A promise of an abort-aware call. `reject` aborts the call. */
export type AbortablePromise<T> = Promise<T> & { reject(reason?: unknown): void };

/** The one argument of a call, or a promise of it. */
// deno-lint-ignore no-explicit-any -- the check whether A is `any`
export type CallArgument<A> = 0 extends 1 & A ? [value?: any]
  : [A] extends [void] ? [value?: A | Promise<A>]
  : undefined extends A ? A extends undefined ? [value: A | Promise<A>] : [value?: A | Promise<A>]
  : [value: A | Promise<Awaited<A>>];

/** A task as its callers see it. */
export type TaskCall<A, B, IsAbortable extends boolean> = (
  ...args: CallArgument<A>
) => IsAbortable extends true ? AbortablePromise<Awaited<B>> : Promise<Awaited<B>>;

/** Any function. */
// deno-lint-ignore no-explicit-any -- the one place where "any function" is meant
export type AnyFunction = (...args: any[]) => any;

/** The argument of a function; void if it has none. */
export type InputOf<F extends AnyFunction> = Parameters<F> extends [] ? void : Parameters<F>[0];
/** The result of a function, awaited. */
export type OutputOf<F extends AnyFunction> = Awaited<ReturnType<F>>;

/** A declared task: for `createPool`, or with a pool of its own. */
export interface Task<A = unknown, B = unknown, IsAbortable extends boolean = boolean>
  extends TaskSettings {
  /** The function that runs in the worker. */
  readonly f: IsAbortable extends true
    ? (value: Awaited<A>, signal: AbortToolkit) => B | PromiseLike<B>
    : (value: Awaited<A>) => B | PromiseLike<B>;
  /** URL or path of the module that declared it. */
  readonly importedFrom: string | undefined;
  /** Starts a pool for this task alone. */
  createPool(options?: CreatePool): SingleTaskPool<A, B, IsAbortable>;
}

/** What closes a pool. */
export interface Closable {
  /**
   * Closes the pool after `delayMs` (default 0): calls in flight then reject with "Thread closed". With
   * `worker.resolveAfterFinishingAll` they are awaited first.
   */
  readonly shutdown: (delayMs?: number) => Promise<void>;
  /** Starts `shutdown()`. */
  readonly [Symbol.dispose]: () => void;
}

/** The pool of one task. */
export interface SingleTaskPool<A, B, IsAbortable extends boolean> extends Closable {
  /** Calls the task in a worker. */
  readonly call: TaskCall<A, B, IsAbortable>;
}

/** What can be called: declared tasks, and functions that the calling module exports. */
// deno-lint-ignore no-explicit-any -- tasks of any values
export type Tasks = Readonly<Record<string, Task<any, any> | AnyFunction>>;

/** The calls of a set of tasks. */
export type Calls<T extends Tasks> = {
  readonly [Name in keyof T]: T[Name] extends // deno-lint-ignore no-explicit-any -- any options
  { createPool(options?: any): { readonly call: infer Call } } ? Call
    : T[Name] extends AnyFunction ? TaskCall<InputOf<T[Name]>, OutputOf<T[Name]>, false>
    : never;
};

/** A pool: a plain object, whose members may be taken out of it. */
export interface Pool<T extends Tasks> extends Closable {
  /** The tasks as functions that run in workers. */
  readonly call: Calls<T>;
}

/** How a pool chooses the worker of a call. "robinRound" is Knitting's name of "roundRobin". */
export type BalancerStrategy = Exclude<BalancerName, "adaptive" | "leastLoaded"> | "robinRound";

/** A module that each worker runs before the modules of its tasks. */
export interface WorkerBootstrap {
  /** The module, relative to the one that calls `createPool`. */
  readonly href: string;
  /** Its export. Default "default". */
  readonly name?: string;
  /** Its first argument, cloned. */
  readonly data?: unknown;
}

/** The second argument of a bootstrap function. */
export interface WorkerBootstrapContext {
  /** Number of the worker, from 0; replacements of lost workers get new ones. */
  readonly thread: number;
  /** Number of workers of the pool. */
  readonly totalNumberOfThread: number;
  /** The runtime of the worker. */
  readonly runtime: "node" | "deno" | "bun" | "unknown";
}

/** Settings of the workers of a pool. */
export interface WorkerSettings {
  /** Lets `shutdown` await the calls in flight. Default: they reject. */
  readonly resolveAfterFinishingAll?: true;
  /** The module that each worker runs first. Default: none. */
  readonly bootstrap?: WorkerBootstrap;
  /** `spinMicroseconds` is used, up to 1000. */
  readonly timers?: Readonly<
    Partial<Record<"spinMicroseconds" | "parkMs" | "pauseNanoseconds", number>>
  >;
  /** Run time of a task in milliseconds after which the pool is closed. */
  readonly hardTimeoutMs?: number;
  /** Only "thread": the others are refused. */
  readonly runtime?: "thread" | "process" | "compiled";
  /** Refused with {@link UnsupportedError}. */
  readonly compiled?: object;
  /** "porffor" is refused with {@link UnsupportedError}; the others have no effect. */
  readonly processRuntime?: "bun" | "deno" | "node" | "porffor";
  /** No effect: workers are threads. */
  readonly processCommandPrefix?: readonly string[];
  /** No effect: workers are threads. */
  readonly processSharedMemory?: "inherit" | "named" | object;
}

/** Files and folders; true: all. */
export type PermissionPaths = readonly (string | URL)[] | true;
/** Names, such as those of environment variables; true: all. */
export type PermissionNames = readonly string[] | true;
/** Names of the lists of denied rights. A list that is not empty is refused with {@link UnsupportedError}. */
export type DeniedRight = "denyRead" | "denyWrite" | "denyNet" | "denyRun" | "denyFfi" | "denySys";

/** The rights of tasks, in Knitting's form. What threads of the runtime cannot be denied is refused. */
export interface PermissionProtocol
  extends Readonly<Partial<Record<DeniedRight, readonly (string | URL)[]>>> {
  /** "unsafe" and "off" give tasks the rights of the host; the others enforce the rights below. */
  readonly mode?: "strict" | "unsafe" | "custom" | "off";
  /** false is refused with {@link UnsupportedError}. */
  readonly console?: boolean;
  /** Folder to which relative paths refer. Default: the working directory. */
  readonly cwd?: string;
  /** Files and folders that may be read. Default: `cwd`. */
  readonly read?: PermissionPaths;
  /** Files and folders that may be written. Default: none. */
  readonly write?: PermissionPaths;
  /** Network access: true, or an empty list for none. Default: none. */
  readonly net?: PermissionNames;
  /** A list is refused with {@link UnsupportedError}. */
  readonly allowImport?: PermissionNames;
  /** Environment variables in `allow` may be read. `deny` and `files` are refused unless they are empty. */
  readonly env?: {
    readonly allow?: PermissionNames;
    readonly deny?: PermissionNames;
    readonly files?: unknown;
  };
  /** Starting processes: true, or an empty list for none. Default: none. */
  readonly run?: PermissionNames;
  /** Starting further threads. Default false. */
  readonly workers?: boolean;
  /** Native code: a boolean, or an empty list for none. Default: none. */
  readonly ffi?: PermissionPaths | boolean;
  /** Refused with {@link UnsupportedError} unless it is an empty list. */
  readonly sys?: PermissionNames;
  /** WASI, the system interface of WebAssembly: true or false. Default false. */
  readonly wasi?: unknown;
  /** Node's own flags: `allowChildProcess`, `allowWorker`, `allowAddons`, `allowFfi` and `allowWasi` grant these rights. */
  readonly node?: Readonly<Record<string, boolean>>;
  /** Deno's own flags: `allowRun: true` grants `run`. */
  readonly deno?: Readonly<Record<string, unknown>>;
}

/** Names of the sizes of payloads, in bytes. Only `maxPayloadBytes` has an effect. */
export type PayloadLimit = "payloadInitialBytes" | "payloadMaxByteLength" | "maxPayloadBytes";

/** Options of `createPool`. All are optional. */
export interface CreatePool {
  /** Number of workers. Default 1. */
  readonly threads?: number;
  /** Runs some calls on the host thread, as the option of `heddle`. */
  readonly inliner?: Exclude<NonNullable<HeddleOptions["inliner"]>, boolean>;
  /** Default: heddle's own, which moves calls to idle workers. */
  readonly balancer?: BalancerStrategy | { readonly strategy?: BalancerStrategy };
  /** Settings of the workers. */
  readonly worker?: WorkerSettings;
  /** `maxPayloadBytes` is a limit; memory grows as needed. */
  readonly payload?:
    & { readonly mode?: "growable" | "fixed" }
    & Readonly<Partial<Record<PayloadLimit, number>>>;
  /** No effect: there are no references to buffers. */
  readonly unsafe?: { readonly BufferReferenceReturn?: "copy" | "borrow" };
  /** Maximum number of abort-aware calls in flight. Default 258. */
  readonly abortSignalCapacity?: number;
  /** `steal: false` is "roundRobin"; the others have no effect. */
  readonly host?:
    & { readonly steal?: boolean; readonly dispatcher?: "per-thread" | "serial-channel" }
    & Readonly<Partial<Record<"stallFreeLoops" | "maxBackoffMs" | "stealRegionLanes", number>>>;
  /** Flags of Node for the workers. No effect elsewhere. */
  readonly workerExecArgv?: readonly string[];
  /** Rights of tasks. Default: the rights of the host. */
  readonly permission?: "strict" | "unsafe" | "off" | "custom" | PermissionProtocol;
  /** Prints once which options have no effect. */
  readonly debug?: boolean | Readonly<Record<string, boolean>>;
  /** No effect: workers start with heddle's own module. */
  readonly source?: string;
}
