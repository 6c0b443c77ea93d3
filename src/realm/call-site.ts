/** Finds the module that called a function from the stack, since a function has no reference to its module. */
import { Error } from "../builtins.ts";

interface CallSite {
  getFileName(): string | null | undefined;
  getLineNumber(): number | null;
  getColumnNumber(): number | null;
}

/** Where a function was called. */
export interface CallPlace {
  /** Path or URL of the module. */
  readonly module: string;
  /** The module with line and column. Undefined if only the module is known. */
  readonly place: string | undefined;
}

/** V8's stack trace API, which JavaScriptCore has too. */
const StackError = Error as unknown as {
  stackTraceLimit: number;
  prepareStackTrace?: ((error: Error, sites: unknown) => unknown) | undefined;
  captureStackTrace(target: object, above: (...args: never[]) => unknown): void;
};

/** Frames examined: built-in functions such as `map` may be between `callee` and the module that called it. */
const MAX_FRAMES = 4;

/** Whether a frame is code of a module. On Bun a tail call leaves the frame of a built-in caller, "[unknown]". */
function isInModule(site: CallSite): boolean {
  const file = site.getFileName();
  return typeof file === "string" && file !== "" && !file.startsWith("[");
}

/** Path or URL of the module that called `callee`, or undefined if the stack does not contain it. */
export function callerOf(callee: (...args: never[]) => unknown): string | undefined {
  return callPlaceOf(callee)?.module;
}

/**
 * Where the running function `callee` was called, or undefined if the stack does not contain it. For libraries that wrap
 * `task`, `importTask` or `createPool`: the option `place` of the first two and `moduleUrl` of the last take what their
 * own callers would be found by. `callee` must not end in this call: on Bun it has left the stack then.
 *
 * @example
 * ```ts
 * import { callPlaceOf, task } from "heddle/task";
 *
 * export function textTask(f: (text: string) => string) {
 *   const place = callPlaceOf(textTask);
 *   return task({ f, ...(place && { place }) });
 * }
 * ```
 */
export function callPlaceOf(callee: (...args: never[]) => unknown): CallPlace | undefined {
  const { prepareStackTrace, stackTraceLimit } = StackError;
  const holder: { stack?: unknown } = {};
  try {
    StackError.stackTraceLimit = MAX_FRAMES;
    StackError.prepareStackTrace = (_error: Error, sites: unknown) => sites;
    StackError.captureStackTrace(holder, callee);
    const sites = holder.stack as readonly CallSite[] | string;
    const site = typeof sites === "string" ? undefined : sites.find(isInModule);
    if (site === undefined) return undefined;
    const module = site.getFileName()!;
    return { module, place: `${module}:${site.getLineNumber()}:${site.getColumnNumber()}` };
  } catch {
    // Error is frozen. The text of a stack needs no hook.
    StackError.captureStackTrace(holder, callee);
    const module = locationIn(String(holder.stack));
    return module === undefined ? undefined : { module, place: undefined };
  } finally {
    // Assigns, since on Bun deleting or redefining the property leaves the hook in place. Unlike `=`, `set` does not
    // throw if Error is frozen.
    Reflect.set(StackError, "stackTraceLimit", stackTraceLimit);
    Reflect.set(StackError, "prepareStackTrace", prepareStackTrace);
  }
}

/** A line of V8's stack traces: `at name (location:1:2)` or `at location:1:2`. */
const FRAME = /^ +at (?:async )?(?:.*? \()?(.+?):\d+:\d+\)?$/m;

/** The location of the first frame of a stack trace. */
export function locationIn(stack: string): string | undefined {
  return FRAME.exec(stack)?.[1];
}
