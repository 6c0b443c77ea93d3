/** `pool.sync`: calls that block the host. */
import { createSyncProxy, type SyncProxy } from "../../api/calls/sync-proxy.ts";
import type { HostFeature } from "../../api/pool/feature.ts";
import type { PoolAccess } from "../../api/pool/members.ts";
import { InvalidArgumentError } from "../../errors.ts";

const NO_SYNC =
  "pool.sync is not for browsers: a thread that waits gets no messages there. Use pool.call.";

function createSync({ pool, spec, core, entry, isKnown }: PoolAccess): SyncProxy {
  if (!spec.runtime.blocks) throw new InvalidArgumentError(NO_SYNC);
  const { blocking, requests, supervisor } = core;
  return createSyncProxy(spec, {
    entry,
    blocking,
    requests,
    knowledge: () => isKnown() ? "known" : core.isLearning ? "learning" : "unknown",
    isOnHost: () => supervisor.isOnHost,
    cancel: (call, reason) => core.cancellation.abort(call, reason),
    pool,
  });
}

export const sync: HostFeature = {
  name: "sync",
  needs: ["limits", "requests"],

  members: { sync: (access) => access.keep("sync", () => createSync(access)) },
};
