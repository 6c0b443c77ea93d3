/** Options of tasks and of `with`: types, checks, and conversion to settings. */
import { checkKeys, checkMs, invalid, isObject, isRecord, ownOf } from "./checks.ts";
import { anySignal } from "./any-signal.ts";
import { movedObjects } from "../../codec/kinds/wrappers.ts";
import { describeValue } from "../../codec/support/describe.ts";
import { InvalidArgumentError } from "../../errors.ts";
import type { GivenSettings, TimeoutOutcome } from "../../host/calls/call-settings.ts";

/** The priority of a call: "high" is 1, "normal" 0, "low" −1, or any number from −1000 to 1000. */
export type Priority = "high" | "normal" | "low" | number;

/**
 * A time limit in milliseconds, and the outcome of the call when it expires: a rejection with TimeoutError,
 * the value `default`, `undefined` (`maybe: true`), or a rejection with `error`.
 */
export type Timeout =
  | number
  | { readonly time: number; readonly default: unknown }
  | { readonly time: number; readonly maybe: true }
  | { readonly time: number; readonly error: unknown }
  | { readonly time: number };

/** Options of a task, for all its calls. */
export interface TaskOptions {
  /**
   * Each level lets a call overtake up to 1,000 older calls that wait on the host. The limit prevents starvation.
   * Default "normal".
   */
  readonly priority?: Priority;
  /**
   * Maximum run time, in milliseconds, synchronous tasks included. The wait for a worker does not count. The limit never
   * expires early, and at most an eighth late. The task continues with its signal aborted (`abortSignal`), and its
   * result is dropped. Default: none.
   */
  readonly timeout?: Timeout;
  /**
   * Maximum time since the call, in milliseconds. A task that has not started by then never runs. Default: none.
   */
  readonly deadline?: number;
  /**
   * Repeat a call if its worker is lost: up to `maxRetries` times, after a pause, unless arguments were
   * transferred. Default false.
   */
  readonly idempotent?: boolean;
  /** Maximum number of repetitions. Needs `idempotent`, of the task or of its calls. Default 3. */
  readonly maxRetries?: number;
  /** Time from an abort until the worker of a task that continues is stopped, in milliseconds. Default: never. */
  readonly killAfterMs?: number;
  /**
   * For a task whose result is a stream: maximum of items that the worker has sent and the reader has not taken. The
   * worker pauses the task at this number, or at 1 MiB. Default 4096.
   */
  readonly highWaterMark?: number;
}

/** Options of the calls made through `with`. They override those of the task. */
export interface CallOptions extends Omit<TaskOptions, "highWaterMark"> {
  /**
   * Aborts the calls: they reject with `signal.reason` at once. Tasks that have not started never run. Running tasks
   * get the abort if they are declared with `abortSignal: true`; others continue. Signals of a chain of `with` add up. null:
   * no signal, as for `fetch`.
   */
  readonly signal?: AbortSignal | null;
  /**
   * Calls with the same key run in the same worker while it takes calls, and are never stolen. Keys are hashed to 1024
   * slots, so different keys may share a worker.
   */
  readonly worker?: { readonly key: string | number };
  /**
   * Objects in the arguments that move instead of being copied, as the `list` of {@link transfer}: typed arrays stand for
   * their buffers.
   */
  readonly transfer?: readonly unknown[];
  /**
   * Gets the values that the task sends by {@link emit} before its result, in order. An error that it throws is an uncaught
   * error; the call goes on.
   */
  readonly onEvent?: (value: unknown) => void;
}

const COMMON_OPTIONS: readonly string[] = [
  "priority",
  "timeout",
  "deadline",
  "idempotent",
  "maxRetries",
  "killAfterMs",
];
export const TASK_OPTIONS: readonly string[] = [...COMMON_OPTIONS, "highWaterMark"];
const CALL_OPTIONS: readonly string[] = [
  ...COMMON_OPTIONS,
  "signal",
  "worker",
  "transfer",
  "onEvent",
];

const DEFAULT_RETRIES = 3;
const MAX_RETRIES = 1000;
const MAX_HIGH_WATER_MARK = 2 ** 20;
const LEVELS: Readonly<Record<string, number>> = { high: 1, normal: 0, low: -1 };
/** Maximum absolute value of a priority. */
const MAX_LEVEL = 1000;

