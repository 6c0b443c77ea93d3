/** The base class of all errors of heddle, and their codes. The classes are in `errors.ts`. */
import { Error } from "./builtins.ts";

/** Key of the class name on each prototype. A registered symbol, so that other copies of this library see it. */
export const ERROR_CLASS: unique symbol = Symbol.for("heddle.error");

/** The name of the class if `prototype` belongs to an error class of heddle, in any copy; undefined otherwise. */
function ownClassOf(prototype: object): string | undefined {
  const name: unknown = Object.getOwnPropertyDescriptor(prototype, ERROR_CLASS)?.value;
  return typeof name === "string" ? name : undefined;
}

/** The `code` of every error of heddle. `docs/errors.md` has the cause and the fix of each. */
export type HeddleErrorCode =
  | "HEDDLE_INVALID_ARGUMENT"
  | "HEDDLE_UNKNOWN_TASK"
  | "HEDDLE_TASK_NOT_FOUND"
  | "HEDDLE_WORKER_START"
  | "HEDDLE_POOL_WHILE_LOADING"
  | "HEDDLE_INSTALLATION"
  | "HEDDLE_POOL_CLOSED"
  | "HEDDLE_STREAM_CLOSED"
  | "HEDDLE_SCOPE_CLOSED"
  | "HEDDLE_SCOPE_CANCELLED"
  | "HEDDLE_PROFILE_UNAVAILABLE"
  | "HEDDLE_WORKER_LOST"
  | "HEDDLE_NO_MACHINES"
  | "HEDDLE_DATA_CLONE"
  | "HEDDLE_PAYLOAD_TOO_LARGE"
  | "HEDDLE_QUEUE_FULL"
  | "HEDDLE_TIMEOUT"
  | "HEDDLE_STRUCT_MISMATCH"
  | "HEDDLE_VALIDATION"
  | "HEDDLE_BORROW_EXPIRED"
  | "HEDDLE_UNKNOWN_FUNCTION"
  | "HEDDLE_CALLBACK_ENDED"
  | "HEDDLE_CALL_ENDED"
  | "HEDDLE_DEADLOCK"
  | "HEDDLE_OBJECT_LOST"
  | "HEDDLE_PROTOCOL"
  /** Of `heddle/shared`, from here on. */
  | "HEDDLE_POISONED"
  | "HEDDLE_SHARED_FULL"
  | "HEDDLE_CHANNEL_CLOSED"
  | "HEDDLE_WAIT_TIMEOUT"
  | "HEDDLE_SHARED_ACCESS";

/**
 * Base class of all errors of heddle itself. `instanceof` recognizes errors of every copy of heddle in the process,
 * for this class and its subclasses. `isHeddleError` does the same, and lets a `switch` over `code` know the class.
 */
export class HeddleError extends Error {
  /** Stable identifier of the kind of error, for `switch` statements and logs. */
  declare readonly code: HeddleErrorCode;

  /** Creates an error with this `code`. */
  constructor(code: HeddleErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    (this as { code: HeddleErrorCode }).code = code;
  }

  /** Whether `value` is an instance of this class or of a subclass, from any copy of heddle. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
    const name = ownClassOf(this.prototype);
    if (name === undefined || typeof value !== "object" || value === null) return false;
    let parent = Object.getPrototypeOf(value) as object | null;
    while (parent !== null && ownClassOf(parent) !== name) parent = Object.getPrototypeOf(parent);
    return parent !== null;
  }
}

const KEY = Symbol.for("heddle.errors");
type Classes = Record<string, { readonly prototype: object }>;

/** Error classes of entry points that not every program loads, by name, in whichever copy they are. */
export function errorsOfEntries(): Classes {
  return (globalThis as { [KEY]?: Classes })[KEY] ??= Object.create(null) as Classes;
}
