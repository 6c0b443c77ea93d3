/**
 * Tinypool's API on heddle's workers: threads and processes.
 *
 * @module
 */
import process from "node:process";

export {
  isMovable,
  isTaskQueue,
  isTransferable,
  kFieldCount,
  kQueueOptions,
  kRequestCountField,
  kResponseCountField,
  kTransferable,
  kValue,
  markMovable,
  type Task,
  type TaskQueue,
  type TinypoolChannel,
  type TinypoolWorkerMessage,
  type Transferable,
  withNullPrototype,
} from "./common.ts";
export type { FilledOptions, Options, RunOptions } from "./options.ts";
export type { AnySignal } from "./task.ts";
export type { TinypoolWorker } from "./pool-worker.ts";
export { Tinypool, Tinypool as default } from "./tinypool.ts";

/** In a worker: its number, from 1 to `maxThreads`. */
export const workerId: number = process.__tinypool_state__?.workerId;
