/** Calls that belong to a worker: by their key (`affinity`), and one for each worker (`pool.broadcast`). */
import type { HostFeature } from "../../api/pool/feature.ts";
import { PinnedCalls } from "../../host/dispatch/queue/pinned-calls.ts";

export const keys: HostFeature = {
  name: "keys",

  provides: { pinned: (options) => new PinnedCalls(options) },
};
