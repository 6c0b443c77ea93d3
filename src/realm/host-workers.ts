/**
 * Workers that run on their host's thread, where no thread can start (option `onUnavailable`). Kept on `globalThis`, since a
 * task module and a CommonJS host may have other copies of heddle than the worker's code.
 */
import { type WorkerRealm, workerRealm } from "./worker-realm.ts";

interface HostWorkers {
  /** The worker whose task is running; undefined: none. */
  realm: () => WorkerRealm | undefined;
}

const KEY = Symbol.for("heddle.hostWorkers");

/** Undefined: this thread runs no workers but itself. */
export function hostWorkers(): HostWorkers | undefined {
  return (globalThis as { [KEY]?: HostWorkers })[KEY];
}

/** The worker whose task is running: this thread, or one that runs on it. */
export function taskRealm(): WorkerRealm | undefined {
  return hostWorkers()?.realm() ?? workerRealm();
}

/** From now on this thread may run workers of its pools: the import of the worker's code makes it no worker itself. */
export function allowHostWorkers(): void {
  if (hostWorkers() !== undefined) return;
  Object.defineProperty(globalThis, KEY, {
    value: { realm: () => undefined } satisfies HostWorkers,
  });
}
