/** heddle's own codec, from its sources, writing to memory of its own instead of a ring. */
import { Codec as HeddleCodec } from "../../src/codec/codec.ts";
import { currentRuntime } from "../../src/runtimes/current.ts";
import type { Codec, CodecContender } from "./codec-contender.ts";

export function createHeddleCodec(): Codec {
  const codec = new HeddleCodec({
    access: currentRuntime,
    origin: 0,
    maxPayloadBytes: Infinity,
    mayLend: true,
  });
  const encoder = codec.lend();
  // The shapes that the encoder has used are known to whoever reads them here, as after a first call.
  const decoder = codec.decoder(codec.shapes);
  let end = 0;
  return {
    encode(value) {
      encoder.end();
      end = encoder.value(value, encoder.beginInScratch());
    },
    decode: () => decoder.one(encoder.memory, 0, end),
  };
}

export const heddleCodec: CodecContender = {
  name: "heddle codec",
  refuses: () => undefined,
  create: createHeddleCodec,
};
