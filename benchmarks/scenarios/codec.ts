/**
 * `codec`: one thread, no worker. How long to write one value down and read it back, for the kinds of
 * payload that are not mere bytes.
 *
 * A sample is all variants of a kind one after the other, divided by their number: the clock is too
 * coarse for one. Every variant is compared with what was written before it is timed.
 */
import { do_not_optimize as keep } from "mitata";
import type { Codec, CodecContender } from "../contenders/codec-contender.ts";
import { chooseContender, finish, readArguments, type RoundSamples } from "../harness/child.ts";
import type { RoundGap } from "../harness/schema.ts";
import { type Budget, takeSamples } from "../harness/timing.ts";
import { KINDS } from "../payloads/kinds.ts";
import { type PayloadKind, VARIANTS } from "../payloads/payload.ts";
import { assertSame } from "../payloads/same.ts";

const CODEC_KINDS = KINDS.filter(({ family, route }) => family !== "bytes" && route === "copy");
const NS_PER_US = 1000;

/** Microseconds per value. */
async function measureCodec(
  codec: Codec,
  { create, variants = VARIANTS }: PayloadKind,
  budget: Budget,
): Promise<number[]> {
  const values = Array.from({ length: variants }, (_, variant) => create(variant));
  for (const value of values) {
    codec.encode(value);
    assertSame(value, codec.decode());
  }
  const samples = await takeSamples(() => {
    for (const value of values) {
      codec.encode(value);
      keep(codec.decode());
    }
  }, budget);
  return samples.map((ns) => ns / (variants * NS_PER_US));
}

/** Runs one round of the contender named on the command line and prints its figures. */
export async function runCodec(contenders: readonly CodecContender[]): Promise<never> {
  const { contender: name, isQuick } = readArguments();
  const contender = chooseContender(contenders, name);
  const budget = isQuick ? { seconds: 0.005, minSamples: 2 } : { seconds: 0.08, minSamples: 5 };
  const found: (RoundSamples | RoundGap)[] = [];
  for (const kind of CODEC_KINDS) {
    const place = { case: kind.name, size: 1 };
    const reason = contender.refuses(kind);
    if (reason !== undefined) {
      found.push({ ...place, reason, isSkipped: true });
      continue;
    }
    try {
      const samples = await measureCodec(contender.create(kind), kind, budget);
      found.push({ ...place, unit: "µs", samples });
    } catch (error) {
      found.push({ ...place, reason: (error as Error).message, isSkipped: false });
    }
  }
  return finish(found);
}
