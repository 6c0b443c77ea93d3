/**
 * Whether threads of this runtime agree about `now()`: host and a worker, both spinning, hand each other
 * the time. What the worker read lies between what the host read before and after, in every exchange;
 * the quickest exchange says how much that proves.
 */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { now, sleep, US_PER_MS } from "./clock.ts";

const MARK = "heddle-benchmark-clock";
const EXCHANGES = 200;
/** Rounding of two clock readings, and what the clocks of a virtual machine's cores may differ by. */
export const TOLERANCE_MS = 0.003;
/** Slower exchanges than this prove nothing about lateness of some 50 µs. */
const MAX_EXCHANGE_MS = 0.02;
/** Lets the worker get to its loop. */
const START_MS = 5;
/** The exchanges are tried again if the machine was busy with something else. */
const TRIES = 20;

interface Views {
  /** Odd: asked; even: answered. */
  readonly turn: Int32Array;
  readonly time: Float64Array;
}

const viewsOf = (buffer: SharedArrayBuffer): Views => ({
  turn: new Int32Array(buffer, 0, 1),
  time: new Float64Array(buffer, 8, 1),
});

/** Milliseconds of the quickest exchange; an error where the worker's time was outside in one of them. */
function exchange({ turn, time }: Views): number | Error {
  let quickestMs = Infinity;
  let error: Error | undefined;
  for (let n = 0; n < EXCHANGES; n++) {
    const before = now();
    Atomics.store(turn, 0, 2 * n + 1);
    while (Atomics.load(turn, 0) !== 2 * n + 2);
    const after = now();
    const there = time[0]!;
    if (there < before - TOLERANCE_MS || there > after + TOLERANCE_MS) {
      const offUs = Math.round((there - (before + after) / 2) * US_PER_MS);
      error = new Error(`the clocks of host and worker differ by ${offUs} µs`);
    }
    quickestMs = Math.min(quickestMs, after - before);
  }
  return error ?? quickestMs;
}

function answerExchanges({ turn, time }: Views): void {
  for (let n = 0; n < EXCHANGES; n++) {
    while (Atomics.load(turn, 0) !== 2 * n + 1);
    time[0] = now();
    Atomics.store(turn, 0, 2 * n + 2);
  }
}

/** Throws unless `now()` is one clock in all threads, to some microseconds. */
export async function checkClock(): Promise<void> {
  const buffer = new SharedArrayBuffer(16);
  const views = viewsOf(buffer);
  const worker = new Worker(new URL(import.meta.url), { workerData: { [MARK]: buffer } });
  await new Promise((resolve) => worker.once("online", resolve));
  try {
    let reason = new Error("this machine is too busy to compare the clocks of host and worker");
    for (let left = TRIES; left > 0; left--) {
      Atomics.store(views.turn, 0, 0);
      worker.postMessage(null);
      await sleep(START_MS);
      const result = exchange(views);
      // Once in some thousand exchanges they are off by more.
      if (result instanceof Error) reason = result;
      else if (result <= MAX_EXCHANGE_MS) return;
    }
    throw reason;
  } finally {
    await worker.terminate();
  }
}

const shared = (workerData as { [MARK]?: SharedArrayBuffer } | null)?.[MARK];
if (!isMainThread && shared !== undefined) {
  const views = viewsOf(shared);
  parentPort!.on("message", () => answerExchanges(views));
}
