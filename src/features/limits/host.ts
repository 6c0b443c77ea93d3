/** Time limits and abort signals of calls: the host's side. */
import type { HostFeature } from "../../api/pool/feature.ts";

export const limits: HostFeature = { name: "limits" };
