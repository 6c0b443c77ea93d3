/**
 * What tasks may call, among the values of a call: functions that `callback()` has made, as their number in a list that the call keeps,
 * and references. The first attempt to encode them fails, so that other calls pay nothing for them.
 */
import { WeakSet } from "../../../builtins.ts";
import { STREAM } from "../../../codec/tags.ts";
import type { Encoder } from "../../../codec/encoder.ts";
import { brandOf, setBrand } from "../../../codec/support/brands.ts";
import { NO_FUNCTIONS } from "../../../codec/support/refusal.ts";
import { referenceOf } from "./references.ts";

export type AnyCallback = (...args: unknown[]) => unknown;

/** What a call keeps of its arguments. */
export interface SentCallbacks {
  /** By number. */
  readonly functions: AnyCallback[];
  /** What stands for references, so that it is not collected before the call is over. */
  readonly references: object[];
}

/** Kind of STREAM: the task gets a function. */
export const CALLBACK_KIND = 2;

/** Of the call that is being made. */
let collected: SentCallbacks | undefined;
/** Errors of values that were written without it. */
const refusals = new WeakSet<object>();

/** Marks a function as one that calls may carry. The task calls `f`: one function less between them leaves more of the stack. */
export function markCallback(marked: AnyCallback, f: AnyCallback): void {
  setBrand(marked, f);
}

/** Whether encoding failed at such a value, so that it may succeed with `withCallbacks`. */
export function isCallbackRefusal(error: unknown): boolean {
  return refusals.has(error as object);
}

/** Runs `make`, which encodes values. What tasks may call of them is added to `to`. */
export function withCallbacks<Result>(to: SentCallbacks, make: () => Result): Result {
  const outer = collected;
  collected = to;
  try {
    return make();
  } finally {
    collected = outer;
  }
}

/** Writes what a task may call; -1: the value is nothing like that. Throws DataCloneError if its call keeps nothing. */
export function writeCallback(
  encoder: Encoder,
  value: unknown,
  _prototype: object | null,
  from: number,
): number {
  const isObject = typeof value === "function" || (typeof value === "object" && value !== null);
  const brand = isObject ? brandOf(value) : undefined;
  if (typeof brand !== "function" && brand !== "reference") return -1;
  if (collected === undefined) {
    const error = encoder.refuse(value, NO_FUNCTIONS);
    refusals.add(error);
    throw error;
  }
  const { functions, references } = collected;
  if (typeof brand === "function") {
    const known = functions.indexOf(brand);
    const index = known < 0 ? functions.push(brand) - 1 : known;
    return encoder.header(STREAM | (CALLBACK_KIND << 8), index, from);
  }
  const reference = referenceOf(value as object);
  if (reference === undefined) return -1;
  references.push(value as object);
  if (typeof value === "object") encoder.seen.dropLast(); // it may be there twice, and is one object in the worker
  return encoder.header(STREAM | (reference.kind << 8), reference.number, from);
}
