/** The records of a range, for tasks. Synchronous: a worker has its thread for it, and a promise for each line takes longer than the line. */
import { TextDecoder } from "../builtins.ts";
import { InvalidArgumentError } from "../errors.ts";
import { invalid, isObject, show } from "../option-checks.ts";
import { openFileSync } from "../runtimes/node-api/files.ts";
import type { FileRange } from "./file-ranges.ts";

/** Engines decode and split 64 KiB as fast as more. */
const CHUNK_BYTES = 64 << 10;

/**
 * The records of a range of `fileRanges`, decoded as UTF-8, without their delimiter; lines that end with `"\n"` also without a
 * `"\r"` at their end. The last record needs no delimiter. A byte order mark at the start of the file is skipped. Blocks while it
 * reads, so call it in tasks. Holds one chunk of the file, or the longest record. `break` closes the file.
 *
 * @example
 * ```ts
 * import { type FileRange, readLines } from "heddle/files";
 *
 * export function countErrors(range: FileRange): number {
 *   let count = 0;
 *   for (const line of readLines(range)) if (line.includes(" 500 ")) count++;
 *   return count;
 * }
 * ```
 */
export function readLines(range: FileRange): Generator<string, void, undefined> {
  const isRange = isObject(range) && typeof range.path === "string" &&
    typeof range.delimiter === "string" && range.end >= range.start;
  if (!isRange) {
    throw invalid("The argument of readLines()", "a range of fileRanges()", show(range));
  }
  return readRecords(range, CHUNK_BYTES);
}

/** `readLines`, with the size of the first reads. */
export function* readRecords(
  { path, start, end, delimiter }: FileRange,
  chunkBytes: number,
): Generator<string, void, undefined> {
  const file = openFileSync(path);
  // Deno's decoder also drops a mark at the start of a later chunk, if it may drop one.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let isAtStart = start === 0;
  const trim = delimiter === "\n"
    ? (line: string): string => line.endsWith("\r") ? line.slice(0, -1) : line
    : (line: string): string => line;
  let chunk = new Uint8Array(chunkBytes);
  let rest = "";
  try {
    for (let at = start; at < end;) {
      const read = file.read(chunk.subarray(0, Math.min(chunk.length, end - at)), at);
      if (read === 0) throw hasShrunk(path, end, at);
      at += read;
      let text = decoder.decode(chunk.subarray(0, read), { stream: at < end });
      if (isAtStart && text !== "") {
        isAtStart = false;
        if (text.startsWith("\uFEFF")) text = text.slice(1);
      }
      const lines = (rest + text).split(delimiter);
      rest = lines.pop()!;
      for (const line of lines) yield trim(line);
      // A record of many chunks would be searched again with each.
      if (rest.length > chunk.length) chunk = new Uint8Array(2 * chunk.length);
    }
    if (rest !== "") yield trim(rest);
  } finally {
    file.close();
  }
}

function hasShrunk(path: string, end: number, at: number): InvalidArgumentError {
  return new InvalidArgumentError(
    `The range of ${show(path)} ends at byte ${end}, but the file has no more than ${at} now. ` +
      "It must not change between fileRanges() and readLines().",
  );
}
