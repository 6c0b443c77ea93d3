/** Finds the module that called a function from the stack, since a function has no reference to its module. */

interface CallSite {
  getFileName(): string | null | undefined;
}

/** V8's stack trace API, which JavaScriptCore has too. */
const StackError = Error as unknown as {
  stackTraceLimit: number;
  prepareStackTrace?: ((error: Error, sites: unknown) => unknown) | undefined;
  captureStackTrace(target: object, above: (...args: never[]) => unknown): void;
};

/** Path or URL of the module that called `callee`, or undefined if the stack does not contain it. */
export function callerOf(callee: (...args: never[]) => unknown): string | undefined {
  const { prepareStackTrace, stackTraceLimit } = StackError;
  const holder: { stack?: unknown } = {};
  try {
    StackError.stackTraceLimit = 1;
    StackError.prepareStackTrace = (_error: Error, sites: unknown) => sites;
    StackError.captureStackTrace(holder, callee);
    const sites = holder.stack as readonly CallSite[] | string;
    return typeof sites === "string" ? undefined : sites[0]?.getFileName() ?? undefined;
  } catch {
    // Error is frozen. The text of a stack needs no hook.
    StackError.captureStackTrace(holder, callee);
    return locationIn(String(holder.stack));
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
