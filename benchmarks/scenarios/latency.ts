/**
 * `latency`: one caller, one worker, or as many as a contender's name says. How long until 1, 10, 100 or 1000 calls made at once are all
 * answered: an f64 echoed, a void call, and a void call of an async task. Contenders take turns in one process.
 *
 * Batch 1 is timed over 50 calls one after the other and divided by 50, as the clock is too coarse for one. Every answer is checked.
 */
import type { LatencyCalls, LatencyContender } from "../contenders/contender.ts";
import { finish, readArguments, type RoundSamples } from "../harness/child.ts";
import type { RoundGap } from "../harness/schema.ts";
import { createRun, type NumberCall } from "./call-batches.ts";
import { startInTurn, takeBlock, takeInTurn } from "./in-turn.ts";
import { workersOf } from "./pools-in-turn.ts";

export const BATCHES = [1, 10, 100, 1000] as const;
export const CASES = ["f64 echo", "void call", "async void call"] as const;

/** Sequential calls per sample at batch 1. */
const SEQUENTIAL_CALLS = 50;
const BLOCK_MS = 5;
const FULL = { turns: 40, warmUps: 30 } as const;
const QUICK = { turns: 8, warmUps: 10 } as const;
/** More workers than one, of the contender with this name. */
const MORE_WORKERS = [2, 4] as const;

const callOf = (calls: LatencyCalls, index: number): NumberCall | undefined =>
  [calls.echo, calls.nothing, calls.asyncNothing][index] as NumberCall | undefined;

/** A contender, and one for each of its larger pools. */
function* withMoreWorkers({ name, start }: LatencyContender) {
  for (const threads of [1, ...MORE_WORKERS]) {
    const ofName = threads === 1 ? name : `${name}, ${workersOf(threads)}`;
    yield { name: ofName, start: () => start(threads) };
  }
}

/** Runs one round of the contenders named on the command line and prints their figures. */
export async function runLatency(contenders: readonly LatencyContender[]): Promise<void> {
  const { contenders: names, isQuick } = readArguments();
  const all = contenders.flatMap((each) => [...withMoreWorkers(each)]);
  const place = { case: CASES[0], size: BATCHES[0] };
  const { started, gaps } = await startInTurn(all, names, ({ start }) => start(), place);
  const found: (RoundSamples | RoundGap)[] = [...gaps];
  for (const [index, name] of CASES.entries()) {
    const able = started.filter((calls) => callOf(calls, index) !== undefined);
    for (const size of BATCHES) {
      const batch = { size, sequential: SEQUENTIAL_CALLS, isEcho: index === 0 };
      const divisor = size === 1 ? SEQUENTIAL_CALLS : 1;
      found.push(
        ...await takeInTurn({
          contenders: able,
          ...(isQuick ? QUICK : FULL),
          place: { case: name, size },
          take: async (calls) => {
            const run = createRun(callOf(calls, index)!, batch);
            const samples = await takeBlock(run, BLOCK_MS, divisor);
            return [{ case: name, size, unit: "µs", samples }];
          },
        }),
      );
    }
  }
  await Promise.all(started.map((calls) => calls.close()));
  await finish(found);
}
