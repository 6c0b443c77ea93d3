/** Calls that run on the host: the option `inliner`, `threads: 0`, and pools where no thread can start. */
import { checkInliner, checkUnavailable } from "./host/inline-options.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import * as deferred from "./host/deferred.ts";
import { UnavailableThreads } from "./host/unavailable-threads.ts";
import type { HostWorkerOptions } from "./host/host-worker.ts";

export const inline: HostFeature = {
  name: "inline",

  options: {
    inliner: (value, to) => {
      to.inliner = checkInliner(value);
      if (to.inliner !== undefined) to.createInliner = deferred.createInlineExecutor;
    },
    onUnavailable: (value, to, { permission }) =>
      to.onUnavailable = checkUnavailable(value, permission),
  },
  defaults: { onUnavailable: "error" },
  onHost: (...given) => deferred.withoutThreads(...given),

  workers: {
    fallback: (workers) => new UnavailableThreads(workers),
    hostWorkers: async (given) => {
      const { loadHostWorkers } = await import("./host/host-worker.ts");
      return await loadHostWorkers(given as HostWorkerOptions);
    },
  },
};
