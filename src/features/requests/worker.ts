/** What tasks ask of the host. */
import type { WorkerFeature } from "../../worker/feature.ts";

export const requests: WorkerFeature = { name: "requests" };
