/** Declared shapes of arguments and results, and their validation: the worker's side. */
import type { WorkerFeature } from "../../worker/feature.ts";

export const structs: WorkerFeature = { name: "structs" };
