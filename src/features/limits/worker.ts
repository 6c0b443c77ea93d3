/** Abort signals of tasks. */
import type { WorkerFeature } from "../../worker/feature.ts";

export const limits: WorkerFeature = { name: "limits" };
