/** Calls that run on the host: the option `inliner`, and pools where no thread can start. */
import { checkInliner, checkUnavailable } from "../../api/options/inline-options.ts";
import type { HostFeature } from "../../api/pool/feature.ts";
import { createInlineExecutor } from "../../api/pool/inlining.ts";
import type { HostWorkerOptions } from "../../api/pool/host-worker.ts";
import { UnavailableThreads } from "../../host/workers/unavailable-threads.ts";

export const inline: HostFeature = {
  name: "inline",

  options: {
    inliner: (value, to) => to.inliner = checkInliner(value),
    onUnavailable: (value, to, { permission }) =>
      to.onUnavailable = checkUnavailable(value, permission),
  },

  workers: {
    fallback: (workers) => new UnavailableThreads(workers),
    hostWorkers: async (given) => {
      const { loadHostWorkers } = await import("../../api/pool/host-worker.ts");
      return await loadHostWorkers(given as HostWorkerOptions);
    },
  },

  provides: { inliner: createInlineExecutor },
};
