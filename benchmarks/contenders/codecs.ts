/** The codecs that `codec` compares. */
import { deserialize, serialize } from "node:v8";
import { Packr } from "msgpackr";
import { Codec as HeddleCodec } from "../../src/codec/codec.ts";
import { useValues } from "../../src/codec/feature.ts";
import { ReceivedKeyLists } from "../../src/codec/key-lists.ts";
import { rareValues } from "../../src/features/values/rare/rare-values.ts";
import { currentRuntime } from "../../src/runtimes/current.ts";
import type { Codec, CodecContender } from "./types.ts";

useValues(rareValues);

/** heddle's own, from its sources, writing to memory of its own instead of a ring. */
function createHeddleCodec(): Codec {
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

function byWriting<Written>(
  write: (value: unknown) => Written,
  read: (written: Written) => unknown,
): Codec {
  let written: Written;
  return { encode: (value) => void (written = write(value)), decode: () => read(written) };
}

const all = (): undefined => undefined;

export const CODECS: readonly CodecContender[] = [
  { name: "heddle codec", refuses: all, create: createHeddleCodec },
  {
    name: "JSON",
    refuses: ({ fitsJson }) => fitsJson ? undefined : "JSON cannot hold it",
    create: () => byWriting(JSON.stringify, JSON.parse),
  },
  // Bun's are JavaScriptCore's under the same name.
  { name: "node:v8", refuses: all, create: () => byWriting(serialize, deserialize) },
  {
    name: "msgpackr",
    refuses: all,
    // Records whose structures both sides keep are its fastest. Cycles, sets, errors and regular expressions need its
    // structured-clone mode, which is slower: only those kinds get it.
    create({ family, fitsJson }) {
      const structuredClone = family === "object" && !fitsJson;
      const packr = new Packr({ structures: [], structuredClone });
      return byWriting((value) => packr.pack(value), (bytes) => packr.unpack(bytes) as unknown);
    },
  },
  // It writes and reads in one go: both happen in `decode`.
  {
    name: "structuredClone",
    refuses: all,
    create: () => byWriting((value) => value, (value) => structuredClone(value)),
  },
];
