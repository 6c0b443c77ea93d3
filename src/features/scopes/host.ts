/** `pool.scope`: calls that end together. */
import type { HostFeature } from "../../api/pool/feature.ts";

export const scopes: HostFeature = {
  name: "scopes",

  whenMade: {
    run: (call) => {
      const run = call.settings.run!;
      call.keep().add(run);
      run.onMade(call);
    },
  },
};
