/** Declared shapes of arguments and results, and their validation: the host's side. */
import { readStruct } from "./declared.ts";
import { STRUCT } from "../../../codec/tags.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";

export const structs: HostFeature = {
  name: "structs",

  valueReaders: { [STRUCT]: readStruct },
  loadSignatures: async () => (await import("./codec/rebuild.ts")).rebuildSignature,
};
