/** Stacks of callers, for `debug`: a promise that rejects shows only where its error was made. */

/** The present stack without the frames of heddle, if its files are in a folder of their own. */
export function stackHere(ownFolder: string | undefined): string {
  const lines = (new Error().stack ?? "").split("\n");
  return lines.filter((line) =>
    isFrame(line) && (ownFolder === undefined || !line.includes(ownFolder))
  ).join("\n");
}

/** V8's frames begin with "at"; JavaScriptCore's may have a name and "@". */
function isFrame(line: string): boolean {
  return /^\s*at |@/.test(line);
}

const shown = new WeakSet<object>();

/** `reason` with these frames after those of its own stack, if it has one. Its stack may be read-only. */
export function withCaller(reason: unknown, task: string, caller: string): unknown {
  if (typeof reason !== "object" || reason === null || shown.has(reason)) return reason;
  const { stack } = reason as { readonly stack?: unknown };
  if (typeof stack !== "string" || !Reflect.isExtensible(reason)) return reason;
  const value = `${stack}\n    --- called as ${task}() ---\n${caller}`;
  if (Reflect.defineProperty(reason, "stack", { value, configurable: true, writable: true })) {
    shown.add(reason);
  }
  return reason;
}
