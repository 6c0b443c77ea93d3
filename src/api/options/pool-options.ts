/** The options of `createPool` and of `shutdown`. Types only: `options.ts` checks them. */
import type { BalancerFunction, BalancerName } from "../../features/workers/balancers/balancers.ts";
import type { InlinerLimits } from "../../features/workers/inline/host/inline-executor.ts";
import type { DebugTopic } from "../../features/watching/observe/host/debug-log.ts";
import type { RingSizes } from "../../lane/layout.ts";
import type { PermissionOptions, ResourceLimits } from "../../runtimes/runtime.ts";
import type { ProcessPoolOptions } from "../../features/workers/processes/host/process-options.ts";
import type { HostOptions } from "../../features/calls/requests/host/host-options.ts";
import type {
  ContextOptions,
  OutputOption,
} from "../../features/watching/observe/host/observe-options.ts";
import type { ThreadBudget } from "../../features/workers/scaling/host/thread-budget.ts";

/** "off": the rights of the host. "strict": only reading in the working directory. */
export type PermissionMode = "off" | "strict";

/** Options of `createPool`. All are optional. */
export interface PoolOptions {
  /**
   * Number of workers. "auto": the cores that this process may use less one, at least 1; fewer while other
   * pools of this thread use the cores. With `budget`: from one worker to all of the budget, as calls wait.
   * 0: no thread; the tasks run on the host, which they block. The variable `HEDDLE_THREADS` is the default of pools with none of
   * these four options, and 0 there overrides the options of all pools.
   *
   * @default "auto"
   * @see [without threads](https://github.com/heddle-js/heddle/blob/main/docs/reliability.md#without-threads)
   */
  readonly threads?: number | "auto";
  /**
   * Minimum number of workers, whose number follows the load: another one starts when its part of the work is worth two
   * starts, and closes after `idleTimeoutMs` without work. With 0 the first worker starts with the first call.
   *
   * @default `threads`
   */
  readonly minThreads?: number;
  /**
   * Maximum number of workers.
   *
   * @default `threads`
   * @see [scheduling](https://github.com/heddle-js/heddle/blob/main/docs/waiting.md#which-worker)
   */
  readonly maxThreads?: number;
  /**
   * A budget of threads that this pool shares with others: `threadBudget({ max })`. Its `minThreads` (a number in `threads`
   * is one too) are guaranteed: they count, but may exceed the budget. So may one worker while the pool has calls to run.
   * Further ones start if the budget has room, or get the thread of a worker that another pool does not use.
   *
   * @default a budget of one thread per core, which limits only pools whose number of threads is "auto"
   * @see [several pools](https://github.com/heddle-js/heddle/blob/main/docs/thread-budget.md)
   */
  readonly budget?: ThreadBudget;
  /**
   * Memory that has to be free when a further worker starts: bytes, or a percentage such as "20%" of what the process may use. With less
   * the pool goes on with the workers that it has, and looks again while its calls wait. The first worker always starts, and so do
   * `minThreads`, which have to be below `maxThreads`.
   *
   * @default 0
   * @see [free memory](https://github.com/heddle-js/heddle/blob/main/docs/thread-budget.md#free-memory)
   */
  readonly minFreeMemory?: number | `${number}%`;
  /**
   * Time without work after which a worker closes, in milliseconds; Infinity: never.
   *
   * @default 10,000
   */
  readonly idleTimeoutMs?: number;
  /**
   * Bytes of each worker's request ring and response ring: a power of two for both, or one for each. A ring uses memory
   * as traffic needs it. Values larger than a quarter of their ring get shared memory of their own, which is slower.
   *
   * @default 4 MiB; 256 KiB without shared memory
   */
  readonly ringBytes?: number | Partial<RingSizes>;
  /**
   * Maximum bytes of the encoded arguments of a call, and of its result (about their size in memory; strings take one or
   * two bytes a character). Larger ones reject the call with PayloadTooLargeError.
   *
   * @default Infinity, no limit but memory
   */
  readonly maxPayloadBytes?: number;
  /**
   * Maximum number of async tasks in flight in one worker; then it takes no more calls. From 1 to 1,048,576.
   *
   * @default 1024
   */
  readonly maxConcurrency?: number;
  /**
   * Longest spin, in milliseconds: 0 to 1; 0: never spin. Host and workers spin while they wait only if calls take less
   * than five times as long, a core is free and spins have lately brought more answers in the same time; else they sleep at once.
   *
   * @default 0.1, about the time of a sleep and a wake
   * @see [waiting](https://github.com/heddle-js/heddle/blob/main/docs/waiting.md#waiting)
   */
  readonly spinMs?: number;
  /**
   * How the pool chooses the worker of a call. "adaptive", by measured run times: it packs short calls on a worker that
   * is awake, spreads long ones, and moves calls that wait behind others to idle workers. The others do not measure or
   * move: "roundRobin", "firstIdle" (else the least loaded), "randomLane", "firstIdleOrRandom", "leastLoaded", "fifo"
   * (calls start in the order in which they are made, one at a time in each worker, without priorities; this reduces
   * throughput), or a function that returns the index of one of its workers (undefined: the call waits on the host).
   *
   * @default "adaptive"
   * @see [strategies](https://github.com/heddle-js/heddle/blob/main/docs/waiting.md#which-worker)
   */
  readonly balancer?: BalancerName | BalancerFunction;
  /**
   * Run some calls on the host thread, which blocks meanwhile. `true`, or an object of limits. Tasks of `importTask` and
   * tasks with `abortSignal` and generators never run there.
   *
   * @default none
   */
  readonly inliner?: boolean | Partial<InlinerLimits>;
  /**
   * Maximum number of calls that wait on the host: an integer from 0, or "auto", 1024 for each worker. With 0 each call is refused until `await pool.ready`. Set
   * `maxConcurrency` too for a tight limit. Calls that await promises among their arguments count, but a call
   * that has to wait is taken while there is an idle worker for it. With this option a worker gets at most
   * `maxConcurrency` calls at once, and all others count, so the pool takes `maxConcurrency` × workers + `maxQueue`
   * calls. Without it, workers get at least 1024 calls each, or 50 ms of short ones, in advance. `pool.needsDrain`,
   * which counts calls beyond 1024 per worker, tells producers when to pause.
   *
   * @default Infinity, no limit
   * @see [backpressure](https://github.com/heddle-js/heddle/blob/main/docs/waiting.md#backpressure)
   */
  readonly maxQueue?: number | "auto";
  /**
   * For calls beyond `maxQueue`: "reject" rejects them with QueueFullError, "wait" lets them wait, so that producers
   * have to limit memory by `pool.needsDrain`.
   *
   * @default "reject"
   */
  readonly queuePolicy?: "reject" | "wait";
  /**
   * How calls reach the workers. "shared": through memory that they share, which a browser allows only in pages that are
   * cross-origin isolated. "messages": by `postMessage`, slower, for platforms whose threads cannot wait by `Atomics.wait`:
   * without `metrics` and calls that wait with their thread (`pool.sync`, `host.sync`, `currentPool().sync` in async tasks). "auto": shared where it is possible.
   * `pool.stats().transport` tells which.
   *
   * @default "auto"
   * @see [in the browser](https://github.com/heddle-js/heddle/blob/main/docs/browser.md)
   */
  readonly transport?: "auto" | "shared" | "messages";
  /**
   * Whether workers are threads or child processes. "processes": processes of Node, Deno or Bun, for native addons that a thread cannot load, a working
   * folder of their own, and crashes that take nothing else along. Values are copied: `SharedArrayBuffer`, `heddle/shared`,
   * ports and other objects that only a thread can get are refused, and `transfer` copies. Without `pool.sync`, `host.sync`,
   * `metrics` and `permission`.
   *
   * @default "threads"
   * @see [processes](https://github.com/heddle-js/heddle/blob/main/docs/processes.md)
   */
  readonly workers?: "threads" | "processes";
  /**
   * How processes are started. An option that is not given has the value of the host process.
   *
   * @default none
   */
  readonly process?: ProcessPoolOptions;
  /**
   * Maximum run time of a task, in milliseconds. Then its worker is stopped and replaced: the call rejects with
   * TimeoutError, the worker's async calls in flight with WorkerLostError, and calls that it had not started run
   * elsewhere.
   *
   * @default Infinity, no limit
   */
  readonly hardTimeoutMs?: number;
  /**
   * Maximum number of threads of this pool that keep running after their workers were stopped: an integer from 0, or
   * Infinity. Deno cannot stop a thread that loops or blocks. At the limit a stuck worker stays, without further calls;
   * if no other worker is left, the pool fails with WorkerStartError.
   *
   * @default the number of cores
   * @see [workers that end](https://github.com/heddle-js/heddle/blob/main/docs/reliability.md#workers-that-end)
   */
  readonly maxAbandonedThreads?: number;
  /**
   * Number of calls after which a worker is replaced, for tasks that leak. Below 16 the number is exact: the worker gets
   * no further call. From 16 it is approximate: the worker gets calls until the new one is ready. It finishes its calls.
   * At most 536,870,912.
   *
   * @default Infinity: never
   */
  readonly recycleAfter?: number;
  /**
   * Maximum bytes of heap and buffers of a worker, garbage included: a number, or a percentage such as "20%" of the memory that
   * the process may use. Above it the worker is replaced as by `recycleAfter`; 25 % above it, the worker also gets no calls
   * meanwhile. Checked every 5 ms while it works, between calls.
   *
   * @default Infinity, no limit
   */
  readonly maxWorkerBytes?: number | `${number}%`;
  /**
   * Limits of each worker's heap and stack, in MiB. A worker that needs more ends, and its calls reject with
   * WorkerLostError. Of threads only on Node, where large arrays that fill the heap may end the process (24) or hang (26);
   * of processes on Node and Deno.
   *
   * @default the runtime's
   */
  readonly resourceLimits?: ResourceLimits;
  /**
   * Rights of tasks. `createPool` throws if the runtime cannot deny a right to threads. This is not a sandbox: threads
   * share memory and rights.
   *
   * @default "off": the rights of the host
   * @see [permissions](https://github.com/heddle-js/heddle/blob/main/docs/permissions.md#permissions)
   */
  readonly permission?: PermissionMode | PermissionOptions;
  /**
   * What each worker runs before its tasks, and how its thread is started.
   *
   * @default none
   * @see [setup of workers](https://github.com/heddle-js/heddle/blob/main/docs/tasks.md#setup-of-workers)
   */
  readonly worker?: WorkerOptions;
  /**
   * Keep the compiled code of workers on disk, so that later workers need not compile it, also those of other processes: Node's compile
   * cache. The path or file URL of a folder; true: the folder that this process uses, else Node's default among temporary files. No effect on
   * Deno and Bun, which keep caches of their own. Cannot be combined with `permission`, nor with `SHARE_ENV`.
   *
   * @default false: workers have a cache if NODE_COMPILE_CACHE is in their environment
   * @see [compiled code](https://github.com/heddle-js/heddle/blob/main/docs/worker-life-cycle.md#compiled-code)
   */
  readonly compileCache?: boolean | string | URL;
  /**
   * Measure the wait and run times of tasks for `stats().tasks`, and the memory of workers.
   *
   * @default false
   * @see [statistics](https://github.com/heddle-js/heddle/blob/main/docs/observability.md#statistics)
   */
  readonly metrics?: boolean;
  /**
   * Print decisions on stderr, a line each: all, or those about these topics. Stacks of errors then show the caller too; with
   * `["callers"]` that is all, and nothing is printed.
   *
   * @default the environment variable HEDDLE_DEBUG, `1` or a list with commas; none if it is not set
   * @see [debug output](https://github.com/heddle-js/heddle/blob/main/docs/observability.md#debug-output)
   */
  readonly debug?: boolean | readonly DebugTopic[];
  /**
   * A context that each call carries to its worker, such as a request id or a trace.
   *
   * @default none
   * @see [traces](https://github.com/heddle-js/heddle/blob/main/docs/observability.md#traces)
   */
  readonly context?: ContextOptions;
  /**
   * Where the output of workers goes. "inherit": this program prints it. "ignore": nobody gets it. A function gets whole lines, so
   * that those of different calls do not interleave, with the worker, the stream and the call. With the last two, and for processes,
   * {@link WorkerLostError} has the last lines of stderr. Output of native code and of children of a thread is not taken. Not in
   * browsers.
   *
   * @default "inherit"
   * @see [output of tasks](https://github.com/heddle-js/heddle/blob/main/docs/observability.md#output-of-tasks)
   */
  readonly output?: OutputOption;
  /**
   * Functions of the host that tasks may call ({@link host}): `{ functions }`.
   *
   * @default none
   * @see [host functions](https://github.com/heddle-js/heddle/blob/main/docs/nested-work.md#functions-of-the-host)
   */
  readonly host?: HostOptions;
  /**
   * Maximum time for a worker to load its tasks, in milliseconds. Then its start has failed. Infinity: no limit.
   *
   * @default 60,000
   */
  readonly startTimeoutMs?: number;
  /**
   * Maximum time for a closing worker to exit, its `onTeardown` hooks included, in milliseconds. Then it is stopped.
   * Infinity: no limit.
   *
   * @default 1000
   */
  readonly teardownTimeoutMs?: number;
  /**
   * Effect of threads that cannot start, without a permission or because of a limit. "error": calls reject with
   * WorkerStartError, or `createPool` throws it. "host": the pool dispatches the event "unavailable", imports the modules of tasks
   * on the host and runs the tasks there, which blocks its thread. Errors of task modules remain errors. Cannot be combined with
   * `permission`.
   *
   * @default "error"
   * @see [without threads](https://github.com/heddle-js/heddle/blob/main/docs/reliability.md#where-no-thread-can-start)
   */
  readonly onUnavailable?: "error" | "host";
  /**
   * Keep the process running while the pool is open, even if the pool is idle. Also keep the pool open after it is no
   * longer referenced.
   *
   * @default false
   */
  readonly keepAlive?: boolean;
  /**
   * URL or absolute path of the module that exports the bare functions in the pool.
   *
   * @default the module that calls `createPool`, read from the stack, which bundlers may change
   */
  readonly moduleUrl?: string | URL;
  /**
   * Gets the reason for which a call rejects, whatever it is, and returns the reason that the caller gets: for libraries
   * that give errors another form. Used for calls through `pool.call`, streams of results included, and `map`;
   * broadcasts keep their reasons. If it throws, the caller gets what it throws.
   *
   * @default none
   */
  readonly mapError?: (reason: unknown) => unknown;
}

