/** What the package asks of the runtime. */
import { availableParallelism } from "node:os";
import { EventEmitterAsyncResource } from "node:events";
import { fileURLToPath, pathToFileURL } from "node:url";
import process from "node:process";

export { availableParallelism, EventEmitterAsyncResource, fileURLToPath, pathToFileURL };

export const now = (): number => performance.now();

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

/** In a worker: makes `data` the `workerData` of "node:worker_threads", for both kinds of modules. Bun takes 2.3 ms to load it. */
export function setThreadData(data: unknown): void {
  const threads = process.getBuiltinModule("node:worker_threads") as { workerData: unknown };
  threads.workerData = data;
  process.getBuiltinModule("node:module").syncBuiltinESMExports();
}

/** In a worker: loads heddle's tools for tasks at once, without a turn in which a result could change before it moves. */
export function loadTransfer(): typeof import("heddle/task").transfer {
  const { createRequire } = process.getBuiltinModule("node:module");
  return (createRequire(import.meta.url)("heddle/task") as typeof import("heddle/task")).transfer;
}

let main: NodeJS.Module | undefined;

/**
 * In a worker: what `require` returns for a file, so that its hooks see it. `own`, a module of heddle's, is the main module
 * there, as Piscina's own is in its workers: `require.main` and `module.parent` of the file are objects.
 */
export function requireFile(url: string, own: string): unknown {
  const { Module } = process.getBuiltinModule("node:module");
  main ??= process.mainModule = createMain(Module, own.startsWith("file:") ? own : url);
  return Module.prototype.require.call(main, fileURLToPath(url)); // Bun's instances do not inherit it
}

function createMain(Module: new (id: string) => NodeJS.Module, url: string): NodeJS.Module {
  const path = fileURLToPath(url);
  return Object.assign(new Module(path), { filename: path, loaded: true });
}

/** In a worker: whether `process.exit()` was called. On Deno that is an error which `require` of an ES module throws (2.9). */
export const isExiting = (): boolean =>
  (process as { readonly _exiting?: boolean })._exiting === true;
