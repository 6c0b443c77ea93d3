/** Time limits and abort signals of calls: the host's side. */
import type { HostFeature } from "../../api/pool/feature.ts";
import { StoppedWorkers } from "../../host/workers/stopped-workers.ts";

export const limits: HostFeature = {
  name: "limits",

  workers: { stopping: (workers) => new StoppedWorkers(workers) },
};
