/** CPU profiles of workers. */
import type { HostFeature } from "../../api/pool/feature.ts";

export const profile: HostFeature = { name: "profile" };
