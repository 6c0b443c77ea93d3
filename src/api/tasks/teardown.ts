/** Hooks of task modules that run when their worker closes. */
import { textOf } from "../../codec/kinds/errors.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { taskRealm } from "../../realm/worker-realm.ts";

/**
 * Calls `hook` when this worker closes: with the pool, when it is idle (`idleTimeoutMs`), or when it is
 * replaced (`recycleAfter`, `maxWorkerBytes`). Hooks run once and one at a time, the last first, and are awaited for
 * `teardownTimeoutMs` in all. An error in a hook is reported like an unhandled rejection. Hooks do not run in workers
 * that crash, exit by themselves or are stopped.
 *
 * Call it in a task or at the top level of its module. On the host thread it does nothing.
 *
 * @example
 * ```ts
 * import { onTeardown } from "heddle/task";
 *
 * const connection = await connect();
 * onTeardown(() => connection.close());
 * ```
 */
export function onTeardown(hook: () => unknown): void {
  if (typeof hook !== "function") {
    throw new InvalidArgumentError(`onTeardown() takes a function, got ${textOf(hook)}.`);
  }
  taskRealm()?.teardowns.push(hook);
}
