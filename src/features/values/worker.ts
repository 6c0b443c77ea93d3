/** Values that ordinary payloads do not have: the worker's side. */
import type { WorkerFeature } from "../../worker/feature.ts";

export const values: WorkerFeature = { name: "values" };
