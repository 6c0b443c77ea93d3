/**
 * Checks of options, for pools and for `heddle/shared`. Each throws an InvalidArgumentError that names the option, the rule and the value.
 */
import { JSON } from "./builtins.ts";
import { InvalidArgumentError } from "./errors.ts";
import { MAX_TIMER_MS } from "./runtimes/runtime.ts";

/** Longest text of a value in a message, in UTF-16 units: paths and URLs fit. */
const MAX_SHOWN_UNITS = 200;

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Whether `value` is an object of named fields, such as a module namespace; false for arrays, Maps, Promises etc. */
export function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null &&
    /^\[object (?:Object|Module)\]$/.test(Object.prototype.toString.call(value));
}

function tagOf(value: object): string {
  return Object.prototype.toString.call(value);
}

/** Own properties of `given`. Properties of an extended Object.prototype are not options. */
export function ownOf<Options>(given: object): { readonly [Key in keyof Options]?: unknown } {
  return { __proto__: null, ...given } as { readonly [Key in keyof Options]?: unknown };
}

/** Formats a value for an error message, shortened. */
export function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(shorten(value));
  return shorten(isObject(value) && !isRecord(value) ? tagOf(value) : textOf(value));
}

function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return "a value that cannot be shown";
  }
}

function shorten(text: string): string {
  return text.length <= MAX_SHOWN_UNITS ? text : `${text.slice(0, MAX_SHOWN_UNITS)}…`;
}

/** An error for an option `name` that breaks `rule`. */
export function invalid(name: string, rule: string, shown: string): InvalidArgumentError {
  return new InvalidArgumentError(`${name} must be ${rule}, got ${shown}.`);
}

/** Longest part in which similar names differ. */
const MAX_DIFFERENCE = 2;

/** Letters of the longer name between what both begin and end with. */
function differenceOf(one: string, other: string): number {
  const least = Math.min(one.length, other.length);
  let start = 0;
  while (start < least && one[start] === other[start]) start++;
  let end = 0;
  while (end < least - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  return Math.max(one.length, other.length) - start - end;
}

/** The end of a sentence about an unknown name: a known name that is similar. */
export function didYouMean(name: string, known: readonly string[]): string {
  const most = Math.min(MAX_DIFFERENCE, (name.length - 1) / 2);
  const similar = known.find((other) =>
    differenceOf(name.toLowerCase(), other.toLowerCase()) <= most
  );
  return similar === undefined ? "." : `; did you mean "${similar}"?`;
}

/** Throws if `given` has keys other than `known`. `elsewhere` says of such a key where it belongs, if anywhere. */
export function checkKeys(
  owner: string,
  given: object,
  known: readonly string[],
  elsewhere?: (key: string) => string | undefined,
): void {
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const place = elsewhere?.(unknown);
  if (place !== undefined) {
    throw new InvalidArgumentError(`${owner} has no option ${show(unknown)}, ${place}.`);
  }
  throw new InvalidArgumentError(
    `${owner} has no option ${show(unknown)}${didYouMean(unknown, known)} It takes: ${
      known.join(", ")
    }.`,
  );
}

/** A signal, of this runtime or a polyfill. */
export function checkSignal(signal: unknown): AbortSignal {
  const isSignal = isObject(signal) && "aborted" in signal && "addEventListener" in signal &&
    "removeEventListener" in signal;
  if (isSignal) return signal as AbortSignal;
  throw invalid("signal", "an AbortSignal", show(signal));
}

export function checkBoolean(name: string, value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw invalid(name, "a boolean", show(value));
}

export function checkInteger(name: string, value: unknown, min: number, max: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) {
    return value;
  }
  throw invalid(name, `an integer from ${min} to ${max}`, show(value));
}

/** An integer up to the largest one that is exact, or Infinity: no limit. */
export function checkLimit(
  name: string,
  value: unknown,
  min = 1,
  max: number = Number.MAX_SAFE_INTEGER,
): number {
  if (value === Infinity) return Infinity;
  const isLimit = typeof value === "number" && Number.isInteger(value) && value >= min &&
    value <= max;
  if (isLimit) return value;
  throw invalid(name, `an integer from ${min} to ${max}, or Infinity`, show(value));
}

/** Checks milliseconds: above 0, or from 0 if `min` is 0. Infinity means no limit. */
export function checkMs(name: string, value: unknown, min: number = Number.MIN_VALUE): number {
  if (value === Infinity) return Infinity;
  if (typeof value === "number" && value >= min && value <= MAX_TIMER_MS) return value;
  const range = `${min === 0 ? "from" : "above"} 0, at most ${MAX_TIMER_MS}, or Infinity`;
  throw invalid(name, `a number of milliseconds ${range}`, show(value));
}
