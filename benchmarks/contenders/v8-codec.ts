/** `serialize` and `deserialize` of `node:v8`. Bun's are JavaScriptCore's under the same name. */
import { deserialize, serialize } from "node:v8";
import type { CodecContender } from "./codec-contender.ts";

export const v8Codec: CodecContender = {
  name: "node:v8",
  refuses: () => undefined,
  create() {
    let bytes: Uint8Array;
    return {
      encode: (value) => void (bytes = serialize(value)),
      decode: () => deserialize(bytes),
    };
  },
};