/**
 * Options of a task or of calls: each is checked, but they are not complete. The number of retries depends on the options of
 * the task and of its calls together (`complete`).
 */
export interface GivenOptions extends GivenSettings {
  readonly idempotent?: boolean;
}

/** The options of calls, with the objects that move. */
export interface GivenCall extends GivenOptions {
  readonly transfer?: readonly unknown[];
}

/** Checks the options of `with`. Throws InvalidArgumentError. */
export function checkCallOptions(options: unknown): GivenCall {
  if (!isRecord(options)) {
    throw new InvalidArgumentError(
      `with() takes an object of options, got ${describeValue(options)}.`,
    );
  }
  checkKeys("with()", options, CALL_OPTIONS);
  const { transfer } = ownOf<CallOptions>(options);
  const moved = transfer === undefined ? [] : checkTransfer(transfer);
  return { ...settingsOf(options), ...(moved.length > 0 && { transfer: moved }) };
}

/** No options. */
export const NO_OPTIONS: GivenCall = {};

/** `later` options win over `earlier` ones, except that signals and objects that move add up. */
export function mergeOptions(earlier: GivenCall, later: GivenCall): GivenCall {
  if (earlier === NO_OPTIONS) return later;
  const merged: { -readonly [Key in keyof GivenCall]: GivenCall[Key] } = { ...earlier, ...later };
  const { signal, transfer } = earlier;
  if (later.idempotent === false && later.maxRetries === undefined) delete merged.maxRetries;
  if (signal !== undefined) merged.signal = anySignal(signal, later.signal);
  if (transfer !== undefined) merged.transfer = [...transfer, ...later.transfer ?? []];
  return merged;
}

/** Checks merged options against each other. Throws InvalidArgumentError. */
export function complete(merged: GivenCall): GivenSettings {
  const { idempotent, maxRetries } = merged;
  if (idempotent === undefined && maxRetries === undefined) return merged;
  if (maxRetries !== undefined && idempotent !== true) {
    throw new InvalidArgumentError(
      "maxRetries needs idempotent: true, in with() or in the declaration of the task.",
    );
  }
  return { ...merged, maxRetries: idempotent === true ? maxRetries ?? DEFAULT_RETRIES : 0 };
}

/** Options of the broadcasts made through `with`. */
export interface BroadcastOptions extends Omit<CallOptions, "worker" | "transfer" | "onEvent"> {
  /**
   * Whether workers that start later (growth, replacement) run the call as well, before any other. If it fails there,
   * the worker does not start. Default false.
   */
  readonly sticky?: boolean;
}

/** Checks the options of a broadcast's `with`. Throws InvalidArgumentError. */
export function checkBroadcastOptions(
  options: unknown,
): { readonly given: GivenOptions; readonly isSticky: boolean | undefined } {
  const { sticky, ...given } = Object(options) as BroadcastOptions;
  for (const key of ["transfer", "worker", "onEvent"]) {
    if (key in given) {
      throw new InvalidArgumentError(`A broadcast has no option "${key}": it calls every worker.`);
    }
  }
  if (sticky !== undefined && typeof sticky !== "boolean") {
    throw invalid("sticky", "a boolean", describeValue(sticky));
  }
  return { given: checkCallOptions(isRecord(options) ? given : options), isSticky: sticky };
}

function checkTransfer(transfer: unknown): readonly unknown[] {
  if (Array.isArray(transfer)) return movedObjects(transfer, "with({ transfer })");
  throw invalid("transfer", "an array of objects to move", describeValue(transfer));
}

/** Converts own properties of `options` to settings and ignores inherited ones. */
export function settingsOf(options: object): GivenOptions {
  const given = ownOf<CallOptions & TaskOptions>(options);
  const { priority, timeout, deadline, idempotent, maxRetries, killAfterMs, signal, worker } =
    given;
  checkHighWaterMark(given.highWaterMark);
  return {
    ...(priority !== undefined && { priority: levelOf(priority) }),
    ...(timeout !== undefined && checkTimeout(timeout)),
    ...(deadline !== undefined && { deadlineMs: checkMs("deadline", deadline) }),
    ...(killAfterMs !== undefined && { killAfterMs: checkMs("killAfterMs", killAfterMs, 0) }),
    ...checkRetries(idempotent, maxRetries),
    ...(worker !== undefined && { affinity: { key: checkWorker(worker) } }),
    ...(signal !== undefined && signal !== null && { signal: checkSignal(signal) }),
    ...(given.onEvent !== undefined && { onEvent: checkListener(given.onEvent) }),
  };
}

