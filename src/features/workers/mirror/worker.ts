/** Lanes without shared memory: the worker's side. */
import type { WorkerFeature } from "../../../worker/feature.ts";
import { onMirrorMessage, openMirrored } from "./worker/mirrored.ts";

export const mirror: WorkerFeature = {
  name: "mirror",

  start: openMirrored,
  messages: { mirror: onMirrorMessage },
};
