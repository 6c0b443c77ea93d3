/** `workerInfo()`: a worker as its own tasks see it. */
import { type WorkerInfo, workerRealm } from "../realm/worker-realm.ts";

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
  return workerRealm()?.info as ReturnType<typeof workerInfo<Context, Data>>;
}
