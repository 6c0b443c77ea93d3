/**
 * Functions among the values of a call. Those that `callback()` has made are sent as their number in a list, if the call keeps
 * one; the first attempt to encode them fails, so that other calls pay nothing for it.
 */
import { WeakSet } from "../../../builtins.ts";
import { STREAM } from "../../../codec/tags.ts";
import type { Encoder } from "../../../codec/encoder.ts";
import { brandOf, setBrand } from "../../../codec/support/brands.ts";
import { NO_FUNCTIONS } from "../../../codec/support/refusal.ts";

export type AnyCallback = (...args: unknown[]) => unknown;

/** Kind of STREAM: the task gets a function. */
export const CALLBACK_KIND = 2;

/** The list of the call that is being made. */
let collected: AnyCallback[] | undefined;
/** Errors of callbacks that were written without a list. */
const refusals = new WeakSet<object>();

/** Marks a function as one that calls may carry. The task calls `f`: one function less between them leaves more of the stack. */
export function markCallback(marked: AnyCallback, f: AnyCallback): void {
  setBrand(marked, f);
}

/** Whether encoding failed at a callback, so that it may succeed with a list. */
export function isCallbackRefusal(error: unknown): boolean {
  return refusals.has(error as object);
}

/** Runs `make`, which encodes values. Their callbacks are added to `list`. */
export function withCallbacks<Result>(list: AnyCallback[], make: () => Result): Result {
  const outer = collected;
  collected = list;
  try {
    return make();
  } finally {
    collected = outer;
  }
}

/** Writes a callback; -1: the value is none. Throws DataCloneError if its call keeps no list. */
export function writeCallback(
  encoder: Encoder,
  value: unknown,
  _prototype: object | null,
  from: number,
): number {
  const brand = typeof value === "function" ? brandOf(value) : undefined;
  if (typeof brand !== "function") return -1;
  if (collected === undefined) {
    const error = encoder.refuse(value, NO_FUNCTIONS);
    refusals.add(error);
    throw error;
  }
  const known = collected.indexOf(brand);
  const index = known < 0 ? collected.push(brand) - 1 : known;
  return encoder.header(STREAM | (CALLBACK_KIND << 8), index, from);
}
