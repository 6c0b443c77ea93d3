/** Options of `createPool`: defaults, limits, and checks that name what is wrong. */
import { checkMs } from "./call-options.ts";
import { textOf } from "./codec/fault.ts";
import { InvalidArgumentError } from "./errors.ts";
import { BALANCER_NAMES, type BalancerFunction, type BalancerName } from "./host/balancers.ts";
import type { InlinerLimits } from "./host/inliner.ts";
import type { RingSizes } from "./endpoint/lane-layout.ts";
import { MAX_CAPACITY } from "./ring/ring-layout.ts";
import { checkCapacity } from "./ring/spsc-ring.ts";
import {
  MAX_TIMER_MS,
  type ResourceLimits,
  type Runtime,
  type WorkerLimits,
} from "./runtimes/runtime.ts";
import { checkWorkerLimits, type PermissionMode, type PermissionOptions } from "./worker-limits.ts";

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

export interface ResolvedOptions {
  readonly minThreads: number;
  readonly maxThreads: number;
  readonly idleTimeoutMs: number;
  readonly ringBytes: RingSizes;
  readonly maxPayloadBytes: number;
  readonly maxConcurrency: number;
  readonly spinMicroseconds: number;
  readonly balancer: BalancerName | BalancerFunction | "strictFifo";
  readonly inliner: InlinerLimits | undefined;
  /** Infinity: no limit. */
  readonly maxQueue: number;
  readonly queuePolicy: "reject" | "wait";
  /** Infinity: no limit. */
  readonly hardTimeoutMs: number;
  /** Infinity: never. */
  readonly recycleAfter: number;
  /** Infinity: no limit. */
  readonly maxWorkerMemory: number;
  readonly workerLimits: WorkerLimits;
  /** Infinity: no limit. */
  readonly startTimeoutMs: number;
  readonly teardownTimeoutMs: number;
  readonly keepAlive: boolean;
  readonly moduleUrl: string | undefined;
}

/** The first claim of an endpoint must always fit beside a record of maximal size. */
const MIN_RING_BYTES = 1024;
const DEFAULT_RING_BYTES = 4 * 1024 * 1024;
const DEFAULT_MAX_CONCURRENCY = 1024;
/** Waking a thread takes 3 to 12 µs on bare metal, 30 to 50 on a nested virtual machine. */
const DEFAULT_SPIN_MICROSECONDS = 50;
/** Calls that wait on the host for each worker: `maxQueue: "auto"`, and where `needsDrain` begins. */
export const AUTO_QUEUE_PER_THREAD = 1024;
const DEFAULT_IDLE_TIMEOUT_MS = 10_000;
/** Long enough for a slow machine that starts many at once. */
const DEFAULT_START_TIMEOUT_MS = 60_000;
const DEFAULT_TEARDOWN_TIMEOUT_MS = 1000;
/** A pool larger than this is a mistake. */
const MAX_THREADS = 1024;
const KNOWN: readonly (keyof PoolOptions)[] = [
  "threads",
  "minThreads",
  "maxThreads",
  "idleTimeoutMs",
  "ringBytes",
  "maxPayloadBytes",
  "maxConcurrency",
  "spinMicroseconds",
  "balancer",
  "strictFifo",
  "inliner",
  "maxQueue",
  "queuePolicy",
  "hardTimeoutMs",
  "recycleAfter",
  "maxWorkerMemory",
  "resourceLimits",
  "permission",
  "startTimeoutMs",
  "teardownTimeoutMs",
  "keepAlive",
  "moduleUrl",
];

