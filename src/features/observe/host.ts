/** What watches a pool: its events, statistics, debug output, metrics, tracing, contexts. */
import { PoolListeners } from "../../api/observe/pool-events.ts";
import type { HostFeature } from "../../api/pool/feature.ts";
import type { PoolAccess } from "../../api/pool/members.ts";

const listenersOf = ({ pool, spec, keep }: PoolAccess): PoolListeners =>
  keep("listeners", () => new PoolListeners(pool, spec.runtime));

export const observe: HostFeature = {
  name: "observe",

  members: {
    addEventListener: (access) => listenersOf(access).add,
    removeEventListener: (access) => listenersOf(access).remove,
    stats: ({ core, keep }) => keep("stats", () => () => core.stats()),
  },
};
