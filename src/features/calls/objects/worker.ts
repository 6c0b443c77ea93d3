/** Objects that live in workers: the worker's side. */
import { OBJECT, OBJECT_ABORTABLE, OBJECT_STREAM } from "../../../protocol/task-variants.ts";
import type { WorkerFeature } from "../../../worker/feature.ts";
import type { WorkerTask } from "../../../worker/task.ts";
import type { WorkerCore } from "../../../worker/worker-core.ts";
import type { Objects } from "./worker/objects.ts";

/** The objects of each worker, loaded with the first. */
const objectsOf = (core: WorkerCore): { objects?: Objects; readonly loaded: Promise<Objects> } => {
  const place: { objects?: Objects; readonly loaded: Promise<Objects> } = {
    loaded: import("./worker/objects.ts").then(({ Objects }) => place.objects = new Objects(core)),
  };
  return place;
};

/** What differs from a task, of which nothing runs. */
function objectVariant(
  core: WorkerCore,
  hasSignal: boolean,
  isStream = false,
): Partial<WorkerTask> {
  const place = core.part(objectsOf);
  const operate = (args: unknown[], signal: AbortSignal | undefined): unknown => {
    const { objects, loaded } = place;
    const [id, operation, ...given] = args as [number, number, ...unknown[]];
    if (objects !== undefined) return objects.operate(id, operation, given, signal);
    return loaded.then((made) => made.operate(id, operation, given, signal));
  };
  return {
    // A signal comes last.
    f: hasSignal
      ? (...args) => operate(args, args.pop() as AbortSignal)
      : (...args) => operate(args, undefined),
    mayBorrow: false,
    signature: undefined,
    hasSignal,
    isStream,
    highWaterMark: undefined,
  };
}

export const objects: WorkerFeature = {
  name: "objects",
  needs: ["limits"],

  variants: {
    [OBJECT]: (_task, core) => objectVariant(core, false),
    [OBJECT_ABORTABLE]: (_task, core) => objectVariant(core, true),
    [OBJECT_STREAM]: (_task, core) => objectVariant(core, true, true),
  },
};
