/** Compiled code of workers on disk: the worker's side. */
import type { WorkerFeature } from "../../../worker/feature.ts";

export const caching: WorkerFeature = {
  name: "caching",

  // Node writes it when a thread ends, which a process that is killed, or serves for weeks, does too late for other workers. Before
  // the worker is ready, so that what it has loaded is on disk by then: 0.4 ms without modules of its own, 6 for 9 MB of them, once.
  start: (_data, core) => void core.onLoaded.push(() => core.runtime.flushCompileCache?.()),
};
