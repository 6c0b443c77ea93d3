/** Chunks of calls: the worker's side of `pool.map`. */
import { CHUNK } from "../../../protocol/task-variants.ts";
import { chunkVariant } from "./worker/chunks.ts";
import type { WorkerFeature } from "../../../worker/feature.ts";

export const map: WorkerFeature = {
  name: "map",
  needs: ["limits"],

  variants: { [CHUNK]: (task, { runtime }) => chunkVariant(task, runtime.now) },
};
