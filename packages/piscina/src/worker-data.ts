/** The option `workerData` in a worker: what the setup of the worker leaves for the modules that it imports afterwards. */
import type { HandlerPlace } from "./handlers.ts";
import { setThreadData } from "./runtime.ts";

/** What each worker gets before its first task. */
export interface WorkerSetup {
  /** The function of the pool, which the worker loads at once. */
  readonly place: HandlerPlace | undefined;
  readonly workerData?: unknown;
}

const KEY = Symbol.for("heddle.piscina.workerData");

type Holder = { [KEY]?: unknown };

/** Modules read it here, and as `workerData` of "node:worker_threads". */
export function setWorkerData(data: unknown): void {
  (globalThis as Holder)[KEY] = data;
  setThreadData(data);
}

/** Undefined on the host. */
export const ownWorkerData = (): unknown => (globalThis as Holder)[KEY];
