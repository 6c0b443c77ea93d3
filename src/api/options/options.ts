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
import { checkHost, NO_FUNCTIONS } from "./host-options.ts";
import { isRelative } from "./module-url.ts";
import {
  checkWorkerOptions,
  DEFAULT_WORKER,
  type ResolvedWorkerOptions,
} from "./worker-options.ts";
import {
  checkContext,
  checkDebug,
  DEBUG_VARIABLE,
  debugOf,
  type ResolvedObserving,
} from "./observe-options.ts";
import type { PoolOptions, ShutdownOptions } from "./pool-options.ts";
import { checkMeasurable, checkWorkerLimits } from "./worker-limits.ts";
import { checkTransport, type Transport } from "./transport.ts";

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
}

interface ResolvedThreads {
  readonly minThreads: number;
  readonly maxThreads: number;
  readonly budget: PoolBudget | undefined;
  /** What the pool may have of the budget. */
  readonly share: ShareLimits;
}

/** Every option with its value. Infinity: no limit, or never. */
export type ResolvedOptions =
  & Required<Omit<PoolOptions, Merged | keyof ResolvedParts | keyof ResolvedThreads>>
  & ResolvedParts
  & ResolvedThreads;

/** The first claim of an endpoint must fit beside a record of maximum size. */
const MIN_RING_BYTES = 1024;
/** Calls per worker that wait on the host: the limit of `maxQueue: "auto"`, and the threshold of `needsDrain`. */
export const AUTO_QUEUE_PER_THREAD = 1024;
/** Bytes of a ring. */
const RING_BYTES = 4 * 1024 * 1024;
/** More threads than this are probably a mistake. */
const MAX_THREADS = 1024;

/** What options stand for that are not given. Those of threads and `maxAbandonedThreads` depend on the machine. */
const DEFAULTS: Readonly<Omit<ResolvedOptions, keyof ResolvedThreads | "maxAbandonedThreads">> = {
  idleTimeoutMs: 10_000,
  ringBytes: { requests: RING_BYTES, responses: RING_BYTES },
  maxPayloadBytes: Infinity,
  maxConcurrency: 1024,
  /** Waking a thread takes 3 to 12 µs on bare metal, 30 to 50 on a nested virtual machine. */
  spinMs: 0.1,
  balancer: "adaptive",
  inliner: undefined,
  maxQueue: Infinity,
  queuePolicy: "reject",
  hardTimeoutMs: Infinity,
  recycleAfter: Infinity,
  maxWorkerBytes: Infinity,
  workerLimits: { resourceLimits: undefined, permission: undefined },
  workerOptions: DEFAULT_WORKER,
  metrics: false,
  debug: undefined,
  context: undefined,
  hostFunctions: NO_FUNCTIONS,
  /** Enough for a slow machine that starts many workers at once. */
  startTimeoutMs: 60_000,
  teardownTimeoutMs: 1000,
  onUnavailable: "error",
  transport: "shared",
  keepAlive: false,
  moduleUrl: undefined,
  mapError: undefined,
};

/** What the checks have to know of the runtime. */
type OptionsRuntime =
  & Pick<Runtime, "cores" | "refuseLimits" | "takesExecArgv">
  & Partial<Pick<Runtime, "env" | "measuresMemory" | "sharesMemory">>;

/** The options that are given: own and not undefined. Each is read once. */
type Given = { readonly [Key in keyof PoolOptions]?: unknown };

/** Checks an option that is given, and sets what it stands for. */
type Check = (
  value: unknown,
  to: { -readonly [Key in keyof ResolvedOptions]: ResolvedOptions[Key] },
  given: Given,
  runtime: OptionsRuntime,
) => void;

/** By option, in the order of messages. Undefined: checked together with others. */
const CHECKS: Readonly<Record<keyof PoolOptions, Check | undefined>> = {
  threads: undefined,
  minThreads: undefined,
  maxThreads: undefined,
  budget: undefined,
  idleTimeoutMs: (value, to) => to.idleTimeoutMs = checkMs("idleTimeoutMs", value),
  ringBytes: (value, to) => to.ringBytes = checkRingBytes(value),
  maxPayloadBytes: (value, to) => to.maxPayloadBytes = checkLimit("maxPayloadBytes", value),
  maxConcurrency: (value, to) =>
    to.maxConcurrency = checkInteger("maxConcurrency", value, 1, 2 ** 20),
  spinMs: (value, to) => to.spinMs = checkSpin(value),
  balancer: (value, to) => to.balancer = checkBalancer(value),
  inliner: (value, to) => to.inliner = checkInliner(value),
  maxQueue: (value, to) =>
    to.maxQueue = value === "auto"
      ? AUTO_QUEUE_PER_THREAD * to.maxThreads
      : checkLimit("maxQueue", value, 0),
  queuePolicy: (value, to) => to.queuePolicy = checkQueuePolicy(value),
  hardTimeoutMs: (value, to) => to.hardTimeoutMs = checkMs("hardTimeoutMs", value),
  maxAbandonedThreads: (value, to) =>
    to.maxAbandonedThreads = checkLimit("maxAbandonedThreads", value, 0),
  recycleAfter: (value, to) => to.recycleAfter = checkLimit("recycleAfter", value, 1, 2 ** 29),
  maxWorkerBytes: (value, to, _given, runtime) =>
    to.maxWorkerBytes = checkMeasurable(checkLimit("maxWorkerBytes", value), runtime),
  resourceLimits: undefined,
  permission: undefined,
  worker: (value, to, { permission }, runtime) =>
    to.workerOptions = checkWorkerOptions(value, permission, runtime),
  metrics: (value, to) => to.metrics = checkBoolean("metrics", value),
  debug: (value, to) => to.debug = checkDebug(value),
  context: (value, to, { inliner }) => to.context = checkContext(value, inliner),
  host: (value, to) => to.hostFunctions = checkHost(value),
  startTimeoutMs: (value, to) => to.startTimeoutMs = checkMs("startTimeoutMs", value),
  teardownTimeoutMs: (value, to) => to.teardownTimeoutMs = checkMs("teardownTimeoutMs", value, 0),
  onUnavailable: (value, to, { permission }) =>
    to.onUnavailable = checkUnavailable(value, permission),
  transport: undefined,
  keepAlive: (value, to) => to.keepAlive = checkBoolean("keepAlive", value),
  moduleUrl: (value, to) => to.moduleUrl = checkModuleUrl(value),
  mapError: (value, to) => to.mapError = checkMapError(value),
};
const NAMES = Object.keys(CHECKS) as readonly (keyof PoolOptions)[];

