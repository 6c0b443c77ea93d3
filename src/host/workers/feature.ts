/**
 * How features take part in what a pool does with its workers: how many there are, which are replaced, how they are stopped, and
 * what happens where none can start. Without them a pool starts as many as it should have, and replaces those that end.
 */
import type { HostRuntime } from "../../runtimes/runtime.ts";
import type { WorkerHandle } from "../../runtimes/worker-handle.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { Lane } from "../lanes/lane.ts";
import type { WorkerLoss, WorkerLostError } from "../../errors.ts";
import type { TaskDescription } from "../../protocol/start-data.ts";
import type { PendingCall } from "../calls/in-flight.ts";
import type { Connect, LaneOptions } from "./lane-connection.ts";

/** What a pool may have of a budget of threads. */
export interface ShareLimits {
  /** Threads that it may have at any time. */
  readonly guaranteed: number;
  /** Whether the budget limits the threads beyond. Otherwise they only count. */
  readonly isLimited: boolean;
}

/** Limits of the number of workers, of their idle time, and of abandoned threads. */
export interface PoolSize {
  /** A `PoolBudget`. Undefined: that of the thread. */
  readonly budget?: object | undefined;
  /** Its part in the budget. Default: `minThreads`, and no limit beyond. */
  readonly share?: ShareLimits;
  /** Bytes of the system that have to be free when a worker beyond the guaranteed ones starts. Default: 0. */
  readonly minFreeMemory?: number | undefined;
  readonly minThreads: number;
  readonly maxThreads: number;
  readonly idleTimeoutMs: number;
  /** Undefined: as many as there are cores. */
  readonly maxAbandonedThreads?: number;
  /** Set where workers are no threads. */
  readonly spawnWorker?: unknown;
  /** Whether the tasks run on the host from the start. */
  readonly isOnHost?: boolean;
}

/** How a lane ended. */
export interface LaneEnd extends WorkerLoss {
  /** The first error that ended the worker, if any: an uncaught exception, or the error passed to `end`. */
  readonly cause: unknown;
  /** Set if the worker failed to start. Undefined if it was closed while starting. */
  readonly startError: Error | undefined;
  /** Whether the worker's code has not even begun: its thread cannot run here. */
  readonly neverBegan: boolean;
  /** Whether the host had asked it to exit. */
  readonly wasAsked: boolean;
}

/** How a worker ended, and what that meant for the pool. */
export interface WorkerExit {
  readonly workerId: number;
  readonly reason: string;
  readonly exitCode: number | undefined;
  /** Running calls that rejected with it. */
  readonly callsLost: number;
  /** Id of the worker that takes its place, perhaps in a moment. Undefined: none, or not decided yet. */
  readonly replacedBy: number | undefined;
}

/** What a worker reports. */
export interface WorkerEvents {
  /** Called before a worker is ready, with the tasks of `taskModule`. It fails with the error that this returns. */
  onTasks(tasks: readonly TaskDescription[]): Error | undefined | Promise<Error | undefined>;
  /** A worker has woken the host; or the host a worker, if anybody wants to know. */
  readonly onWake: (worker: { readonly id: number }) => void;
  readonly onWoken: ((workerId: number) => void) | undefined;
  /** Dispatches an event of the pool. Unless a listener calls `preventDefault()`, prints `warning` if there is one, and returns true. */
  emit(name: string, detail: object, warning?: string, cause?: unknown): boolean;
}

export interface SupervisorEvents extends WorkerEvents {
  /** A worker has started: calls back when it may take calls. */
  onPrepare(lane: Lane, onDone: () => void): void;
  /** A worker has ended, or never started. */
  onEnded(workerId: number, error: () => Error): void;
  /** `minThreads` workers are ready for the first time. */
  onReady(): void;
  /** The pool has failed: every call is rejected from now on. */
  onFailed(error: Error): void;
  /** Rejects a call whose worker is gone. */
  onLost(call: PendingCall, error: (task?: string) => WorkerLostError): void;
  /** A worker takes calls from now on. */
  onWorkerStart(workerId: number): void;
  /**
   * A worker has ended; with an error if it ended unexpectedly and the pool goes on. Of the calls that it was running,
   * idempotent ones with retries left are retried, the others have been rejected.
   */
  onWorkerExit(exit: WorkerExit, error: WorkerLostError | undefined): void;
}

