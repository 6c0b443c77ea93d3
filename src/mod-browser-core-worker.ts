/**
 * The script of a web worker of `heddle/core`, which loads the features of its pool.
 *
 * @example
 * ```ts
 * // worker.ts
 * import { serve } from "heddle/core/worker";
 * import * as tasks from "./tasks.ts";
 *
 * serve(tasks);
 * ```
 *
 * @module
 */
import "./features/workers/mirror/install.ts";
import "./mod-core-worker.ts";
import { expectModule, serveModule } from "./realm/served-modules.ts";

expectModule();

/** Serves the functions and declared tasks among the exports of a module: call it once, before anything is awaited. */
export function serve(tasks: object): void {
  serveModule(tasks as Readonly<Record<string, unknown>>);
}
