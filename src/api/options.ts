/** Options of `createPool` and of `shutdown`: their defaults and checks. */
import {
  checkBoolean,
  checkInteger,
  checkKeys,
  checkMs,
  invalid,
  isObject,
  isRecord,
  ownOf,
  show,
} from "./checks.ts";
import { describeValue } from "../codec/struct/mismatch.ts";
import { InvalidArgumentError } from "../errors.ts";
import {
  BALANCER_NAMES,
  type BalancerFunction,
  type BalancerName,
} from "../host/balance/balancers.ts";
import type { InlinerLimits } from "../host/inline-executor.ts";
import type { RingSizes } from "../lane/layout.ts";
import { MAX_CAPACITY } from "../ring/ring-layout.ts";
import { checkCapacity } from "../ring/spsc-ring.ts";
import {
  MAX_TIMER_MS,
  type PermissionOptions,
  type ResourceLimits,
  type Runtime,
  type WorkerLimits,
} from "../runtimes/runtime.ts";
import { checkWorkerLimits, type PermissionMode } from "./worker-limits.ts";

/** Options of `createPool`. All are optional. */
export interface PoolOptions {
  /** Number of workers, at least 1. Default: the cores this process may use less one, at least 1. */
  readonly threads?: number;
  /**
   * Least and most workers, if the number is to follow the load: a worker is started when calls have waited for a free
   * one for 10 ms, and closed after `idleTimeoutMs` without work (default 10,000; Infinity: never). `minThreads: 0`
   * starts the first worker with the first call. Defaults: `threads`.
   */
  readonly minThreads?: number;
  readonly maxThreads?: number;
  readonly idleTimeoutMs?: number;
  /**
   * Bytes of each worker's request ring and response ring: a power of two for both, or one for each. Default 4 MiB.
   * Memory is used as traffic needs it. Values larger than a quarter of their ring travel beside it, which is slower.
   */
  readonly ringBytes?: number | Partial<RingSizes>;
  /**
   * Most bytes of the encoded arguments of a call, or of its result (about their size in memory; strings take one or
   * two bytes a character). Larger ones reject the call with PayloadTooLargeError. Default: no limit but memory.
   */
  readonly maxPayloadBytes?: number;
  /** Async tasks in flight at once in one worker before it takes no more. Default 1024. */
  readonly maxConcurrency?: number;
  /**
   * Waits of up to this long, in microseconds, 0 to 1000, are worth spinning for. Default 100, about what it takes to
   * sleep and be woken; 0: never spin. Host and workers spin only while a core is free and waits have lately been that
   * short, for a millisecond at most.
   */
  readonly spinMicroseconds?: number;
  /**
   * How the worker of a call is chosen. Default "adaptive", by measured run times: short calls are packed on a worker
   * that is awake, long ones are spread, and idle workers get calls that wait behind others. The others do none of this:
   * "roundRobin", "firstIdle" (else the least loaded), "randomLane", "firstIdleOrRandom", "leastLoaded", or a function
   * that returns the index of one of the workers passed to it (undefined: the call waits on the host).
   */
  readonly balancer?: BalancerName | { readonly strategy: BalancerName } | BalancerFunction;
  /**
   * Calls begin in the order in which they are made, one at a time in each worker, whatever their priority, which
   * costs throughput. Default false; excludes `balancer`.
   */
  readonly strictFifo?: boolean;
  /**
   * Runs some calls on the host's own thread, which does nothing else meanwhile. `true`, or an object of `position`:
   * "last" (default: calls that no worker can take now) or "first" (before the workers), `batchSize`: calls per turn of
   * the event loop (default 1), and `dispatchThreshold`: least number of calls in flight (default 1). Tasks of
   * `importTask` and tasks with `abortSignal` never run there. Default: none.
   */
  readonly inliner?: boolean | Partial<InlinerLimits>;
  /**
   * Most calls that wait on the host: a number from 1, or "auto", 1024 for each worker. Default: no limit. Calls that
   * await promises among their arguments count; calls given to workers (up to 1024 each, or `maxConcurrency` if that is
   * more) do not. Workers get up to 50 ms of short calls ahead unless this, `recycleAfter`, an inliner, a balancer or
   * priorities are set. `pool.needsDrain`, which counts calls beyond 1024 per worker, says when producers should pause.
   */
  readonly maxQueue?: number | "auto";
  /**
   * For calls beyond `maxQueue`: "reject" (default) rejects them with QueueFullError, "wait" lets them wait too, so that
   * only producers that heed `pool.needsDrain` bound memory.
   */
  readonly queuePolicy?: "reject" | "wait";
  /**
   * Longest run time of any task, in milliseconds; its worker is then stopped and replaced. The call rejects with
   * TimeoutError, the worker's async calls in flight with WorkerLostError, and calls that it had not begun run
   * elsewhere. Default: none.
   */
  readonly hardTimeoutMs?: number;
  /**
   * Deno cannot stop a thread that loops or blocks. Most threads of this pool that are left so when their workers are
   * stopped, an integer from 0, or Infinity. Once there are as many, a stuck worker stays, without further calls; if no
   * other is left, the pool fails with WorkerStartError. Default: the number of cores.
   */
  readonly maxAbandonedThreads?: number;
  /**
   * Number of calls after which a worker is replaced, for tasks that leak. Below 16 exact: the worker gets no further
   * call. From 16 approximate: it gets calls until the new worker is ready. It finishes those it has. Default: never.
   */
  readonly recycleAfter?: number;
  /**
   * Bytes of heap and buffers, garbage included, above which a worker is replaced in the same way; 25 % above, it gets no
   * calls until it is. Checked every 5 ms while it works, between calls. Default: no limit.
   */
  readonly maxWorkerMemory?: number;
  /**
   * Limits of each worker's heap and stack, in MiB. A worker that needs more ends, and its calls reject with
   * WorkerLostError. Only on Node, where large arrays that fill the heap may end the process (24) or hang (26).
   * Default: the runtime's.
   */
  readonly resourceLimits?: ResourceLimits;
  /**
   * Rights of tasks. `createPool` throws if the runtime cannot deny a right to threads. This is no sandbox: threads
   * share memory and rights. Default "off": the rights of the host.
   */
  readonly permission?: PermissionMode | PermissionOptions;
  /**
   * Longest time for a worker to load its tasks, in milliseconds; then its start has failed. Default 60,000;
   * Infinity: no limit.
   */
  readonly startTimeoutMs?: number;
  /**
   * Time for a closing worker to exit by itself, its `onTeardown` hooks included, in milliseconds; then it is stopped.
   * Default 1000.
   */
  readonly teardownTimeoutMs?: number;
  /**
   * Keep the process running while the pool is open, even when it is idle, and the pool open although nothing refers to
   * it any more. Default false.
   */
  readonly keepAlive?: boolean;
  /**
   * URL or path of the module that exports the bare functions in the pool. Default: the module that calls
   * `createPool`, according to the stack, which bundlers may change.
   */
  readonly moduleUrl?: string | URL;
}

