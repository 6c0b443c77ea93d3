/** Runs the setup module of a worker (option `worker.setup`). */
import { textOf } from "../../codec/kinds/errors.ts";
import { InvalidArgumentError } from "../../errors.ts";
import type { WorkerRealm } from "../../realm/worker-realm.ts";
import { importModule, type ImportRuntime } from "./import-module.ts";

/**
 * Loads the module and awaits its default export, called with `data`. What that returns is the worker's context.
 * Throws what the module throws, or InvalidArgumentError if its default export is not a function.
 */
export async function runSetup(
  url: string,
  realm: WorkerRealm,
  runtime: ImportRuntime,
): Promise<void> {
  const { module: { default: setup } } = await importModule(url, runtime);
  if (setup === undefined) return;
  if (typeof setup !== "function") {
    throw new InvalidArgumentError(`Its default export must be a function, got ${textOf(setup)}.`);
  }
  realm.isLoading = false; // it may create pools, as tasks may
  const context: unknown = await setup(realm.info.data);
  realm.info = Object.freeze({ ...realm.info, context });
  realm.isLoading = true;
}
