/** Options of `createPool` and of `shutdown`: their defaults and checks. */
import { URL as BuiltinURL } from "../../builtins.ts";
import {
  checkBoolean,
  checkInteger,
  checkKeys,
  checkMs,
  invalid,
  isRecord,
  ownOf,
  show,
} from "./checks.ts";
import { describeValue } from "../../codec/support/describe.ts";
import { InvalidArgumentError } from "../../errors.ts";
import {
  BALANCER_NAMES,
  type BalancerFunction,
  type BalancerName,
} from "../../host/schedule/balancers.ts";
import type { InlinerLimits } from "../../host/dispatch/queue/inline-executor.ts";
import type { RingSizes } from "../../lane/layout.ts";
import { MAX_CAPACITY } from "../../ring/ring-layout.ts";
import { checkCapacity } from "../../ring/spsc-ring.ts";
import {
  MAX_TIMER_MS,
  type PermissionOptions,
  type ResourceLimits,
  type Runtime,
  type WorkerLimits,
} from "../../runtimes/runtime.ts";
import { isRelative } from "./module-url.ts";
import {
  checkWorkerOptions,
  type ResolvedWorkerOptions,
  type WorkerOptions,
} from "./worker-options.ts";
import { checkObserving, type ContextOptions, type ResolvedObserving } from "./observe-options.ts";
import type { DebugTopic } from "../../host/observe/debug-log.ts";
import { checkWorkerLimits, type PermissionMode } from "./worker-limits.ts";

/** Options of `createPool`. All are optional. */
export interface PoolOptions {
  /**
   * Number of workers, at least 1. "auto": the cores that this process may use less one, at least 1.
   *
   * @default "auto"
   */
  readonly threads?: number | "auto";
  /**
   * Minimum number of workers, whose number follows the load: a worker starts when calls have waited for a free one for
   * 10 ms, and closes after `idleTimeoutMs` without work. With 0 the first worker starts with the first call.
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
   * Time without work after which a worker closes, in milliseconds; Infinity: never.
   *
   * @default 10,000
   */
  readonly idleTimeoutMs?: number;
  /**
   * Bytes of each worker's request ring and response ring: a power of two for both, or one for each. A ring uses memory
   * as traffic needs it. Values larger than a quarter of their ring get shared memory of their own, which is slower.
   *
   * @default 4 MiB
   */
  readonly ringBytes?: number | Partial<RingSizes>;
  /**
   * Maximum bytes of the encoded arguments of a call, and of its result (about their size in memory; strings take one or
   * two bytes a character). Larger ones reject the call with PayloadTooLargeError.
   *
   * @default no limit but memory
   */
  readonly maxPayloadBytes?: number;
  /**
   * Maximum number of async tasks in flight in one worker; then it takes no more calls.
   *
   * @default 1024
   */
  readonly maxConcurrency?: number;
  /**
   * Longest wait, in milliseconds, for which a thread spins instead of sleeping: 0 to 1; 0: never spin. Host and workers
   * spin only while a core is free and recent waits were this short, for a millisecond at most.
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
   * tasks with `abortSignal` never run there.
   *
   * @default none
   */
  readonly inliner?: boolean | Partial<InlinerLimits>;
  /**
   * Maximum number of calls that wait on the host: a number from 0, or "auto", 1024 for each worker. With 0 each call is
   * refused before a worker is ready (`pool.ready`). Calls that await promises among their arguments count, but a call
   * that has to wait is taken while there is an idle worker for it. With this option a worker gets at most
   * `maxConcurrency` calls at once, and all others count, so the pool takes `maxConcurrency` × workers + `maxQueue`
   * calls. Without it, workers get at least 1024 calls each, or 50 ms of short ones, in advance. `pool.needsDrain`,
   * which counts calls beyond 1024 per worker, tells producers when to pause.
   *
   * @default no limit
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
   * Maximum run time of a task, in milliseconds. Then its worker is stopped and replaced: the call rejects with
   * TimeoutError, the worker's async calls in flight with WorkerLostError, and calls that it had not started run
   * elsewhere.
   *
   * @default none
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
   * Infinity: never.
   *
   * @default never
   */
  readonly recycleAfter?: number;
  /**
   * Maximum bytes of heap and buffers of a worker, garbage included. Above it the worker is replaced as by
   * `recycleAfter`; 25 % above it, the worker also gets no calls meanwhile. Checked every 5 ms while it works, between
   * calls.
   *
   * @default Infinity, no limit
   */
  readonly maxWorkerBytes?: number;
  /**
   * Limits of each worker's heap and stack, in MiB. A worker that needs more ends, and its calls reject with
   * WorkerLostError. Only on Node, where large arrays that fill the heap may end the process (24) or hang (26).
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
   * Measure the wait and run times of tasks for `stats().tasks`, and the memory of workers.
   *
   * @default false
   * @see [statistics](https://github.com/heddle-js/heddle/blob/main/docs/observability.md#statistics)
   */
  readonly metrics?: boolean;
  /**
   * Print decisions on stderr, a line each: all, or those about these topics. Stacks of errors then show the caller too.
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
   * Time for calls in flight to finish, in milliseconds; 0: none, `Infinity`: no limit. Streams of results that nobody
   * reads for a second end earlier.
   *
   * @default 5000
   */
  readonly timeoutMs?: number;
}

