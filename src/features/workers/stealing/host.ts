/** Queued calls move from a busy worker to an idle one. */
import type { HostFeature } from "../../../api/pool/feature.ts";
import { WorkStealing } from "./work-stealing.ts";

export const stealing: HostFeature = {
  name: "stealing",

  provides: { stealing: (options) => new WorkStealing(options) },
};
