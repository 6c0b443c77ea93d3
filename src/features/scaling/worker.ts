/** Measures the memory of a worker. */
import type { WorkerFeature } from "../../worker/feature.ts";

export const scaling: WorkerFeature = { name: "scaling" };
