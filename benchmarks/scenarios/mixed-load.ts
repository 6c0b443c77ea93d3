/**
 * `mixed-load`: a pool of 2 workers. Micro-tasks, one after the other and 100 at once, alone and while a
 * task of 100 ms is always in flight; how late the long tasks' answers are meanwhile; and 1,000
 * micro-tasks called right after a task of 200 ms, which should not have to wait for it.
 */
import { type HeddleCalls, startHeddle } from "../contenders/heddle.ts";
import { attempt, finish, readArguments, type RoundSamples } from "../harness/child.ts";
import { now } from "../harness/clock.ts";
import { checkClock } from "../harness/clock-check.ts";
import type { RoundGap } from "../harness/schema.ts";
import { type Budget, takeSamples } from "../harness/timing.ts";
import { type Batch, createRun, type NumberCall, toBatchUs } from "./call-batches.ts";
import * as mixed from "./mixed-cases.ts";
import { takeLateness } from "./spin-lateness.ts";

const WORKERS = 2;
const BATCHES = [1, 100] as const;
const SEQUENTIAL_CALLS = 20;
const LONG_US = 100_000;
/** Few: should micro-tasks have to wait for long ones, a sample takes a second. */
const MIN_SAMPLES = 4;

type Found = (RoundSamples | RoundGap)[];

interface MicroRun {
  readonly name: string;
  readonly call: NumberCall;
  readonly batch: Batch;
}

const microRuns = ({ nothing, echo }: HeddleCalls): readonly MicroRun[] =>
  BATCHES.flatMap((size) =>
    [nothing as NumberCall, echo].map((call, index) => ({
      name: mixed.MICRO_CASES[index]!,
      call,
      batch: { size, sequential: SEQUENTIAL_CALLS, isEcho: call === echo },
    }))
  );

const BURST = 1000;
const BURST_LONG_US = 200_000;

/** Keeps one long task in flight, and notes how late the answers are. */
class LongTasks {
  /** Microseconds, by task. */
  readonly lateness: number[] = [];
  readonly #spin: HeddleCalls["spin"];
  readonly #ended: Promise<void>;
  #isOver = false;

  constructor(spin: HeddleCalls["spin"]) {
    this.#spin = spin;
    this.#ended = this.#run();
    this.#ended.catch(() => {}); // whoever stops them gets the error
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const late = await takeLateness(this.#spin, LONG_US);
      // The last one ends when the micro-tasks have.
      if (!this.#isOver) this.lateness.push(late);
    }
  }

  /** Waits for the last one. */
  stop(): Promise<void> {
    this.#isOver = true;
    return this.#ended;
  }
}

const timeMicro = async (call: NumberCall, batch: Batch, budget: Budget): Promise<number[]> =>
  toBatchUs(await takeSamples(createRun(call, batch), budget), batch);

async function measureAlone(calls: HeddleCalls, budget: Budget): Promise<Found> {
  const found: Found = [];
  for (const { name, call, batch } of microRuns(calls)) {
    const place = { case: name, size: batch.size, unit: "µs" } as const;
    found.push(await attempt(place, () => timeMicro(call, batch, budget)));
  }
  return found;
}

async function measureBesideLong(calls: HeddleCalls, budget: Budget): Promise<Found> {
  const found: Found = [];
  const lateness = new Map<number, number[]>(BATCHES.map((size) => [size, []]));
  for (const { name, call, batch } of microRuns(calls)) {
    const place = { case: name, size: batch.size, unit: "µs" } as const;
    const take = async (): Promise<number[]> => {
      const long = new LongTasks(calls.spin);
      try {
        return await timeMicro(call, batch, budget);
      } finally {
        await long.stop();
        lateness.get(batch.size)!.push(...long.lateness);
      }
    };
    found.push(await attempt(place, take));
  }
  for (const [size, samples] of lateness) {
    if (samples.length > 0) found.push({ case: mixed.LONG_LATENESS, size, unit: "µs", samples });
  }
  return found;
}

/** Milliseconds until the last of many micro-tasks is answered, and until a long task called before is. */
async function takeBurst({ nothing, spin }: HeddleCalls): Promise<[last: number, long: number]> {
  const startedAt = now();
  const long = takeLateness(spin, BURST_LONG_US).then(() => now() - startedAt);
  const burst = createRun(nothing, { size: BURST, sequential: 1, isEcho: false });
  const last = burst().then(() => now() - startedAt);
  return await Promise.all([last, long]);
}

async function measureBursts(calls: HeddleCalls, count: number): Promise<Found> {
  const lasts: number[] = [];
  const longs: number[] = [];
  const found = await attempt({ case: mixed.LAST_MICRO, size: BURST, unit: "ms" }, async () => {
    for (let n = 0; n < count; n++) {
      const [last, long] = await takeBurst(calls);
      lasts.push(last);
      longs.push(long);
    }
    return lasts;
  });
  if ("reason" in found) return [found];
  return [found, { case: mixed.LONG_TASK, size: BURST, unit: "ms", samples: longs }];
}

/** Runs one round of the contender named on the command line and prints its figures. */
export async function run(): Promise<never> {
  const { contender, isQuick } = readArguments();
  if (contender !== mixed.ALONE && contender !== mixed.BESIDE_LONG) {
    throw new Error(`Micro-tasks are ${mixed.ALONE} or ${mixed.BESIDE_LONG}, not ${contender}.`);
  }
  await checkClock();
  const calls = await startHeddle(WORKERS);
  const found = contender === mixed.ALONE
    ? await measureAlone(calls, { seconds: isQuick ? 0.1 : 0.4, minSamples: MIN_SAMPLES })
    : [
      // Long enough for several long tasks.
      ...await measureBesideLong(calls, { seconds: isQuick ? 0.3 : 1.4, minSamples: MIN_SAMPLES }),
      ...await measureBursts(calls, isQuick ? 2 : 7),
    ];
  await calls.close();
  return finish(found);
}
