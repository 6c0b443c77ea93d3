/**
 * Finds the module that called a function, from the stack. Used once per `task()` and
 * `createPool()`: a bare function does not know where it was exported.
 */

interface CallSite {
  getFileName(): string | null | undefined;
  getEvalOrigin?(): string | undefined;
}

/** V8's stack trace API, which JavaScriptCore has too. */
const StackError = Error as unknown as {
  stackTraceLimit: number;
  prepareStackTrace?: ((error: Error, sites: unknown) => unknown) | undefined;
  captureStackTrace(target: object, above: (...args: never[]) => unknown): void;
};

/** Path or URL of the module that called `callee`, or undefined if the stack does not tell. */
export function callerOf(callee: (...args: never[]) => unknown): string | undefined {
  const prepare = Object.getOwnPropertyDescriptor(Error, "prepareStackTrace");
  const limit = StackError.stackTraceLimit;
  const holder: { stack?: unknown } = {};
  try {
    StackError.stackTraceLimit = 1;
    StackError.prepareStackTrace = (_error: Error, sites: unknown) => sites;
    StackError.captureStackTrace(holder, callee);
    const sites = holder.stack as readonly CallSite[] | string;
    return typeof sites === "string" ? undefined : sites[0]?.getFileName() ?? undefined;
  } finally {
    StackError.stackTraceLimit = limit;
    if (prepare === undefined) {
      delete StackError.prepareStackTrace;
    } else Object.defineProperty(Error, "prepareStackTrace", prepare);
  }
}
