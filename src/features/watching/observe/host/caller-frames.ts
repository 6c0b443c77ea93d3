/** With `debug`: the stack of the call in the error that it rejects with. */
import { WeakSet } from "../../../../builtins.ts";

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
