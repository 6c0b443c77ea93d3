/** Declared shapes of arguments and results, and their validation: the host's side. */
import type { HostFeature } from "../../../api/pool/feature.ts";

export const structs: HostFeature = {
  name: "structs",

  loadSignatures: async () => (await import("./codec/rebuild.ts")).rebuildSignature,
};
