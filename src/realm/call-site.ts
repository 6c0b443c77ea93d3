/** Finds the module that called a function from the stack, since a function has no reference to its module. */
import { Error } from "../builtins.ts";

interface CallSite {
  getFileName(): string | null | undefined;
  getScriptNameOrSourceURL(): string | null | undefined;
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

/** CommonJS code of Node that has no file: its names are relative to the current folder, as those of `require`. */
const WITHOUT_FILE: readonly string[] = ["[eval]", "[stdin]"];

/**
 * Whether a frame is code of a module of the program, and not of Node. On Bun a tail call leaves the frame of a built-in caller,
 * "[unknown]".
 */
function isInModule(site: CallSite): boolean {
  const file = site.getFileName();
  if (typeof file !== "string" || file === "") return false;
  return WITHOUT_FILE.includes(file) || (!file.startsWith("[") && !file.startsWith("node:"));
}

const URL_SCHEME = /^[a-z][a-z0-9+.-]+:/i;

/**
 * The module that runs. With a source map, Deno's `getFileName` is the path of the source, which need not exist; the name
 * of the script is then a URL. On Node that can be a `sourceURL` comment, and file names are URLs or those of CommonJS.
 */
function moduleOf(site: CallSite): string {
  const file = site.getFileName()!;
  const script = site.getScriptNameOrSourceURL();
  const isMapped = typeof script === "string" && URL_SCHEME.test(script) && !URL_SCHEME.test(file);
  return isMapped ? script : file;
}

/** Path or URL of the module that called `callee`, or undefined if the stack does not contain it. */
export function callerOf(callee: (...args: never[]) => unknown): string | undefined {
  return callPlaceOf(callee)?.module;
}

/**
 * Where the running function `callee` was called, or undefined if the stack does not contain it. For libraries that wrap
 * `task`, `importTask` or `createPool`: pass the result as the option `place` of the first two, and its module as
 * `moduleUrl` of the last. `callee` must not end in this call: on Bun it has left the stack then.
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
  return placeOf(markCall(callee));
}

/**
 * An error with the frames above the running function `callee`, for `placeOf`. It costs little: an engine formats them when they
 * are read. It references what is on the stack.
 */
export function markCall(callee: (...args: never[]) => unknown): Error {
  const { stackTraceLimit } = StackError;
  // Unlike `=`, `set` does not throw if Error is frozen.
  Reflect.set(StackError, "stackTraceLimit", MAX_FRAMES);
  try {
    const mark = new Error();
    StackError.captureStackTrace(mark, callee);
    return mark;
  } finally {
    Reflect.set(StackError, "stackTraceLimit", stackTraceLimit);
  }
}

/** Where the function was called that `markCall` got. */
export function placeOf(mark: Error): CallPlace | undefined {
  const restoreHook = hookStacks((_error, sites) => sites);
  let stack: unknown;
  try {
    ({ stack } = mark);
  } finally {
    restoreHook();
  }
  if (!Array.isArray(stack)) {
    // Error is frozen, or ignores hooks.
    const place = placeIn(String(stack));
    return place === undefined ? undefined : { module: place.replace(/:\d+:\d+$/, ""), place };
  }
  const site = (stack as CallSite[]).find(isInModule);
  if (site === undefined) return undefined;
  const module = moduleOf(site);
  return { module, place: `${module}:${site.getLineNumber()}:${site.getColumnNumber()}` };
}

/**
 * Sets `prepareStackTrace`. Returns a function that restores what was there. Assigns where that works, since on Bun deleting
 * or redefining the property leaves the hook in place; an accessor of the program may ignore what is assigned.
 */
function hookStacks(hook: (error: Error, sites: unknown) => unknown): () => void {
  const before = Reflect.getOwnPropertyDescriptor(StackError, "prepareStackTrace");
  if (before === undefined || "value" in before) {
    Reflect.set(StackError, "prepareStackTrace", hook);
    return () => void Reflect.set(StackError, "prepareStackTrace", before?.value);
  }
  const value = { value: hook, configurable: true, writable: true };
  Reflect.defineProperty(StackError, "prepareStackTrace", value);
  return () => void Reflect.defineProperty(StackError, "prepareStackTrace", before);
}

/** A line of V8's stack traces: `at name (location:1:2)` or `at location:1:2`. */
const FRAME = /^ +at (?:async )?(?:.*? \()?(.+?:\d+:\d+)\)?$/m;

/** The place of the first frame of a stack trace: location, line and column. */
export function placeIn(stack: string): string | undefined {
  return FRAME.exec(stack)?.[1];
}
