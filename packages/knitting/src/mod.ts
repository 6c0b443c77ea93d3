/**
 * Knitting's API on heddle: programs written for Knitting run with this import in place of `knitting`,
 * `knitting/unsafe` and `knitting/shared-memory`. `docs/migrating-from-knitting.md` lists what differs.
 *
 * @example
 * ```ts
 * import { createPool, isMain } from "@heddle/knitting";
 *
 * export const square = (value: number) => value * value;
 *
 * if (isMain) {
 *   const pool = createPool({ threads: 2 })({ square });
 *   console.log(await pool.call.square(2));
 *   await pool.shutdown();
 * }
 * ```
 *
 * @module
 */
export { isMain } from "heddle";
export { setModuleUrl } from "./place.ts";
export { createPool } from "./pool.ts";
export {
  type AbortableSettings,
  importTask,
  type ImportTaskOptions,
  type PlainSettings,
  task,
} from "./tasks.ts";
export type * from "./types.ts";
export {
  BufferReference,
  checkCompiledWorker,
  ProcessSharedBuffer,
  UnsupportedError,
  type UnsupportedFunction,
  workerMainLoop,
} from "./unsupported.ts";
export {
  Envelope,
  type EnvelopeBody,
  type EnvelopeHeader,
  isNumericArray,
  NumericArray,
} from "./values.ts";
