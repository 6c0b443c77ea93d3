/**
 * Bare workers of `node:worker_threads`: one gets a posted message, computes, and posts its answer. They
 * take turns.
 */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { spinFor } from "../harness/clock.ts";
import type { SpinCalls, SpinContender } from "./spin-contender.ts";

const MARK = "heddle-benchmark-raw-worker";

/** One worker. It answers in the order in which it was asked. */
async function startWorker(): Promise<SpinCalls> {
  const worker = new Worker(new URL(import.meta.url), { workerData: MARK });
  const waiting: ((end: number) => void)[] = [];
  worker.on("message", (end: number) => waiting.shift()!(end));
  await new Promise((resolve) => worker.once("online", resolve));
  return {
    spin: (us) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        worker.postMessage(us);
      }),
    close: () => worker.terminate(),
  };
}

export const rawWorker: SpinContender = {
  name: "raw worker",
  async start(threads) {
    const workers = await Promise.all(Array.from({ length: threads }, startWorker));
    let next = 0;
    return {
      spin: (us) => workers[next++ % threads]!.spin(us),
      close: () => Promise.all(workers.map((worker) => worker.close())),
    };
  },
};

if (!isMainThread && workerData === MARK) {
  const port = parentPort!;
  port.on("message", (us: number) => port.postMessage(spinFor(us)));
}
