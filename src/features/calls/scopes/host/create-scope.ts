/** `pool.scope` of a pool. */
import type { SyncProxy } from "../../sync/sync-proxy.ts";
import { createCancellation } from "../../limits/host/cancellation.ts";
import { createLateRuns } from "../../limits/host/late-runs.ts";
import type { PoolAccess } from "../../../../api/pool/members.ts";
import { createOpenScope } from "../scope.ts";
import { mappingOf } from "../../map/host.ts";

export function createScope(access: PoolAccess): ReturnType<typeof createOpenScope> {
  const { pool, call, core, spec: { runtime } } = access;
  return createOpenScope({
    calls: call,
    sync: () => (pool as unknown as { readonly sync: SyncProxy }).sync,
    mapping: mappingOf(access),
    cancellation: core.part(createCancellation),
    lateRuns: core.part(createLateRuns),
    runtime,
  });
}
