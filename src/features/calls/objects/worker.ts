/** Objects that live in workers: the worker's side. */
import { OBJECT, OBJECT_STREAM } from "../../../protocol/task-variants.ts";
import type { WorkerFeature } from "../../../worker/feature.ts";
import type { WorkerTask } from "../../../worker/task.ts";
import type { WorkerCore } from "../../../worker/worker-core.ts";
import { CREATE } from "./operations.ts";
import type { Objects } from "./worker/objects.ts";

/** The objects of each worker, loaded with the first. */
const objectsOf = (core: WorkerCore): { objects?: Objects; readonly loaded: Promise<Objects> } => {
  const place: { objects?: Objects; readonly loaded: Promise<Objects> } = {
    loaded: import("./worker/objects.ts").then(({ Objects }) => place.objects = new Objects(core)),
  };
  return place;
};

/** What differs from a task, of which nothing runs. */
function objectVariant(core: WorkerCore, isStream: boolean): Partial<WorkerTask> {
  const place = core.part(objectsOf);
  return {
    f: (id, operation, ...args) => {
      const { objects, loaded } = place;
      return objects !== undefined
        ? objects.operate(id as number, operation as number, args)
        : loaded.then((made) => made.operate(id as number, operation as number, args));
    },
    nameOf: ([id, operation, , className]) =>
      operation === CREATE
        ? `new ${className as string}`
        : place.objects?.nameOf(id as number, operation as number) ?? "$release",
    mayBorrow: false,
    signature: undefined,
    hasSignal: false,
    isStream,
    highWaterMark: undefined,
  };
}

export const objects: WorkerFeature = {
  name: "objects",

  variants: {
    [OBJECT]: (_task, core) => objectVariant(core, false),
    [OBJECT_STREAM]: (_task, core) => objectVariant(core, true),
  },
};
