/** `workerInfo()`: a worker as its own tasks see it. */
import { taskRealm, type WorkerInfo } from "../../realm/worker-realm.ts";

/**
 * The worker that runs this: its number, the name of its pool, its copy of the option `worker.data`, and `context`, what
 * the default export of `worker.setup` returned. Undefined outside heddle's workers. The type parameters state the types
 * of `context` and `data`, which are not checked.
 *
 * @example
 * ```ts
 * import { workerInfo } from "heddle/task";
 *
 * interface Connection { query(sql: string): unknown }
 * export const query = (sql: string) => workerInfo<Connection>()!.context.query(sql);
 * ```
 */
export function workerInfo<Context = unknown, Data = unknown>():
  | WorkerInfo & { readonly context: Context; readonly data: Data }
  | undefined {
  return taskRealm()?.info as ReturnType<typeof workerInfo<Context, Data>>;
}

/**
 * Sends a value to the caller of the running task before its result, such as its progress. The caller gets it in `onEvent`
 * of `with`; without one, and outside heddle's workers, nothing happens. After an `await` it still belongs to its call.
 * The value is cloned. Throws DataCloneError if it cannot be, and StreamClosedError if its worker is stopped while it waits.
 *
 * A task that sends faster than its host can take waits for it, with its thread.
 *
 * @example
 * ```ts
 * import { emit } from "heddle/task";
 *
 * export function convert(files: string[]): void {
 *   for (const [done, file] of files.entries()) {
 *     emit({ done, file });
 *   }
 * }
 * ```
 */
export function emit(value: unknown): void {
  taskRealm()?.emit?.(value);
}