/** Options that are merged into others. */
type Merged = "threads" | "worker" | "resourceLimits" | "permission";

interface Resolved extends ResolvedObserving {
  readonly ringBytes: RingSizes;
  readonly balancer: BalancerName | BalancerFunction;
  readonly inliner: InlinerLimits | undefined;
  readonly maxQueue: number;
  readonly workerLimits: WorkerLimits;
  readonly workerOptions: ResolvedWorkerOptions;
  readonly moduleUrl: string | undefined;
  readonly mapError: PoolOptions["mapError"];
}

/** Every option with its value. Infinity: no limit, or never. */
export type ResolvedOptions = Required<Omit<PoolOptions, Merged | keyof Resolved>> & Resolved;

/** The first claim of an endpoint must fit beside a record of maximum size. */
const MIN_RING_BYTES = 1024;
/** Calls per worker that wait on the host: the limit of `maxQueue: "auto"`, and the threshold of `needsDrain`. */
export const AUTO_QUEUE_PER_THREAD = 1024;
/** More threads than this are probably a mistake. */
const MAX_THREADS = 1024;

/** Every option and its default. Undefined: no default, or one that depends on other options. */
const DEFAULTS = {
  threads: undefined,
  minThreads: undefined,
  maxThreads: undefined,
  idleTimeoutMs: 10_000,
  ringBytes: 4 * 1024 * 1024,
  maxPayloadBytes: Infinity,
  maxConcurrency: 1024,
  /** Waking a thread takes 3 to 12 µs on bare metal, 30 to 50 on a nested virtual machine. */
  spinMs: 0.1,
  balancer: undefined,
  inliner: undefined,
  maxQueue: Infinity,
  queuePolicy: "reject",
  hardTimeoutMs: Infinity,
  maxAbandonedThreads: undefined,
  recycleAfter: undefined,
  maxWorkerBytes: undefined,
  resourceLimits: undefined,
  permission: undefined,
  worker: undefined,
  metrics: false,
  debug: undefined,
  context: undefined,
  /** Enough for a slow machine that starts many workers at once. */
  startTimeoutMs: 60_000,
  teardownTimeoutMs: 1000,
  keepAlive: false,
  moduleUrl: undefined,
  mapError: undefined,
} as const satisfies Record<keyof PoolOptions, unknown>;

/** What the checks have to know of the runtime. */
type OptionsRuntime =
  & Pick<Runtime, "cores" | "refuseLimits" | "takesExecArgv">
  & Partial<Pick<Runtime, "env">>;

type ReadOption = (key: keyof PoolOptions) => unknown;