/** Options of a pool's `shutdown`. */
export interface ShutdownOptions {
  /** Whether calls in flight get time to finish. Default true; false is `timeoutMs: 0`. */
  readonly drain?: boolean;
  /** How long, in milliseconds; `Infinity`: until the last has. Default 5000. */
  readonly timeoutMs?: number;
}

/** Options that are checked together with others. */
type Merged = "threads" | "strictFifo" | "resourceLimits" | "permission";

interface Resolved {
  readonly ringBytes: RingSizes;
  readonly balancer: BalancerName | BalancerFunction | "strictFifo";
  readonly inliner: InlinerLimits | undefined;
  readonly maxQueue: number;
  readonly workerLimits: WorkerLimits;
  readonly moduleUrl: string | undefined;
}

/** Every option with its value. Infinity: no limit, or never. */
export type ResolvedOptions = Required<Omit<PoolOptions, Merged | keyof Resolved>> & Resolved;

/** The first claim of an endpoint must always fit beside a record of maximal size. */
const MIN_RING_BYTES = 1024;
/** Calls that wait on the host for each worker: `maxQueue: "auto"`, and where `needsDrain` begins. */
export const AUTO_QUEUE_PER_THREAD = 1024;
/** A pool larger than this is a mistake. */
const MAX_THREADS = 1024;

