/**
 * Knitting, from a checkout that `./run.sh --peer knitting=PATH` names: it is not in the registry. None of its
 * code is here; without a checkout its rows say that they were not measured.
 */
import { spinFor } from "../harness/clock.ts";
import { countPrimes } from "../scenarios/primes.ts";
import { KNITTING } from "./names.ts";
import { copiesOnly } from "./types.ts";
import type { Echo, EchoContender, PoolContender, PrimeWorkers, SpinCalls } from "./types.ts";

export const echo = (value: unknown): unknown => value;
export const nothing = (): void => {};
export const asyncNothing = async (): Promise<void> => {};
export const spin = (us: number): number => spinFor(us);
/** Its tasks have one argument. */
export const primesOf = ([start, end]: [number, number]): number => countPrimes(start, end);

interface Calls extends SpinCalls {
  readonly echo: Echo;
  nothing(): Promise<unknown>;
  asyncNothing(): Promise<unknown>;
  primesOf(range: [number, number]): Promise<number>;
}

interface Library {
  createPool(options: Record<string, unknown>): (tasks: Record<string, unknown>) => {
    readonly call: Omit<Calls, "close">;
    shutdown(): Promise<unknown>;
  };
}

/** Room for the largest payload of any scenario, 64 at a time. */
const PAYLOAD = { payloadMaxByteLength: 512 * 2 ** 20, maxPayloadBytes: 32 * 2 ** 20 };

async function startKnitting(threads: number): Promise<Calls> {
  const { createPool } = await import(process.env["HEDDLE_PEER_KNITTING"]!) as Library;
  const { call, shutdown } = createPool({ threads, payload: PAYLOAD })({
    echo,
    nothing,
    asyncNothing,
    spin,
    primesOf,
  });
  await call.echo(0);
  return {
    echo: call.echo,
    nothing: () => call.nothing(),
    asyncNothing: () => call.asyncNothing(),
    spin: call.spin,
    primesOf: call.primesOf,
    close: () => shutdown(),
  };
}

export const knitting: PoolContender = { name: KNITTING, start: startKnitting };

export const knittingEcho: EchoContender = {
  name: KNITTING,
  refuses: copiesOnly(KNITTING),
  start: () => startKnitting(1),
};

export async function startKnittingPrimes(threads: number): Promise<PrimeWorkers> {
  const { primesOf, close } = await startKnitting(threads);
  return { count: (start, end) => primesOf([start, end]), close };
}
