/** The types of Knitting's call surface and options, as `heddle/knitting` takes them. */
import type { BalancerName, PoolOptions as HeddleOptions } from "../../mod-core.ts";

/** The second argument of a task with `abortSignal`. */
export interface AbortToolkit {
  hasAborted(): boolean;
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
  readonly timeout?: TaskTimeout;
}

/** A promise of an abort-aware call. `reject` aborts the call. */
export type AbortablePromise<T> = Promise<T> & { reject(reason?: unknown): void };

/** The one argument of a call, or a promise of it. */
// deno-lint-ignore no-explicit-any -- the check whether A is `any`
type Argument<A> = 0 extends 1 & A ? [value?: any]
  : [A] extends [void] ? [value?: A | Promise<A>]
  : undefined extends A ? A extends undefined ? [value: A | Promise<A>] : [value?: A | Promise<A>]
  : [value: A | Promise<Awaited<A>>];

/** A task as its callers see it. */
export type TaskCall<A, B, IsAbortable extends boolean> = (
  ...args: Argument<A>
) => IsAbortable extends true ? AbortablePromise<Awaited<B>> : Promise<Awaited<B>>;

/** Any function. */
// deno-lint-ignore no-explicit-any -- the one place where "any function" is meant
export type AnyFunction = (...args: any[]) => any;

/** The argument and the result of a function. */
export type InputOf<F extends AnyFunction> = Parameters<F> extends [] ? void : Parameters<F>[0];
export type OutputOf<F extends AnyFunction> = Awaited<ReturnType<F>>;

/** A declared task: for `createPool`, or with a pool of its own. */
export interface Task<A = unknown, B = unknown, IsAbortable extends boolean = boolean>
  extends TaskSettings {
  readonly f: IsAbortable extends true
    ? (value: Awaited<A>, signal: AbortToolkit) => B | PromiseLike<B>
    : (value: Awaited<A>) => B | PromiseLike<B>;
  /** URL or path of the module that declared it. */
  readonly importedFrom: string | undefined;
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
  readonly call: Calls<T>;
}

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
  readonly totalNumberOfThread: number;
  readonly runtime: "node" | "deno" | "bun" | "unknown";
}

export interface WorkerSettings {
  readonly resolveAfterFinishingAll?: true;
  readonly bootstrap?: WorkerBootstrap;
  /** `spinMicroseconds` is used, up to 1000. */
  readonly timers?: Readonly<
    Partial<Record<"spinMicroseconds" | "parkMs" | "pauseNanoseconds", number>>
  >;
  /** Run time of a task in milliseconds after which the pool is closed. */
  readonly hardTimeoutMs?: number;
  /** Only "thread": the others are refused. */
  readonly runtime?: "thread" | "process" | "compiled";
  readonly compiled?: object;
  readonly processRuntime?: "bun" | "deno" | "node" | "porffor";
  readonly processCommandPrefix?: readonly string[];
  readonly processSharedMemory?: "inherit" | "named" | object;
}

type Paths = readonly (string | URL)[] | true;
type Names = readonly string[] | true;
type Denied = "denyRead" | "denyWrite" | "denyNet" | "denyRun" | "denyFfi" | "denySys";

/** The rights of tasks, in Knitting's form. What threads of the runtime cannot be denied is refused. */
export interface PermissionProtocol
  extends Readonly<Partial<Record<Denied, readonly (string | URL)[]>>> {
  readonly mode?: "strict" | "unsafe" | "custom" | "off";
  readonly console?: boolean;
  /** What relative paths are relative to. */
  readonly cwd?: string;
  readonly read?: Paths;
  readonly write?: Paths;
  readonly net?: Names;
  readonly allowImport?: Names;
  readonly env?: { readonly allow?: Names; readonly deny?: Names; readonly files?: unknown };
  readonly run?: Names;
  readonly workers?: boolean;
  readonly ffi?: Paths | boolean;
  readonly sys?: Names;
  readonly wasi?: unknown;
  readonly node?: Readonly<Record<string, boolean>>;
  readonly deno?: Readonly<Record<string, unknown>>;
}

type PayloadLimit = "payloadInitialBytes" | "payloadMaxByteLength" | "maxPayloadBytes";

/** Options of `createPool`. All are optional. */
export interface CreatePool {
  /** Number of workers. Default 1. */
  readonly threads?: number;
  /** Runs some calls on the host thread, as the option of `heddle`. */
  readonly inliner?: Exclude<NonNullable<HeddleOptions["inliner"]>, boolean>;
  /** Default: heddle's own, which moves calls to idle workers. */
  readonly balancer?: BalancerStrategy | { readonly strategy?: BalancerStrategy };
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
  readonly permission?: "strict" | "unsafe" | "off" | "custom" | PermissionProtocol;
  /** Prints once which options have no effect. */
  readonly debug?: boolean | Readonly<Record<string, boolean>>;
  /** No effect: workers start with heddle's own module. */
  readonly source?: string;
}
