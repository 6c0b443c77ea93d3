/** Values that ordinary payloads do not have: the worker's side. */
import type { WorkerFeature } from "../../../worker/feature.ts";
import { readersLater } from "./rare-tags.ts";
import * as deferred from "./worker/deferred.ts";

export const values: WorkerFeature = {
  name: "values",

  valueReaders: readersLater(() => deferred.valueReaders),
  writeValue: (encoder, value, ...place) =>
    typeof value === "function" ? -1 : deferred.writeRare(encoder, value, ...place),
  pathToValue: (...given) => deferred.pathTo(...given),
};
