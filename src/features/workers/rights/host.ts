/** Limits and rights of workers: the options `resourceLimits` and `permission`. */
import type { Check } from "../../../api/options/resolved-options.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import * as deferred from "./host/deferred.ts";

/** Checks both together, for each that is given. Those of processes are the affair of that feature. */
const limit: Check = (_value, to, { resourceLimits, permission, worker, workers }, runtime) => {
  const refuse = workers === "processes" ? () => [] : runtime.refuseLimits;
  to.workerLimits = deferred.checkWorkerLimits(resourceLimits, permission, worker, refuse);
};

export const rights: HostFeature = {
  name: "rights",

  options: { resourceLimits: limit, permission: limit },
};
