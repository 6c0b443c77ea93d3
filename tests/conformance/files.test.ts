/** `heddle/files`: ranges of files, which workers read. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { fileRanges, readLines } from "../../src/mod-files.ts";
import { createPool, InvalidArgumentError } from "../../src/mod.ts";
import { closedAfterTest } from "../support/conformance.ts";

const folder = mkdtempSync(join(tmpdir(), "heddle-files-"));
const path = join(folder, "lines.txt");
afterAll(() => rmSync(folder, { recursive: true }));

/** The records of each range of a file with this text. */
async function split(text: string, parts: number, delimiter?: string): Promise<string[][]> {
  writeFileSync(path, text);
  const ranges = await fileRanges(path, delimiter === undefined ? { parts } : { parts, delimiter });
  return ranges.map((range) => [...readLines(range)]);
}

test("workers read the lines of ranges", async () => {
  const url = new URL("../fixtures/file-tasks.ts", import.meta.url);
  const pool = closedAfterTest(
    createPool({ threads: 2 })<typeof import("../fixtures/file-tasks.ts")>(url),
  );
  const lines = Array.from({ length: 20_000 }, (_, n) => `${n},${"é".repeat(n % 7)}`);
  writeFileSync(path, lines.join("\n"));
  const ranges = await fileRanges(path, { parts: 8 });
  expect(ranges).toHaveLength(8);
  const sizes = ranges.map(({ start, end }) => end - start);
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(50);
  expect((await pool.map(pool.call.linesOf, ranges)).flat()).toEqual(lines);
  const firsts = await pool.map(pool.call.firstLineOf, ranges);
  expect(firsts.every((line) => lines.includes(line!))).toBe(true);
});

test.each<[string, string, number, string | undefined, string[][]]>([
  ["an empty file", "", 4, undefined, []],
  ["a newline alone", "\n", 4, undefined, [[""]]],
  ["no delimiter", "abc", 4, undefined, [["abc"]]],
  ["no newline at the end", "a\nb", 1, undefined, [["a", "b"]]],
  ["a newline at the end", "a\nb\n", 1, undefined, [["a", "b"]]],
  ["empty lines", "a\n\nb\n\n", 1, undefined, [["a", "", "b", ""]]],
  ["more parts than lines", "a\nb\nc\n", 50, undefined, [["a"], ["b"], ["c"]]],
  ["a line longer than a part", `${"x".repeat(90)}\na\nb\n`, 4, undefined, [
    ["x".repeat(90)],
    ["a", "b"],
  ]],
  ["lines of Windows", "a\r\n\r\nb\r\n", 50, undefined, [["a"], [""], ["b"]]],
  ["carriage returns within lines", "a\rb\n", 50, undefined, [["a\rb"]]],
  ["a delimiter of several characters", "a||b|c||d", 50, "||", [["a"], ["b|c"], ["d"]]],
  ["carriage returns before another delimiter", "a\r;b\r", 50, ";", [["a\r"], ["b\r"]]],
  ["paragraphs", "a\nb\n\n\nc\n\nd", 50, "\n\n", [["a\nb"], ["\nc"], ["d"]]],
  ["a byte order mark", "\uFEFFname\nada\n", 50, undefined, [["name"], ["ada"]]],
  ["a mark within the file", "a\n\uFEFFb\n", 50, undefined, [["a"], ["\uFEFFb"]]],
])("%s", async (_, text, parts, delimiter, expected) => {
  expect(await split(text, parts, delimiter)).toEqual(expected);
});

test("a path may be relative or a URL, and ranges name the absolute one", async () => {
  writeFileSync(path, "a\nb\n");
  const whole = { path, start: 0, end: 4, delimiter: "\n" };
  expect(await fileRanges(path, { parts: 1 })).toEqual([whole]);
  expect(await fileRanges(relative(process.cwd(), path), { parts: 1 })).toEqual([whole]);
  expect(await fileRanges(pathToFileURL(path), { parts: 1 })).toEqual([whole]);
});

test("without `parts` there are several for each core", async () => {
  writeFileSync(path, "line\n".repeat(10_000));
  expect((await fileRanges(path)).length).toBeGreaterThanOrEqual(4);
});

test.each<[string, object, RegExp]>([
  ["parts: 0", { parts: 0 }, /^parts must be an integer from 1 to \d+, got 0\.$/],
  ["parts: 1.5", { parts: 1.5 }, /^parts must be an integer .*, got 1\.5\.$/],
  [
    "an empty delimiter",
    { delimiter: "" },
    /^delimiter must be a string that is not empty, got ""/,
  ],
  [
    "a RegExp",
    { delimiter: /;/ },
    /^delimiter must be a string that is not empty, got \[object RegExp\]/,
  ],
  [
    "a delimiter that UTF-8 cannot hold",
    { delimiter: "\uD800" },
    /^delimiter must be a string without lone surrogates, got /,
  ],
  ["an unknown option", { delimeter: ";" }, /no option "delimeter"; did you mean "delimiter"\?/],
])("%s is refused", async (_, options, message) => {
  writeFileSync(path, "a\n");
  const error: unknown = await fileRanges(path, options).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(InvalidArgumentError);
  expect((error as Error).message).toMatch(message);
});

test("a folder is refused, and the runtime's error tells of a missing file", async () => {
  const error: unknown = await fileRanges(folder, { parts: 1 }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(InvalidArgumentError);
  expect((error as Error).message).toContain("that of a regular file");
  await expect(fileRanges(join(folder, "missing"))).rejects.toMatchObject({ code: "ENOENT" });
});

test.each<[string, unknown]>([
  ["undefined", undefined],
  ["a number", 5],
  ["an empty text", ""],
  ["the URL of no file", new URL("https://example.com/a.txt")],
])("%s is no path", async (_, path) => {
  const error: unknown = await fileRanges(path as string).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(InvalidArgumentError);
  expect((error as Error).message).toMatch(
    /^The path of fileRanges\(\) must be a string that is not empty or a file URL, got /,
  );
});

// A pipe is opened when something opens its other end.
test.skipIf(process.platform === "win32")("a pipe that nothing writes is refused", async () => {
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  await expect(fileRanges(pipe)).rejects.toThrow("that of a regular file");
});

test("readLines refuses what is no range, and a file that has shrunk", async () => {
  expect(() => readLines("lines.txt" as never)).toThrow(InvalidArgumentError);
  expect(() => readLines({ path, start: 2, end: 1, delimiter: "\n" })).toThrow(
    /a range of fileRanges/,
  );
  expect(() => readLines({ path, start: 0, end: 1 } as never)).toThrow(/a range of fileRanges/);
  writeFileSync(path, "a\nb\nc\n");
  const [range] = await fileRanges(path, { parts: 1 });
  writeFileSync(path, "a\n");
  const lines = readLines(range!);
  expect(() => [...lines]).toThrow(/ends at byte 6, but the file has no more than 2 now/);
  // One that begins behind the end cannot tell where that is.
  const last = readLines({ path, start: 4, end: 6, delimiter: "\n" });
  expect(() => [...last]).toThrow(/ends at byte 6, but the file has no more than 4 now/);
});