/** Options of each worker. All are optional. */
export interface WorkerOptions {
  /**
   * A module that each worker loads before the task modules: a URL, a path relative to the module that calls
   * `createPool`, or the name of a package. Its default export, if any, is called with `data` and awaited. What it
   * returns is `workerInfo().context`. If it fails the worker does not start (WorkerStartError).
   *
   * @default none
   */
  readonly setup?: URL | string;
  /**
   * For `setup` and `workerInfo().data`: cloned when the pool is created, and for each worker.
   *
   * @default none
   */
  readonly data?: unknown;
  /**
   * Environment variables of the worker, or `SHARE_ENV` of `node:worker_threads`.
   *
   * @default a copy of the host's
   */
  readonly env?: Readonly<Record<string, string>> | symbol;
  /**
   * The worker's command-line arguments: `argv` there from its third string on.
   *
   * @default none
   */
  readonly argv?: readonly string[];
  /**
   * Flags of the runtime for the worker. For threads only on Node.
   *
   * @default those of the host
   */
  readonly execArgv?: readonly string[];
  /**
   * Name of the pool: of its threads, which add the worker's number, and `workerInfo().pool`.
   *
   * @default "heddle"
   */
  readonly name?: string;
}

/** Options of a pool's `shutdown`. */
export interface ShutdownOptions {
  /**
   * What happens to calls that no worker has begun: "run" gives them the same time, "reject" rejects them with
   * PoolClosedError at once.
   *
   * @default "run"
   */
  readonly queued?: "run" | "reject";
  /**
   * Time for calls that run or wait to finish, in milliseconds; 0: none, `Infinity`: no limit. Workers then get up to
   * `teardownTimeoutMs` to close. Streams of results that nobody
   * reads for a second end earlier.
   *
   * @default 5000
   */
  readonly timeoutMs?: number;
}
