/** Values that ordinary payloads do not have: the host's side. */
import { transferOption } from "./host/transfer-option.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import { pathTo } from "./path.ts";
import { valueReaders } from "./rare-values.ts";
import { writeRare } from "./other-objects.ts";

export const values: HostFeature = {
  name: "values",

  valueReaders,
  writeValue: writeRare,
  pathToValue: pathTo,
  callOptions: { transfer: transferOption },
};
