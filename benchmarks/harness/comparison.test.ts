/** What `npm run bench:compare` calls slower. */
import { describe, expect, test } from "vitest";
import { compareResults, isQuicker, isSlower } from "./comparison.ts";
import type { ScenarioResult } from "./schema.ts";
import { summarize } from "./statistics.ts";

/** Rounds of samples that lie evenly around `median`. */
function resultOf(median: number, spread: number, rounds = 4): ScenarioResult {
  const samples = Array.from({ length: 41 }, (_, n) => median * (1 + spread * (n - 20) / 20));
  const round = { case: "c", size: 1, unit: "µs", samples, count: samples.length } as const;
  return {
    schema: 1,
    scenario: "latency",
    runtime: "node",
    version: "26",
    isQuick: false,
    date: "2026-01-01T00:00:00.000Z",
    commit: "c",
    machine: { cpu: "c", cores: 2, memoryGiB: 1, kernel: "k" },
    versions: {},
    measurements: [summarize("heddle", new Array(rounds).fill(round))],
    failures: [],
  };
}

const changeOf = (before: ScenarioResult, after: ScenarioResult) =>
  compareResults(before, after)[0]!;

describe("a comparison", () => {
  test("finds a change of 10 % if the samples are close together", () => {
    const slower = changeOf(resultOf(10, 0.02), resultOf(11, 0.02));
    expect(slower).toMatchObject({ contender: "heddle", before: 10, after: 11 });
    expect(slower.ratio).toBeCloseTo(1.1);
    expect(slower.low).toBeGreaterThan(1.08);
    expect(slower.high).toBeLessThan(1.12);
    expect([isSlower(slower), isQuicker(slower)]).toEqual([true, false]);
    const quicker = changeOf(resultOf(11, 0.02), resultOf(10, 0.02));
    expect([isSlower(quicker), isQuicker(quicker)]).toEqual([false, true]);
  });

  test("reports no change if the samples are far apart or the change is small", () => {
    const unsure = changeOf(resultOf(10, 0.9, 1), resultOf(10.8, 0.9, 1));
    expect(unsure.low).toBeLessThan(1);
    expect(isSlower(unsure)).toBe(false);
    expect(isSlower(changeOf(resultOf(10, 0.001), resultOf(10.3, 0.001)))).toBe(false);
  });

  test("leaves out cases that one of the two lacks", () => {
    const before = resultOf(10, 0.1);
    expect(compareResults({ ...before, measurements: [] }, before)).toEqual([]);
  });
});
