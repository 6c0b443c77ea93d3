/** Lanes without shared memory: the worker's side. */
import type { WorkerFeature } from "../../worker/feature.ts";

export const mirror: WorkerFeature = { name: "mirror" };
