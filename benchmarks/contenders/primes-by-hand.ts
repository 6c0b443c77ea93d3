/**
 * What a careful programmer writes with `node:worker_threads` alone for the prime search: a message per
 * chunk, each to the worker that has the fewest, and a message back.
 */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { countPrimes } from "../scenarios/primes.ts";

const MARK = "heddle-benchmark-primes-by-hand";

export interface PrimeWorkers {
  count(start: number, end: number): Promise<number>;
  close(): Promise<unknown>;
}

export async function startPrimeWorkers(threads: number): Promise<PrimeWorkers> {
  const workers = await Promise.all(Array.from({ length: threads }, async () => {
    const worker = new Worker(new URL(import.meta.url), { workerData: MARK });
    const waiting: ((found: number) => void)[] = [];
    // It answers in the order in which it was asked.
    worker.on("message", (found: number) => waiting.shift()!(found));
    await new Promise((resolve) => worker.once("online", resolve));
    return { worker, waiting };
  }));
  return {
    count: (start, end) => {
      const least = Math.min(...workers.map(({ waiting }) => waiting.length));
      const { worker, waiting } = workers.find((each) => each.waiting.length === least)!;
      return new Promise((resolve) => {
        waiting.push(resolve);
        worker.postMessage([start, end]);
      });
    },
    close: () => Promise.all(workers.map(({ worker }) => worker.terminate())),
  };
}

if (!isMainThread && workerData === MARK) {
  const port = parentPort!;
  port.on("message", ([start, end]: [number, number]) => port.postMessage(countPrimes(start, end)));
}
