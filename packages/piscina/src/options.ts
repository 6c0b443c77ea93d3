/** Options of `Piscina`, with its defaults and its checks. */
import type { ResourceLimits } from "heddle";
import type { Balancer } from "./balancer.ts";
import { checkQueue, FixedQueue, type TaskQueue } from "./queues.ts";

/** Options of `new Piscina()`. All are optional, and mean what they mean there. */
export interface PiscinaOptions {
  /**
   * The module of the tasks: a path, which may lack its extension, or a `file:` URL.
   *
   * @default none: `run()` names one
   */
  readonly filename?: string | null;
  /**
   * The export that is the function.
   *
   * @default "default"
   */
  readonly name?: string;
  /**
   * Minimum number of workers.
   *
   * @default half of the cores
   */
  readonly minThreads?: number;
  /**
   * Maximum number of workers.
   *
   * @default one and a half times the cores
   */
  readonly maxThreads?: number;
  /**
   * Time without a task after which a worker beyond `minThreads` ends, in milliseconds; Infinity: never.
   *
   * @default 0
   */
  readonly idleTimeout?: number;
  /**
   * Most tasks that wait; "auto": the square of `maxThreads`.
   *
   * @default no limit
   */
  readonly maxQueue?: number | "auto";
  /**
   * Most tasks at once in a worker.
   *
   * @default 1
   */
  readonly concurrentTasksPerWorker?: number;
  /**
   * Accepted and not needed: workers wait as heddle's do, in any case.
   *
   * @default "sync"
   */
  readonly atomics?: "sync" | "async" | "disabled";
  /**
   * Heap limits of the workers (Node).
   *
   * @default the runtime's
   */
  readonly resourceLimits?: ResourceLimits;
  /**
   * Command-line arguments of the workers.
   *
   * @default none
   */
  readonly argv?: readonly string[];
  /**
   * Flags of the runtime for the workers (Node).
   *
   * @default those of the host
   */
  readonly execArgv?: readonly string[];
  /**
   * Environment variables of the workers, or `SHARE_ENV`.
   *
   * @default a copy of the host's
   */
  readonly env?: Readonly<Record<string, string | undefined>> | symbol;
  /**
   * What the workers get as `workerData`.
   *
   * @default none
   */
  readonly workerData?: unknown;
  /**
   * The queue of tasks that wait.
   *
   * @default a `FixedQueue`
   */
  readonly taskQueue?: TaskQueue;
  /**
   * Accepted and without effect: heddle sets no priorities of threads.
   *
   * @default 0
   */
  readonly niceIncrement?: number;
  /**
   * Accepted and without effect: the runtime's default holds.
   *
   * @default true
   */
  readonly trackUnmanagedFds?: boolean;
  /**
   * Time that `close()` waits for tasks, in milliseconds.
   *
   * @default 30,000
   */
  readonly closeTimeout?: number;
  /**
   * Whether `histogram` and `utilization` are recorded.
   *
   * @default true
   */
  readonly recordTiming?: boolean;
  /**
   * Whether a task that no worker took keeps its place, in front of those that came later.
   *
   * @default false
   */
  readonly stricterFIFO?: boolean;
  /**
   * Chooses the worker of a task.
   *
   * @default the least busy one
   */
  readonly loadBalancer?: Balancer;
  /**
   * Whether each worker has a histogram of its run times.
   *
   * @default false
   */
  readonly workerHistogram?: boolean;
}

/** Options with their defaults. */
export interface FilledOptions extends PiscinaOptions {
  filename: string | null;
  readonly name: string;
  minThreads: number;
  maxThreads: number;
  readonly idleTimeout: number;
  maxQueue: number;
  readonly concurrentTasksPerWorker: number;
  readonly taskQueue: TaskQueue;
  readonly closeTimeout: number;
  readonly recordTiming: boolean;
  readonly stricterFIFO: boolean;
  readonly workerHistogram: boolean;
}

type Check = readonly [
  names: readonly (keyof PiscinaOptions)[],
  isValid: (value: never) => boolean,
  rule: string,
];

const isNumberFrom = (least: number) => (value: unknown): boolean =>
  typeof value === "number" && value >= least;

const CHECKS: readonly Check[] = [
  [
    ["filename", "name"],
    (value: unknown) => value === null || typeof value === "string",
    "a string or null",
  ],
  [
    ["minThreads", "idleTimeout", "closeTimeout"],
    isNumberFrom(0),
    "a non-negative integer",
  ],
  [
    ["maxQueue"],
    (value: unknown) => value === "auto" || isNumberFrom(0)(value),
    "a non-negative integer",
  ],
  [["maxThreads", "concurrentTasksPerWorker"], isNumberFrom(1), "a positive integer"],
  [
    ["resourceLimits"],
    (value: unknown) => typeof value === "object" && value !== null,
    "an object",
  ],
  [["trackUnmanagedFds"], (value: unknown) => typeof value === "boolean", "a boolean value"],
  [
    ["workerHistogram", "stricterFIFO"],
    (value: unknown) => typeof value === "boolean",
    "a boolean",
  ],
  [["niceIncrement"], isNumberFrom(0), "a non-negative integer on Unix systems"],
];

/** Throws what Piscina throws. */
export function fillOptions(given: PiscinaOptions, cores: number): FilledOptions {
  const options: PiscinaOptions = { __proto__: null, ...given } as PiscinaOptions;
  for (const [names, isValid, rule] of CHECKS) {
    for (const name of names) {
      const value = options[name];
      if (value === undefined || isValid(value as never)) continue;
      throw new TypeError(`options.${name} must be ${rule}`);
    }
  }
  const { atomics, minThreads, maxThreads, taskQueue, loadBalancer } = options;
  if (atomics != null && !["sync", "async", "disabled"].includes(atomics)) {
    throw new TypeError("options.atomics should be a value of sync, sync or disabled.");
  }
  if (minThreads !== undefined && maxThreads !== undefined && minThreads > maxThreads) {
    throw new RangeError("options.minThreads and options.maxThreads must not conflict");
  }
  if (
    loadBalancer !== undefined && (typeof loadBalancer !== "function" || loadBalancer.length < 1)
  ) {
    throw new TypeError("options.loadBalancer must be a function with at least two args");
  }
  const usualMax = cores * 1.5;
  const max = maxThreads ?? Math.max(usualMax, minThreads ?? 0);
  const min = minThreads ?? Math.min(Math.max(Math.floor(cores / 2), 1), max);
  const { maxQueue = Infinity } = options;
  return Object.assign(Object.create(null), {
    name: "default",
    idleTimeout: 0,
    concurrentTasksPerWorker: 1,
    atomics: "sync",
    niceIncrement: 0,
    trackUnmanagedFds: true,
    closeTimeout: 30_000,
    recordTiming: true,
    stricterFIFO: false,
    workerHistogram: false,
    ...options,
    filename: options.filename ?? null,
    minThreads: min,
    maxThreads: max,
    maxQueue: maxQueue === "auto" ? max ** 2 : maxQueue,
    taskQueue: taskQueue === undefined ? new FixedQueue() : checkQueue(taskQueue),
  }) as FilledOptions;
}
