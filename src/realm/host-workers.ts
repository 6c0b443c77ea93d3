/**
 * Workers that run on their host's thread, where no thread can start (option `onUnavailable`). Kept on `globalThis`, since a
 * task module and a CommonJS host may have other copies of heddle than the worker's code.
 */
import { HOST_WORKERS, type HostWorkers } from "./worker-realm.ts";

/** Undefined: this thread runs no workers but itself. */
export function hostWorkers(): HostWorkers | undefined {
  return (globalThis as { [HOST_WORKERS]?: HostWorkers })[HOST_WORKERS];
}

/** From now on this thread may run workers of its pools: the import of the worker's code makes it no worker itself. */
export function allowHostWorkers(): void {
  if (hostWorkers() !== undefined) return;
  Object.defineProperty(globalThis, HOST_WORKERS, {
    value: { realm: () => undefined } satisfies HostWorkers,
  });
}
