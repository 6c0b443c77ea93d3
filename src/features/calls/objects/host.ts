/** Objects that live in workers: the host's side. */
import type { HostFeature } from "../../../api/pool/feature.ts";
import { createSpawn } from "./host/spawn.ts";

export const objects: HostFeature = {
  name: "objects",
  needs: ["keys", "streams", "limits", "requests"],

  members: { spawn: (access) => access.keep("spawn", () => createSpawn(access)) },
};
