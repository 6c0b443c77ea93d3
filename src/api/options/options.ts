/** Defaults and checks of the options of `createPool`, and the options of `shutdown`. */
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
import { InvalidArgumentError } from "../../errors.ts";
import type { RingSizes } from "../../lane/layout.ts";
import { MAX_CAPACITY } from "../../ring/ring-layout.ts";
import { checkCapacity } from "../../ring/spsc-ring.ts";
import { callOptions } from "./call-options.ts";
import type { OptionFeature } from "./feature.ts";
import { isRelative } from "./module-url.ts";
import { checkWorkerOptions, DEFAULT_WORKER, WORKER_OPTIONS } from "./worker-options.ts";
import type { PoolOptions, ShutdownOptions } from "./pool-options.ts";
import type {
  Check,
  Given,
  OptionsRuntime,
  ResolvedOptions,
  Resolving,
} from "./resolved-options.ts";

/** The first claim of an endpoint must fit beside a record of maximum size. */
const MIN_RING_BYTES = 1024;
/** Bytes of a ring. */
const RING_BYTES = 4 * 1024 * 1024;
/** More threads than this are probably a mistake. */
const MAX_THREADS = 1024;
/** The number of threads of pools that are given none. 0: that of all. */
const VARIABLE = "HEDDLE_THREADS";

/** What options stand for that are not given. Features add theirs, and each option of a feature that nobody has added is undefined. */
const defaults: { -readonly [Name in keyof ResolvedOptions]?: ResolvedOptions[Name] } = {
  ringBytes: { requests: RING_BYTES, responses: RING_BYTES },
  maxPayloadBytes: Infinity,
  maxConcurrency: 1024,
  /** Waking a thread takes 3 to 12 µs on bare metal, 30 to 50 on a nested virtual machine. */
  spinMs: 0.1,
  workerLimits: { resourceLimits: undefined, permission: undefined },
  workerOptions: DEFAULT_WORKER,
  startData: {},
  modules: { __proto__: null } as unknown as ResolvedOptions["modules"],
  /** Enough for a slow machine that starts many workers at once. */
  startTimeoutMs: 60_000,
  teardownTimeoutMs: 1000,
  keepAlive: false,
};

/** Those that say how many workers there are. */
const OF_NUMBER = ["threads", "minThreads", "maxThreads", "budget"] as const;

/** All options, in the order of messages and of their checks: these, then those of features. */
const poolOptions: { [Name in keyof PoolOptions]?: Check } = {
  threads: (value, to) => {
    if (value !== "auto") {
      to.minThreads = to.maxThreads = checkInteger("threads", value, 0, MAX_THREADS);
    }
  },
  ringBytes: (value, to) => to.ringBytes = checkRingBytes(value),
  maxPayloadBytes: (value, to) => to.maxPayloadBytes = checkLimit("maxPayloadBytes", value),
  maxConcurrency: (value, to) =>
    to.maxConcurrency = checkInteger("maxConcurrency", value, 1, 2 ** 20),
  spinMs: (value, to) => to.spinMs = checkSpin(value),
  worker: (value, to, given, runtime) => checkWorkerOptions(value, to, given, runtime, poolOptions),
  startTimeoutMs: (value, to) => to.startTimeoutMs = checkMs("startTimeoutMs", value),
  teardownTimeoutMs: (value, to) => to.teardownTimeoutMs = checkMs("teardownTimeoutMs", value, 0),
  keepAlive: (value, to) => to.keepAlive = checkBoolean("keepAlive", value),
  moduleUrl: (value, to) => to.moduleUrl = checkModuleUrl(value),
};

/** What features do where an option is not given. */
const whenAbsent: NonNullable<OptionFeature["whenAbsent"]> = {};

/** What a pool without threads is given. Its feature replaces this. */
let onHost: NonNullable<OptionFeature["onHost"]> = () => {
  throw new InvalidArgumentError(
    `${VARIABLE}=0 needs inline() of "heddle/features/inline": createPool({ use: [inline()] }).`,
  );
};

/** Adds the options of a feature. */
export function useOptions(feature: OptionFeature): void {
  onHost = feature.onHost ?? onHost;
  Object.assign(poolOptions, feature.options);
  Object.assign(defaults, feature.defaults);
  Object.assign(whenAbsent, feature.whenAbsent);
  Object.assign(callOptions, feature.callOptions);
}

/** Checks `options` and fills in the defaults. What is not given runs no check. Throws InvalidArgumentError. */
export function resolveOptions(options: PoolOptions, runtime: OptionsRuntime): ResolvedOptions {
  if (!isRecord(options)) {
    const isModule = typeof options === "string" || (options as unknown) instanceof BuiltinURL;
    const cure = isModule ? "; its result takes the module of tasks: createPool()(url)" : "";
    throw new InvalidArgumentError(
      `createPool() takes an object of options, got ${show(options)}${cure}.`,
    );
  }
  const own: Given = ownOf(options);
  checkKeys(
    "createPool()",
    own,
    Object.keys(poolOptions),
    (name) => elsewhere(own, name),
  );
  const text = runtime.env?.(VARIABLE);
  const wanted = text === undefined || text === "" ? undefined : checkVariable(text);
  const isOff = wanted === 0;
  const isOnHost = isOff || own.threads === 0;
  const given = isOnHost
    ? onHost(own, isOff, runtime)
    : wanted === undefined || hasNumber(own)
    ? own
    : withNumber(own, wanted);
  const threads = Math.max(1, runtime.cores - 1);
  const to = {
    __proto__: null, // what an extended Object.prototype has is no option
    minThreads: threads,
    maxThreads: threads,
    ...defaults,
  } as unknown as Resolving;
  for (const [name, check] of Object.entries(poolOptions)) {
    const value = given[name as keyof Given];
    if (value !== undefined) check(value, to, given, runtime);
  }
  for (const [name, resolve] of Object.entries(whenAbsent)) {
    if (given[name as keyof Given] === undefined) resolve(to, runtime, given);
  }
  if (isOnHost) to.isOnHost = true;
  return to;
}

function hasNumber(given: Given): boolean {
  return OF_NUMBER.some((name) => given[name] !== undefined && given[name] !== "auto");
}

/** The options with the number of the variable. Pools that memory limits need a number of workers that is not fixed. */
function withNumber(own: Given, wanted: number): Given {
  const number = own.minFreeMemory === undefined
    ? { threads: wanted }
    : { threads: undefined, minThreads: 1, maxThreads: wanted };
  return ownOf({ ...own, ...number });
}

function checkVariable(text: string): number {
  return checkInteger(VARIABLE, /^\d+$/.test(text) ? Number(text) : text, 0, MAX_THREADS);
}

/** Where an option belongs that pools do not have. */
function elsewhere(given: Given, name: string): string | undefined {
  if (Object.hasOwn(callOptions, name)) {
    return `which is one of calls: pool.call.f.with({ ${name} }), or task({ ${name}, f })`;
  }
  if (WORKER_OPTIONS.includes(name)) {
    return `which is one of workers: createPool({ worker: { ${name} } })`;
  }
  const isTask = typeof given[name as keyof Given] === "function";
  return isTask ? `and its result takes the tasks: createPool()({ ${name} })` : undefined;
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
    throw invalid("queued", '"run" or "reject"', show(queued));
  }
  return { timeoutMs: timeoutMs as number | Default, isQueuedRun: queued === "run" };
}