/** Checks `options` and fills in the defaults. Throws InvalidArgumentError. */
export function resolveOptions(
  options: PoolOptions,
  runtime: Pick<Runtime, "cores" | "refuseLimits">,
): ResolvedOptions {
  if (typeof options !== "object" || options === null) {
    throw new InvalidArgumentError(
      `createPool() takes an object of options, got ${show(options)}.`,
    );
  }
  for (const key of Object.keys(options)) {
    if (!(KNOWN as readonly string[]).includes(key)) {
      throw new InvalidArgumentError(
        `createPool() has no option "${key}"; it takes: ${KNOWN.join(", ")}.`,
      );
    }
  }
  const own = (key: keyof PoolOptions): unknown =>
    Object.hasOwn(options, key) ? options[key] : undefined;
  const maxPayloadBytes = own("maxPayloadBytes") ?? Infinity;
  if (typeof maxPayloadBytes !== "number" || !(maxPayloadBytes >= 1)) {
    throw new InvalidArgumentError(
      `maxPayloadBytes must be a number from 1, got ${show(maxPayloadBytes)}.`,
    );
  }
  const keepAlive = own("keepAlive") ?? false;
  if (typeof keepAlive !== "boolean") {
    throw new InvalidArgumentError(`keepAlive must be a boolean, got ${show(keepAlive)}.`);
  }
  const moduleUrl = own("moduleUrl");
  if (moduleUrl !== undefined && typeof moduleUrl !== "string" && !(moduleUrl instanceof URL)) {
    throw new InvalidArgumentError(`moduleUrl must be a string or URL, got ${show(moduleUrl)}.`);
  }
  const size = checkSize(own, runtime.cores);
  const maxQueue = own("maxQueue") ?? Infinity;
  const queuePolicy = own("queuePolicy") ?? "reject";
  if (queuePolicy !== "reject" && queuePolicy !== "wait") {
    throw new InvalidArgumentError(
      `queuePolicy must be "reject" or "wait", got ${show(queuePolicy)}.`,
    );
  }
  return {
    ...size,
    inliner: checkInliner(own("inliner")),
    balancer: checkBalancer(own("balancer"), own("strictFifo")),
    maxQueue: maxQueue === "auto"
      ? AUTO_QUEUE_PER_THREAD * size.maxThreads
      : maxQueue === Infinity
      ? Infinity
      : checkInteger("maxQueue", maxQueue, 1, Number.MAX_SAFE_INTEGER),
    queuePolicy,
    ringBytes: checkRingBytes(own("ringBytes") ?? DEFAULT_RING_BYTES),
    maxPayloadBytes,
    maxConcurrency: checkInteger(
      "maxConcurrency",
      own("maxConcurrency") ?? DEFAULT_MAX_CONCURRENCY,
      1,
      2 ** 20,
    ),
    spinMicroseconds: checkInteger(
      "spinMicroseconds",
      own("spinMicroseconds") ?? DEFAULT_SPIN_MICROSECONDS,
      0,
      1000,
    ),
    recycleAfter: own("recycleAfter") === undefined
      ? Infinity
      : checkInteger("recycleAfter", own("recycleAfter"), 1, 2 ** 29),
    maxWorkerMemory: own("maxWorkerMemory") === undefined
      ? Infinity
      : checkInteger("maxWorkerMemory", own("maxWorkerMemory"), 1, Number.MAX_SAFE_INTEGER),
    workerLimits: checkWorkerLimits(own("resourceLimits"), own("permission"), runtime.refuseLimits),
    startTimeoutMs: checkMs("startTimeoutMs", own("startTimeoutMs") ?? DEFAULT_START_TIMEOUT_MS),
    teardownTimeoutMs: checkInteger(
      "teardownTimeoutMs",
      own("teardownTimeoutMs") ?? DEFAULT_TEARDOWN_TIMEOUT_MS,
      0,
      MAX_TIMER_MS,
    ),
    hardTimeoutMs: checkMs("hardTimeoutMs", own("hardTimeoutMs") ?? Infinity),
    keepAlive,
    moduleUrl: moduleUrl === undefined ? undefined : String(moduleUrl),
  };
}

/** `own` reads an option. */
function checkSize(
  own: (key: keyof PoolOptions) => unknown,
  cores: number,
): Pick<ResolvedOptions, "minThreads" | "maxThreads" | "idleTimeoutMs"> {
  const [least, most] = [own("minThreads"), own("maxThreads")];
  const threads = checkInteger(
    "threads",
    own("threads") ?? Math.max(1, cores - 1),
    1,
    MAX_THREADS,
  );
  if (least !== undefined) checkInteger("minThreads", least, 0, MAX_THREADS);
  if (most !== undefined) checkInteger("maxThreads", most, 1, MAX_THREADS);
  if (own("threads") !== undefined && most !== undefined && threads > (most as number)) {
    throw new InvalidArgumentError(
      `threads, ${threads}, must not be more than maxThreads, ${most}.`,
    );
  }
  const maxThreads = (most ?? Math.max(threads, least as number ?? 0)) as number;
  const minThreads = (least ?? Math.min(threads, maxThreads)) as number;
  if (minThreads > maxThreads) {
    throw new InvalidArgumentError(
      `minThreads, ${minThreads}, must not be more than maxThreads, ${maxThreads}.`,
    );
  }
  const idleTimeoutMs = own("idleTimeoutMs") ?? DEFAULT_IDLE_TIMEOUT_MS;
  if (idleTimeoutMs !== Infinity) checkInteger("idleTimeoutMs", idleTimeoutMs, 1, MAX_TIMER_MS);
  return { minThreads, maxThreads, idleTimeoutMs: idleTimeoutMs as number };
}

