/** Declared shapes of arguments and results, and their validation: the worker's side. */
import * as deferred from "./worker/deferred.ts";
import { STRUCT } from "../../../codec/tags.ts";
import type { WorkerFeature } from "../../../worker/feature.ts";

const NONE = { signature: undefined, words: undefined };

export const structs: WorkerFeature = {
  name: "structs",

  valueReaders: { [STRUCT]: (...given) => deferred.readStruct(...given) },
  signatureOf: (args, returns) => {
    if (args === undefined && returns === undefined) return NONE;
    const signature = deferred.signatureOf(args, returns);
    return { signature, words: deferred.describeSignature(signature) };
  },
};
