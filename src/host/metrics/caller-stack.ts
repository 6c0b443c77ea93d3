/** Stacks of callers, for `debug`: a promise that rejects shows only where its error was made. */
import { Error, WeakSet } from "../../builtins.ts";

/** The present stack without the frames of heddle, if its files are in a folder of their own. */
export function stackHere(ownFolder: string | undefined): string {
  const { stack } = new Error() as { readonly stack?: unknown }; // as the program's prepareStackTrace made it
  if (typeof stack !== "string") return "";
  return stack.split("\n").filter((line) =>
    isFrame(line) && (ownFolder === undefined || !line.includes(ownFolder))
  ).join("\n");
}

/** V8's frames begin with "at"; JavaScriptCore's may have a name and "@". */
function isFrame(line: string): boolean {
  return /^\s*at |@/.test(line);
}

const shown = new WeakSet<object>();

/** `reason` with these frames after those of its own stack, if it has one that can be read and changed. */
export function withCaller(reason: unknown, task: string, caller: string): unknown {
  try {
    addFrames(reason, task, caller);
  } catch {
    // A getter or a trap of the reason: it is rejected with as it is.
  }
  return reason;
}

function addFrames(reason: unknown, task: string, caller: string): void {
  if (typeof reason !== "object" || reason === null || shown.has(reason)) return;
  const { stack } = reason as { readonly stack?: unknown };
  if (typeof stack !== "string" || !Reflect.isExtensible(reason)) return;
  const value = `${stack}\n    --- called as ${task}() ---\n${caller}`;
  if (Reflect.defineProperty(reason, "stack", { value, configurable: true, writable: true })) {
    shown.add(reason);
  }
}
