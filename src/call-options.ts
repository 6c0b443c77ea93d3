/** Options of tasks and of `with`: types, checks, and the settings they come to. */
import { checkKeys, checkMs, invalid, isObject } from "./checks.ts";
import { describeValue } from "./codec/struct/mismatch.ts";
import { InvalidArgumentError } from "./errors.ts";
import type { GivenSettings, TimeoutOutcome } from "./host/call-settings.ts";

/** How urgent a call is: 1, 0 and −1 by name, or any number between −1000 and 1000. */
export type Priority = "high" | "normal" | "low" | number;

/**
 * A time limit in milliseconds, and what the call comes to when it is over: a rejection with TimeoutError,
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
   * Among calls that wait on the host, each level lets a call overtake up to 1,000 older ones; so low
   * ones are never starved. Default "normal".
   */
  readonly priority?: Priority;
  /**
   * Longest time running, in milliseconds, synchronous tasks as well: the host keeps time. Waiting for a
   * worker does not count. Kept to about an eighth, never early; the task goes on, with its signal
   * aborted (`abortSignal`), and what it returns is dropped. Default: none.
   */
  readonly timeout?: Timeout;
  /**
   * Longest time from the call on, in milliseconds, waiting included. A call whose task has not begun by
   * then never runs it. Default: none.
   */
  readonly deadline?: number;
  /**
   * Whether a call may be made again whose worker was lost: up to `maxRetries` times, after a pause. Not
   * where arguments were transferred. Default false.
   */
  readonly idempotent?: boolean;
  /** Default 3, with `idempotent`. */
  readonly maxRetries?: number;
  /** Time from an abort until a worker is stopped whose task goes on, in milliseconds. Default: never. */
  readonly killAfterMs?: number;
}

/** What `with` takes: options of the calls made through it. Each wins over the task's own. */
export interface CallOptions extends TaskOptions {
  /**
   * Aborts the calls. The caller gets `signal.reason` at once; a task that has not begun never runs, one
   * that runs is told (`task({ abortSignal: true })`), and no other call is touched.
   */
  readonly signal?: AbortSignal;
}

export const TASK_OPTIONS: readonly string[] = [
  "priority",
  "timeout",
  "deadline",
  "idempotent",
  "maxRetries",
  "killAfterMs",
];
const CALL_OPTIONS: readonly string[] = [...TASK_OPTIONS, "signal"];

const DEFAULT_RETRIES = 3;
const MAX_RETRIES = 1000;
const LEVELS: Readonly<Record<string, number>> = { high: 1, normal: 0, low: -1 };
/** Furthest a priority may be from normal. */
const MAX_LEVEL = 1000;

/** Checks what `with` was given. Throws InvalidArgumentError. */
export function checkCallOptions(options: unknown): GivenSettings {
  if (!isObject(options)) {
    throw new InvalidArgumentError(
      `with() takes an object of options, got ${describeValue(options)}.`,
    );
  }
  checkKeys("with()", options, CALL_OPTIONS);
  return settingsOf(options);
}

/** The settings that own properties of `options` ask for; others are ignored. */
export function settingsOf(options: object): GivenSettings {
  const { priority, timeout, deadline, idempotent, maxRetries, killAfterMs, signal } = {
    __proto__: null,
    ...options,
  } as { readonly [Key in keyof CallOptions]?: unknown };
  return {
    ...(priority !== undefined && { priority: levelOf(priority) }),
    ...(timeout !== undefined && checkTimeout(timeout)),
    ...(deadline !== undefined && { deadlineMs: checkMs("deadline", deadline) }),
    ...(killAfterMs !== undefined && { killAfterMs: checkMs("killAfterMs", killAfterMs, 0) }),
    ...checkRetries(idempotent, maxRetries),
    ...(signal !== undefined && { signal: checkSignal(signal) }),
  };
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
  const given = { __proto__: null, ...timeout } as Record<string, unknown>;
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

function checkRetries(idempotent: unknown, maxRetries: unknown): GivenSettings {
  if (idempotent !== undefined && typeof idempotent !== "boolean") {
    throw invalid("idempotent", "a boolean", describeValue(idempotent));
  }
  if (maxRetries === undefined) {
    return idempotent === undefined ? {} : { maxRetries: idempotent ? DEFAULT_RETRIES : 0 };
  }
  const isCount = typeof maxRetries === "number" && Number.isInteger(maxRetries);
  if (!isCount || maxRetries < 0 || maxRetries > MAX_RETRIES) {
    throw invalid("maxRetries", `an integer from 0 to ${MAX_RETRIES}`, describeValue(maxRetries));
  }
  if (idempotent !== true) {
    throw new InvalidArgumentError("maxRetries needs idempotent: true beside it.");
  }
  return { maxRetries };
}

function checkSignal(signal: unknown): AbortSignal {
  const isSignal = isObject(signal) && "aborted" in signal && "addEventListener" in signal &&
    "removeEventListener" in signal;
  if (isSignal) return signal as AbortSignal;
  throw invalid("signal", "an AbortSignal", describeValue(signal));
}
