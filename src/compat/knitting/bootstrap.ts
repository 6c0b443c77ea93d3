/** The setup module of pools with the option `worker.bootstrap`: runs the user's function in each worker. */
import { InvalidArgumentError, workerInfo } from "../../mod-core.ts";
import { runtimeName } from "./place.ts";
import type { WorkerBootstrapContext } from "./types.ts";

/** The `data` of the setup. */
export interface BootstrapData {
  readonly href: string;
  readonly name: string;
  readonly data: unknown;
  readonly threads: number;
}

/** Calls the export `name` of the module `href` with `data` and the worker's context. */
export default async function bootstrap(
  { href, name, data, threads }: BootstrapData,
): Promise<void> {
  const module = await import(/* @vite-ignore */ href) as Readonly<Record<string, unknown>>;
  const run = module[name];
  if (typeof run !== "function") {
    throw new InvalidArgumentError(`${href} exports no function "${name}" (worker.bootstrap).`);
  }
  const context: WorkerBootstrapContext = {
    thread: workerInfo()!.id,
    totalNumberOfThread: threads,
    runtime: runtimeName(),
  };
  await run(data, context);
}
