/**
 * msgpackr with records whose structures both sides keep, which is its fastest. Cycles, sets, errors
 * and regular expressions need its structured-clone mode, which is slower: only those kinds get it.
 */
import { Packr } from "msgpackr";
import type { CodecContender } from "./codec-contender.ts";

export const msgpackrCodec: CodecContender = {
  name: "msgpackr",
  refuses: () => undefined,
  create({ family, fitsJson }) {
    const packr = new Packr({ structures: [], structuredClone: family === "object" && !fitsJson });
    let bytes: Uint8Array;
    return {
      encode: (value) => void (bytes = packr.pack(value)),
      decode: () => packr.unpack(bytes),
    };
  },
};
