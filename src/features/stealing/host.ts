/** Queued calls move from a busy worker to an idle one. */
import type { HostFeature } from "../../api/pool/feature.ts";

export const stealing: HostFeature = { name: "stealing" };