/** Every option and its default. Undefined: none, or one that depends on other options. */
const DEFAULTS = {
  threads: undefined,
  minThreads: undefined,
  maxThreads: undefined,
  idleTimeoutMs: 10_000,
  ringBytes: 4 * 1024 * 1024,
  maxPayloadBytes: Infinity,
  maxConcurrency: 1024,
  /** Waking a thread takes 3 to 12 µs on bare metal, 30 to 50 on a nested virtual machine. */
  spinMicroseconds: 100,
  balancer: undefined,
  strictFifo: undefined,
  inliner: undefined,
  maxQueue: Infinity,
  queuePolicy: "reject",
  hardTimeoutMs: Infinity,
  maxAbandonedThreads: undefined,
  recycleAfter: undefined,
  maxWorkerMemory: undefined,
  resourceLimits: undefined,
  permission: undefined,
  /** Long enough for a slow machine that starts many workers at once. */
  startTimeoutMs: 60_000,
  teardownTimeoutMs: 1000,
  keepAlive: false,
  moduleUrl: undefined,
} as const satisfies Record<keyof PoolOptions, unknown>;

type ReadOption = (key: keyof PoolOptions) => unknown;

/** Checks `options` and fills in the defaults. Throws InvalidArgumentError. */
export function resolveOptions(
  options: PoolOptions,
  runtime: Pick<Runtime, "cores" | "refuseLimits">,
): ResolvedOptions {
  if (!isRecord(options)) {
    throw new InvalidArgumentError(
      `createPool() takes an object of options, got ${show(options)}.`,
    );
  }
  checkKeys("createPool()", options, Object.keys(DEFAULTS));
  const read: ReadOption = (key) => {
    const given = Object.hasOwn(options, key) ? options[key] : undefined;
    return given ?? DEFAULTS[key] ?? given; // null counts as given where there is no default
  };
  const integer = (key: keyof PoolOptions, min: number, max: number): number =>
    checkInteger(key, read(key), min, max);
  /** An integer from 1, or Infinity for an option with the value `none`. */
  const limit = (key: keyof PoolOptions, max: number, none?: number): number =>
    read(key) === none ? Infinity : integer(key, 1, max);
  const { minThreads, maxThreads } = checkThreads(read, runtime.cores);
  const maxPayloadBytes = read("maxPayloadBytes");
  if (typeof maxPayloadBytes !== "number" || !(maxPayloadBytes >= 1)) {
    throw invalid("maxPayloadBytes", "a number from 1", show(maxPayloadBytes));
  }
  const queuePolicy = read("queuePolicy");
  if (queuePolicy !== "reject" && queuePolicy !== "wait") {
    throw invalid("queuePolicy", '"reject" or "wait"', show(queuePolicy));
  }
  const moduleUrl = read("moduleUrl");
  if (moduleUrl !== undefined && typeof moduleUrl !== "string" && !(moduleUrl instanceof URL)) {
    throw invalid("moduleUrl", "a string or URL", show(moduleUrl));
  }
  const { refuseLimits } = runtime;
  return {
    minThreads,
    maxThreads,
    idleTimeoutMs: limit("idleTimeoutMs", MAX_TIMER_MS, Infinity),
    ringBytes: checkRingBytes(read("ringBytes")),
    maxPayloadBytes,
    maxConcurrency: integer("maxConcurrency", 1, 2 ** 20),
    spinMicroseconds: integer("spinMicroseconds", 0, 1000),
    balancer: checkBalancer(read("balancer"), read("strictFifo")),
    inliner: checkInliner(read("inliner")),
    maxQueue: read("maxQueue") === "auto"
      ? AUTO_QUEUE_PER_THREAD * maxThreads
      : limit("maxQueue", Number.MAX_SAFE_INTEGER, Infinity),
    queuePolicy,
    hardTimeoutMs: checkMs("hardTimeoutMs", read("hardTimeoutMs")),
    maxAbandonedThreads: checkAbandoned(read("maxAbandonedThreads"), runtime.cores),
    recycleAfter: limit("recycleAfter", 2 ** 29),
    maxWorkerMemory: limit("maxWorkerMemory", Number.MAX_SAFE_INTEGER),
    workerLimits: checkWorkerLimits(read("resourceLimits"), read("permission"), refuseLimits),
    startTimeoutMs: checkMs("startTimeoutMs", read("startTimeoutMs")),
    teardownTimeoutMs: integer("teardownTimeoutMs", 0, MAX_TIMER_MS),
    keepAlive: checkBoolean("keepAlive", read("keepAlive")),
    moduleUrl: moduleUrl === undefined ? undefined : String(moduleUrl),
  };
}

