/**
 * `sporadic`: one worker, and an f64 to echo now and then: every 0.5 to 40 ms, and at random 100 to 10,000 times a
 * second. What is timed is each call by itself, and the processor time of the whole process, divided by the calls. Contenders take
 * turns in one process, in blocks of some ten to a few hundred calls.
 *
 * A process of its own says through a pipe when a call is due, as clients do; meanwhile the host has nothing to do. At
 * a steady pace a call is timed from when it is made. At random it is timed from when it was due, so that calls that
 * wait for the host count as late; of the way through the pipe the quickest one of the figure is taken away.
 */
import { ONE_WORKER_CONTENDERS } from "../contenders/one-worker.ts";
import type { OneWorkerContender } from "../contenders/types.ts";
import { finish, readArguments, type RoundSamples } from "../harness/child.ts";
import { sleep } from "../harness/clock.ts";
import type { RoundGap } from "../harness/schema.ts";
import { startInTurn } from "./in-turn.ts";
import { callInTurn, type PacedTurns } from "./paced-calls.ts";
import { warmUp } from "./warm-up.ts";
import { CPU_OF, EVERY, GAPS_US, NO_CALLS, POISSON, RATES } from "./sporadic-cases.ts";

const US_PER_S = 1e6;
/** Between two figures, so that the next begins with idle pools. */
const REST_MS = 50;
/** Percentiles as far out as p99.9 need them all. */
const MAX_SAMPLES = 20_000;

interface Figure {
  readonly case: string;
  readonly size: number;
  readonly pace: PacedTurns;
}

/** Turns, and calls of a block, in the order of the sizes: some five seconds for each figure. */
const EVERY_BLOCKS = [[12, 100], [10, 80], [8, 40], [8, 16], [5, 6]] as const;
const POISSON_BLOCKS = [[8, 16], [10, 100], [12, 500]] as const;
/** A quick run has these only. */
const QUICK: Readonly<Record<string, Readonly<Record<number, readonly [number, number]>>>> = {
  [EVERY]: { 1000: [5, 30], 10_000: [5, 8] },
  [POISSON]: { 1000: [5, 30] },
};

function figuresOf(isQuick: boolean): Figure[] {
  const blocksOf = (name: string, size: number, full: readonly [number, number]) =>
    isQuick ? QUICK[name]![size] ?? [0, 0] : full;
  const figure = (
    name: string,
    size: number,
    gapUs: number,
    full: readonly [number, number],
  ): Figure => {
    const [turns, calls] = blocksOf(name, size, full);
    return { case: name, size, pace: { gapUs, isPoisson: name === POISSON, turns, calls } };
  };
  return [
    ...GAPS_US.map((gapUs, index) => figure(EVERY, gapUs, gapUs, EVERY_BLOCKS[index]!)),
    ...RATES.map((rate, index) => figure(POISSON, rate, US_PER_S / rate, POISSON_BLOCKS[index]!)),
  ].filter(({ pace }) => pace.turns > 0);
}

const nobody: OneWorkerContender = {
  name: NO_CALLS,
  load: () =>
    Promise.resolve(() => ({
      echo: (value) => Promise.resolve(value),
      close: () => Promise.resolve(),
    })),
};

/** Runs one round of the contenders named on the command line and prints their figures. */
export async function run(): Promise<never> {
  const { contenders: names, isQuick } = readArguments();
  const { started, gaps } = await startInTurn(
    [...ONE_WORKER_CONTENDERS, nobody],
    names,
    async (contender) => {
      const calls = (await contender.load())();
      await warmUp(calls.echo, isQuick);
      return calls;
    },
    { case: EVERY, size: GAPS_US[1] },
  );
  const found: (RoundSamples | RoundGap)[] = [...gaps];
  for (const { case: name, size, pace } of figuresOf(isQuick)) {
    await sleep(REST_MS);
    for (const each of await callInTurn(started, pace)) {
      const place = { contender: each.name, size, unit: "µs" } as const;
      if (each.name !== NO_CALLS) {
        const { latencies: samples, latencyBlocks: blocks } = each;
        found.push({ ...place, case: name, hasTail: true, samples, blocks });
      }
      const { cpuBlocks } = each;
      found.push({ ...place, case: CPU_OF[name]!, samples: cpuBlocks, blocks: cpuBlocks });
    }
  }
  await Promise.all(started.map(({ close }) => close()));
  return finish(found, MAX_SAMPLES);
}
