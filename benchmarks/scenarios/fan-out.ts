/**
 * `fan-out`: tasks called at once in pools of 1 and 2 workers, until all are answered. Long ones should
 * spread over the workers; ones shorter than the wake of a worker should at least not suffer from the
 * second.
 */
import { type HeddleCalls, startHeddle } from "../contenders/heddle.ts";
import { attempt, finish, readArguments, type RoundSamples } from "../harness/child.ts";
import { US_PER_MS } from "../harness/clock.ts";
import type { RoundGap } from "../harness/schema.ts";
import { type Budget, takeSamples } from "../harness/timing.ts";
import { takePoolsInTurn, workersOf } from "./pools-in-turn.ts";

const NS_PER_MS = 1e6;

interface FanOut {
  readonly name: string;
  readonly count: number;
  readonly us: number;
}

const FAN_OUTS: readonly FanOut[] = [
  { name: "8 tasks of 5 ms", count: 8, us: 5000 },
  { name: "64 tasks of 10 µs", count: 64, us: 10 },
  { name: "1,000 tasks of 50 µs", count: 1000, us: 50 },
];

/** Runs one round and prints the figures. */
export async function run(): Promise<never> {
  const { isQuick } = readArguments();
  const budget = { seconds: isQuick ? 0.15 : 0.3, minSamples: 4 };
  return finish(
    await takePoolsInTurn({
      sizes: [1, 2],
      turns: isQuick ? 1 : 4,
      start: startHeddle,
      measure: (pool, workers) => fanOut(pool, workers, budget),
      name: workersOf,
    }),
  );
}

async function fanOut(
  { spinThenEcho }: HeddleCalls,
  workers: number,
  budget: Budget,
): Promise<(RoundSamples | RoundGap)[]> {
  const found: (RoundSamples | RoundGap)[] = [];
  for (const { name, count, us } of FAN_OUTS) {
    const run = async (): Promise<void> => {
      const answers = new Array<Promise<number>>(count);
      for (let n = 0; n < count; n++) answers[n] = spinThenEcho(us, n + 0.5);
      const values = await Promise.all(answers);
      for (let n = 0; n < count; n++) {
        if (values[n] !== n + 0.5) throw new Error(`sent ${n + 0.5}, got ${values[n]}`);
      }
    };
    const ideal = count * us / US_PER_MS / workers;
    found.push(
      await attempt(
        { case: name, size: workers, unit: "ms", ideal },
        async () => (await takeSamples(run, budget)).map((ns) => ns / NS_PER_MS),
      ),
    );
  }
  return found;
}
