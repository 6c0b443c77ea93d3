/** What measures calls in a worker: metrics, debug output, contexts. */
import type { WorkerFeature } from "../../worker/feature.ts";

export const observe: WorkerFeature = { name: "observe" };
