/** Lanes without shared memory: the host's side. */
import type { HostFeature } from "../../api/pool/feature.ts";
import { connectMirrored } from "../../host/workers/mirrored-connection.ts";
import type { WorkerEvents } from "../../host/workers/supervisor-events.ts";
import type { ThreadLane } from "../../host/workers/thread-lane.ts";
import type { MirrorMessage } from "../../lane/mirror/mirror-message.ts";

export const mirror: HostFeature = {
  name: "mirror",

  messages: {
    mirror: (lane, message: MirrorMessage, host) => {
      (lane as ThreadLane).mirror!.receive(message);
      (host as unknown as WorkerEvents).onWake(lane);
    },
  },

  workers: { connect: connectMirrored },
};
