/** Values that ordinary payloads do not have: the host's side. */
import { transferOption } from "./host/transfer-option.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import { rareValues } from "./rare-values.ts";

export const values: HostFeature = {
  ...rareValues,

  callOptions: { transfer: transferOption },
};
