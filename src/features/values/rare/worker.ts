/** Values that ordinary payloads do not have: the worker's side. */
import type { WorkerFeature } from "../../../worker/feature.ts";
import { readersLater } from "./rare-tags.ts";
import * as deferred from "./worker/deferred.ts";

export const values: WorkerFeature = {
  name: "values",

  valueReaders: readersLater(() => deferred.valueReaders),
  writeValue: (...given) => deferred.writeRare(...given),
  pathToValue: (...given) => deferred.pathTo(...given),
};
