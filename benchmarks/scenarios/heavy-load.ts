/**
 * `heavy-load`: all primes up to 10,000,000 in chunks of 250,000, by the main thread alone and by the
 * main thread with 1, 2, … workers: by heddle, by a peer, and by hand with worker_threads, the same chunks in the
 * same order. The main thread takes chunks too; it hands each worker two at a time, so that none waits
 * while the main thread computes. Starting the workers is not timed.
 */
import { Bench } from "tinybench";
import { createPool } from "../../dist/mod.js";
import { startKnittingPrimes } from "../contenders/knitting.ts";
import { KNITTING } from "../contenders/names.ts";
import { startPrimeWorkers } from "../contenders/messages.ts";
import type { PrimeWorkers } from "../contenders/types.ts";
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

async function countAll(count: Count | undefined, workers: number): Promise<void> {
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

/** Name on the command line. */
const BY_HAND = "by hand";

async function startPool(threads: number): Promise<PrimeWorkers> {
  const moduleUrl = new URL("./primes.ts", import.meta.url);
  const pool = createPool({ threads, moduleUrl })({ countPrimes });
  await pool.ready;
  return { count: pool.call.countPrimes, close: () => pool.shutdown() };
}

function startWorkers(contender: string, threads: number): Promise<PrimeWorkers> {
  switch (contender) {
    case BY_HAND:
      return startPrimeWorkers(threads);
    case KNITTING:
      return startKnittingPrimes(threads);
    default:
      return startPool(threads);
  }
}

/** Runs with as many workers as the command line says, and prints the figures. */
export async function run(): Promise<void> {
  const { contender, isQuick, threads } = readArguments();
  const workers = threads === 0 ? undefined : await startWorkers(contender, threads);
  const bench = new Bench({
    time: 0,
    iterations: isQuick ? 2 : 5,
    // In the first second of a process the system may keep its threads on one core, whoever made them.
    warmup: true,
    warmupTime: 0,
    warmupIterations: 1,
    throws: true,
    retainSamples: true,
  });
  const name = threads === 0 ? "main alone" : `main + ${threads}`;
  bench.add(name, () => countAll(workers?.count, threads));
  await bench.run();
  const result = bench.tasks[0]!.result as { latency?: { samples?: readonly number[] } };
  const samples = result.latency?.samples ?? [];
  if (samples.length === 0) throw new Error("tinybench kept no samples");
  await workers?.close();
  await finish([{ case: name, size: threads, unit: "ms", samples }]);
}
