/** `JSON.stringify` and `JSON.parse`. */
import type { CodecContender } from "./codec-contender.ts";

export const jsonCodec: CodecContender = {
  name: "JSON",
  refuses: ({ fitsJson }) => fitsJson ? undefined : "JSON cannot hold it",
  create() {
    let text = "";
    return {
      encode: (value) => void (text = JSON.stringify(value)),
      decode: () => JSON.parse(text),
    };
  },
};
