/** What watches a pool: statistics, debug output, metrics, tracing, contexts. */
import type { HostFeature } from "../../api/pool/feature.ts";
import { CHANNEL, createFollower, observe as prepare } from "../../api/pool/observing.ts";

export const observe: HostFeature = {
  name: "observe",

  provides: { observe: prepare, follower: { channel: CHANNEL, create: createFollower } },
};
