/** Results and arguments that are streams, and events of tasks: the worker's side. */
import type { WorkerFeature } from "../../worker/feature.ts";

export const streams: WorkerFeature = { name: "streams" };
