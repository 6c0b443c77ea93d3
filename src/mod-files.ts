/**
 * Large text files in workers: {@link fileRanges} splits a file into byte ranges on the host, {@link readLines} reads the lines of a
 * range in a task. Loads nothing of pools.
 *
 * @example
 * ```ts
 * import { type FileRange, readLines } from "heddle/files";
 *
 * export function sumAmounts(range: FileRange): number {
 *   let sum = 0;
 *   for (const line of readLines(range)) sum += Number(line.split(",")[1]);
 *   return sum;
 * }
 * ```
 *
 * @module
 */
export { type FileRange, fileRanges, type FileRangesOptions } from "./files/file-ranges.ts";
export { readLines } from "./files/read-lines.ts";
