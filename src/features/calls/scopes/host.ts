/** `pool.scope`: calls that end together. */
import type { HostFeature } from "../../../api/pool/feature.ts";
import * as deferred from "./host/deferred.ts";

export const scopes: HostFeature = {
  name: "scopes",
  needs: ["map", "limits", "streams"],

  members: { scope: (access) => access.keep("scope", () => deferred.createScope(access)) },

  whenMade: {
    run: (call) => {
      const run = call.settings.run!;
      call.keep().add(run);
      run.onMade(call);
    },
  },
};