/** Checks `options` and fills in the defaults. Throws InvalidArgumentError. */
export function resolveOptions(
  options: PoolOptions,
  runtime: OptionsRuntime,
): ResolvedOptions {
  if (!isRecord(options)) {
    throw new InvalidArgumentError(
      `createPool() takes an object of options, got ${show(options)}.`,
    );
  }
  checkKeys("createPool()", options, Object.keys(DEFAULTS));
  const read: ReadOption = (key) => {
    const given = Object.hasOwn(options, key) ? options[key] : undefined;
    return given ?? DEFAULTS[key] ?? given; // null is kept if there is no default
  };
  const integer = (key: keyof PoolOptions, min: number, max: number): number =>
    checkInteger(key, read(key), min, max);
  /** An integer, or Infinity: no limit, which is also the default. */
  const limit = (key: keyof PoolOptions, max: number, min = 1): number => {
    const given = read(key) ?? Infinity;
    return given === Infinity ? Infinity : checkInteger(key, given, min, max);
  };
  const { minThreads, maxThreads } = checkThreads(read, runtime.cores);
  const maxPayloadBytes = read("maxPayloadBytes");
  if (typeof maxPayloadBytes !== "number" || !(maxPayloadBytes >= 1)) {
    throw invalid("maxPayloadBytes", "a number from 1", show(maxPayloadBytes));
  }
  const queuePolicy = read("queuePolicy");
  if (queuePolicy !== "reject" && queuePolicy !== "wait") {
    throw invalid("queuePolicy", '"reject" or "wait"', show(queuePolicy));
  }
  const { refuseLimits } = runtime;
  return {
    ...checkObserving(read, runtime),
    minThreads,
    maxThreads,
    idleTimeoutMs: limit("idleTimeoutMs", MAX_TIMER_MS),
    ringBytes: checkRingBytes(read("ringBytes")),
    maxPayloadBytes,
    maxConcurrency: integer("maxConcurrency", 1, 2 ** 20),
    spinMs: checkSpin(read("spinMs")),
    balancer: checkBalancer(read("balancer")),
    inliner: checkInliner(read("inliner")),
    maxQueue: read("maxQueue") === "auto"
      ? AUTO_QUEUE_PER_THREAD * maxThreads
      : limit("maxQueue", Number.MAX_SAFE_INTEGER, 0),
    queuePolicy,
    hardTimeoutMs: checkMs("hardTimeoutMs", read("hardTimeoutMs")),
    maxAbandonedThreads: checkAbandoned(read("maxAbandonedThreads"), runtime.cores),
    recycleAfter: limit("recycleAfter", 2 ** 29),
    maxWorkerBytes: limit("maxWorkerBytes", Number.MAX_SAFE_INTEGER),
    workerLimits: checkWorkerLimits(read("resourceLimits"), read("permission"), refuseLimits),
    workerOptions: checkWorkerOptions(read("worker"), read("permission"), runtime),
    startTimeoutMs: checkMs("startTimeoutMs", read("startTimeoutMs")),
    teardownTimeoutMs: checkMs("teardownTimeoutMs", read("teardownTimeoutMs"), 0),
    keepAlive: checkBoolean("keepAlive", read("keepAlive")),
    moduleUrl: checkModuleUrl(read("moduleUrl")),
    mapError: checkMapError(read("mapError")),
  };
}

/** The option is for modules that the stack does not show, so nothing tells what it would be relative to. */
function checkModuleUrl(given: unknown): string | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== "string" && !(given instanceof BuiltinURL)) {
    throw invalid("moduleUrl", "a string or URL", show(given));
  }
  const url = String(given);
  if (!isRelative(url)) return url;
  throw invalid("moduleUrl", "absolute: a URL such as import.meta.url, or a path", show(url));
}

function checkMapError(given: unknown): PoolOptions["mapError"] {
  if (given === undefined || typeof given === "function") return given as PoolOptions["mapError"];
  throw invalid("mapError", "a function", show(given));
}

function checkAbandoned(given: unknown, cores: number): number {
  if (given === Infinity) return Infinity;
  return checkInteger("maxAbandonedThreads", given ?? cores, 0, MAX_THREADS);
}

function checkThreads(
  read: ReadOption,
  cores: number,
): Pick<ResolvedOptions, "minThreads" | "maxThreads"> {
  const [least, most] = [read("minThreads"), read("maxThreads")];
  const given = read("threads") === "auto" ? undefined : read("threads");
  const threads = checkInteger("threads", given ?? Math.max(1, cores - 1), 1, MAX_THREADS);
  const min = least === undefined ? least : checkInteger("minThreads", least, 0, MAX_THREADS);
  const max = most === undefined ? most : checkInteger("maxThreads", most, 1, MAX_THREADS);
  if (given !== undefined && max !== undefined) checkAtMost("threads", threads, "maxThreads", max);
  if (given !== undefined && min !== undefined) checkAtMost("minThreads", min, "threads", threads);
  const maxThreads = max ?? Math.max(threads, min ?? 0);
  const minThreads = min ?? Math.min(threads, maxThreads);
  checkAtMost("minThreads", minThreads, "maxThreads", maxThreads);
  return { minThreads, maxThreads };
}

