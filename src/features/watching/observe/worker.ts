/** What watches calls in a worker: metrics, debug output, contexts, and what they print. */
import type { WorkerFeature } from "../../../worker/feature.ts";
import { startObserving } from "./worker/observing.ts";

export const observe: WorkerFeature = {
  name: "observe",

  start: startObserving,
};
