/** Calls that run on the host: the option `inliner`, and pools where no thread can start. */
import type { HostFeature } from "../../api/pool/feature.ts";
import type { HostWorkerOptions } from "../../api/pool/host-worker.ts";
import { UnavailableThreads } from "../../host/workers/unavailable-threads.ts";

export const inline: HostFeature = {
  name: "inline",

  workers: {
    fallback: (workers) => new UnavailableThreads(workers),
    hostWorkers: async (given) => {
      const { loadHostWorkers } = await import("../../api/pool/host-worker.ts");
      return await loadHostWorkers(given as HostWorkerOptions);
    },
  },
};
