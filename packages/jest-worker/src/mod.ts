/**
 * Stands in for jest-worker 27 to 30: the same API, with the threads and processes of heddle.
 *
 * @module
 */
export { Worker } from "./jest-worker.ts";
export { messageParent } from "./message-parent.ts";
export { FifoQueue, PriorityQueue } from "./queues.ts";
export type {
  JestWorkerFarm,
  PromiseWithCustomMessage,
  QueueChildMessage,
  TaskQueue,
  WorkerFarmOptions,
  WorkerPoolInterface,
  WorkerPoolOptions,
} from "./types.ts";
