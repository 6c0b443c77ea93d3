/**
 * Piscina's API on heddle's workers: a program runs by changing the import.
 *
 * @example
 * ```ts
 * import Piscina from "heddle/piscina";
 *
 * const piscina = new Piscina({ filename: new URL("./worker.js", import.meta.url).href });
 * console.log(await piscina.run({ a: 4, b: 6 }));
 * ```
 *
 * @module
 */
export { Piscina as default } from "./compat/piscina/piscina.ts";
export {
  isWorkerThread,
  Piscina,
  type PiscinaHistogram,
  type RunOptions,
  version,
  workerData,
} from "./compat/piscina/piscina.ts";
export type { Balancer, PiscinaTask, PiscinaWorker } from "./compat/piscina/balancer.ts";
export type { HistogramSummary } from "./compat/piscina/histogram.ts";
export type { PiscinaOptions } from "./compat/piscina/options.ts";
export { ArrayTaskQueue, FixedQueue, type Task, type TaskQueue } from "./compat/piscina/queues.ts";
export {
  move,
  queueOptionsSymbol,
  type Transferable,
  transferableSymbol,
  valueSymbol,
} from "./compat/piscina/symbols.ts";
