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
import { callOptionNames } from "./call-options.ts";
import { describeValue } from "../../codec/support/describe.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { poolOptions, variables } from "./feature.ts";
import type { RingSizes } from "../../lane/layout.ts";
import { MAX_CAPACITY } from "../../ring/ring-layout.ts";
import { checkCapacity } from "../../ring/spsc-ring.ts";
import { isRelative } from "./module-url.ts";
import { checkWorkerOptions, DEFAULT_WORKER } from "./worker-options.ts";
import type { PoolOptions, ShutdownOptions } from "./pool-options.ts";
import type {
  Check,
  Given,
  OptionsRuntime,
  ResolvedOptions,
  ResolvedThreads,
  Resolving,
} from "./resolved-options.ts";
import { checkWorkerLimits } from "./worker-limits.ts";

/** The first claim of an endpoint must fit beside a record of maximum size. */
const MIN_RING_BYTES = 1024;
/** Calls per worker that wait on the host: the limit of `maxQueue: "auto"`, and the threshold of `needsDrain`. */
export const AUTO_QUEUE_PER_THREAD = 1024;
/** Bytes of a ring. */
const RING_BYTES = 4 * 1024 * 1024;
/** More threads than this are probably a mistake. */
const MAX_THREADS = 1024;

/** What options stand for that are not given: also those of features, whose values the kernel reads. Those of threads and `maxAbandonedThreads` depend on the machine. */
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
  startData: {},
  workerLimits: { resourceLimits: undefined, permission: undefined },
  workerOptions: DEFAULT_WORKER,
  metrics: false,
  debug: undefined,
  context: undefined,
  hostFunctions: undefined,
  /** Enough for a slow machine that starts many workers at once. */
  startTimeoutMs: 60_000,
  teardownTimeoutMs: 1000,
  onUnavailable: "error",
  transport: "shared",
  keepAlive: false,
  moduleUrl: undefined,
  mapError: undefined,
};

/** All options, in the order of messages and of their checks. */
const ORDER: readonly (keyof PoolOptions)[] = [
  "threads",
  "minThreads",
  "maxThreads",
  "budget",
  "idleTimeoutMs",
  "ringBytes",
  "maxPayloadBytes",
  "maxConcurrency",
  "spinMs",
  "balancer",
  "inliner",
  "maxQueue",
  "queuePolicy",
  "hardTimeoutMs",
  "maxAbandonedThreads",
  "recycleAfter",
  "maxWorkerBytes",
  "resourceLimits",
  "permission",
  "worker",
  "metrics",
  "debug",
  "context",
  "host",
  "startTimeoutMs",
  "teardownTimeoutMs",
  "onUnavailable",
  "transport",
  "keepAlive",
  "moduleUrl",
  "mapError",
];

/** Those that no feature adds. Undefined: checked together with others. */
const OWN: { readonly [Name in keyof PoolOptions]?: Check | undefined } = {
  threads: undefined,
  minThreads: undefined,
  maxThreads: undefined,
  ringBytes: (value, to) => to.ringBytes = checkRingBytes(value),
  maxPayloadBytes: (value, to) => to.maxPayloadBytes = checkLimit("maxPayloadBytes", value),
  maxConcurrency: (value, to) =>
    to.maxConcurrency = checkInteger("maxConcurrency", value, 1, 2 ** 20),
  spinMs: (value, to) => to.spinMs = checkSpin(value),
  resourceLimits: undefined,
  permission: undefined,
  worker: (value, to, { permission }, runtime) =>
    to.workerOptions = checkWorkerOptions(value, permission, runtime),
  startTimeoutMs: (value, to) => to.startTimeoutMs = checkMs("startTimeoutMs", value),
  teardownTimeoutMs: (value, to) => to.teardownTimeoutMs = checkMs("teardownTimeoutMs", value, 0),
  keepAlive: (value, to) => to.keepAlive = checkBoolean("keepAlive", value),
  moduleUrl: (value, to) => to.moduleUrl = checkModuleUrl(value),
  mapError: (value, to) => to.mapError = checkMapError(value),
};

/** Checks `options` and fills in the defaults. What is not given runs no check. Throws InvalidArgumentError. */
export function resolveOptions(options: PoolOptions, runtime: OptionsRuntime): ResolvedOptions {
  if (!isRecord(options)) {
    throw new InvalidArgumentError(
      `createPool() takes an object of options, got ${show(options)}.`,
    );
  }
  for (const key of Object.keys(options)) {
    if (!Object.hasOwn(OWN, key) && !(key in poolOptions)) refuseUnknown(options);
  }
  const given = Object.create(null) as { -readonly [Key in keyof Given]: Given[Key] };
  for (const name of ORDER) if (Object.hasOwn(options, name)) given[name] = options[name];
  const { cores, refuseLimits, sharesMemory = true } = runtime;
  if (!sharesMemory && given.transport === undefined) given.transport = "auto";
  const resolved = { ...DEFAULTS, maxAbandonedThreads: cores } as Resolving;
  if (given.budget !== undefined) poolOptions.budget!(given.budget, resolved, given, runtime);
  Object.assign(resolved, checkThreads(given, cores, resolved.budget));
  for (const name of ORDER) {
    const value = given[name];
    const variable = variables[name];
    if (value !== undefined) (OWN[name] ?? poolOptions[name])?.(value, resolved, given, runtime);
    else if (variable !== undefined) {
      const text = runtime.env?.(variable.name);
      if (text !== undefined) variable.use(text, resolved);
    }
  }
  const { resourceLimits, permission } = given;
  if (resourceLimits !== undefined || permission !== undefined) {
    resolved.workerLimits = checkWorkerLimits(resourceLimits, permission, refuseLimits);
  }
  return resolved;
}

/** Throws for a key that is no option. */
function refuseUnknown(options: object): void {
  const name = callOptionNames().find((name) => Object.hasOwn(options, name));
  const known = ORDER.filter((key) => Object.hasOwn(OWN, key) || key in poolOptions);
  if (name === undefined) return checkKeys("createPool()", options, known);
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

function checkMapError(given: unknown): PoolOptions["mapError"] {
  if (typeof given === "function") return given as PoolOptions["mapError"];
  throw invalid("mapError", "a function", show(given));
}

function checkThreads(
  given: Given,
  cores: number,
  budget: ResolvedThreads["budget"],
): ResolvedThreads {
  const { minThreads: least, maxThreads: most } = given;
  const wanted = given.threads === "auto" ? undefined : given.threads;
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
