/** Takes a CPU profile of this thread. */
import type { WorkerFeature } from "../../../worker/feature.ts";
import { profile as takeProfile } from "./worker/profiling.ts";

export const profile: WorkerFeature = {
  name: "profile",

  messages: { profile: takeProfile },
};
