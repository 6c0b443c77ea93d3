/** `pool.sync` of a pool. */
import { createSyncProxy, type SyncProxy } from "./sync-proxy.ts";
import { createBlocking } from "./parts.ts";
import { createRequests } from "../requests/host/host-requests.ts";
import { createCancellation } from "../limits/host/cancellation.ts";
import type { PoolAccess } from "../../../api/pool/members.ts";
import { InvalidArgumentError } from "../../../errors.ts";

const NO_SYNC =
  "pool.sync is not for browsers, nor for workers without shared memory: a thread that waits gets no messages there. Use pool.call.";

export function createSync({ pool, spec, core, entry, isKnown }: PoolAccess): SyncProxy {
  if (!spec.runtime.blocks || spec.options.transport === "messages") {
    throw new InvalidArgumentError(NO_SYNC);
  }
  const { supervisor } = core;
  return createSyncProxy(spec, {
    entry,
    blocking: core.part(createBlocking),
    requests: core.part(createRequests),
    knowledge: () => isKnown() ? "known" : core.isLearning ? "learning" : "unknown",
    isOnHost: () => supervisor.isOnHost,
    cancel: (call, reason) => core.part(createCancellation).abort(call, reason),
    pool,
  });
}
