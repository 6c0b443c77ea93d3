/** Calls that run on the host: the option `inliner`, `threads: 0`, and pools where no thread can start. */
import { checkInliner, checkUnavailable } from "./host/inline-options.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import { createInlineExecutor } from "./host/parts.ts";
import type { HostWorkerOptions } from "./host/host-worker.ts";
import { withoutThreads } from "./host/on-host.ts";
import { UnavailableThreads } from "./host/unavailable-threads.ts";

export const inline: HostFeature = {
  name: "inline",

  options: {
    inliner: (value, to) => {
      to.inliner = checkInliner(value);
      if (to.inliner !== undefined) to.createInliner = createInlineExecutor;
    },
    onUnavailable: (value, to, { permission }) =>
      to.onUnavailable = checkUnavailable(value, permission),
  },
  defaults: { onUnavailable: "error" },
  onHost: withoutThreads,

  workers: {
    fallback: (workers) => new UnavailableThreads(workers),
    hostWorkers: async (given) => {
      const { loadHostWorkers } = await import("./host/host-worker.ts");
      return await loadHostWorkers(given as HostWorkerOptions);
    },
  },
};
