/** The public types of a pool. */
import type { PoolEvents } from "../../features/watching/observe/host/pool-events.ts";
import type { CpuProfile, ProfileOptions } from "../../features/watching/profile/host/profile.ts";
import type { PoolStatistics } from "../../features/watching/observe/host/pool-statistics.ts";
import type { WorkerUsage } from "../../features/watching/observe/host/worker-usage.ts";
import type { ShutdownOptions } from "../options/pool-options.ts";
import type { BroadcastCalls, Calls, SyncCalls } from "../calls/call-types.ts";
import type { Mappings } from "../../features/calls/map/host/map-types.ts";
import type { Spawn } from "../../features/calls/objects/object-types.ts";
import type { OpenScope } from "../../features/calls/scopes/scope-types.ts";

/**
 * A pool of workers for tasks: `Pool<typeof import("./tasks.ts")>` for those of a module, `Pool<typeof tasks>` for those of a
 * map. Create it with `createPool`. Its methods may be used without it: `const { call, shutdown } = pool`.
 */
export interface Pool<Tasks extends object> extends Mappings, AsyncDisposable, Disposable {
  /**
   * The tasks as local async functions: `await pool.call.resize(image)`. Options come by `with`:
   * `pool.call.resize.with({ timeoutMs: 500, signal })(image)`.
   */
  readonly call: Calls<Tasks>;
  /**
   * The tasks as functions that block this thread until the task is done, for code that cannot be async:
   * `const html = pool.sync.render.with({ timeoutMs: 1000 })(page)`. Arguments, results, errors and options are those of
   * `pool.call`, but promises and streams are refused as arguments, and a signal aborts only a call that has not been made. Timers,
   * I/O and promise callbacks of this thread wait meanwhile; results of other calls that arrive are handed over afterwards. Without
   * `timeoutMs` it waits as long as the task takes. Not possible in the main thread of a browser.
   */
  readonly sync: SyncCalls<Tasks>;
  /**
   * The tasks as functions that call every worker once: `await pool.broadcast.reload(config)` is the list of results in
   * the order of the workers. It waits for all, also for those that are starting. If some fail it rejects with an
   * AggregateError, whose `workerIds` are those of the failed workers. Arguments cannot be transferred.
   */
  readonly broadcast: BroadcastCalls<Tasks>;
  /**
   * Makes objects that live in workers: a class of a module keeps its state there, and its methods are calls. See
   * [objects in workers](https://github.com/heddle-js/heddle/blob/main/docs/objects.md).
   */
  readonly spawn: Spawn<Tasks>;
  /**
   * Opens a scope, whose calls end together: `await using scope = pool.scope()`, or `await pool.scope(async (scope) => {})`. Leaving it
   * waits until no task of it runs any more, on the host and in workers; the first error of a call cancels the others.
   */
  readonly scope: OpenScope<Tasks>;
  /**
   * Resolves when all workers are ready. Rejects with WorkerStartError or TaskNotFoundError if a task module cannot be
   * loaded, and with PoolClosedError if the pool is closed earlier.
   */
  readonly ready: Promise<void>;
  /**
   * Whether producers should pause until the event "drain" or `await pool.drained()`: true when `maxQueue` calls wait on
   * the host, or 1024 for each worker if that is less.
   */
  readonly needsDrain: boolean;
  /** Resolves when `needsDrain` is false. */
  drained(): Promise<void>;
  /** Counters, workers and tasks as of now. Takes time in proportion to the calls in flight. */
  stats(): PoolStatistics;
  /**
   * Memory and processor time of each worker, read from outside: true also of one that runs an endless loop. Threads of Node, and
   * processes on Linux; the others have `undefined`.
   */
  usage(): Promise<readonly WorkerUsage[]>;
  /**
   * Takes a CPU profile of a worker by its id (`stats().workers`), over `durationMs` (default 1000). It begins when the worker's event
   * loop next turns, so after a synchronous task that it runs. Rejects with ProfileUnavailableError if the worker cannot be
   * profiled or ends, and with PoolClosedError if the pool is closed.
   */
  profile(workerId: number, options?: ProfileOptions): Promise<CpuProfile>;
  /**
   * Closes the pool: new calls reject with PoolClosedError at once; calls that run or wait get up to `timeoutMs` (default
   * 5000, `Infinity` to wait for all) to finish, then reject with PoolClosedError; with `queued: "reject"` those that wait
   * reject at once. When only streams of results are left, and nothing has been read of them for a second, they are ended.
   * Workers then get up to `teardownTimeoutMs` (1000) to close, and are stopped. Resolves when no worker is left. A further call
   * returns the same promise; its options may shorten the time, and reject what waits. A number is short for `{ timeoutMs }`.
   */
  shutdown(options?: number | ShutdownOptions): Promise<void>;
  /**
   * Adds a listener for an event of the pool: "workerStart", "workerExit", "unhandledRejection", "message",
   * "drain", "threadAbandoned" or "unavailable". `event.detail` has what {@link PoolEvents} says.
   */
  addEventListener<Name extends keyof PoolEvents>(
    name: Name,
    listener: (event: CustomEvent<PoolEvents[Name]>) => void,
  ): void;
  /** Removes a listener that `addEventListener` added. */
  removeEventListener<Name extends keyof PoolEvents>(
    name: Name,
    listener: (event: CustomEvent<PoolEvents[Name]>) => void,
  ): void;
}
