/** Calls made when something else says so, each timed by itself, and the processor time that they take. */
import type { Echo } from "../contenders/echo-contender.ts";
import { type Pace, receiveArrivals } from "../harness/arrivals.ts";
import { US_PER_MS } from "../harness/clock.ts";
import { processCpuMs } from "../harness/cpu.ts";

/** Arrivals before the first that counts: the policy of a contender finds out about the new pace. */
const UNCOUNTED = 20;

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
