/**
 * `codec`: one thread, no worker. How long to write one value down and read it back, for the kinds of
 * payload that are not mere bytes. Codecs take turns in one process.
 *
 * A sample is all variants of a kind one after the other, divided by their number: the clock is too
 * coarse for one. Every variant is compared with what was written before it is timed.
 */
import { do_not_optimize as keep } from "mitata";
import { CODECS } from "../contenders/codecs.ts";
import { type Codec, type CodecContender, lacking } from "../contenders/types.ts";
import type { Platform } from "../launch.ts";
import { finish, readArguments, type RoundSamples } from "../harness/child.ts";
import type { RoundGap } from "../harness/schema.ts";
import { KINDS } from "../payloads/kinds.ts";
import { type PayloadKind, VARIANTS } from "../payloads/payload.ts";
import { assertSame } from "../payloads/same.ts";
import { takeBlock, takeInTurn } from "./in-turn.ts";

const CODEC_KINDS = KINDS.filter(({ family, route }) => family !== "bytes" && route === "copy");
/** They write what the engine's structured clone writes. */
const BY_CLONE = ["node:v8", "structuredClone"];
const BLOCK_MS = 2;
const FULL = { turns: 24, warmUps: 12 } as const;
const QUICK = { turns: 5, warmUps: 2 } as const;

interface Ready {
  readonly name: string;
  readonly run: () => void;
}

/** A codec that has shown that it returns what it was given. */
function prepare(codec: Codec, values: readonly unknown[], name: string): Ready {
  for (const value of values) {
    codec.encode(value);
    assertSame(value, codec.decode());
  }
  const run = (): void => {
    for (const value of values) {
      codec.encode(value);
      keep(codec.decode());
    }
  };
  return { name, run };
}

async function measureKind(
  contenders: readonly CodecContender[],
  kind: PayloadKind,
  isQuick: boolean,
): Promise<(RoundSamples | RoundGap)[]> {
  const { create, variants = VARIANTS } = kind;
  const place = { case: kind.name, size: 1 };
  const values = Array.from({ length: variants }, (_, variant) => create(variant));
  const ready: Ready[] = [];
  const gaps: RoundGap[] = [];
  for (const contender of contenders) {
    const { name } = contender;
    const refusal = contender.refuses(kind);
    if (refusal !== undefined) {
      gaps.push({ ...place, contender: name, reason: refusal, isSkipped: true });
      continue;
    }
    try {
      ready.push(prepare(contender.create(kind), values, name));
    } catch (error) {
      const reason = (error as Error).message;
      gaps.push({ ...place, contender: name, reason, isSkipped: false });
    }
  }
  const found = await takeInTurn({
    contenders: ready,
    ...(isQuick ? QUICK : FULL),
    place,
    take: async ({ run }) => [{
      ...place,
      unit: "µs",
      samples: await takeBlock(run, BLOCK_MS, variants),
    }],
  });
  return [...gaps, ...found];
}

/** Runs one round of the contenders named on the command line and prints their figures. */
export async function run({ cloneLacks = {} }: Platform): Promise<never> {
  const { contenders: names, isQuick } = readArguments();
  const chosen = CODECS.filter(({ name }) => names.includes(name)).map((each) =>
    BY_CLONE.includes(each.name) ? lacking(each, cloneLacks) : each
  );
  const found: (RoundSamples | RoundGap)[] = [];
  for (const kind of CODEC_KINDS) found.push(...await measureKind(chosen, kind, isQuick));
  return finish(found);
}
