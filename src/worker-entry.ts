/**
 * Where workers start: heddle's own worker module, or, where a bundler has copied heddle into a bundle that lies somewhere
 * else, that bundle. A thread that starts with the bundle knows it by a mark, the version of the copy that has to serve it.
 */
import { URL } from "./builtins.ts";
import { WorkerStartError } from "./errors.ts";
import { folderOf, ownFolder } from "./own-folder.ts";
import { callerOf } from "./realm/call-site.ts";
import type { Runtime, WorkerEntry } from "./runtimes/runtime.ts";
import { VERSION } from "./version.ts";

const entries: Record<string, WorkerEntry> = {};

/** The module that workers start with: `name` in heddle's own folder. Throws WorkerStartError if there is none. */
export function workerEntry(
  runtime: Pick<Runtime, "exists" | "toModuleUrl">,
  name: string,
): WorkerEntry {
  if (entries[name] !== undefined) return entries[name];
  const own = ownFolder(runtime, name);
  return entries[name] = own === undefined
    ? bundleEntry(runtime)
    : { url: own.worker, library: own.library, mark: undefined };
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
