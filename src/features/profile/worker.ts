/** Takes a CPU profile of this thread. */
import type { WorkerFeature } from "../../worker/feature.ts";

export const profile: WorkerFeature = { name: "profile" };