/** The workers of a pool, as features see them. `Supervisor` is the implementation. */
export interface Workers {
  readonly runtime: HostRuntime;
  readonly dispatcher: Dispatcher;
  readonly events: SupervisorEvents;
  /** Its limits at present. */
  readonly size: PoolSize;
  readonly spawnOnHost: LaneOptions["spawnOnHost"];
  readonly recycling: Recycling | undefined;
  /** Workers that take calls or are starting, and threads that have the place of one. */
  readonly alive: number;
  /** Threads that have not ended. */
  readonly threadCount: number;
  /** Workers that do not take calls yet. */
  readonly starting: number;
  /** Replacements that are delayed. */
  readonly delayed: number;
  /** Whether one more worker may be started. */
  readonly mayStart: boolean;
  /** No further calls will be made. */
  readonly isDraining: boolean;
  readonly isClosing: boolean;
  /** Starts a worker now. Throws what starting a thread throws. */
  spawn(): Lane;
  /** The same, but tries again later if it throws. */
  startOrReplaceLater(): void;
  /** Starts a worker soon, unless there are enough. Returns its id. */
  replaceLater(): number | undefined;
  /** From now on the pool has at most so many workers. */
  limit(threads: number): void;
  /** Workers are made by `spawn` from now on. */
  spawnBy(spawn: () => WorkerHandle): void;
}

/** How many workers a pool has: one for each pool whose number changes. */
export interface Sizing {
  /** Whether the pool may have fewer workers than it should, so that it is worthwhile to look before each park of the host. */
  readonly isElastic: boolean;
  /** Whether a worker may start beside so many others. */
  mayStart(alive: number): boolean;
  /** Starts a worker if calls wait for one. */
  check(): void;
  /** The thread of a worker has started. */
  onStarted(lane: Lane): void;
  close(): void;
}

/** Replaces workers that have reached a limit. It notes in the lanes which replaces which (`Lane.replaces`). */
export interface Recycling {
  /** Number of workers recycled so far. */
  readonly recycled: number;
  /** A worker has got as many calls as it should. It continues until its successor is ready. */
  recycle(lane: Lane): boolean;
  /** A worker has got its last call: another replaces it. */
  replaceAtLimit(lane: Lane): void;
  close(): void;
}

/** Stops workers that exceed a limit, also where the runtime cannot stop their threads. */
export interface Stopping {
  /** Number of threads of stopped workers that go on. */
  readonly abandonedThreads: number;
  /** Factor, at least 1, by which limits are longer at present. */
  readonly stretch: number;
  stop(lane: Lane, error: Error): void;
}

/** What a pool does if a thread cannot start. */
export interface Fallback {
  /** Whether the tasks run on the host. */
  readonly isOnHost: boolean;
  /** Whether the code for that is not there yet. */
  readonly isLoading: boolean;
  /** True: the pool goes on, without a replacement of it. False: it deals with it as with any failure. `isFirst`: while it starts. */
  goOn(error: Error, isFirst: boolean): boolean;
  /** Starts a worker on the host. */
  useHost(): void;
}

/** Each makes what a feature does for the workers of a pool, when that is first needed. */
export interface WorkerMakers {
  /** Undefined: its number of workers is fixed. */
  sizing(workers: Workers): Sizing | undefined;
  recycling(workers: Workers): Recycling;
  stopping(workers: Workers): Stopping;
  fallback(workers: Workers): Fallback;
  /** Loads what makes workers on the host's thread. */
  hostWorkers(given: HostWorkersGiven): Promise<() => WorkerHandle>;
  /** What a thread wrote to stderr last. Undefined: nothing, or nobody has asked for it. */
  lastErrors(lane: Lane): string | undefined;
  /** Connects a worker that shares no memory with its host. */
  connect: Connect;
}

/** What workers on the host's thread are made of. */
interface HostWorkersGiven {
  readonly runtime: HostRuntime;
  /** The tasks that the host has, by index: functions or declared tasks. Undefined: its module is imported. */
  readonly known: readonly unknown[];
  /** Runs a function in an asynchronous context of no call. */
  readonly inContext: (f: () => void) => void;
  /** Imports `worker/entry.ts`. */
  readonly loadWorkerCode: () => Promise<unknown>;
}

/** What a feature adds to the workers of a host. */
export interface WorkersFeature {
  readonly workers?: Partial<WorkerMakers>;
}

/** Those of the features of this thread. */
export const makers: Partial<WorkerMakers> = {};
