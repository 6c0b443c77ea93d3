/** Values that ordinary payloads do not have: the host's side. */
import type { HostFeature } from "../../api/pool/feature.ts";

export const values: HostFeature = { name: "values" };