/** Checks `options` and fills in the defaults. What is not given runs no check. Throws InvalidArgumentError. */
export function resolveOptions(options: PoolOptions, runtime: OptionsRuntime): ResolvedOptions {
  if (!isRecord(options)) {
    throw new InvalidArgumentError(
      `createPool() takes an object of options, got ${show(options)}.`,
    );
  }
  for (const key of Object.keys(options)) if (!Object.hasOwn(CHECKS, key)) refuseUnknown(options);
  const given = Object.create(null) as { -readonly [Key in keyof Given]: Given[Key] };
  for (const name of NAMES) if (Object.hasOwn(options, name)) given[name] = options[name];
  const { cores, sharesMemory = true } = runtime;
  const threads = checkThreads(given, cores);
  const resolved = { ...DEFAULTS, ...threads, maxAbandonedThreads: cores };
  for (const name of NAMES) {
    const value = given[name];
    if (value !== undefined) CHECKS[name]?.(value, resolved, given, runtime);
  }
  const { resourceLimits, permission, transport } = given;
  if (resourceLimits !== undefined || permission !== undefined) {
    const { refuseLimits } = runtime;
    resolved.workerLimits = checkWorkerLimits(resourceLimits, permission, refuseLimits);
  }
  const variable = given.debug === undefined ? runtime.env?.(DEBUG_VARIABLE) : undefined;
  if (variable !== undefined) resolved.debug = debugOf(variable);
  if (transport !== undefined || !sharesMemory) {
    const wanted = transport === undefined ? "auto" : transport;
    resolved.transport = checkTransport(wanted, sharesMemory, resolved.metrics);
    // Without shared memory only a turn of the event loop brings anything, so nobody spins.
    if (resolved.transport === "messages") resolved.spinMs = 0;
  }
  return resolved;
}

/** Throws for a key that is no option. */
function refuseUnknown(options: object): void {
  const name = CALL_OPTIONS.find((name) => Object.hasOwn(options, name));
  if (name === undefined) return checkKeys("createPool()", options, NAMES);
  throw new InvalidArgumentError(
    `createPool() has no option "${name}", which is one of calls: pool.call.f.with({ ${name} }), or task({ ${name}, f }).`,
  );
}

/** The option is for modules that the stack does not show, so nothing tells what it would be relative to. */
function checkModuleUrl(given: unknown): string {
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
  if (typeof given === "function") return given as PoolOptions["mapError"];
  throw invalid("mapError", "a function", show(given));
}

function checkThreads(given: Given, cores: number): ResolvedThreads {
  const { minThreads: least, maxThreads: most, budget } = given;
  const wanted = given.threads === "auto" ? undefined : given.threads;
  if (budget !== undefined && !(budget instanceof PoolBudget)) {
    throw invalid("budget", "a budget that threadBudget() returned", show(budget));
  }
  const isAuto = wanted === undefined && most === undefined;
  const auto = budget === undefined ? Math.max(1, cores - 1) : isAuto ? budget.max : 1;
  const threads = wanted === undefined ? auto : checkInteger("threads", wanted, 1, MAX_THREADS);
  const min = least === undefined ? least : checkInteger("minThreads", least, 0, MAX_THREADS);
  const max = most === undefined ? most : checkInteger("maxThreads", most, 1, MAX_THREADS);
  if (wanted !== undefined && max !== undefined && threads > max) {
    throw tooMany("threads", threads, "maxThreads", max);
  }
  if (wanted !== undefined && min !== undefined && min > threads) {
    throw tooMany("minThreads", min, "threads", threads);
  }
  const maxThreads = max ?? Math.max(threads, min ?? 0);
  // An automatic number is no demand: beside pools with a budget such a pool starts with one thread.
  const isFromOne = wanted === undefined && budget !== undefined;
  const minThreads = min ?? Math.min(isFromOne ? 1 : threads, maxThreads);
  if (minThreads > maxThreads) throw tooMany("minThreads", minThreads, "maxThreads", maxThreads);
  const guaranteed = isAuto && min === undefined ? 1 : minThreads;
  return {
    minThreads,
    maxThreads,
    budget,
    share: { guaranteed, isLimited: isAuto || budget !== undefined },
  };
}

function tooMany(name: string, threads: number, limitName: string, limit: number): Error {
  return new InvalidArgumentError(
    `${name}, ${threads}, must not be more than ${limitName}, ${limit}.`,
  );
}

function checkQueuePolicy(given: unknown): "reject" | "wait" {
  if (given === "reject" || given === "wait") return given;
  throw invalid("queuePolicy", '"reject" or "wait"', show(given));
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
  const { requests = RING_BYTES, responses = RING_BYTES } = ownOf<RingSizes>(given);
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
  if (inliner === false) return undefined;
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
