/**
 * How features take part in what a pool does with its workers: how many there are, which are replaced, how they are stopped, and
 * what happens where none can start. Without them a pool starts as many as it should have, and replaces those that end.
 */
import type { Runtime, WorkerHandle } from "../../runtimes/runtime.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { Lane } from "../lanes/lane.ts";
import type { PoolSize } from "./pool-size.ts";
import type { Connect } from "./lane-connection.ts";
import type { LaneOptions } from "./lane-options.ts";
import type { SupervisorEvents } from "./supervisor-events.ts";

/** The workers of a pool, as features see them. `Supervisor` is the implementation. */
export interface Workers {
  readonly runtime: Runtime;
  readonly dispatcher: Dispatcher;
  readonly events: SupervisorEvents;
  /** Its limits at present. */
  readonly size: PoolSize;
  readonly spawnOnHost: LaneOptions["spawnOnHost"];
  readonly recycling: Recycling | undefined;
  /** Workers that take calls or are starting, and threads that have the place of one. */
  readonly alive: number;
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

/** Replaces workers that have reached a limit. */
export interface Recycling {
  /** Number of workers recycled so far. */
  readonly recycled: number;
  /** Threads that have the place of a worker, though they take no calls. */
  readonly occupied: number;
  /** A worker has got as many calls as it should. It continues until its successor is ready. */
  recycle(lane: Lane): boolean;
  /** A worker has got its last call: another replaces it. */
  replaceAtLimit(lane: Lane): void;
  /** A worker has ended. `replacedBy`: the id of its replacement. `isSuccessor`: it should have replaced one that goes on. */
  onGone(
    lane: Lane,
  ): { readonly replacedBy: number | undefined; readonly isSuccessor: boolean };
  /** A successor could not start. */
  pause(): void;
  close(): void;
}

/** Stops workers that exceed a limit, also where the runtime cannot stop their threads. */
export interface Stopping {
  /** Number of threads of stopped workers that go on. */
  readonly abandonedThreads: number;
  /** Factor, at least 1, by which limits are longer at present. */
  readonly stretch: number;
  /** As `Recycling.occupied`. */
  readonly occupied: number;
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
}

/** Each makes what a feature does for the workers of a pool, when that is first needed. */
export interface WorkerMakers {
  sizing(workers: Workers): Sizing;
  recycling(workers: Workers): Recycling;
  stopping(workers: Workers): Stopping;
  fallback(workers: Workers): Fallback;
  /** Loads what makes workers on the host's thread. */
  hostWorkers(given: HostWorkersGiven): Promise<() => WorkerHandle>;
  /** Connects a worker that shares no memory with its host. */
  connect: Connect;
}

/** What workers on the host's thread are made of. */
interface HostWorkersGiven {
  readonly runtime: Runtime;
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
