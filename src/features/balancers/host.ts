/** Named and own balancers. */
import type { HostFeature } from "../../api/pool/feature.ts";

export const balancers: HostFeature = { name: "balancers" };
