/** Calls that belong to a worker: by their key (`affinity`), and one for each worker (`pool.broadcast`). */
import { createBroadcastProxy } from "../../api/calls/broadcast-proxy.ts";
import type { HostFeature } from "../../api/pool/feature.ts";

export const keys: HostFeature = {
  name: "keys",

  members: {
    broadcast: ({ pool, spec, core, isKnown, keep }) =>
      keep("broadcast", () => createBroadcastProxy(spec, core, core.entry, isKnown, pool)),
  },
};
