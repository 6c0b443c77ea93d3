/** Stacks of callers: a promise that rejects shows only where its error was made. */
import { Error } from "../../builtins.ts";
import { isFrame } from "../../realm/caller-stack.ts";

const StackError = Error as unknown as { stackTraceLimit: number };

/** Maximum number of heddle's own frames above a call. */
const MAX_OWN_FRAMES = 30;

/**
 * The present stack without the frames of heddle, if its files are in a folder of their own: as many frames as the stacks of
 * errors have.
 */
export function stackHere(ownFolder: string | undefined): string {
  const { stackTraceLimit } = StackError;
  Reflect.set(StackError, "stackTraceLimit", stackTraceLimit + MAX_OWN_FRAMES);
  const { stack } = new Error() as { readonly stack?: unknown }; // as the program's prepareStackTrace made it
  Reflect.set(StackError, "stackTraceLimit", stackTraceLimit);
  if (typeof stack !== "string") return "";
  const frames = stack.split("\n").filter((line) =>
    isFrame(line) && (ownFolder === undefined || !line.includes(ownFolder))
  );
  const first = frames.findIndex((line) => !OF_PROMISE.test(line));
  return frames.slice(first, first + stackTraceLimit).join("\n");
}

/** Begins the stack of `error`, which was made just now, with the first frame outside heddle. */
export function beginHere(error: Error, ownFolder: string | undefined): void {
  const frames = stackHere(ownFolder);
  if (frames !== "") Reflect.set(error, "stack", `${error.name}: ${error.message}\n${frames}`);
}

/** The frame of a Promise whose executor is heddle's. */
const OF_PROMISE = /^\s*at (?:new )?Promise \(/;
