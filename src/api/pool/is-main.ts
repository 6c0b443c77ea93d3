/** Whether this is a worker of heddle. A file of its own, so that bundles of programs that ask no more leave the rest out. */
import { claimThread, workerRealm } from "../../realm/worker-realm.ts";
import { currentRuntime } from "../../runtimes/current.ts";
import { listen } from "../../runtimes/node-api/threads/host-port.ts";
import { VERSION } from "../../version.ts";

/**
 * Returns `isMain`. If the entry of this worker is a bundle, and this is the copy of heddle that has to serve it, that loads the
 * code of workers by `load`.
 */
export function serveBundle(load: () => Promise<unknown>): boolean {
  const mark = currentRuntime.bundleMark();
  if (mark === undefined) return workerRealm() === undefined;
  if (mark === VERSION && claimThread()) {
    listen();
    void load();
  }
  return false;
}
