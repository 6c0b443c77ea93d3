/** Hooks that task modules leave behind for the end of their worker. */
import { textOf } from "./codec/fault.ts";
import { InvalidArgumentError } from "./errors.ts";
import { workerRealm } from "./realm/worker-realm.ts";

/**
 * Has `hook` called when this worker is closed: with the pool, for having nothing to do
 * (`idleTimeoutMs`), or because a fresh one takes its place (`recycleAfter`). Hooks run once, one after the
 * other, the last first, and are awaited, for `teardownTimeoutMs` in all. What one throws is reported
 * like an unhandled rejection. Not for workers that crash, exit by themselves or have to be stopped.
 *
 * Call it in a task or at the top level of its module. On the host thread it does nothing.
 *
 * @example
 * ```ts
 * import { onTeardown } from "heddle";
 *
 * const connection = await connect();
 * onTeardown(() => connection.close());
 * ```
 */
export function onTeardown(hook: () => unknown): void {
  if (typeof hook !== "function") {
    throw new InvalidArgumentError(`onTeardown() takes a function, got ${textOf(hook)}.`);
  }
  workerRealm()?.teardowns.push(hook);
}
