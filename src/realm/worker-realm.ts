/**
 * Marks a thread as a heddle worker for every copy of heddle in it. The worker entry sets the mark before any task
 * module loads. It is on `globalThis`, since a task module may import another copy (sources and build, two versions).
 */

import type { ThreadWords } from "./thread-hooks.ts";

/** A worker as its tasks see it. */
export interface WorkerInfo {
  /** Number of the worker within its pool; replacements get new numbers. */
  readonly id: number;
  /**
   * A number from 1 that no other worker of the pool has at the same time, and that a later one gets again: for ports, databases and
   * folders of tests. The smallest that is free, so at most the number of workers that there are, those that are being replaced or
   * closed included. On Deno a thread that could not be stopped (`abandonedThreads`) may go on while another has its number.
   */
  readonly slot: number;
  /** Name of the pool (option `worker.name`). */
  readonly pool: string;
  /** This worker's copy of the option `worker.data`. */
  readonly data: unknown;
  /** What the default export of the option `worker.setup` returned. Undefined until then. */
  readonly context: unknown;
}

/** What `heddle/shared` needs in a worker. */
interface SharedRealm {
  /** Sends a message to the host. */
  post(body: unknown): void;
  /** Receives what comes back. */
  receive: ((body: unknown) => void) | undefined;
  /** Takes what has come back: for a thread that waits without its event loop (`pool.sync`). */
  take(): void;
}

/** Requests of tasks to their host. Settings are plain data: those of `NestedSettings`. */
export interface TaskRequests {
  callHost(name: string, args: readonly unknown[]): Promise<unknown>;
  callHostSync(name: string, args: readonly unknown[]): unknown;
  callTask(
    name: string,
    args: readonly unknown[],
    settings: object | undefined,
    signal: AbortSignal | undefined,
  ): Promise<unknown>;
  callTaskSync(name: string, args: readonly unknown[], settings: object | undefined): unknown;
  /** Tasks of this worker call tasks. */
  track(): void;
}

export interface WorkerRealm {
  /** True while task modules are being imported. */
  isLoading: boolean;
  /** What `workerInfo()` returns. */
  info: WorkerInfo;
  /** URLs of these modules, and the names of the bare functions among the pool's tasks. */
  readonly modules: readonly string[];
  readonly bareTasks: readonly string[];
  /** Hooks passed to `onTeardown`, oldest first. */
  readonly teardowns: (() => unknown)[];
  /** Sends an event to the caller of the running task. Undefined until the worker is ready. */
  emit: ((value: unknown) => void) | undefined;
  /** What `host` and `currentPool` use. Undefined: they cannot be used. */
  readonly requests: TaskRequests | undefined;
  /** Words of the first thread, of each worker above this one, and of this one (thread-hooks.ts), for pools created in it. */
  readonly active: readonly ThreadWords[];
  readonly shared: SharedRealm;
  /** Start data of this worker as its tasks see it: with shared objects. */
  unpack(data: unknown): unknown;
}

const KEY = Symbol.for("heddle.worker");

/** The realm of the worker this thread is, or undefined. */
export function workerRealm(): WorkerRealm | undefined {
  return (globalThis as { [KEY]?: WorkerRealm })[KEY];
}

export function enterWorkerRealm(realm: WorkerRealm): void {
  Object.defineProperty(globalThis, KEY, { value: realm });
}

const CLAIM = Symbol.for("heddle.claim");

/** Whether this copy of heddle is the first to claim the thread: a bundle may contain several of the same version. */
export function claimThread(): boolean {
  const global = globalThis as { [CLAIM]?: true };
  if (global[CLAIM]) return false;
  return global[CLAIM] = true;
}

/** Workers that run on their host's thread (`host-workers.ts`). */
export interface HostWorkers {
  /** The worker whose task is running; undefined: none. */
  realm: () => WorkerRealm | undefined;
}

/** On `globalThis` for the same reason. */
export const HOST_WORKERS: unique symbol = Symbol.for("heddle.hostWorkers");

/** The worker whose task is running: this thread, or one that runs on it. */
export function taskRealm(): WorkerRealm | undefined {
  return (globalThis as { [HOST_WORKERS]?: HostWorkers })[HOST_WORKERS]?.realm() ?? workerRealm();
}
