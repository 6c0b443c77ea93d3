/** `pool.sync`: calls that block the host. */
import * as deferred from "./host/deferred.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";

export const sync: HostFeature = {
  name: "sync",
  needs: ["limits", "requests"],

  members: { sync: (access) => access.keep("sync", () => deferred.createSync(access)) },
};
