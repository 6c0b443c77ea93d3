/** Declared shapes of arguments and results, and their validation: the worker's side. */
import type { WorkerFeature } from "../../worker/feature.ts";
import { structValues } from "../../codec/struct/structs.ts";

export const structs: WorkerFeature = { ...structValues };
