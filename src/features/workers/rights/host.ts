/** Limits and rights of workers: the options `resourceLimits` and `permission`. */
import type { Check } from "../../../api/options/resolved-options.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import { checkWorkerLimits } from "./worker-limits.ts";

/** Checks both together, for each that is given. */
const limit: Check = (_value, to, { resourceLimits, permission, worker }, { refuseLimits }) => {
  to.workerLimits = checkWorkerLimits(resourceLimits, permission, worker, refuseLimits);
};

export const rights: HostFeature = {
  name: "rights",

  options: { resourceLimits: limit, permission: limit },
};
