/** Lanes without shared memory: the host's side. */
import { checkTransport } from "./host/transport.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import type { Given, OptionsRuntime, Resolving } from "../../../api/options/resolved-options.ts";
import * as deferred from "./host/deferred.ts";
import type { WorkerEvents } from "../../../host/workers/feature.ts";
import type { ThreadLane } from "../../../host/workers/thread-lane.ts";
import type { MirrorMessage } from "./mirror-message.ts";

/**
 * Rings without shared memory. Records are copied from ring to message to ring, so values of more than a quarter of this travel
 * alone. 1 MiB of bytes to a process and back takes 2 ms so, 4 ms with 4 MiB; a string to a thread of Deno 1.6 instead of 18.
 */
const RING_BYTES = 256 * 1024;

function useTransport(
  value: unknown,
  to: Resolving,
  { ringBytes }: Given,
  { sharesMemory = true }: OptionsRuntime,
): void {
  to.transport = checkTransport(value, sharesMemory, to.metrics);
  if (to.transport !== "messages") return;
  to.spinMs = 0; // only a turn of the event loop brings anything, so nobody spins
  if (ringBytes === undefined) to.ringBytes = { requests: RING_BYTES, responses: RING_BYTES };
}

export const mirror: HostFeature = {
  name: "mirror",

  options: {
    transport: useTransport,
  },
  defaults: { transport: "shared" },
  whenAbsent: {
    transport: (to, runtime, given) => {
      if (runtime.sharesMemory === false) useTransport("auto", to, given, runtime);
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

  workers: { connect: (...given) => deferred.connectMirrored(...given) },
};
