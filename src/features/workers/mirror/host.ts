/** Lanes without shared memory: the host's side. */
import { checkTransport } from "./host/transport.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import type { OptionsRuntime, Resolving } from "../../../api/options/resolved-options.ts";
import { connectMirrored } from "./host/mirrored-connection.ts";
import type { WorkerEvents } from "../../../host/workers/feature.ts";
import type { ThreadLane } from "../../../host/workers/thread-lane.ts";
import type { MirrorMessage } from "./mirror-message.ts";

function useTransport(
  given: unknown,
  to: Resolving,
  { sharesMemory = true }: OptionsRuntime,
): void {
  to.transport = checkTransport(given, sharesMemory, to.metrics);
  // Without shared memory only a turn of the event loop brings anything, so nobody spins.
  if (to.transport === "messages") to.spinMs = 0;
}

export const mirror: HostFeature = {
  name: "mirror",

  options: {
    transport: (value, to, _given, runtime) => useTransport(value, to, runtime),
  },
  defaults: { transport: "shared" },
  whenAbsent: {
    transport: (to, runtime) => {
      if (runtime.sharesMemory === false) useTransport("auto", to, runtime);
    },
  },

  messages: {
    mirror: (lane, message: MirrorMessage, host) => {
      try {
        (lane as ThreadLane).mirror!.receive(message);
      } catch (error) {
        void (lane as ThreadLane).end(error as Error); // it has broken the protocol
        return;
      }
      (host as unknown as WorkerEvents).onWake(lane);
    },
  },

  workers: { connect: connectMirrored },
};
