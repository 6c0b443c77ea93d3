/** Lanes without shared memory: the host's side. */
import type { HostFeature } from "../../api/pool/feature.ts";

export const mirror: HostFeature = { name: "mirror" };
