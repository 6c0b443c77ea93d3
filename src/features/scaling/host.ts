/** How many workers a pool has: by load, within a budget; and workers that are recycled. */
import type { HostFeature } from "../../api/pool/feature.ts";

export const scaling: HostFeature = { name: "scaling" };