function checkAbandoned(given: unknown, cores: number): number {
  if (given === Infinity) return Infinity;
  return checkInteger("maxAbandonedThreads", given ?? cores, 0, MAX_THREADS);
}

function checkThreads(
  read: ReadOption,
  cores: number,
): Pick<ResolvedOptions, "minThreads" | "maxThreads"> {
  const [given, least, most] = [read("threads"), read("minThreads"), read("maxThreads")];
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
    throw invalid("ringBytes", "an integer or an object of requests and responses", show(given));
  }
  checkKeys("ringBytes", given, ["requests", "responses"]);
  const { requests, responses } = ownOf<RingSizes>(given);
  return {
    requests: checkRing("ringBytes.requests", requests ?? DEFAULTS.ringBytes),
    responses: checkRing("ringBytes.responses", responses ?? DEFAULTS.ringBytes),
  };
}

/** Of any realm. */
function isPlainObject(value: object | null): value is object {
  if (value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
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

function checkBalancer(balancer: unknown, strictFifo: unknown): ResolvedOptions["balancer"] {
  if (strictFifo !== undefined && checkBoolean("strictFifo", strictFifo)) {
    if (balancer === undefined) return "strictFifo";
    throw new InvalidArgumentError("strictFifo chooses workers itself: leave out balancer.");
  }
  if (balancer === undefined) return "adaptive";
  if (typeof balancer === "function") return balancer as BalancerFunction;
  const name = isObject(balancer) && Object.hasOwn(balancer, "strategy")
    ? (balancer as { readonly strategy: unknown }).strategy
    : balancer;
  if (typeof name === "string" && BALANCER_NAMES.includes(name)) return name as BalancerName;
  throw invalid("balancer", `a function or one of ${BALANCER_NAMES.join(", ")}`, show(name));
}

/** The time that calls in flight get, in milliseconds. Throws InvalidArgumentError. */
export function checkShutdown(options: unknown, defaultMs: number): number {
  const given = isRecord(options) ? options : { timeoutMs: options };
  checkKeys("shutdown()", given, ["drain", "timeoutMs"]);
  const { drain = true, timeoutMs = defaultMs } = ownOf<ShutdownOptions>(given);
  if (typeof drain !== "boolean") throw invalid("drain", "a boolean", describeValue(drain));
  if (typeof timeoutMs !== "number" || !(timeoutMs >= 0)) {
    throw invalid("timeoutMs", "a number from 0", describeValue(timeoutMs));
  }
  return drain ? timeoutMs : 0;
}
