/** What watches a pool: its events, statistics, debug output, metrics, tracing, contexts. */
import { PoolListeners } from "../../api/observe/pool-events.ts";
import {
  checkContext,
  checkDebug,
  DEBUG_VARIABLE,
  debugOf,
} from "../../api/options/observe-options.ts";
import type { HostFeature } from "../../api/pool/feature.ts";
import { CHANNEL, createFollower, observe as prepare } from "../../api/pool/observing.ts";
import { readStatistics } from "../../api/pool/pool-statistics.ts";
import type { PoolAccess } from "../../api/pool/members.ts";
import { checkBoolean } from "../../option-checks.ts";

const listenersOf = ({ pool, spec, keep }: PoolAccess): PoolListeners =>
  keep("listeners", () => new PoolListeners(pool, spec.runtime));

export const observe: HostFeature = {
  name: "observe",

  options: {
    metrics: (value, to) => to.metrics = checkBoolean("metrics", value),
    debug: (value, to) => to.debug = checkDebug(value),
    context: (value, to, { inliner }) => to.context = checkContext(value, inliner),
  },
  absentOptions: {
    debug: (to, { env }) => {
      const variable = env?.(DEBUG_VARIABLE);
      if (variable !== undefined) to.debug = debugOf(variable);
    },
  },

  members: {
    addEventListener: (access) => listenersOf(access).add,
    removeEventListener: (access) => listenersOf(access).remove,
    stats: ({ core, keep }) => keep("stats", () => () => readStatistics(core)),
  },

  provides: { observe: prepare, follower: { channel: CHANNEL, create: createFollower } },
};
