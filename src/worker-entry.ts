/**
 * Where workers start: heddle's own worker module, or, where a bundler has copied heddle into a bundle that lies somewhere
 * else, that bundle. A thread that starts with the bundle knows it by a mark, the version of the copy that has to serve it.
 */
import { URL } from "./builtins.ts";
import { WorkerStartError } from "./errors.ts";
import { callerOf } from "./realm/call-site.ts";
import type { Runtime, WorkerEntry } from "./runtimes/runtime.ts";
import { VERSION } from "./version.ts";

let entry: WorkerEntry | undefined;

/** The module that workers start with. Throws WorkerStartError if there is none. */
export function workerEntry(runtime: Pick<Runtime, "exists" | "toModuleUrl">): WorkerEntry {
  return entry ??= ownEntry(runtime) ?? bundleEntry(runtime);
}

/**
 * This file, or the chunk that contains it, and the worker's module lie in the same places in the sources and in the
 * build. The name of the built one is unlikely beside a bundle. Bundles for CommonJS have no URL.
 */
function ownEntry({ exists }: Pick<Runtime, "exists">): WorkerEntry | undefined {
  const base = import.meta.url as string | undefined;
  if (base === undefined || !URL.canParse(base)) return undefined;
  const library = folderOf(base);
  const url = new URL(
    library + (base.endsWith(".ts") ? "worker/entry.ts" : "worker/heddle-worker.js"),
  );
  return exists(url) ? { url, library, mark: undefined } : undefined;
}

/** Not by `new URL("./", …)`, for which bundlers would add the folder to their output. */
function folderOf(url: string): string {
  return url.slice(0, url.lastIndexOf("/") + 1);
}

/** This file, or the one that contains this function by the stack: bundlers write their own file names into bundles. */
function bundleEntry(
  { exists, toModuleUrl }: Pick<Runtime, "exists" | "toModuleUrl">,
): WorkerEntry {
  // Not a tail call, which would take `probe` off the stack.
  const probe = (): readonly (string | undefined)[] => [callerOf(probe)];
  const base = import.meta.url as string | undefined;
  const isOwn = base !== undefined && URL.canParse(base) && exists(new URL(base));
  const file = isOwn ? base : probe()[0];
  if (file === undefined) {
    throw new WorkerStartError("Workers cannot start: the stack does not show heddle's own file.");
  }
  const url = new URL(toModuleUrl(file));
  return { url, library: folderOf(url.href), mark: VERSION };
}
