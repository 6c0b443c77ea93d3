/**
 * In the browser's build this takes the place of `runtimes/package-modules.ts`, `runtimes/bun/bundles.ts` and
 * `worker-entry.ts`: modules have URLs there, and no files are searched.
 */
import { URL } from "../../builtins.ts";
import type { Runtime, WorkerEntry } from "../runtime.ts";

export function moduleFinder(
  { toModuleUrl }: Pick<Runtime, "toModuleUrl">,
): Pick<Runtime, "toModuleUrl"> {
  return { toModuleUrl };
}

export const runningModule = (source: string): string => source;

/** The script of workers lies beside the file that contains this. Bundlers find it by `ownWorker` in `threads.ts`. */
export function workerEntry(): WorkerEntry {
  const base = import.meta.url;
  const library = base.slice(0, base.lastIndexOf("/") + 1);
  return { url: new URL("worker.js", library), library, mark: undefined };
}
