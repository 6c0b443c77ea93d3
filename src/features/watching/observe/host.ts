/** What watches a pool: its events, statistics, debug output, metrics, tracing, contexts. */
import { PoolListeners } from "./host/pool-events.ts";
import { checkContext, checkDebug, debugOf } from "./host/observe-options.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import { CHANNEL, createFollower, observe as prepare } from "./host/parts.ts";
import { readStatistics } from "./host/pool-statistics.ts";
import type { PoolAccess } from "../../../api/pool/members.ts";
import { checkBoolean } from "../../../option-checks.ts";

const listenersOf = ({ pool, spec, keep }: PoolAccess): PoolListeners =>
  keep("listeners", () => new PoolListeners(pool, spec.runtime));

export const observe: HostFeature = {
  name: "observe",
  needs: ["scaling"],

  options: {
    metrics: (value, to) => to.metrics = checkBoolean("metrics", value),
    debug: (value, to) => to.debug = checkDebug(value),
    context: (value, to, { inliner }) => to.context = checkContext(value, inliner),
  },
  variables: { debug: { name: "HEDDLE_DEBUG", use: (text, to) => to.debug = debugOf(text) } },

  members: {
    addEventListener: (access) => listenersOf(access).add,
    removeEventListener: (access) => listenersOf(access).remove,
    stats: ({ core, keep }) => keep("stats", () => () => readStatistics(core)),
  },

  provides: { observe: prepare, follower: { channel: CHANNEL, create: createFollower } },
};
