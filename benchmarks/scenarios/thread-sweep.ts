/**
 * `thread-sweep`: one caller, pools of 1, 2, 4 and 8 workers. How long until 1, 100 or 1000 void calls
 * made at once are all answered: work that one worker has no trouble with, so that more of them should
 * not make it slower.
 */
import { heddle } from "../contenders/heddle.ts";
import { knitting } from "../contenders/knitting.ts";
import {
  attempt,
  chooseContender,
  finish,
  readArguments,
  type RoundSamples,
} from "../harness/child.ts";
import type { RoundGap } from "../harness/schema.ts";
import { takeSamples } from "../harness/timing.ts";
import { createRun, toBatchUs } from "./call-batches.ts";

const BATCHES = [1, 100, 1000] as const;
/** Few, so that the median of samples is close to that of calls, but enough for the clock. */
const SEQUENTIAL_CALLS = 20;

/** Runs one round with as many workers as the command line says, and prints the figures. */
export async function runThreadSweep(): Promise<never> {
  const { contender, isQuick, threads } = readArguments();
  const { nothing, close } = await chooseContender([heddle, knitting], contender).start(threads);
  const budget = { seconds: isQuick ? 0.1 : 0.15, minSamples: 20 };
  const found: (RoundSamples | RoundGap)[] = [];
  for (const size of BATCHES) {
    const batch = { size, sequential: SEQUENTIAL_CALLS, isEcho: false };
    found.push(
      await attempt(
        { case: `void call, batch ${size}`, size: threads, unit: "µs" },
        async () => toBatchUs(await takeSamples(createRun(nothing!, batch), budget), batch),
      ),
    );
  }
  await close();
  return finish(found);
}
