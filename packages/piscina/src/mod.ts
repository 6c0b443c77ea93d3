/**
 * Piscina's API on heddle's workers: a program runs by changing the import.
 *
 * @example
 * ```ts
 * import Piscina from "@heddle/piscina";
 *
 * const piscina = new Piscina({ filename: new URL("./worker.js", import.meta.url).href });
 * console.log(await piscina.run({ a: 4, b: 6 }));
 * ```
 *
 * @module
 */
// `require("piscina")` is the class, with the other exports as its members.
export { Piscina as "module.exports", Piscina as default } from "./piscina.ts";
export {
  isWorkerThread,
  Piscina,
  type PiscinaHistogram,
  type RunOptions,
  version,
  workerData,
} from "./piscina.ts";
export type { Balancer, PiscinaTask, PiscinaWorker } from "./balancer.ts";
export type { HistogramSummary } from "./histogram.ts";
export type { PiscinaOptions } from "./options.ts";
export { ArrayTaskQueue, FixedQueue, type Task, type TaskQueue } from "./queues.ts";
export {
  move,
  queueOptionsSymbol,
  type Transferable,
  transferableSymbol,
  valueSymbol,
} from "./symbols.ts";
