/**
 * Byte ranges of a text file for workers. The host only looks for a delimiter near each cut, and sends paths and numbers. Where a
 * range ends does not depend on the others: a delimiter that overlaps one before it is no cut, because a reader from the start
 * of the file may not have ended a record there.
 */
import { TextEncoder, URL as BuiltinURL } from "../builtins.ts";
import { checkInteger, checkKeys, invalid, isObject, ownOf, show } from "../option-checks.ts";
import { absolutePath, countCores, indexOf, openFile } from "../runtimes/node-api/files.ts";

/** A part of a file that begins and ends where a record does. Plain data: an argument for a task, which reads it by `readLines`. */
export interface FileRange {
  /** Absolute. */
  readonly path: string;
  /** The first byte. 0 for the range that begins with the first line, such as the header of a CSV file. */
  readonly start: number;
  /** The byte after the last one. */
  readonly end: number;
  /** What ends each record. */
  readonly delimiter: string;
}

/** Options of {@link fileRanges}. */
export interface FileRangesOptions {
  /**
   * The most ranges. There are fewer if the file has fewer records, or very long ones.
   *
   * @default four for each core
   * @see [recipes](https://github.com/heddle-js/heddle/blob/main/docs/recipes.md#csv-and-logs-by-byte-ranges)
   */
  readonly parts?: number;
  /**
   * What ends each record, a text of any length. With `"\n"`, `readLines` also takes away a `"\r"` before it.
   *
   * @default `"\n"`
   */
  readonly delimiter?: string;
}

/** More than one for each worker, so that those that are done first take more. */
const PARTS_PER_CORE = 4;
const BYTES_PER_READ = 16 << 10;
const PATH = "The path of fileRanges()";

/**
 * Splits a file into about equal ranges of whole records, in order. An empty file has none. The host reads only some KiB near each
 * cut; the file must not change until the tasks are done.
 *
 * @example
 * ```ts
 * import { createPool } from "heddle";
 * import { fileRanges } from "heddle/files";
 *
 * const pool = createPool()<typeof import("./tasks.ts")>(new URL("./tasks.ts", import.meta.url));
 * const ranges = await fileRanges("access.log");
 * const counts = await pool.map(pool.call.countErrors, ranges); // a task that calls readLines(range)
 * ```
 */
export async function fileRanges(
  path: string | URL,
  options: FileRangesOptions = {},
): Promise<FileRange[]> {
  const { parts: given, delimiter } = checkOptions(options);
  const absolute = absolutePath(checkPath(path));
  const file = await openFile(absolute);
  // The size of others means nothing.
  if (file === undefined) throw invalid(PATH, "that of a regular file", show(absolute));
  try {
    const { size } = await file.stat();
    const read = async (bytes: Uint8Array, at: number): Promise<Uint8Array> =>
      bytes.subarray(0, (await file.read(bytes, 0, bytes.length, at)).bytesRead);
    const parts = Math.min(given, size);
    const wanted = new TextEncoder().encode(delimiter);
    const ranges: FileRange[] = [];
    let start = 0;
    for (let part = 1; part <= parts; part++) {
      const target = Math.ceil(size * part / parts);
      if (target <= start) continue; // a record was longer than a part
      const end = part === parts ? size : await findStart(read, wanted, target) ?? size;
      ranges.push({ path: absolute, start, end, delimiter });
      start = end;
    }
    return ranges;
  } finally {
    await file.close();
  }
}

function checkPath(path: unknown): string | URL {
  const isPath = typeof path === "string"
    ? path !== ""
    : path instanceof BuiltinURL && path.protocol === "file:";
  if (!isPath) throw invalid(PATH, "a string that is not empty or a file URL", show(path));
  return path as string | URL;
}

function checkOptions(options: FileRangesOptions): Required<FileRangesOptions> {
  if (!isObject(options)) {
    throw invalid("The second argument of fileRanges()", "an object of options", show(options));
  }
  checkKeys("fileRanges()", options, ["parts", "delimiter"]);
  const { parts = PARTS_PER_CORE * countCores(), delimiter = "\n" } = ownOf<FileRangesOptions>(
    options,
  );
  if (typeof delimiter !== "string" || delimiter === "") {
    throw invalid("delimiter", "a string that is not empty", show(delimiter));
  }
  // No bytes stand for one, so ranges and lines would end at different places.
  if (!delimiter.isWellFormed()) {
    throw invalid("delimiter", "a string without lone surrogates", show(delimiter));
  }
  return { parts: checkInteger("parts", parts, 1, Number.MAX_SAFE_INTEGER), delimiter };
}

/** Where the first record at `target` or behind it begins; undefined if none does. */
async function findStart(
  read: (bytes: Uint8Array, at: number) => Promise<Uint8Array>,
  delimiter: Uint8Array,
  target: number,
): Promise<number | undefined> {
  const { length } = delimiter;
  const bytes = new Uint8Array(BYTES_PER_READ + 2 * length);
  let previous = -length;
  // From where a delimiter may overlap one that ends at `target`.
  for (let from = Math.max(0, target - 2 * length + 1);;) {
    const chunk = await read(bytes, from);
    for (let at = indexOf(chunk, delimiter, 0); at >= 0; at = indexOf(chunk, delimiter, at + 1)) {
      const isOverlapped = from + at - previous < length;
      previous = from + at;
      if (!isOverlapped && previous + length >= target) return previous + length;
    }
    if (chunk.length < length) return undefined;
    from += chunk.length - length + 1;
  }
}
