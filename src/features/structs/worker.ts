/** Declared shapes of arguments and results, and their validation: the worker's side. */
import { describeSignature, signatureOf } from "../../codec/struct/signature.ts";
import type { WorkerFeature } from "../../worker/feature.ts";
import { structValues } from "../../codec/struct/structs.ts";

export const structs: WorkerFeature = {
  ...structValues,

  signatureOf: (args, returns) => {
    const signature = signatureOf(args, returns);
    return { signature, words: describeSignature(signature) };
  },
};
