/**
 * Knitting, from a checkout that `./run.sh --peer knitting=PATH` names: it is not in the registry. None of its
 * code is here; without a checkout its rows say that they were not measured.
 */
import { spinFor } from "../harness/clock.ts";
import { countPrimes } from "../scenarios/primes.ts";
import type { LatencyContender } from "./contender.ts";
import type { EchoContender } from "./echo-contender.ts";
import type { PrimeWorkers } from "./primes-by-hand.ts";
import type { SpinCalls, SpinContender } from "./spin-contender.ts";

export const KNITTING = "Knitting";

export const echo = (value: unknown): unknown => value;
export const nothing = (): void => {};
export const asyncNothing = async (): Promise<void> => {};
export const spin = (us: number): number => spinFor(us);
/** Its tasks have one argument. */
export const primesOf = ([start, end]: [number, number]): number => countPrimes(start, end);

type Calls = Readonly<Record<string, (value?: unknown) => Promise<unknown>>>;

interface Library {
  createPool(options: Record<string, unknown>): (tasks: Record<string, unknown>) => {
    readonly call: Calls;
    shutdown(): Promise<unknown>;
  };
}

/** Room for the largest payload of any scenario, 64 at a time. */
const PAYLOAD = { payloadMaxByteLength: 512 * 2 ** 20, maxPayloadBytes: 32 * 2 ** 20 };

async function startKnitting(threads: number): Promise<{ call: Calls; close(): Promise<unknown> }> {
  const { createPool } = await import(process.env["HEDDLE_PEER_KNITTING"]!) as Library;
  const tasks = { echo, nothing, asyncNothing, spin, primesOf };
  const pool = createPool({ threads, payload: PAYLOAD })(tasks);
  await pool.call["echo"]!(0);
  return { call: pool.call, close: () => pool.shutdown() };
}

export const knitting: LatencyContender = {
  name: KNITTING,
  async start(threads) {
    const { call, close } = await startKnitting(threads);
    return {
      echo: call["echo"] as (value: number) => Promise<number>,
      nothing: () => call["nothing"]!(),
      asyncNothing: () => call["asyncNothing"]!(),
      close,
    };
  },
};

export const knittingEcho: EchoContender = {
  name: KNITTING,
  refuses: ({ route }) => route === "copy" ? undefined : "Knitting is compared by copies only",
  async start() {
    const { call, close } = await startKnitting(1);
    return { echo: call["echo"]!, close };
  },
};

export const knittingSpin: SpinContender = {
  name: KNITTING,
  async start(threads): Promise<SpinCalls> {
    const { call, close } = await startKnitting(threads);
    return { spin: call["spin"] as SpinCalls["spin"], close };
  },
};

export async function startKnittingPrimes(threads: number): Promise<PrimeWorkers> {
  const { call, close } = await startKnitting(threads);
  return { count: (start, end) => call["primesOf"]!([start, end]) as Promise<number>, close };
}
