/** Declared shapes of arguments and results, and their validation: the host's side. */
import type { HostFeature } from "../../api/pool/feature.ts";
import { structValues } from "../../codec/struct/structs.ts";

export const structs: HostFeature = {
  ...structValues,

  loadSignatures: async () => (await import("../../codec/struct/rebuild.ts")).rebuildSignature,
};
