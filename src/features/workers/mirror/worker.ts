/** Lanes without shared memory: the worker's side. */
import type { WorkerFeature } from "../../../worker/feature.ts";
import type { MirrorMessage } from "./mirror-message.ts";
import type { MirrorData } from "./mirrored-start.ts";
import * as deferred from "./worker/deferred.ts";

export const mirror: WorkerFeature = {
  name: "mirror",

  start: (data: MirrorData, core) => deferred.openMirrored(data, core),
  messages: { mirror: (message: MirrorMessage, core) => deferred.onMirrorMessage(message, core) },
};
