/** Whether this is a worker of heddle. A file of its own, so that bundles of programs that ask no more leave the rest out. */
import { claimThread, workerRealm } from "../../realm/worker-realm.ts";
import { currentRuntime } from "../../runtimes/current.ts";
import { listen } from "../../runtimes/host-port.ts";
import { VERSION } from "../../version.ts";

/**
 * False in heddle's workers, true everywhere else, also in other worker threads (such as a test runner's) and in modules
 * that are not the entry of the program. Use it to guard code that must not run when workers import the module. Use
 * `import.meta.main` to check whether a module is the entry.
 */
export const isMain: boolean = workerRealm() === undefined &&
  currentRuntime.bundleMark() === undefined;

// The entry of this worker is a bundle, and this is the copy of heddle that has to serve it.
if (!isMain && currentRuntime.bundleMark() === VERSION && claimThread()) {
  listen();
  void import("../../mod-worker.ts");
}
