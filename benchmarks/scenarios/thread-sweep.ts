/**
 * `thread-sweep`: one caller, pools of 1, 2, 4 and 8 workers. How long until 1, 100 or 1000 void calls
 * made at once are all answered: work that one worker has no trouble with, so that more of them should
 * not make it slower.
 */
import { heddle } from "../contenders/heddle.ts";
import { knitting } from "../contenders/knitting.ts";
import { KNITTING } from "../contenders/names.ts";
import {
  attempt,
  chooseContender,
  finish,
  readArguments,
  type RoundSamples,
} from "../harness/child.ts";
import type { RoundGap } from "../harness/schema.ts";
import { type Budget, takeSamples } from "../harness/timing.ts";
import { createRun, type NumberCall, toBatchUs } from "./call-batches.ts";
import { SWEPT_WORKERS, takePoolsInTurn, workersOf } from "./pools-in-turn.ts";

const BATCHES = [1, 100, 1000] as const;
/** Few, so that the median of samples is close to that of calls, but enough for the clock. */
const SEQUENTIAL_CALLS = 20;

/**
 * Runs one round of the contender that the command line names, and prints the figures: of all sizes, or of
 * the one that is named, by itself.
 */
export async function run(): Promise<never> {
  const { contender, isQuick, threads } = readArguments();
  const { start } = chooseContender([heddle, knitting], contender);
  const budget = { seconds: isQuick ? 0.1 : 0.15, minSamples: 20 };
  return finish(
    await takePoolsInTurn({
      sizes: threads === 0 ? SWEPT_WORKERS : [threads],
      turns: isQuick || threads !== 0 ? 1 : 3,
      start,
      measure: ({ nothing }, workers) => sweep(nothing!, workers, budget),
      name: (workers) =>
        contender === KNITTING ? `${KNITTING}, ${workersOf(workers)}` : workersOf(workers),
    }),
  );
}

async function sweep(
  nothing: NumberCall,
  workers: number,
  budget: Budget,
): Promise<(RoundSamples | RoundGap)[]> {
  const found: (RoundSamples | RoundGap)[] = [];
  for (const size of BATCHES) {
    const batch = { size, sequential: SEQUENTIAL_CALLS, isEcho: false };
    found.push(
      await attempt(
        { case: `void call, batch ${size}`, size: workers, unit: "µs" },
        async () => toBatchUs(await takeSamples(createRun(nothing, batch), budget), batch),
      ),
    );
  }
  return found;
}