function checkRingBytes(bytes: unknown): RingSizes {
  if (typeof bytes !== "object") {
    const capacity = checkRing("ringBytes", bytes);
    return { requests: capacity, responses: capacity };
  }
  if (!isPlainObject(bytes)) {
    throw new InvalidArgumentError(
      `ringBytes must be an integer or an object of requests and responses, got ${show(bytes)}.`,
    );
  }
  for (const key of Object.keys(bytes)) {
    if (key !== "requests" && key !== "responses") {
      throw new InvalidArgumentError(
        `ringBytes has no option "${key}"; it takes: requests, responses.`,
      );
    }
  }
  const sizeOf = (key: keyof RingSizes): number => {
    const size = Object.hasOwn(bytes, key) ? bytes[key] : undefined;
    return checkRing(`ringBytes.${key}`, size ?? DEFAULT_RING_BYTES);
  };
  return { requests: sizeOf("requests"), responses: sizeOf("responses") };
}

/** Of any realm. */
function isPlainObject(value: object | null): value is Record<string, unknown> {
  if (value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function checkRing(name: string, bytes: unknown): number {
  const capacity = checkInteger(name, bytes, MIN_RING_BYTES, MAX_CAPACITY);
  checkCapacity(capacity, name, MIN_RING_BYTES);
  return capacity;
}

function checkInliner(inliner: unknown): InlinerLimits | undefined {
  if (inliner === undefined || inliner === false) return undefined;
  if (inliner !== true && (typeof inliner !== "object" || inliner === null)) {
    throw new InvalidArgumentError(
      `inliner must be a boolean or an object, got ${show(inliner)}.`,
    );
  }
  const given = inliner === true ? {} : inliner as Record<string, unknown>;
  for (const key of Object.keys(given)) {
    if (!["position", "batchSize", "dispatchThreshold"].includes(key)) {
      throw new InvalidArgumentError(
        `inliner has no option "${key}"; it takes: position, batchSize, dispatchThreshold.`,
      );
    }
  }
  const { position = "last", batchSize = 1, dispatchThreshold = 1 } = given;
  if (position !== "first" && position !== "last") {
    throw new InvalidArgumentError(
      `inliner.position must be "first" or "last", got ${show(position)}.`,
    );
  }
  return {
    position,
    batchSize: checkInteger("inliner.batchSize", batchSize, 1, 2 ** 20),
    dispatchThreshold: checkInteger("inliner.dispatchThreshold", dispatchThreshold, 1, 2 ** 30),
  };
}

function checkBalancer(balancer: unknown, strictFifo: unknown): ResolvedOptions["balancer"] {
  if (strictFifo !== undefined && typeof strictFifo !== "boolean") {
    throw new InvalidArgumentError(`strictFifo must be a boolean, got ${show(strictFifo)}.`);
  }
  if (strictFifo === true) {
    if (balancer === undefined) return "strictFifo";
    throw new InvalidArgumentError("strictFifo chooses workers itself: leave out balancer.");
  }
  if (balancer === undefined) return "adaptive";
  if (typeof balancer === "function") return balancer as BalancerFunction;
  const name =
    typeof balancer === "object" && balancer !== null && Object.hasOwn(balancer, "strategy")
      ? (balancer as { readonly strategy: unknown }).strategy
      : balancer;
  if (typeof name === "string" && BALANCER_NAMES.includes(name)) return name as BalancerName;
  throw new InvalidArgumentError(
    `balancer must be a function or one of ${BALANCER_NAMES.join(", ")}, got ${show(name)}.`,
  );
}

function checkInteger(name: string, value: unknown, min: number, max: number): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
    throw new InvalidArgumentError(
      `${name} must be an integer from ${min} to ${max}, got ${show(value)}.`,
    );
  }
  return value;
}

function show(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : textOf(value);
}
