/** Options of `createPool` and of `shutdown`: their defaults and checks. */
import {
  checkBoolean,
  checkInteger,
  checkKeys,
  checkMs,
  invalid,
  isObject,
  show,
} from "./checks.ts";
import { describeValue } from "./codec/struct/mismatch.ts";
import { InvalidArgumentError } from "./errors.ts";
import { BALANCER_NAMES, type BalancerFunction, type BalancerName } from "./host/balancers.ts";
import type { InlinerLimits } from "./host/inliner.ts";
import type { RingSizes } from "./endpoint/lane-layout.ts";
import { MAX_CAPACITY } from "./ring/ring-layout.ts";
import { checkCapacity } from "./ring/spsc-ring.ts";
import {
  MAX_TIMER_MS,
  type PermissionOptions,
  type ResourceLimits,
  type Runtime,
  type WorkerLimits,
} from "./runtimes/runtime.ts";
import { checkWorkerLimits, type PermissionMode } from "./worker-limits.ts";

/** Options of `createPool`. All are optional. */
export interface PoolOptions {
  /** Number of workers, at least 1. Default: the cores this process may use less one, at least 1. */
  readonly threads?: number;
  /**
   * Least and most workers, where the number is to follow the load: one more is started when calls have
   * been waiting for 10 ms that no worker could take, and one that has had nothing to do for
   * `idleTimeoutMs` (default 10,000; Infinity: never) is closed. `minThreads: 0` starts the first with
   * the first call. Defaults: `threads`.
   */
  readonly minThreads?: number;
  readonly maxThreads?: number;
  readonly idleTimeoutMs?: number;
  /**
   * Bytes of each worker's request ring and of its response ring, a power of two for both or one for each.
   * Default 4 MiB. Memory is used only as far as traffic needs it. Values larger than a quarter of their ring
   * travel beside it, which is slower.
   */
  readonly ringBytes?: number | Partial<RingSizes>;
  /**
   * Most bytes that the arguments of one call, or its result, may take when encoded (about their size
   * in memory; strings one or two bytes a character). What is larger rejects its call with
   * PayloadTooLargeError. Default: no limit but memory.
   */
  readonly maxPayloadBytes?: number;
  /** Async tasks in flight at once in one worker before it takes no more. Default 1024. */
  readonly maxConcurrency?: number;
  /**
   * Longest spin of the host for an answer and of a worker for a call before it sleeps, in microseconds,
   * 0 to 1000. Both spin only while a core is free, and only while what they wait for is near. After
   * many quick waits one that is late is spun on: 20 times as long, on the host up to five times over.
   * For a task that is known to take longer than that, up to half as long again, the host spins long enough
   * where only one worker has calls and there is a core for every worker and the host.
   * Default 50; 0: never spin. Where waking a thread is quick (bare metal), 20 saves some CPU.
   */
  readonly spinMicroseconds?: number;
  /**
   * How the worker of a call is chosen. Default "adaptive": by how long tasks take, which workers
   * measure; quick calls are packed on a worker that is awake, long ones spread, and calls that wait
   * behind others are given to a worker that has nothing to do. The others do none of that:
   * "roundRobin", "firstIdle" (else the least loaded), "randomLane", "firstIdleOrRandom",
   * "leastLoaded", or a function that returns the index of one of the workers it is shown (undefined:
   * the call waits on the host).
   */
  readonly balancer?: BalancerName | { readonly strategy: BalancerName } | BalancerFunction;
  /**
   * Calls begin in the order in which they are made, one at a time in each worker, whatever their
   * priority. Costs throughput: a worker has nothing to go on with. Default false; excludes `balancer`.
   */
  readonly strictFifo?: boolean;
  /**
   * Runs some calls on the host's own thread, which serves nothing else meanwhile. `true`, or with
   * `position` "last" (default: what no worker can take now) or "first" (before the workers),
   * `batchSize`: calls run in one turn of the event loop (default 1), `dispatchThreshold`: calls in
   * flight from which on the host takes some (default 1). Never tasks of `importTask`, nor those with
   * `abortSignal`. Default: none.
   */
  readonly inliner?: boolean | Partial<InlinerLimits>;
  /**
   * Calls that may wait on the host: a number from 1, or "auto", 1024 for each worker. Default: no
   * limit. Calls that await promises among their arguments wait as well; calls given to workers (up to
   * 1024 each, or `maxConcurrency` if that is more) do not. Without a limit, `recycleAfter`, an inliner, a balancer and priorities, workers
   * are given quick calls further ahead, up to 50 ms of work. `pool.needsDrain` says when producers should pause, with a limit
   * and without, and counts what workers have beyond 1024.
   */
  readonly maxQueue?: number | "auto";
  /**
   * What becomes of a call beyond `maxQueue`: "reject" (default) rejects it with QueueFullError, "wait"
   * lets it wait as well, so that memory is bounded only by producers that heed `pool.needsDrain`.
   */
  readonly queuePolicy?: "reject" | "wait";
  /**
   * Longest time a task may run, in milliseconds, however it is called: its worker is stopped and
   * replaced then. The call rejects with TimeoutError, calls that the worker had not begun run
   * elsewhere, and its async calls in flight reject with WorkerLostError. Default: none.
   */
  readonly hardTimeoutMs?: number;
  /**
   * Calls that a worker is given, about, before a fresh one takes its place: for tasks that leak. The new one
   * is ready before the old one gets no more, and the old one finishes what it has. Default: never.
   */
  readonly recycleAfter?: number;
  /**
   * Bytes of heap and buffers, garbage included, from which on a fresh worker takes a worker's place, in the
   * same way. A worker looks at least every 50 ms while it works. Default: no limit.
   */
  readonly maxWorkerMemory?: number;
  /**
   * Limits of each worker's heap and stack, in MiB: one that needs more ends, and its calls reject with
   * WorkerLostError. Node alone keeps them, as well as it can: what fills the heap by large arrays has been seen to
   * end the process (24) or to hang (26). Default: the runtime's.
   */
  readonly resourceLimits?: ResourceLimits;
  /**
   * What tasks may do, as far as the runtime can deny it to a thread: what it cannot makes `createPool`
   * throw. No sandbox: threads share their memory and rights. Default "off": what the host may.
   */
  readonly permission?: PermissionMode | PermissionOptions;
  /**
   * Longest time a worker may take to load its tasks, in milliseconds; it is given up then, like one that fails to
   * load. Default 60,000; Infinity: no limit.
   */
  readonly startTimeoutMs?: number;
  /**
   * Time a worker gets to leave by itself when it is closed, its `onTeardown` hooks included, in
   * milliseconds, before it is stopped. Default 1000.
   */
  readonly teardownTimeoutMs?: number;
  /** Keep the process running while the pool is open, even when it is idle. Default false. */
  readonly keepAlive?: boolean;
  /**
   * URL or path of the module that exports the bare functions in the pool. Default: the module that
   * calls `createPool`, as the stack tells. Bundled code may have to say.
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
  spinMicroseconds: 50,
  balancer: undefined,
  strictFifo: undefined,
  inliner: undefined,
  maxQueue: Infinity,
  queuePolicy: "reject",
  hardTimeoutMs: Infinity,
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
  if (!isObject(options)) {
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
    recycleAfter: limit("recycleAfter", 2 ** 29),
    maxWorkerMemory: limit("maxWorkerMemory", Number.MAX_SAFE_INTEGER),
    workerLimits: checkWorkerLimits(read("resourceLimits"), read("permission"), refuseLimits),
    startTimeoutMs: checkMs("startTimeoutMs", read("startTimeoutMs")),
    teardownTimeoutMs: integer("teardownTimeoutMs", 0, MAX_TIMER_MS),
    keepAlive: checkBoolean("keepAlive", read("keepAlive")),
    moduleUrl: moduleUrl === undefined ? undefined : String(moduleUrl),
  };
}

function checkThreads(
  read: ReadOption,
  cores: number,
): Pick<ResolvedOptions, "minThreads" | "maxThreads"> {
  const [given, least, most] = [read("threads"), read("minThreads"), read("maxThreads")];
  const threads = checkInteger("threads", given ?? Math.max(1, cores - 1), 1, MAX_THREADS);
  const min = least === undefined ? least : checkInteger("minThreads", least, 0, MAX_THREADS);
  const max = most === undefined ? most : checkInteger("maxThreads", most, 1, MAX_THREADS);
  if (given !== undefined && max !== undefined) checkAtMost("threads", threads, max);
  const maxThreads = max ?? Math.max(threads, min ?? 0);
  const minThreads = min ?? Math.min(threads, maxThreads);
  checkAtMost("minThreads", minThreads, maxThreads);
  return { minThreads, maxThreads };
}

function checkAtMost(name: string, threads: number, maxThreads: number): void {
  if (threads <= maxThreads) return;
  throw new InvalidArgumentError(
    `${name}, ${threads}, must not be more than maxThreads, ${maxThreads}.`,
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
  const sizes: { readonly [Key in keyof RingSizes]?: unknown } = given;
  const sizeOf = (key: keyof RingSizes): number => {
    const size = Object.hasOwn(sizes, key) ? sizes[key] : undefined;
    return checkRing(`ringBytes.${key}`, size ?? DEFAULTS.ringBytes);
  };
  return { requests: sizeOf("requests"), responses: sizeOf("responses") };
}

/** Of any realm. */
function isPlainObject(value: object | null): value is object {
  if (value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function checkInliner(inliner: unknown): InlinerLimits | undefined {
  if (inliner === undefined || inliner === false) return undefined;
  if (inliner !== true && !isObject(inliner)) {
    throw invalid("inliner", "a boolean or an object", show(inliner));
  }
  const given: { readonly [Key in keyof InlinerLimits]?: unknown } = inliner === true
    ? {}
    : inliner;
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
  const given = isObject(options) ? options : { timeoutMs: options };
  checkKeys("shutdown()", given, ["drain", "timeoutMs"]);
  const { drain = true, timeoutMs = defaultMs } = {
    __proto__: null,
    ...given,
  } as { drain?: unknown; timeoutMs?: unknown };
  if (typeof drain !== "boolean") throw invalid("drain", "a boolean", describeValue(drain));
  if (typeof timeoutMs !== "number" || !(timeoutMs >= 0)) {
    throw invalid("timeoutMs", "a number from 0", describeValue(timeoutMs));
  }
  return drain ? timeoutMs : 0;
}
