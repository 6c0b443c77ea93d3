/**
 * `lateness`: one worker computes for 50 µs to 100 ms, one task at a time, while the host awaits it and
 * does nothing else. How long after the task's end the awaiting code goes on.
 */
import { heddle } from "../contenders/heddle.ts";
import { knitting } from "../contenders/knitting.ts";
import { rawWorker } from "../contenders/messages.ts";
import {
  attempt,
  chooseContender,
  finish,
  readArguments,
  type RoundSamples,
} from "../harness/child.ts";
import { checkClock } from "../harness/clock-check.ts";
import type { RoundGap } from "../harness/schema.ts";
import { takeLatenessSamples } from "./spin-lateness.ts";

interface Duration {
  readonly us: number;
  readonly samples: number;
  readonly quickSamples: number;
}

const DURATIONS: readonly Duration[] = [
  { us: 50, samples: 1000, quickSamples: 300 },
  { us: 200, samples: 1000, quickSamples: 300 },
  { us: 1000, samples: 500, quickSamples: 100 },
  { us: 5000, samples: 150, quickSamples: 30 },
  { us: 20_000, samples: 40, quickSamples: 10 },
  { us: 100_000, samples: 15, quickSamples: 5 },
];

/** Runs one round of the contender named on the command line and prints its figures. */
export async function run(): Promise<never> {
  const { contender, isQuick } = readArguments();
  await checkClock();
  const { spin, close } = await chooseContender([heddle, knitting, rawWorker], contender).start(1);
  const found: (RoundSamples | RoundGap)[] = [];
  for (const { us, samples, quickSamples } of DURATIONS) {
    const count = isQuick ? quickSamples : samples;
    found.push(
      await attempt(
        { case: "spinning task", size: us, unit: "µs" },
        () => takeLatenessSamples(spin, us, count),
      ),
    );
  }
  await close();
  return finish(found);
}
