/** Declared shapes of arguments and results, and their validation: the worker's side. */
import { readStruct } from "./declared.ts";
import { STRUCT } from "../../../codec/tags.ts";
import { describeSignature, signatureOf } from "./codec/signature.ts";
import type { WorkerFeature } from "../../../worker/feature.ts";

export const structs: WorkerFeature = {
  name: "structs",

  valueReaders: { [STRUCT]: readStruct },
  signatureOf: (args, returns) => {
    const signature = signatureOf(args, returns);
    return { signature, words: describeSignature(signature) };
  },
};
