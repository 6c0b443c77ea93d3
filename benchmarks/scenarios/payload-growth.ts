/**
 * `payload-growth`: one caller, one worker. A string and a `Uint8Array` from 32 B to 16 MiB echoed, by
 * 1 call and by 64 calls at once.
 */
import { heddleEcho } from "../contenders/heddle.ts";
import { knittingEcho } from "../contenders/knitting.ts";
import { postMessageEcho } from "../contenders/messages.ts";
import { type Platform, startMessages } from "../launch.ts";
import { chooseContender, readArguments } from "../harness/child.ts";
import { formatBytes } from "../harness/units.ts";
import { byteArray } from "../payloads/bytes.ts";
import { type PayloadKind, VARIANTS } from "../payloads/payload.ts";
import { asciiText } from "../payloads/text.ts";
import { runEchoes } from "./echo-round.ts";
import type { EchoRun } from "./echo.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const SIZES = [
  32,
  128,
  512,
  2 * KIB,
  8 * KIB,
  32 * KIB,
  128 * KIB,
  512 * KIB,
  MIB,
  4 * MIB,
  16 * MIB,
] as const;
const QUICK_SIZES = [32, 2 * KIB, 32 * KIB, 512 * KIB, 4 * MIB] as const;
const BATCHES = [1, 64] as const;

/** Batches of payloads above this would hold gigabytes at once. */
const MAX_BATCHED_BYTES = 4 * MIB;
/** Batches of payloads above this take a second or so each time. */
const MAX_QUICK_BATCHED_BYTES = 512 * KIB;

/** Up to this size, several calls one after the other make a sample: the clock is too coarse for one. */
const MAX_COARSE_BYTES = 32 * KIB;
const SEQUENTIAL_CALLS = 16;

/** The values to cycle through take this much memory at most, but there are two. */
const MAX_VARIANT_BYTES = 32 * MIB;

const KINDS = ["string", "bytes"] as const;

function payloadOf(kind: typeof KINDS[number], size: number): PayloadKind {
  const name = `${kind}, ${formatBytes(size)}`;
  return kind === "string"
    ? { name, family: "text", route: "copy", fitsJson: true, create: (n) => asciiText(size, n) }
    : { name, family: "bytes", route: "copy", fitsJson: false, create: (n) => byteArray(size, n) };
}

function whySkipped(batch: number, size: number, isQuick: boolean): string | undefined {
  if (batch === 1) return undefined;
  if (size > MAX_BATCHED_BYTES) return `${batch} at once would hold gigabytes in memory`;
  if (isQuick && size > MAX_QUICK_BATCHED_BYTES) {
    return `${batch} at once take long for a quick run`;
  }
  return undefined;
}

function runOf(
  kind: typeof KINDS[number],
  batch: number,
  size: number,
  isQuick: boolean,
): EchoRun {
  const skipped = whySkipped(batch, size, isQuick);
  return {
    case: `${kind}, ${batch === 1 ? "1 call" : `${batch} calls`}`,
    size,
    kind: payloadOf(kind, size),
    batch,
    sequentialCalls: size <= MAX_COARSE_BYTES ? SEQUENTIAL_CALLS : 1,
    variants: Math.max(2, Math.min(VARIANTS, MAX_VARIANT_BYTES / size)),
    ...(skipped === undefined ? {} : { skipped }),
  };
}

/** Runs one round of the contender named on the command line and prints its figures. */
export async function run(platform: Platform): Promise<never> {
  const { contender, isQuick } = readArguments();
  const postMessage = postMessageEcho(() => startMessages(platform));
  const contenders = [heddleEcho, knittingEcho, postMessage];
  return await runEchoes(
    chooseContender(contenders, contender),
    KINDS.flatMap((kind) =>
      BATCHES.flatMap((batch) =>
        (isQuick ? QUICK_SIZES : SIZES).map((size) => runOf(kind, batch, size, isQuick))
      )
    ),
    isQuick ? { seconds: 0.015, minSamples: 1 } : { seconds: 0.08, minSamples: 2 },
  );
}
