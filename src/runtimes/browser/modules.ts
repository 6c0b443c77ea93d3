/**
 * In the browser's build this takes the place of `runtimes/packages/module-finder.ts`, `runtimes/bun/bundles.ts`,
 * `runtimes/node-api/threads/host-port.ts` and `worker-entry.ts`: modules have URLs there, no files are searched, and no worker starts with a bundle.
 */
import { URL } from "../../builtins.ts";
import type { Runtime, WorkerEntry } from "../runtime.ts";

export function moduleFinder(
  { toModuleUrl }: Pick<Runtime, "toModuleUrl">,
): Pick<Runtime, "toModuleUrl"> {
  return { toModuleUrl };
}

export const listen = (): void => {};

export const runningModule = (source: string): string => source;

/** In place of the script of workers, in a bundle that has no URL (esbuild's format "iife"), or one below which nothing lies. */
export const NOWHERE: URL = new URL("heddle:/worker.js");

/** The script of workers lies beside the file that contains this. `name`: as where there are files (`worker-entry.ts`). */
export function workerEntry(_runtime: unknown, name: string): WorkerEntry {
  let url = NOWHERE;
  try {
    url = new URL(`${name.replace("heddle-", "")}.js`, import.meta.url);
  } catch {
    // Workers that the program starts need none.
  }
  return { url, library: new URL(".", url).href, mark: undefined };
}
