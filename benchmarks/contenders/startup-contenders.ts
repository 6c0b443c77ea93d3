/** Contenders of `startup`. Libraries are imported when `load` is called, not before. */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type { StartupContender } from "./startup-contender.ts";

const MARK = "heddle-benchmark-startup";

export const nothing = (): void => {};

export const heddleStartup: StartupContender = {
  name: "heddle",
  async load() {
    const { createPool } = await import("../../dist/mod.js");
    return {
      async start(threads) {
        const pool = createPool({ threads })({ nothing });
        await pool.ready;
        return { call: pool.call.nothing, close: () => pool.shutdown() };
      },
    };
  },
};

/** Bare workers; they take turns. */
export const rawStartup: StartupContender = {
  name: "raw worker",
  load: () => Promise.resolve({ start: startRawWorkers }),
};

async function startRawWorkers(
  threads: number,
): Promise<{ call(): Promise<unknown>; close(): Promise<unknown> }> {
  const workers = await Promise.all(Array.from({ length: threads }, async () => {
    const worker = new Worker(new URL(import.meta.url), { workerData: MARK });
    await new Promise((resolve) => worker.once("message", resolve));
    return worker;
  }));
  let next = 0;
  return {
    call: () => {
      const worker = workers[next++ % threads]!;
      const answered = new Promise((resolve) => worker.once("message", resolve));
      worker.postMessage(null);
      return answered;
    },
    close: () => Promise.all(workers.map((worker) => worker.terminate())),
  };
}

export const piscinaStartup: StartupContender = {
  name: "Piscina",
  async load() {
    const { Piscina } = await import("piscina");
    return {
      async start(threads) {
        const pool = new Piscina({
          filename: new URL("./piscina-tasks.ts", import.meta.url).href,
          minThreads: threads,
          maxThreads: threads,
        });
        // It has no sign of its own for workers that are ready.
        const call = () => pool.run(undefined, { name: "nothing" });
        await Promise.all(Array.from({ length: threads }, call));
        return { call, close: () => pool.destroy() };
      },
    };
  },
};

if (!isMainThread && workerData === MARK) {
  const port = parentPort!;
  port.on("message", () => port.postMessage(null));
  port.postMessage("ready");
}
