/** Lanes without shared memory: the host's side. */
import { checkTransport } from "../../api/options/transport.ts";
import type { HostFeature } from "../../api/pool/feature.ts";

export const mirror: HostFeature = {
  name: "mirror",

  options: {
    transport: (value, to, _given, { sharesMemory = true }) => {
      to.transport = checkTransport(value, sharesMemory, to.metrics);
      // Without shared memory only a turn of the event loop brings anything, so nobody spins.
      if (to.transport === "messages") to.spinMs = 0;
    },
  },
};
