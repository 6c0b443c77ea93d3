/**
 * `types`: one caller, one worker. How long until 1 or 100 calls made at once are answered, for every
 * kind of payload there and back.
 */
import { heddleEcho, heddleJson } from "../contenders/heddle.ts";
import { heddleKnittingEcho } from "../contenders/heddle-knitting.ts";
import { knittingEcho } from "../contenders/knitting.ts";
import { postMessageEcho } from "../contenders/messages.ts";
import { lacking } from "../contenders/types.ts";
import { type Platform, startMessages } from "../launch.ts";
import { chooseContender, readArguments } from "../harness/child.ts";
import { KINDS } from "../payloads/kinds.ts";
import { VARIANTS } from "../payloads/payload.ts";
import { runEchoes } from "./echo-round.ts";
import type { EchoRun } from "./echo.ts";

const BATCHES = [1, 100] as const;
const QUICK_BATCH = 100;

/** Calls one after the other in one sample at batch 1: the clock is too coarse for one. */
const SEQUENTIAL_CALLS = 16;

const RUNS: readonly EchoRun[] = KINDS.flatMap((kind) =>
  BATCHES.map((batch) => ({
    case: kind.name,
    size: batch,
    kind,
    batch,
    sequentialCalls: SEQUENTIAL_CALLS,
    variants: kind.variants ?? VARIANTS,
  }))
);

/** Runs one round of the contender named on the command line and prints its figures. */
export async function run(platform: Platform): Promise<never> {
  const { contender, isQuick } = readArguments();
  const postMessage = postMessageEcho(() => startMessages(platform));
  const contenders = [
    heddleEcho,
    heddleKnittingEcho,
    knittingEcho,
    heddleJson,
    lacking(postMessage, platform.cloneLacks ?? {}),
  ];
  return await runEchoes(
    chooseContender(contenders, contender),
    isQuick ? RUNS.filter(({ batch }) => batch === QUICK_BATCH) : RUNS,
    isQuick ? { seconds: 0.01, minSamples: 2 } : { seconds: 0.3, minSamples: 5 },
  );
}
