/** What `heddle/piscina` asks of the runtime. Not in `Runtime`: other programs should not load this. */
import { availableParallelism } from "node:os";
import { EventEmitterAsyncResource } from "node:events";
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

/** Whether a worker may have flags and limits of its own. Bun ignores them, and Deno leaves workers hanging at limits. */
export const hasThreadLimits: boolean = !("deno" in process.versions || "bun" in process.versions);

/** Calls back in a later turn of the event loop. */
export const afterTurn = (callback: () => void): void => void setTimeout(callback, 0);

/** The file that `require` finds for a path that names none: one without its extension, or a folder. undefined: none. */
export function completedPath(path: string): string | undefined {
  try {
    const { statSync } = process.getBuiltinModule("node:fs");
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return undefined;
    const { createRequire } = process.getBuiltinModule("node:module");
    return createRequire(path).resolve(path);
  } catch {
    return undefined;
  }
}

/**
 * In a worker: makes `workerData` of `node:worker_threads` that of the pool. On Node for importers by name as well, if they load
 * after this; Deno and Bun do not change what they have exported.
 */
export function shareWorkerData(workerData: unknown): void {
  try {
    const module: object = process.getBuiltinModule("node:worker_threads");
    Object.assign(module, { workerData });
    process.getBuiltinModule("node:module").syncBuiltinESMExports();
  } catch {
    // The module is frozen: `workerData` of `heddle/piscina` is there nevertheless.
  }
}
