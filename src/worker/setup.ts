/** Runs the setup module of a worker (option `worker.setup`). */
import { textOf } from "../codec/kinds/errors.ts";
import { InvalidArgumentError } from "../errors.ts";
import type { WorkerRealm } from "../realm/worker-realm.ts";

/**
 * Loads the module and awaits its default export, called with `data`. What that returns is the worker's context.
 * Throws what the module throws, or InvalidArgumentError if its default export is not a function.
 */
export async function runSetup(url: string, realm: WorkerRealm): Promise<void> {
  const { default: setup } = await import(/* webpackIgnore: true */ /* @vite-ignore */ url) as {
    readonly default?: unknown;
  };
  if (setup === undefined) return;
  if (typeof setup !== "function") {
    throw new InvalidArgumentError(`Its default export must be a function, got ${textOf(setup)}.`);
  }
  realm.isLoading = false; // it may create pools, as tasks may
  const context: unknown = await setup(realm.info.data);
  realm.info = Object.freeze({ ...realm.info, context });
  realm.isLoading = true;
}
