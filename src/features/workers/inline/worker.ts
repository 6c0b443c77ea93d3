/** Workers on the host's thread. */
import { hostWorkers } from "../../../realm/host-workers.ts";
import type { WorkerFeature } from "../../../worker/feature.ts";

export const inline: WorkerFeature = {
  name: "inline",

  hostWorkers,
};
