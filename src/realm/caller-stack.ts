/**
 * Stacks of heddle's errors that begin where a user called heddle: runtimes show the line of the first frame under an uncaught
 * error.
 */
import { Error } from "../builtins.ts";
import { HeddleError } from "../errors.ts";

type Callee = (...args: never[]) => unknown;

/** Gives `target` the stack above the running function `above`. */
export const captureStackTrace: (target: object, above: Callee) => void =
  (Error as unknown as { captureStackTrace(target: object, above: Callee): void })
    .captureStackTrace;

/**
 * `error`, its stack beginning above the running function `callee`. Unchanged if it is not heddle's, or if `callee` is not on
 * the stack: on Bun it leaves that with a tail call.
 */
export function withStackAbove<Reason>(error: Reason, callee: Callee): Reason {
  if (!(error instanceof HeddleError)) return error;
  const { stack } = error;
  captureStackTrace(error, callee);
  if (framesOf(error) === "") Reflect.set(error, "stack", stack);
  return error;
}

/** A place in a program: the frames above a call. */
export interface Place {
  readonly stack?: unknown;
}

/** The place where the running function `callee` was called. Without a stack if the program's `prepareStackTrace` throws. */
export function placeAbove(callee: Callee): Place {
  const place: Place = {};
  try {
    captureStackTrace(place, callee);
  } catch {
    // Bun calls it here, the others when the stack is read.
  }
  return place;
}

/** `error` with the frames of `place`, unless that has none. */
export function withPlace<Reason extends Error>(error: Reason, place: Place): Reason {
  try {
    const frames = framesOf(place);
    if (frames !== "") Reflect.set(error, "stack", `${error.name}: ${error.message}\n${frames}`);
  } catch {
    // As above.
  }
  return error;
}

/** `f`, but the stacks of errors that it throws begin with its caller. */
export function atCaller<F extends (...args: never[]) => unknown>(f: F): F {
  return takingAll((args) => f(...args as never[])) as unknown as F;
}

/** The same of a function that takes its arguments as a list: they are on the stack once. */
export function takingAll<Result>(f: (args: unknown[]) => Result): (...args: unknown[]) => Result {
  const called = (...args: unknown[]): Result => {
    try {
      return f(args);
    } catch (error) {
      throw withStackAbove(error, called);
    }
  };
  return called;
}

/** The frames of an error as text. Empty if it has none, or the program makes something else of stacks. */
export function framesOf({ stack }: { readonly stack?: unknown }): string {
  return typeof stack === "string" ? stack.split("\n").filter(isFrame).join("\n") : "";
}

/** V8's frames begin with "at"; JavaScriptCore's may have a name and "@". */
export function isFrame(line: string): boolean {
  return /^\s*at |@/.test(line);
}
