/** Chunks of calls: the worker's side of `pool.map`. */
import { CHUNK } from "../../../protocol/task-variants.ts";
import * as deferred from "./worker/deferred.ts";
import type { WorkerFeature } from "../../../worker/feature.ts";

export const map: WorkerFeature = {
  name: "map",
  needs: ["limits"],

  variants: { [CHUNK]: (task, { runtime }) => deferred.chunkVariant(task, runtime.now) },
};
