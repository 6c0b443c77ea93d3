/** Measures the memory of a worker. */
import type { WorkerFeature } from "../../../worker/feature.ts";
import { watchMemory } from "./worker/memory-watch.ts";

export const scaling: WorkerFeature = {
  name: "scaling",

  start: (maxBytes: number, core) => void core.onLoaded.push(() => watchMemory(maxBytes, core)),
};
