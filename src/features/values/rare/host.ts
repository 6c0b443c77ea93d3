/** Values that ordinary payloads do not have: the host's side. */
import { transferOption } from "./host/transfer-option.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import * as deferred from "./host/deferred.ts";
import { readersLater } from "./rare-tags.ts";

export const values: HostFeature = {
  name: "values",

  valueReaders: readersLater(() => deferred.valueReaders),
  // Functions are for other features: callbacks among arguments.
  writeValue: (encoder, value, ...place) =>
    typeof value === "function" ? -1 : deferred.writeRare(encoder, value, ...place),
  pathToValue: (...given) => deferred.pathTo(...given),
  callOptions: { transfer: transferOption },
};
