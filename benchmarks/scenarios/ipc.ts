/**
 * `ipc`: one caller, one worker. How long until 1 to 100 messages sent at once have come back: a small object,
 * read and written anew on the other side. Websocket and HTTP carry it as JSON text, over loopback.
 */
import { heddleEcho } from "../contenders/heddle.ts";
import { knittingEcho } from "../contenders/knitting.ts";
import { postMessageEcho, startThread } from "../contenders/messages.ts";
import { others } from "../contenders/one-worker.ts";
import type { Platform } from "../launch.ts";
import { chooseContender, readArguments } from "../harness/child.ts";
import type { PayloadKind } from "../payloads/payload.ts";
import { VARIANTS } from "../payloads/payload.ts";
import { runEchoes } from "./echo-round.ts";
import type { EchoRun } from "./echo.ts";

const BATCHES = [1, 10, 25, 50, 100] as const;

/** Calls one after the other in one sample at batch 1: the clock is too coarse for one. */
const SEQUENTIAL_CALLS = 16;

const MESSAGE: PayloadKind = {
  name: "message",
  family: "object",
  route: "copy",
  fitsJson: true,
  create: (variant) => ({
    id: 4711 + variant,
    msg: "hello world",
    tags: ["a", "b"],
    at: { x: 1.5, y: -2 },
  }),
};

const RUNS: readonly EchoRun[] = BATCHES.map((batch) => ({
  case: MESSAGE.name,
  size: batch,
  kind: MESSAGE,
  batch,
  sequentialCalls: SEQUENTIAL_CALLS,
  variants: VARIANTS,
}));

/** Runs one round of the contender named on the command line and prints its figures. */
export async function run(platform: Platform): Promise<never> {
  const { contender, isQuick } = readArguments();
  const { websocket, http } = await platform.loopback();
  const contenders = [
    heddleEcho,
    knittingEcho,
    postMessageEcho(startThread),
    websocket,
    http,
    ...others(platform.unable ?? {}),
  ];
  return await runEchoes(
    chooseContender(contenders, contender),
    RUNS,
    isQuick ? { seconds: 0.025, minSamples: 4 } : { seconds: 0.5, minSamples: 10 },
  );
}
