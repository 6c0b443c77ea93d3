/** A hand-written worker over `postMessage`: one message per call, one per answer. */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type { LatencyContender } from "./contender.ts";

const MARK = "heddle-benchmark-post-message";
type Request = readonly [id: number, task: 0 | 1 | 2, value: number | undefined];
type Response = readonly [id: number, value: unknown];

const tasks = [(value: unknown) => value, () => {}, async () => {}] as const;

export const postMessage: LatencyContender = {
  name: "postMessage",
  async start() {
    const worker = new Worker(new URL(import.meta.url), { workerData: MARK });
    await new Promise((resolve) => worker.once("online", resolve));
    const resolvers = new Map<number, (value: unknown) => void>();
    let nextId = 0;
    worker.on("message", ([id, value]: Response) => {
      resolvers.get(id)!(value);
      resolvers.delete(id);
    });
    const call = (task: 0 | 1 | 2, value?: number): Promise<unknown> =>
      new Promise((resolve) => {
        resolvers.set(nextId, resolve);
        worker.postMessage([nextId++, task, value] satisfies Request);
      });
    return {
      echo: (value) => call(0, value) as Promise<number>,
      nothing: () => call(1),
      asyncNothing: () => call(2),
      close: () => worker.terminate(),
    };
  },
};

if (!isMainThread && workerData === MARK) {
  parentPort!.on("message", async ([id, task, value]: Request) => {
    const result = tasks[task](value);
    parentPort!.postMessage([id, task === 2 ? await result : result] satisfies Response);
  });
}
