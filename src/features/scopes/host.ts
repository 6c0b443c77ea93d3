/** `pool.scope`: calls that end together. */
import type { HostFeature } from "../../api/pool/feature.ts";

export const scopes: HostFeature = { name: "scopes" };
