/**
 * `sporadic`: one worker, and an f64 to echo now and then: every 0.5 to 40 ms, and at random 100 to 10,000 times a
 * second. What is timed is each call by itself, and the processor time of the whole process, divided by the calls.
 *
 * A process of its own says through a pipe when a call is due, as clients do; meanwhile the host has nothing to do. At
 * a steady pace a call is timed from when it is made. At random it is timed from when it was due, so that calls that
 * wait for the host count as late; of the way through the pipe the quickest one of the figure is taken away.
 */
import type { OneWorkerContender } from "../contenders/one-worker.ts";
import type { Echo } from "../contenders/echo-contender.ts";
import type { Pace } from "../harness/arrivals.ts";
import { chooseContender, finish, readArguments, type RoundSamples } from "../harness/child.ts";
import { sleep } from "../harness/clock.ts";
import type { RoundGap } from "../harness/schema.ts";
import { callAtPace, latenciesOf } from "./paced-calls.ts";
import { warmUp } from "./warm-up.ts";
import { CPU_OF, EVERY, GAPS_US, NO_CALLS, POISSON, RATES } from "./sporadic-cases.ts";

const US_PER_S = 1e6;
/** Between two figures, so that the next begins with an idle pool. */
const REST_MS = 50;
/** Percentiles as far out as p99.9 need them all. */
const MAX_SAMPLES = 20_000;

interface Figure {
  readonly case: string;
  readonly size: number;
  readonly pace: Pace;
}

/** Calls that are counted, in the order of the sizes: a second and a half each at most. */
const EVERY_COUNTS = [1000, 1000, 500, 150, 40] as const;
const POISSON_COUNTS = [150, 1000, 5000] as const;
/** A quick run has these only. */
const QUICK: Readonly<Record<string, Readonly<Record<number, number>>>> = {
  [EVERY]: { 1000: 150, 3000: 50, 10_000: 30 },
  [POISSON]: { 1000: 150 },
};

function figuresOf(isQuick: boolean): Figure[] {
  const counted = (name: string, size: number, count: number): number =>
    isQuick ? QUICK[name]![size] ?? 0 : count;
  return [
    ...GAPS_US.map((gapUs, index) => ({
      case: EVERY,
      size: gapUs,
      pace: { gapUs, isPoisson: false, count: counted(EVERY, gapUs, EVERY_COUNTS[index]!) },
    })),
    ...RATES.map((rate, index) => ({
      case: POISSON,
      size: rate,
      pace: {
        gapUs: US_PER_S / rate,
        isPoisson: true,
        count: counted(POISSON, rate, POISSON_COUNTS[index]!),
      },
    })),
  ].filter(({ pace }) => pace.count > 0);
}

async function measureFigure(
  echo: Echo,
  { case: name, size, pace }: Figure,
  isCalling: boolean,
): Promise<(RoundSamples | RoundGap)[]> {
  try {
    const { calls, cpuUs } = await callAtPace(echo, pace);
    const latency: RoundSamples = {
      case: name,
      size,
      unit: "µs",
      hasTail: true,
      samples: latenciesOf(calls, pace),
    };
    const cpu: RoundSamples = { case: CPU_OF[name]!, size, unit: "µs", samples: [cpuUs] };
    return isCalling ? [latency, cpu] : [cpu];
  } catch (error) {
    return [{ case: name, size, reason: (error as Error).message, isSkipped: false }];
  }
}

/** Runs one round of the contender named on the command line and prints its figures. */
export async function runSporadic(contenders: readonly OneWorkerContender[]): Promise<never> {
  const { contender: name, isQuick } = readArguments();
  const nobody: OneWorkerContender = {
    name: NO_CALLS,
    load: () =>
      Promise.resolve({
        start: () => ({ echo: (value) => Promise.resolve(value), close: () => Promise.resolve() }),
      }),
  };
  const library = await chooseContender([...contenders, nobody], name).load();
  const { echo, close } = library.start();
  await warmUp(echo, isQuick);
  const found: (RoundSamples | RoundGap)[] = [];
  for (const figure of figuresOf(isQuick)) {
    await sleep(REST_MS);
    found.push(...await measureFigure(echo, figure, name !== NO_CALLS));
  }
  await close();
  return finish(found, MAX_SAMPLES);
}
