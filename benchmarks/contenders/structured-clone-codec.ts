/** `structuredClone`, which writes and reads in one go: both happen in `decode`. */
import type { CodecContender } from "./codec-contender.ts";

export const structuredCloneCodec: CodecContender = {
  name: "structuredClone",
  refuses: () => undefined,
  create() {
    let original: unknown;
    return {
      encode: (value) => void (original = value),
      decode: () => structuredClone(original),
    };
  },
};
