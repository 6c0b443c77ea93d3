/** Chunks of calls: the worker's side of `pool.map`. */
import { CHUNK } from "../../../protocol/task-variants.ts";
import * as deferred from "./worker/deferred.ts";
import type { WorkerFeature } from "../../../worker/feature.ts";
import type { WorkerTask } from "../../../worker/task.ts";

/** What differs from the task in the variant that takes chunks. A call fails if its code cannot be read. */
function chunkVariant(task: WorkerTask, now: () => number): Partial<WorkerTask> {
  let chunk: WorkerTask["f"] | undefined;
  return {
    f: (...args) => (chunk ??= deferred.chunkOf(task, now))(...args),
    mayBorrow: false,
    signature: undefined,
    isStream: false,
    hasSignal: true,
    instead: (...given) => deferred.withoutUncloneable(...given),
  };
}

export const map: WorkerFeature = {
  name: "map",
  needs: ["limits"],

  variants: { [CHUNK]: (task, { runtime }) => chunkVariant(task, runtime.now) },
};
