/** What `heddle/piscina` asks of the runtime. Not in `Runtime`: other programs should not load this. */
import { availableParallelism } from "node:os";
import { EventEmitterAsyncResource } from "node:events";
import * as threads from "node:worker_threads";
import { fileURLToPath, pathToFileURL } from "node:url";
import { process } from "./process.ts";

export { availableParallelism, EventEmitterAsyncResource, fileURLToPath, pathToFileURL };

const { setTimeout, clearTimeout } = globalThis;

/** A timer that does not keep the process running. */
export function startTimer(callback: () => void, ms: number): { clear(): void } {
  const timer = setTimeout(callback, ms);
  timer.unref();
  return { clear: () => clearTimeout(timer) };
}

interface Port {
  postMessage(message: unknown, transfer?: readonly unknown[]): void;
}

/** heddle's own messages are numbers, or marked. */
const isOwn = (message: unknown): boolean =>
  typeof message === "number" ||
  (typeof message === "object" && message !== null && "heddle" in message);

/**
 * In a worker: makes `workerData` that of the pool, and gives what tasks post to their parent to `onMessage`. Importers by name see
 * `workerData` if they load after this.
 */
export function onWorkerSetup(workerData: unknown, onMessage: (message: unknown) => void): void {
  const parent = threads.parentPort as Port | null;
  const post = parent?.postMessage.bind(parent);
  if (parent !== null && post !== undefined) {
    parent.postMessage = (message, transfer = []) => {
      if (isOwn(message)) post(message, transfer);
      else onMessage(message);
    };
  }
  try {
    const module: object = process.getBuiltinModule("node:worker_threads");
    Object.assign(module, { workerData });
    process.getBuiltinModule("node:module").syncBuiltinESMExports();
  } catch {
    // The module is frozen: `workerData` of `heddle/piscina` is there nevertheless.
  }
}
