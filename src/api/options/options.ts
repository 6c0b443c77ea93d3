/** The defaults and the checks of the options of `createPool` and of `shutdown`. */
import { URL as BuiltinURL } from "../../builtins.ts";
import {
  checkBoolean,
  checkInteger,
  checkKeys,
  checkLimit,
  checkMs,
  invalid,
  isRecord,
  ownOf,
  show,
} from "../../option-checks.ts";
import { CALL_OPTIONS } from "./call-options.ts";
import { describeValue } from "../../codec/support/describe.ts";
import { InvalidArgumentError } from "../../errors.ts";
import {
  BALANCER_NAMES,
  type BalancerFunction,
  type BalancerName,
} from "../../host/schedule/balancers.ts";
import type { InlinerLimits } from "../../host/dispatch/queue/inline-executor.ts";
import type { RingSizes } from "../../lane/layout.ts";
import { PoolBudget, type ShareLimits } from "../../host/scaling/thread-budget.ts";
import { MAX_CAPACITY } from "../../ring/ring-layout.ts";
import { checkCapacity } from "../../ring/spsc-ring.ts";
import type { Runtime, WorkerLimits } from "../../runtimes/runtime.ts";
import { checkHost } from "./host-options.ts";
import { isRelative } from "./module-url.ts";
import { checkWorkerOptions, type ResolvedWorkerOptions } from "./worker-options.ts";
import { checkObserving, type ResolvedObserving } from "./observe-options.ts";
import type { PoolOptions, ShutdownOptions } from "./pool-options.ts";
import { checkMeasurable, checkWorkerLimits } from "./worker-limits.ts";
import { checkTransport, spinMsOf, type Transport } from "./transport.ts";

/** Options that are merged into others. */
type Merged = "threads" | "worker" | "resourceLimits" | "permission" | "host";

interface ResolvedParts extends ResolvedObserving {
  readonly ringBytes: RingSizes;
  readonly balancer: BalancerName | BalancerFunction;
  readonly inliner: InlinerLimits | undefined;
  readonly maxQueue: number;
  readonly workerLimits: WorkerLimits;
  readonly workerOptions: ResolvedWorkerOptions;
  readonly moduleUrl: string | undefined;
  readonly mapError: PoolOptions["mapError"];
  /** By name; those of a module beside its other exports. */
  readonly hostFunctions: Readonly<Record<string, unknown>>;
  readonly transport: Transport;
  readonly budget: PoolBudget | undefined;
  /** What the pool may have of the budget. */
  readonly share: ShareLimits;
}

/** Every option with its value. Infinity: no limit, or never. */
export type ResolvedOptions =
  & Required<Omit<PoolOptions, Merged | keyof ResolvedParts>>
  & ResolvedParts;

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
  budget: undefined,
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
  recycleAfter: Infinity,
  maxWorkerBytes: Infinity,
  resourceLimits: undefined,
  permission: undefined,
  worker: undefined,
  metrics: false,
  debug: undefined,
  context: undefined,
  host: undefined,
  /** Enough for a slow machine that starts many workers at once. */
  startTimeoutMs: 60_000,
  teardownTimeoutMs: 1000,
  onUnavailable: "error",
  transport: "auto",
  keepAlive: false,
  moduleUrl: undefined,
  mapError: undefined,
} as const satisfies Record<keyof PoolOptions, unknown>;

/** What the checks have to know of the runtime. */
type OptionsRuntime =
  & Pick<Runtime, "cores" | "refuseLimits" | "takesExecArgv">
  & Partial<Pick<Runtime, "env" | "measuresMemory" | "sharesMemory">>;

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
  refuseCallOptions(options);
  checkKeys("createPool()", options, Object.keys(DEFAULTS));
  const read: ReadOption = (key) => {
    const given = Object.hasOwn(options, key) ? options[key] : undefined;
    return given === undefined ? DEFAULTS[key] : given;
  };
  const integer = (key: keyof PoolOptions, min: number, max: number): number =>
    checkInteger(key, read(key), min, max);
  const limit = (key: keyof PoolOptions, min = 1, max?: number): number =>
    checkLimit(key, read(key), min, max);
  const threads = checkThreads(read, runtime.cores);
  const queuePolicy = read("queuePolicy");
  if (queuePolicy !== "reject" && queuePolicy !== "wait") {
    throw invalid("queuePolicy", '"reject" or "wait"', show(queuePolicy));
  }
  const { refuseLimits, sharesMemory = true } = runtime;
  const observing = checkObserving(read, runtime);
  const transport = checkTransport(read("transport"), sharesMemory, observing.metrics);
  return {
    ...observing,
    ...threads,
    idleTimeoutMs: checkMs("idleTimeoutMs", read("idleTimeoutMs")),
    ringBytes: checkRingBytes(read("ringBytes")),
    maxPayloadBytes: limit("maxPayloadBytes"),
    maxConcurrency: integer("maxConcurrency", 1, 2 ** 20),
    spinMs: spinMsOf(transport, checkSpin(read("spinMs"))),
    balancer: checkBalancer(read("balancer")),
    inliner: checkInliner(read("inliner")),
    maxQueue: read("maxQueue") === "auto"
      ? AUTO_QUEUE_PER_THREAD * threads.maxThreads
      : limit("maxQueue", 0),
    queuePolicy,
    hardTimeoutMs: checkMs("hardTimeoutMs", read("hardTimeoutMs")),
    maxAbandonedThreads: read("maxAbandonedThreads") === undefined
      ? runtime.cores
      : limit("maxAbandonedThreads", 0),
    recycleAfter: limit("recycleAfter", 1, 2 ** 29),
    maxWorkerBytes: checkMeasurable(limit("maxWorkerBytes"), runtime),
    transport,
    onUnavailable: checkUnavailable(read("onUnavailable"), read("permission")),
    workerLimits: checkWorkerLimits(read("resourceLimits"), read("permission"), refuseLimits),
    workerOptions: checkWorkerOptions(read("worker"), read("permission"), runtime),
    startTimeoutMs: checkMs("startTimeoutMs", read("startTimeoutMs")),
    teardownTimeoutMs: checkMs("teardownTimeoutMs", read("teardownTimeoutMs"), 0),
    keepAlive: checkBoolean("keepAlive", read("keepAlive")),
    moduleUrl: checkModuleUrl(read("moduleUrl")),
    mapError: checkMapError(read("mapError")),
    hostFunctions: checkHost(read("host")),
  };
}