function checkAtMost(name: string, threads: number, limitName: string, limit: number): void {
  if (threads <= limit) return;
  throw new InvalidArgumentError(
    `${name}, ${threads}, must not be more than ${limitName}, ${limit}.`,
  );
}

function checkRingBytes(given: unknown): RingSizes {
  const checkRing = (name: string, bytes: unknown): number => {
    const capacity = checkInteger(name, bytes, MIN_RING_BYTES, MAX_CAPACITY);
    checkCapacity(capacity, name, MIN_RING_BYTES);
    return capacity;
  };
  if (typeof given !== "object") {
    const capacity = checkRing("ringBytes", given);
    return { requests: capacity, responses: capacity };
  }
  if (!isPlainObject(given)) {
    throw invalid("ringBytes", "an integer or { requests, responses }", show(given));
  }
  checkKeys("ringBytes", given, ["requests", "responses"]);
  const { requests, responses } = ownOf<RingSizes>(given);
  return {
    requests: checkRing("ringBytes.requests", requests ?? DEFAULTS.ringBytes),
    responses: checkRing("ringBytes.responses", responses ?? DEFAULTS.ringBytes),
  };
}

/** Accepts objects of any realm. */
function isPlainObject(value: object | null): value is object {
  if (value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function checkSpin(spinMs: unknown): number {
  if (typeof spinMs === "number" && spinMs >= 0 && spinMs <= 1) return spinMs;
  throw invalid("spinMs", "a number from 0 to 1", show(spinMs));
}

function checkInliner(inliner: unknown): InlinerLimits | undefined {
  if (inliner === undefined || inliner === false) return undefined;
  if (inliner !== true && !isRecord(inliner)) {
    throw invalid("inliner", "a boolean or an object", show(inliner));
  }
  const given: Partial<Record<keyof InlinerLimits, unknown>> = inliner === true ? {} : inliner;
  checkKeys("inliner", given, ["position", "batchSize", "dispatchThreshold"]);
  const { position = "last", batchSize = 1, dispatchThreshold = 1 } = given;
  if (position !== "first" && position !== "last") {
    throw invalid("inliner.position", '"first" or "last"', show(position));
  }
  return {
    position,
    batchSize: checkInteger("inliner.batchSize", batchSize, 1, 2 ** 20),
    dispatchThreshold: checkInteger("inliner.dispatchThreshold", dispatchThreshold, 1, 2 ** 30),
  };
}

function checkBalancer(balancer: unknown): ResolvedOptions["balancer"] {
  if (balancer === undefined) return "adaptive";
  if (typeof balancer === "function") return balancer as BalancerFunction;
  if (typeof balancer === "string" && BALANCER_NAMES.includes(balancer)) {
    return balancer as BalancerName;
  }
  throw invalid("balancer", `a function or one of ${BALANCER_NAMES.join(", ")}`, show(balancer));
}

/** The time for calls in flight to finish, in milliseconds. Throws InvalidArgumentError. */
export function checkShutdown(
  options: unknown,
  defaultMs: number,
): { readonly timeoutMs: number; readonly isQueuedRun: boolean } {
  const given = isRecord(options) ? options : { timeoutMs: options };
  checkKeys("shutdown()", given, ["queued", "timeoutMs"]);
  const { queued = "run", timeoutMs = defaultMs } = ownOf<ShutdownOptions>(given);
  if (typeof timeoutMs !== "number" || !(timeoutMs >= 0)) {
    throw invalid("timeoutMs", "a number from 0", describeValue(timeoutMs));
  }
  if (queued !== "run" && queued !== "reject") {
    throw invalid("queued", '"run" or "reject"', describeValue(queued));
  }
  return { timeoutMs, isQueuedRun: queued === "run" };
}
