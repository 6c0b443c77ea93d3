/** Every result that is kept fits the schema, and agrees with itself. */
import { Ajv } from "ajv";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { toMarkdown } from "./markdown.ts";
import { MAX_KEPT_SAMPLES, type ScenarioResult } from "./schema.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(`${root}${path}`, "utf8");
const validate = new Ajv({ allErrors: true }).compile(
  JSON.parse(read("benchmarks/result.schema.json")) as object,
);

const files = readdirSync(`${root}results`, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".json")).map((file) => file.replaceAll("\\", "/"));

describe.each(files)("results/%s", (file) => {
  const result = JSON.parse(read(`results/${file}`)) as ScenarioResult;

  test("fits the schema", () => {
    validate(result);
    expect(validate.errors ?? []).toEqual([]);
  });

  test("is a full run in the matching folder with ordered percentiles", () => {
    expect(result.isQuick).toBe(false);
    expect(file).toBe(`${result.runtime}/${result.scenario}.json`);
    for (const each of result.measurements) {
      const { min, p50, p75, p99, rounds, samples } = each;
      expect([min, p50, p75, p99], each.case).toEqual([min, p50, p75, p99].sort((a, b) => a - b));
      expect(Math.max(...rounds.map(({ length }) => length))).toBeLessThan(MAX_KEPT_SAMPLES + 2);
      expect(samples).toBeGreaterThanOrEqual(rounds.length);
    }
  });

  test("matches its Markdown file", () => {
    expect(read(`results/${file.replace(/json$/, "md")}`)).toBe(toMarkdown(result));
  });

  test("has no failures except skipped cases", () => {
    expect(result.failures.filter(({ isSkipped }) => isSkipped !== true)).toEqual([]);
  });
});

test("the schema refuses invalid results", () => {
  const [file = ""] = files;
  const result = JSON.parse(read(`results/${file}`)) as Record<string, unknown>;
  expect(validate({ ...result, schema: 2 })).toBe(false);
  expect(validate({ ...result, more: 1 })).toBe(false);
  expect(validate({ ...result, measurements: [{}] })).toBe(false);
});

test("results and charts are below 11 MiB", () => {
  const bytesOf = (folder: string): number =>
    readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
      .map((file) => statSync(`${root}${folder}/${file}`))
      .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
  expect((bytesOf("results") + bytesOf("graphs")) / 2 ** 20).toBeLessThan(11);
});