function checkHighWaterMark(highWaterMark: unknown): void {
  if (highWaterMark === undefined) return;
  const isCount = typeof highWaterMark === "number" && Number.isInteger(highWaterMark);
  if (isCount && highWaterMark >= 1 && highWaterMark <= MAX_HIGH_WATER_MARK) return;
  const rule = `an integer from 1 to ${MAX_HIGH_WATER_MARK}`;
  throw invalid("highWaterMark", rule, describeValue(highWaterMark));
}

/** A priority as levels above normal. Throws InvalidArgumentError. */
function levelOf(priority: unknown): number {
  const level = typeof priority === "string" && Object.hasOwn(LEVELS, priority)
    ? LEVELS[priority]
    : priority;
  if (typeof level === "number" && Math.abs(level) <= MAX_LEVEL) return level;
  const rule = `"high", "normal", "low" or a number from -${MAX_LEVEL} to ${MAX_LEVEL}`;
  throw invalid("priority", rule, describeValue(priority));
}

function checkTimeout(timeout: unknown): { timeoutMs: number; onTimeout: TimeoutOutcome } {
  if (!isObject(timeout)) {
    return { timeoutMs: checkMs("timeout", timeout), onTimeout: { kind: "error" } };
  }
  const given = ownOf<Record<string, unknown>>(timeout);
  const extra = Object.keys(given).filter((key) => key !== "time");
  const known = ["default", "maybe", "error"];
  if (extra.length > 1 || extra.some((key) => !known.includes(key))) {
    throw new InvalidArgumentError(
      `timeout takes \`time\` and at most one of: ${known.join(", ")}; got ${extra.join(", ")}.`,
    );
  }
  return { timeoutMs: checkMs("timeout.time", given["time"]), onTimeout: outcomeOf(given) };
}

function outcomeOf(given: Readonly<Record<string, unknown>>): TimeoutOutcome {
  if ("default" in given) return { kind: "value", value: given["default"] };
  if ("error" in given) return { kind: "reason", reason: given["error"] };
  return given["maybe"] === true ? { kind: "value", value: undefined } : { kind: "error" };
}

function checkRetries(idempotent: unknown, maxRetries: unknown): GivenOptions {
  if (idempotent !== undefined && typeof idempotent !== "boolean") {
    throw invalid("idempotent", "a boolean", describeValue(idempotent));
  }
  if (maxRetries === undefined) return idempotent === undefined ? {} : { idempotent };
  const isCount = typeof maxRetries === "number" && Number.isInteger(maxRetries);
  if (!isCount || maxRetries < 0 || maxRetries > MAX_RETRIES) {
    throw invalid("maxRetries", `an integer from 0 to ${MAX_RETRIES}`, describeValue(maxRetries));
  }
  if (idempotent === false) {
    throw new InvalidArgumentError("maxRetries cannot be combined with idempotent: false.");
  }
  return { maxRetries, ...(idempotent !== undefined && { idempotent }) };
}

/** The key of `worker`. */
function checkWorker(worker: unknown): string | number {
  if (!isRecord(worker)) throw invalid("worker", "an object { key }", describeValue(worker));
  checkKeys("worker of with()", worker, ["key"]);
  const { key } = ownOf<{ key: unknown }>(worker);
  if (typeof key === "string" || (typeof key === "number" && Number.isFinite(key))) {
    return key;
  }
  throw invalid("worker.key", "a string or a finite number", describeValue(key));
}

function checkListener(onEvent: unknown): (value: unknown) => void {
  if (typeof onEvent === "function") return onEvent as (value: unknown) => void;
  throw invalid("onEvent", "a function", describeValue(onEvent));
}

export function checkSignal(signal: unknown): AbortSignal {
  const isSignal = isObject(signal) && "aborted" in signal && "addEventListener" in signal &&
    "removeEventListener" in signal;
  if (isSignal) return signal as AbortSignal;
  throw invalid("signal", "an AbortSignal", describeValue(signal));
}
