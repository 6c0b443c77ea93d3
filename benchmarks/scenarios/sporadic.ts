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
import { type Pace, receiveArrivals } from "../harness/arrivals.ts";
import { chooseContender, finish, readArguments, type RoundSamples } from "../harness/child.ts";
import { sleep, US_PER_MS } from "../harness/clock.ts";
import { processCpuMs } from "../harness/cpu.ts";
import type { RoundGap } from "../harness/schema.ts";
import { warmUp } from "./warm-up.ts";
import { CPU_OF, EVERY, GAPS_US, NO_CALLS, POISSON, RATES } from "./sporadic-cases.ts";

const US_PER_S = 1e6;
/** Arrivals before the first that counts: the policy of a contender finds out about the new pace. */
const UNCOUNTED = 20;
/** Between two figures, so that the next begins with an idle pool. */
const REST_MS = 50;
/** Percentiles as far out as p99.9 need them all. */
const MAX_SAMPLES = 20_000;

interface Figure {
  readonly case: string;
  readonly size: number;
  readonly pace: Pace;
}

/** Calls that are counted, in the order of the sizes: some seconds each at most. */
const EVERY_COUNTS = [1500, 1000, 600, 200, 60] as const;
const POISSON_COUNTS = [200, 1500, 8000] as const;
/** A quick run has these only. */
const QUICK: Readonly<Record<string, Readonly<Record<number, number>>>> = {
  [EVERY]: { 1000: 300, 3000: 150 },
  [POISSON]: { 1000: 300 },
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

/** The times of one call, milliseconds; `sentMs` is by another clock. */
interface TimedCall {
  readonly sentMs: number;
  readonly startedMs: number;
  readonly endedMs: number;
}

interface PacedCalls {
  readonly calls: readonly TimedCall[];
  /** Of all threads of the process, per call. */
  readonly cpuUs: number;
}

/** Makes a call at each arrival. */
export async function callAtPace(echo: Echo, pace: Pace): Promise<PacedCalls> {
  const pending: Promise<TimedCall>[] = [];
  let cpuBeforeMs = 0;
  const timeCall = async (value: number, sentMs: number): Promise<TimedCall> => {
    const startedMs = performance.now();
    const answer = await echo(value);
    const endedMs = performance.now();
    if (answer !== value) throw new Error(`sent ${value}, got ${answer}`);
    return { sentMs, startedMs, endedMs };
  };
  await receiveArrivals({ ...pace, count: pace.count + UNCOUNTED }, (sentMs) => {
    if (pending.length === UNCOUNTED) cpuBeforeMs = processCpuMs();
    pending.push(timeCall(pending.length + 0.5, sentMs));
  });
  const calls = (await Promise.all(pending)).slice(UNCOUNTED);
  return { calls, cpuUs: (processCpuMs() - cpuBeforeMs) * US_PER_MS / pace.count };
}

/** Microseconds from when each call was due (of a steady pace: made) to the code that awaits it. */
export function latenciesOf(calls: readonly TimedCall[], { isPoisson }: Pace): number[] {
  if (!isPoisson) return calls.map((call) => (call.endedMs - call.startedMs) * US_PER_MS);
  const quickestWayMs = Math.min(...calls.map((call) => call.startedMs - call.sentMs));
  return calls.map((call) => (call.endedMs - call.sentMs - quickestWayMs) * US_PER_MS);
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
  await warmUp(echo);
  const found: (RoundSamples | RoundGap)[] = [];
  for (const figure of figuresOf(isQuick)) {
    await sleep(REST_MS);
    found.push(...await measureFigure(echo, figure, name !== NO_CALLS));
  }
  await close();
  return finish(found, MAX_SAMPLES);
}
