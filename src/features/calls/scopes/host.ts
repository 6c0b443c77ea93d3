/** `pool.scope`: calls that end together. */
import type { SyncProxy } from "../sync/sync-proxy.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import { createCancellation } from "../limits/host/cancellation.ts";
import { createLateRuns } from "../limits/host/late-runs.ts";
import type { PoolAccess } from "../../../api/pool/members.ts";
import { createOpenScope } from "./scope.ts";
import { mappingOf } from "../map/host.ts";

function createScope(access: PoolAccess): ReturnType<typeof createOpenScope> {
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

export const scopes: HostFeature = {
  name: "scopes",
  needs: ["map", "limits", "streams"],

  members: { scope: (access) => access.keep("scope", () => createScope(access)) },

  whenMade: {
    run: (call) => {
      const run = call.settings.run!;
      call.keep().add(run);
      run.onMade(call);
    },
  },
};
