/** The options of Tinypool, and what they are without. */
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { isTaskQueue, type TaskQueue, type TinypoolChannel, withNullPrototype } from "./common.ts";
import { ArrayTaskQueue } from "./task.ts";
import type { AnySignal } from "./task.ts";

/** Options of `new Tinypool()`. They mean what they mean there. */
export interface Options {
  /** The module of the tasks: a path or a `file:` URL. Default: none, `run()` names one. */
  filename?: string | URL | null;
  /** Whether workers are threads or child processes. Default: "worker_threads". */
  runtime?: "worker_threads" | "child_process";
  /** The export that is the function. Default: "default". */
  name?: string;
  /** Minimum number of workers; below 1: a share of the cores. Default: half of the cores. */
  minThreads?: number;
  /** Maximum number of workers; below 1: a share of the cores. Default: the cores. */
  maxThreads?: number;
  /** Time without a task after which a worker beyond `minThreads` ends, in milliseconds. Default: 0. */
  idleTimeout?: number;
  /** Maximum time for a worker to end, its teardown included, in milliseconds. Then what waits for it rejects. Default: no limit. */
  terminateTimeout?: number;
  /** Most tasks that wait; "auto": the square of `maxThreads`. Default: no limit. */
  maxQueue?: number | "auto";
  /** Most tasks at once in a worker; 1 with `isolateWorkers`. Default: 1. */
  concurrentTasksPerWorker?: number;
  /** False: neither side spins while it waits. Default: true. */
  useAtomics?: boolean;
  /** Heap limits of threads (Node). Default: the runtime's. */
  resourceLimits?: Readonly<Record<string, number | undefined>>;
  /** Bytes of heap beyond which a worker is replaced after its task. Default: no limit. */
  maxMemoryLimitBeforeRecycle?: number;
  /** Command-line arguments of the workers. Default: none. */
  argv?: string[];
  /** Flags of the runtime for the workers; of threads on Node alone. Default: those of the program. */
  execArgv?: string[];
  /** Environment of the workers. Default: of threads a copy of the program's; of processes an empty one. */
  env?: Record<string, string>;
  /** What threads get as `Tinypool.workerData`. Default: none. */
  // deno-lint-ignore no-explicit-any -- whatever the program passes
  workerData?: any;
  /** The queue of tasks that wait. Default: a list. */
  taskQueue?: TaskQueue;
  /** Accepted and without effect: the runtime's default holds. Default: true. */
  trackUnmanagedFds?: boolean;
  /** Whether each task gets a worker of its own. Default: false. */
  isolateWorkers?: boolean;
  /** Export of `filename` that each worker runs before it ends. Default: none. */
  teardown?: string;
  /** How values travel to processes: as JSON, or as structured clones. Default: "json". */
  serialization?: "json" | "advanced";
}

/** Options with their defaults. */
export interface FilledOptions extends Options {
  filename: string | null;
  name: string;
  runtime: "worker_threads" | "child_process";
  minThreads: number;
  maxThreads: number;
  idleTimeout: number;
  maxQueue: number;
  concurrentTasksPerWorker: number;
  useAtomics: boolean;
  taskQueue: TaskQueue;
}

/** Options of `run`. */
export interface RunOptions {
  /** Objects that move with the argument. */
  transferList?: readonly unknown[];
  /** Messages to and from a worker that is a process; of threads only `onClose`. */
  channel?: TinypoolChannel;
  /** The module, in place of the pool's. */
  filename?: string | URL | null;
  /** Its abort rejects the task with an AbortError and ends the worker that runs it. */
  signal?: AnySignal | null;
  /** The export, in place of the pool's. */
  name?: string | null;
  /** Without effect, as in Tinypool: `recycleWorkers({ runtime })` changes it. */
  runtime?: Options["runtime"];
}

/** The path of a `file:` URL. Others stay as they are. */
export function pathOf(filename: string | URL): string {
  const text = String(filename);
  return text.startsWith("file:") ? fileURLToPath(text) : text;
}

const fieldOf = (fraction: number | undefined, cores: number): number | undefined =>
  fraction !== undefined && fraction > 0 && fraction < 1
    ? Math.max(1, Math.floor(fraction * cores))
    : fraction;

/** Throws RangeError and TypeError for options that cannot be. */
export function fillOptions(given: Options): FilledOptions {
  const options = withNullPrototype(given);
  const cores = availableParallelism();
  const min = fieldOf(options.minThreads, cores);
  const max = fieldOf(options.maxThreads, cores);
  if (min !== undefined && max !== undefined && min > max) {
    throw new RangeError("options.minThreads and options.maxThreads must not conflict");
  }
  const { filename, taskQueue, maxQueue = Infinity, runtime = "worker_threads" } = options;
  if (taskQueue !== undefined && !isTaskQueue(taskQueue)) {
    throw new TypeError("options.taskQueue must be a TaskQueue object");
  }
  checkRuntime(runtime);
  const maxThreads = max ?? Math.max(cores, min ?? 0);
  return withNullPrototype({
    name: "default",
    idleTimeout: 0,
    concurrentTasksPerWorker: 1,
    useAtomics: true,
    trackUnmanagedFds: true,
    ...options,
    filename: filename == null || filename === "" ? null : pathOf(filename),
    runtime,
    minThreads: Math.min(min ?? Math.max(cores / 2, 1), maxThreads),
    maxThreads,
    maxQueue: maxQueue === "auto" ? maxThreads ** 2 : maxQueue,
    taskQueue: taskQueue ?? new ArrayTaskQueue(),
  });
}

/** Throws TypeError unless it is one of the two. */
export function checkRuntime(runtime: unknown): void {
  if (runtime === "worker_threads" || runtime === "child_process") return;
  throw new TypeError(
    `options.runtime must be "worker_threads" or "child_process", got ${String(runtime)}`,
  );
}
