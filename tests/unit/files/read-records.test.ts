/** Every way to split a text into ranges, and to read it in chunks, gives the records of the whole text. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { fileRanges } from "../../../src/files/file-ranges.ts";
import { readRecords } from "../../../src/files/read-lines.ts";

const folder = mkdtempSync(join(tmpdir(), "heddle-files-"));
const path = join(folder, "records.txt");
afterAll(() => rmSync(folder, { recursive: true }));

/** The records of a file, from its start to its end. */
function modelOf(bytes: Uint8Array, delimiter: string): string[] {
  const records = new TextDecoder().decode(bytes).split(delimiter);
  if (records.at(-1) === "") records.pop();
  return delimiter === "\n" ? records.map((line) => line.replace(/\r$/, "")) : records;
}

/** Delimiters that overlap themselves, that begin in a character of several bytes, and ordinary ones. */
const DELIMITERS = ["\n", "\r\n", "\n\n", "aba", "é", "aa", "\u2028", "||"];
const PIECES = ["a", "b", "\n", "\r", "é", "è", "|", "\u2028", "\uFEFF", "😀"]
  .map((text) => [...new TextEncoder().encode(text)]);
/** Bytes that are no UTF-8 by themselves. */
const BROKEN = [[0xc3], [0xe2, 0x80], [0x80], [0xf0, 0x9f]];

const contents = fc.array(fc.constantFrom(...PIECES, ...BROKEN), { maxLength: 120 })
  .map((pieces) => Uint8Array.from(pieces.flat()));

test("ranges cover the file, and their records are those of the whole", async () => {
  await fc.assert(
    fc.asyncProperty(
      contents,
      fc.constantFrom(...DELIMITERS),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 9 }),
      async (bytes, delimiter, parts, chunkBytes) => {
        writeFileSync(path, bytes);
        const ranges = await fileRanges(path, { parts, delimiter });
        expect(ranges.length).toBeLessThanOrEqual(parts);
        let at = 0;
        for (const { start, end } of ranges) {
          expect(start).toBe(at);
          expect(end).toBeGreaterThan(start);
          at = end;
        }
        expect(at).toBe(bytes.length);
        const records = ranges.flatMap((range) => [...readRecords(range, chunkBytes)]);
        expect(records).toEqual(modelOf(bytes, delimiter));
      },
    ),
    { numRuns: 1000 },
  );
});

test("a cut that lies far from the next delimiter is found", async () => {
  // Behind the first, the second and the third read, and across the end of a read.
  for (const length of [1, 16_300, 16_383, 16_384, 16_385, 16_400, 40_000, 200_000]) {
    const text = `${"x".repeat(100)}\r\n${"y".repeat(length)}\r\n${"z".repeat(100)}`;
    writeFileSync(path, text);
    const ranges = await fileRanges(path, { parts: text.length, delimiter: "\r\n" });
    const records = ranges.map((range) => [...readRecords(range, 16)]);
    expect(records.map((each) => each.map((line) => line.length))).toEqual([[100], [length], [
      100,
    ]]);
  }
});
