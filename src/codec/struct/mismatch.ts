/**
 * Reports a mismatch from the field where it is found to the caller. The path is built while the exception
 * propagates, so that writing a matching value builds no string.
 */
import { StructError } from "../../errors.ts";
import { isThere, typedArrayLength, typedArrayName } from "../support/intrinsics.ts";

/** Longest excerpt of a value in a message, in UTF-16 units. */
const MAX_EXCERPT_UNITS = 60;

/** Thrown only within a writer; `located` converts it to the public error. */
export class Mismatch {
  /** Steps collected so far, down to the field: `.home.x`, `[3]`. */
  path = "";
  readonly expected: string;
  readonly got: string;

  constructor(expected: string, got: string) {
    this.expected = expected;
    this.got = got;
  }
}

/** The exception for a `value` that is not `expected`. */
export function mismatch(expected: string, value: unknown): Mismatch {
  return new Mismatch(expected, describeValue(value));
}

/** Adds an outer step if `error` is a Mismatch; leaves errors of the value's own getters unchanged. */
export function within(error: unknown, step: string): unknown {
  if (error instanceof Mismatch) error.path = step + error.path;
  return error;
}

/** Converts a Mismatch in the value called `path` to a StructError; returns other errors unchanged. */
export function located(error: unknown, path: string): unknown {
  if (!(error instanceof Mismatch)) return error;
  return new StructError(path + error.path, error.expected, error.got);
}

/** Describes a value in a message. Runs no user code. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case "undefined":
      return "nothing (missing or undefined)";
    case "string":
      return `${JSON.stringify(excerpt(value))} (string)`;
    case "number":
      return `${Object.is(value, -0) ? "-0" : value} (number)`;
    case "bigint":
      return `${excerpt(String(value))} (bigint)`;
    case "boolean":
      return `${value} (boolean)`;
    case "symbol":
      return "a symbol";
    case "function":
      return "a function";
    default:
      return describeObject(value as object | null);
  }
}

function describeObject(value: object | null): string {
  if (value === null) return "null";
  const name = typedArrayName.call(value);
  if (name !== undefined) return name;
  try {
    return Array.isArray(value) ? "an array" : "an object";
  } catch {
    return "a revoked proxy"; // the only object that Array.isArray refuses
  }
}

function excerpt(text: string): string {
  return text.length <= MAX_EXCERPT_UNITS ? text : `${text.slice(0, MAX_EXCERPT_UNITS)}…`;
}

/**
 * Number of elements of `value` if it is a typed array called `name`. Throws Mismatch for any other value,
 * and for an array that is detached or out of bounds.
 */
export function lengthOfTyped(
  value: unknown,
  name: string | undefined,
  expected: string,
): number {
  if (name === undefined || typedArrayName.call(value) !== name) throw mismatch(expected, value);
  const length = typedArrayLength.call(value);
  if (length === 0 && !isThere(value)) {
    throw new Mismatch(expected, `a ${name} whose bytes are gone`);
  }
  return length;
}
