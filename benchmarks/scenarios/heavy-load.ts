/**
 * `heavy-load`: all primes up to 10,000,000 in chunks of 250,000, by the main thread alone and by the
 * main thread with 1, 2, … workers. The main thread takes chunks too; it hands each worker two at a
 * time, so that none waits while the main thread computes. Creating the pool is not timed.
 */
import { Bench } from "tinybench";
import { createPool } from "../../dist/mod.js";
import { finish, readArguments } from "../harness/child.ts";
import { CHUNK, countPrimes, LIMIT, PRIMES_BELOW_LIMIT } from "./primes.ts";

type Count = (start: number, end: number) => Promise<number>;

/** Chunks handed out ahead to each worker: one to compute, one to take up without asking. */
const AHEAD = 2;

/**
 * Lets answers be settled and handed on between two chunks of the main thread. A timer, since one
 * `setImmediate` does not let messages through on Deno.
 */
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

async function run(count: Count | undefined, workers: number): Promise<void> {
  // The dearest chunks first, so that the last ones to finish are short.
  let next = LIMIT;
  let total = 0;
  const takeChunk = (): [number, number] | undefined => {
    if (next <= 0) return undefined;
    next -= CHUNK;
    return [next, next + CHUNK];
  };
  const feed = async (): Promise<void> => {
    for (let chunk = takeChunk(); chunk !== undefined; chunk = takeChunk()) {
      const found = await count!(...chunk);
      total += found;
    }
  };
  const feeders = Array.from({ length: workers * AHEAD }, feed);
  for (let chunk = takeChunk(); chunk !== undefined; chunk = takeChunk()) {
    total += countPrimes(...chunk);
    if (workers > 0) await turn();
  }
  await Promise.all(feeders);
  if (total !== PRIMES_BELOW_LIMIT) throw new Error(`found ${total} primes`);
}

/** Runs with as many workers as the command line says, and prints the figures. */
export async function runHeavyLoad(): Promise<void> {
  const { isQuick, threads } = readArguments();
  const pool = threads === 0 ? undefined : createPool({
    threads,
    moduleUrl: new URL("./primes.ts", import.meta.url),
  })({ countPrimes });
  await pool?.ready;
  const bench = new Bench({
    time: 0,
    iterations: isQuick ? 3 : 7,
    warmupTime: 0,
    warmupIterations: 1,
    throws: true,
    retainSamples: true,
  });
  const name = threads === 0 ? "main alone" : `main + ${threads}`;
  bench.add(name, () => run(pool?.call.countPrimes, threads));
  await bench.run();
  const result = bench.tasks[0]!.result as { latency?: { samples?: readonly number[] } };
  const samples = result.latency?.samples ?? [];
  if (samples.length === 0) throw new Error("tinybench kept no samples");
  await pool?.shutdown();
  await finish([{ case: name, size: threads, unit: "ms", samples }]);
}
