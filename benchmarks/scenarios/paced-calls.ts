/** Calls made when something else says so, each timed by itself, by contenders in turn; and the processor time that they take. */
import { median } from "simple-statistics";
import type { Echo } from "../contenders/types.ts";
import { type Pace, receiveArrivals } from "../harness/arrivals.ts";
import { US_PER_MS } from "../harness/clock.ts";
import { processCpuMs } from "../harness/cpu.ts";

/** Arrivals of each block before the first that counts: the policy of a contender finds out about the pace. */
const UNCOUNTED = 8;

export interface PacedTurns extends Omit<Pace, "count"> {
  /** Calls of a block that count. */
  readonly calls: number;
  readonly turns: number;
}

interface Caller {
  readonly name: string;
  readonly echo: Echo;
}

/** The times of one call, milliseconds; `sentMs` is by another clock. */
interface TimedCall {
  readonly sentMs: number;
  readonly startedMs: number;
  readonly endedMs: number;
}

export interface Paced {
  readonly name: string;
  /** Microseconds of each call, and the median of each block. */
  readonly latencies: number[];
  readonly latencyBlocks: number[];
  /** Processor time of all threads of the process for each call of a block. */
  readonly cpuBlocks: number[];
}

interface Block {
  readonly caller: Caller;
  readonly pending: Promise<TimedCall>[];
  cpuBeforeMs: number;
  cpuAfterMs: number;
}

async function timeCall(echo: Echo, value: number, sentMs: number): Promise<TimedCall> {
  const startedMs = performance.now();
  const answer = await echo(value);
  const endedMs = performance.now();
  if (answer !== value) throw new Error(`sent ${value}, got ${answer}`);
  return { sentMs, startedMs, endedMs };
}

/** Makes a call at each arrival: a block of one caller, then a block of the next, there and back. */
export async function callInTurn(
  callers: readonly Caller[],
  { calls, turns, ...pace }: PacedTurns,
): Promise<Paced[]> {
  const order = Array.from(
    { length: turns },
    (_, turn) => turn % 2 === 0 ? callers : callers.toReversed(),
  ).flat();
  const blocks = order.map((caller): Block => ({
    caller,
    pending: [],
    cpuBeforeMs: 0,
    cpuAfterMs: 0,
  }));
  const perBlock = UNCOUNTED + calls;
  let arrivals = 0;
  await receiveArrivals({ ...pace, count: perBlock * blocks.length }, (sentMs) => {
    const index = Math.floor(arrivals / perBlock);
    const within = arrivals++ % perBlock;
    const block = blocks[index]!;
    if (within === 0 && index > 0) blocks[index - 1]!.cpuAfterMs = processCpuMs();
    if (within === UNCOUNTED) block.cpuBeforeMs = processCpuMs();
    block.pending.push(timeCall(block.caller.echo, arrivals + 0.5, sentMs));
  });
  blocks.at(-1)!.cpuAfterMs = processCpuMs();
  const timed = await Promise.all(blocks.map(async ({ pending, ...block }) => ({
    ...block,
    calls: (await Promise.all(pending)).slice(UNCOUNTED),
  })));
  const all = timed.flatMap((block) => block.calls);
  const latencyUs = latencyOf(all, pace.isPoisson);
  return callers.map((caller) => {
    const own = timed.filter((block) => block.caller === caller);
    const latencies = own.map((block) => block.calls.map(latencyUs));
    return {
      name: caller.name,
      latencies: latencies.flat(),
      latencyBlocks: latencies.map((block) => median(block)),
      cpuBlocks: own.map(({ cpuBeforeMs, cpuAfterMs }) =>
        (cpuAfterMs - cpuBeforeMs) * US_PER_MS / calls
      ),
    };
  });
}

/** Microseconds from when a call was due (of a steady pace: made) to the code that awaits it. */
function latencyOf(all: readonly TimedCall[], isPoisson: boolean): (call: TimedCall) => number {
  if (!isPoisson) return (call) => (call.endedMs - call.startedMs) * US_PER_MS;
  const quickestWayMs = all.reduce(
    (least, call) => Math.min(least, call.startedMs - call.sentMs),
    Infinity,
  );
  return (call) => (call.endedMs - call.sentMs - quickestWayMs) * US_PER_MS;
}
