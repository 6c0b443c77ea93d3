/**
 * Reports a mismatch from the field where it is found to the caller. The path is built while the exception
 * propagates, so that writing a matching value builds no string.
 */
import { StructError } from "../../../../errors.ts";
import { describeValue } from "../../../../codec/support/describe.ts";
import { isThere, typedArrayLength, typedArrayName } from "../../../../codec/support/intrinsics.ts";

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
