/** Errors of single items of `pool.map`: which item it was, and with which the run ends as a whole. */
import { Set } from "../../../../builtins.ts";
import { isError } from "../../../../codec/kinds/errors.ts";
import type { HeddleErrorCode } from "../../../../heddle-error.ts";
import { describeValue } from "../../../../codec/support/describe.ts";

/** Codes of errors that every further item would meet as well. */
const OF_ALL: ReadonlySet<unknown> = new Set<HeddleErrorCode>([
  "HEDDLE_POOL_CLOSED",
  "HEDDLE_SCOPE_CLOSED",
  "HEDDLE_SCOPE_CANCELLED",
  "HEDDLE_CALL_ENDED",
  "HEDDLE_UNKNOWN_TASK",
  "HEDDLE_TASK_NOT_FOUND",
  "HEDDLE_WORKER_START",
  "HEDDLE_INVALID_ARGUMENT",
]);

/** The pool has one error of this code for all calls. */
const SHARED = "HEDDLE_QUEUE_FULL";

/** Items that an error is of: more than one if a worker was lost with them, so that nobody knows which it was. */
export interface FailedItems {
  readonly error: unknown;
  /** Place of the first one among all items, or in its chunk. */
  readonly from: number;
  readonly count: number;
  /** Whether the task threw it for that item. Otherwise it may be the call's. */
  readonly isThrown?: boolean;
}

function codeOf(error: unknown): unknown {
  return isError(error) ? (error as { readonly code?: unknown }).code : undefined;
}

/** Whether the error ends the run: it is none of these items. */
export function isOfAll({ error, isThrown = false }: FailedItems): boolean {
  return !isThrown && OF_ALL.has(codeOf(error));
}

/**
 * Tells which item of a run of `name` an error is of: by `index` and `item`, and in a line at the end of its stack, which runtimes
 * print. The error is not wrapped, so its class and its message stay.
 */
export function tellItem(failed: FailedItems, item: unknown, name: string): void {
  const { error, from, count } = failed;
  if (!isError(error) || codeOf(error) === SHARED || isOfAll(failed) || "index" in error) return;
  const which = count === 1
    ? `item ${from} of ${name}: ${brief(item)}`
    : `items ${from} to ${
      from + count - 1
    } of ${name}: one of them; "chunk: 1" or "retries" tells which`;
  define(error, "index", from);
  if (count === 1) define(error, "item", item);
  if (typeof error.stack === "string") define(error, "stack", `${error.stack}\n    [${which}]`);
}

/** Properties of an object that are shown. */
const MAX_SHOWN = 3;

/** A short text of an item. */
function brief(item: unknown): string {
  const text = describeValue(item);
  if (text !== "an object") return text;
  try {
    const parts = Object.keys(item as object).slice(0, MAX_SHOWN).map((key) =>
      `${key}: ${describeValue(Object.getOwnPropertyDescriptor(item, key)?.value)}`
    );
    return parts.length === 0 ? text : `{ ${parts.join(", ")} }`;
  } catch {
    return text; // a proxy
  }
}

/** Not enumerable: the error stays equal to those that the task throws. Does nothing to one that is frozen. */
function define(error: Error, key: string, value: unknown): void {
  Reflect.defineProperty(error, key, { value, configurable: true, writable: true });
}
