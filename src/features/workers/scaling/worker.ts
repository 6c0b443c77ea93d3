/** Measures the memory of a worker. */
import type { WorkerFeature } from "../../../worker/feature.ts";
import * as deferred from "./worker/deferred.ts";

export const scaling: WorkerFeature = {
  name: "scaling",

  start: (maxBytes: number, core) =>
    void core.onLoaded.push(() => deferred.watchMemory(maxBytes, core)),
};