function refuseCallOptions(options: object): void {
  const name = CALL_OPTIONS.find((name) => Object.hasOwn(options, name));
  if (name === undefined) return;
  throw new InvalidArgumentError(
    `createPool() has no option "${name}", which is one of calls: pool.call.f.with({ ${name} }), or task({ ${name}, f }).`,
  );
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

function checkUnavailable(given: unknown, permission: unknown): "error" | "host" {
  if (given !== "error" && given !== "host") {
    throw invalid("onUnavailable", '"error" or "host"', show(given));
  }
  if (given === "host" && permission !== undefined && permission !== "off") {
    throw new InvalidArgumentError(
      'onUnavailable: "host" cannot be combined with permission, which limits threads but not the host.',
    );
  }
  return given;
}

function checkMapError(given: unknown): PoolOptions["mapError"] {
  if (given === undefined || typeof given === "function") return given as PoolOptions["mapError"];
  throw invalid("mapError", "a function", show(given));
}

function checkThreads(
  read: ReadOption,
  cores: number,
): Pick<ResolvedOptions, "minThreads" | "maxThreads" | "budget" | "share"> {
  const [least, most] = [read("minThreads"), read("maxThreads")];
  const given = read("threads") === "auto" ? undefined : read("threads");
  const budget = checkBudget(read("budget"));
  const isAuto = given === undefined && most === undefined;
  const auto = budget === undefined ? Math.max(1, cores - 1) : isAuto ? budget.max : 1;
  const threads = checkInteger("threads", given === undefined ? auto : given, 1, MAX_THREADS);
  const min = least === undefined ? least : checkInteger("minThreads", least, 0, MAX_THREADS);
  const max = most === undefined ? most : checkInteger("maxThreads", most, 1, MAX_THREADS);
  if (given !== undefined && max !== undefined) checkAtMost("threads", threads, "maxThreads", max);
  if (given !== undefined && min !== undefined) checkAtMost("minThreads", min, "threads", threads);
  const maxThreads = max ?? Math.max(threads, min ?? 0);
  // An automatic number is no demand: beside pools with a budget such a pool starts with one thread.
  const isFromOne = given === undefined && budget !== undefined;
  const minThreads = min ?? Math.min(isFromOne ? 1 : threads, maxThreads);
  checkAtMost("minThreads", minThreads, "maxThreads", maxThreads);
  const guaranteed = isAuto && min === undefined ? 1 : minThreads;
  return {
    minThreads,
    maxThreads,
    budget,
    share: { guaranteed, isLimited: isAuto || budget !== undefined },
  };
}

function checkBudget(given: unknown): PoolBudget | undefined {
  if (given === undefined || given instanceof PoolBudget) return given;
  throw invalid("budget", "a budget that threadBudget() returned", show(given));
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
  const { requests = DEFAULTS.ringBytes, responses = DEFAULTS.ringBytes } = ownOf<RingSizes>(given);
  return {
    requests: checkRing("ringBytes.requests", requests),
    responses: checkRing("ringBytes.responses", responses),
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
export function checkShutdown<Default extends number | undefined>(
  options: unknown,
  defaultMs: Default,
): { readonly timeoutMs: number | Default; readonly isQueuedRun: boolean } {
  const given = isRecord(options) ? options : { timeoutMs: options };
  checkKeys("shutdown()", given, ["queued", "timeoutMs"]);
  const { queued = "run", timeoutMs = defaultMs } = ownOf<ShutdownOptions>(given);
  if (timeoutMs !== defaultMs) checkMs("timeoutMs", timeoutMs, 0);
  if (queued !== "run" && queued !== "reject") {
    throw invalid("queued", '"run" or "reject"', describeValue(queued));
  }
  return { timeoutMs: timeoutMs as number | Default, isQueuedRun: queued === "run" };
}
