/** Values that ordinary payloads do not have: the worker's side. */
import type { WorkerFeature } from "../../../worker/feature.ts";
import { rareValues } from "./rare-values.ts";

export const values: WorkerFeature = rareValues;
