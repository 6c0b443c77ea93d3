/** Workers on the host's thread. */
import type { WorkerFeature } from "../../worker/feature.ts";

export const inline: WorkerFeature = { name: "inline" };
