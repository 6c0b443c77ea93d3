/** What watches a pool: its events, statistics, debug output, metrics, tracing, contexts, output. */
import type { Resolving } from "../../../api/options/resolved-options.ts";
import type { DebugTopic } from "./host/debug-log.ts";
import * as deferred from "./host/deferred.ts";
import type { PoolListeners } from "./host/pool-events.ts";
import { lastErrorsOf, takeOutput } from "./host/output.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import type { PoolParts } from "../../../api/pool/parts.ts";
import type { PoolAccess } from "../../../api/pool/members.ts";
import { checkBoolean } from "../../../option-checks.ts";

/** Name of the tracing channel in `node:diagnostics_channel`. */
const CHANNEL = "heddle:call";

const prepare = (host: PoolParts): void => deferred.observe(host);

const listenersOf = ({ pool, spec, keep }: PoolAccess): PoolListeners =>
  keep("listeners", () => new deferred.PoolListeners(pool, spec.runtime));

function useDebug(topics: readonly DebugTopic[] | undefined, to: Resolving): void {
  to.debug = topics;
  to.isFollowed = topics !== undefined;
  if (topics !== undefined) to.prepare = { ...to.prepare, observe: prepare };
}

export const observe: HostFeature = {
  name: "observe",
  needs: ["scaling"],

  options: {
    metrics: (value, to) => {
      to.metrics = checkBoolean("metrics", value);
      to.prepare = { ...to.prepare, observe: prepare };
    },
    debug: (value, to) => useDebug(deferred.checkDebug(value), to),
    context: (value, to, { inliner }) => {
      const { capture, run } = deferred.checkContext(value, inliner);
      to.capture = capture;
      to.modules = { ...to.modules, context: run };
      to.prepare = { ...to.prepare, observe: prepare };
    },
    output: (value, to, _given, runtime) => {
      to.output = deferred.checkOutput(value, runtime);
      if (to.output !== "inherit") to.prepare = { ...to.prepare, observe: prepare };
    },
  },
  defaults: { metrics: false },
  whenAbsent: {
    debug: (to, { env }) => {
      const variable = env?.("HEDDLE_DEBUG");
      if (variable !== undefined) useDebug(deferred.debugOf(variable), to);
    },
  },

  members: {
    addEventListener: (access) => listenersOf(access).add,
    removeEventListener: (access) => listenersOf(access).remove,
    usage: ({ core, keep }) =>
      keep("usage", () => async () => (await import("./host/worker-usage.ts")).readUsage(core)),
    stats: ({ core, keep }) => keep("stats", () => () => deferred.readStatistics(core)),
  },

  messages: { output: takeOutput },

  workers: { lastErrors: lastErrorsOf },

  provides: {
    follower: { channel: CHANNEL, create: (...given) => deferred.createFollower(...given) },
  },
};
