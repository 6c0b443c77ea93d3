/** The types of jest-worker's API: options, what queues and pools of a program's own are given, and the farm with the methods of its module. */
import type { ForkOptions } from "node:child_process";
import type { ResourceLimits } from "node:worker_threads";
import type { Worker } from "./jest-worker.ts";

/** The first element of the requests that queues and pools of a program's own get. */
export const CHILD_MESSAGE_CALL = 1;

/** A call: its kind, whether a worker has it, the method, and the arguments. A queue must not return it once a worker has it. */
export type ChildMessageCall = [
  type: typeof CHILD_MESSAGE_CALL,
  isProcessed: boolean,
  methodName: string,
  args: unknown[],
];

/** What a worker is to those that wait for it. */
export interface WorkerInterface {
  /** Its index, from 0. */
  getWorkerId(): number;
}

/** Called when a worker takes a call. */
export type OnStart = (worker: WorkerInterface) => void;
/** Called when a call is over: with its error, or null and its result. */
export type OnEnd = (error: Error | null, result: unknown) => void;
/** Called for each `messageParent(message)` of a call. */
export type OnCustomMessage = (message: unknown) => void;

/** Gives a call to a worker. */
export type WorkerCallback = (
  workerId: number,
  request: ChildMessageCall,
  onStart: OnStart,
  onEnd: OnEnd,
  onCustomMessage: OnCustomMessage,
) => void;

/** A call that waits in a queue. */
export interface QueueChildMessage {
  readonly request: ChildMessageCall;
  readonly onStart: OnStart;
  readonly onEnd: OnEnd;
  readonly onCustomMessage: OnCustomMessage;
}

/** The option `taskQueue`: the order in which calls go to workers. */
export interface TaskQueue {
  /** Adds a call: for one worker, or for any. */
  enqueue(task: QueueChildMessage, workerId?: number): void;
  /** Takes the next call for this worker; null: there is none. */
  dequeue(workerId: number): QueueChildMessage | null;
}

/** What `end()` resolves with. */
export interface PoolExitResult {
  /** Whether a worker did not end by itself in time. */
  readonly forceExited: boolean;
}

/** What a pool gets. */
export interface WorkerPoolOptions {
  readonly setupArgs: readonly unknown[];
  readonly forkOptions: ForkOptions;
  readonly resourceLimits: ResourceLimits;
  readonly maxRetries: number;
  readonly numWorkers: number;
  readonly enableWorkerThreads: boolean;
  readonly idleMemoryLimit: number | undefined;
  readonly workerGracefulExitTimeout: number | undefined;
}

/** The option `WorkerPool`: a class of the program's own that starts workers in its way. */
export interface WorkerPoolInterface {
  getStderr(): NodeJS.ReadableStream;
  getStdout(): NodeJS.ReadableStream;
  send: WorkerCallback;
  start(): Promise<void>;
  end(): Promise<PoolExitResult>;
}

/** Options of `new Worker(path, options)`. */
export interface WorkerFarmOptions {
  /** Calls with the same key run in the same worker; null: any. */
  readonly computeWorkerKey?: ((method: string, ...args: unknown[]) => string | null) | undefined;
  /** Threads in place of processes. Default: false. */
  readonly enableWorkerThreads?: boolean | undefined;
  /** The methods that can be called. Default: the functions that the module exports, which is loaded for it. */
  readonly exposedMethods?: readonly string[] | undefined;
  /** Options of the processes, or of the threads. */
  readonly forkOptions?: ForkOptions | undefined;
  /** How often a call is made again whose worker has crashed. Default: 3. */
  readonly maxRetries?: number | undefined;
  /** Default: the cores less one, at least one. */
  readonly numWorkers?: number | undefined;
  /** Limits of threads. */
  readonly resourceLimits?: ResourceLimits | undefined;
  /** Arguments of the module's `setup`. */
  readonly setupArgs?: readonly unknown[] | undefined;
  /** Default: a `FifoQueue`. */
  readonly taskQueue?: TaskQueue | undefined;
  /** Default: workers of heddle. */
  readonly WorkerPool?:
    | (new (workerPath: string, options: WorkerPoolOptions) => WorkerPoolInterface)
    | undefined;
  /** Where a call goes if several workers are free. Default: "round-robin". */
  readonly workerSchedulingPolicy?: "round-robin" | "in-order" | undefined;
  /** Bytes of heap above which a worker is replaced after a call; up to 1: a part of the memory of the machine. */
  readonly idleMemoryLimit?: number | undefined;
  /** Time for workers to end by themselves, in milliseconds. Default: 500. */
  readonly workerGracefulExitTimeout?: number | undefined;
}

/** The promise of a call. */
export interface PromiseWithCustomMessage<T> extends Promise<T> {
  /** Adds a listener for what the call sends by `messageParent`; returns what removes it. */
  UNSTABLE_onCustomMessage?: (listener: OnCustomMessage) => () => void;
}

// deno-lint-ignore no-explicit-any -- any function
type AnyFunction = (...args: any) => unknown;

type Reserved = "end" | "getStderr" | "getStdout" | "setup" | "teardown";

/** A `Worker` with the methods of its module. */
export type JestWorkerFarm<T extends Record<string, unknown>> =
  & Worker
  & {
    [Key in keyof T as Key extends Reserved ? never : T[Key] extends AnyFunction ? Key : never]:
      T[Key] extends AnyFunction
        ? (...args: Parameters<T[Key]>) => Promise<Awaited<ReturnType<T[Key]>>>
        : never;
  };
