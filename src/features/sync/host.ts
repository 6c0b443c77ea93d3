/** `pool.sync`: calls that block the host. */
import type { HostFeature } from "../../api/pool/feature.ts";

export const sync: HostFeature = { name: "sync" };
