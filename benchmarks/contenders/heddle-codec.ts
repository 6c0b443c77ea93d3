/** heddle's own codec, from its sources, writing to memory of its own instead of a ring. */
import { Codec as HeddleCodec } from "../../src/codec/codec.ts";
import { ReceivedKeyLists } from "../../src/codec/key-lists.ts";
import { currentRuntime } from "../../src/runtimes/current.ts";
import type { Codec, CodecContender } from "./codec-contender.ts";

export function createHeddleCodec(): Codec {
  const codec = new HeddleCodec({
    access: currentRuntime,
    origin: 0,
    maxPayloadBytes: Infinity,
    allowsBorrow: true,
  });
  const encoder = codec.acquire();
  const received = new ReceivedKeyLists();
  const decoder = codec.decoder(received);
  let end = 0;
  return {
    encode(value) {
      encoder.end();
      end = encoder.root(value, encoder.begin());
    },
    decode() {
      const { keyLists } = codec;
      const { size } = received;
      // Told as a SHAPES record does it, once for each.
      if (size < keyLists.size) received.add(keyLists.textFrom(size, keyLists.size));
      return decoder.one(encoder.memory, 0, end);
    },
  };
}

export const heddleCodec: CodecContender = {
  name: "heddle codec",
  refuses: () => undefined,
  create: createHeddleCodec,
};
