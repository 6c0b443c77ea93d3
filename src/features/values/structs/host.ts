/** Declared shapes of arguments and results, and their validation: the host's side. */
import * as deferred from "./host/deferred.ts";
import { STRUCT } from "../../../codec/tags.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";

export const structs: HostFeature = {
  name: "structs",

  valueReaders: { [STRUCT]: (...given) => deferred.readStruct(...given) },
  loadSignatures: async () => (await import("./codec/rebuild.ts")).rebuildSignature,
};
