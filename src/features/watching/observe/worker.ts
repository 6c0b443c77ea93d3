/** What watches calls in a worker: metrics, debug output, contexts, and what they print. */
import type { WorkerFeature } from "../../../worker/feature.ts";
import type { ObserveData } from "./call-metrics.ts";
import * as deferred from "./worker/deferred.ts";

export const observe: WorkerFeature = {
  name: "observe",

  start: (data: ObserveData, core) => deferred.startObserving(data, core),
};
