/** What `npm run bench:ab` calls slower. */
import { describe, expect, test } from "vitest";
import { type BuildChange, compareBuilds, type PairedRound, verdictOf } from "./ratios.ts";
import type { RoundFigure } from "../harness/schema.ts";

/** Samples that lie evenly around `median`. */
const evenly = (median: number): number[] =>
  Array.from({ length: 41 }, (_, n) => median * (1 + 0.02 * (n - 20) / 20));

const figure = (samples: number[], name = "f64"): RoundFigure => ({
  case: name,
  size: 1,
  calls: 1,
  unit: "µs",
  samples,
  count: samples.length,
});

const NEVER_THE_SAME = [1, 2.5, 1.2, 0.7, 3, 1.9, 1.1, 0.8, 2.2, 1.4];

/** Rounds of a machine whose speed is another each time, and the ratio of the builds in each. */
const roundsOf = (ratios: readonly number[]): PairedRound[] =>
  ratios.map((ratio, round) => {
    const median = 10 * NEVER_THE_SAME[round]!;
    return { old: [figure(evenly(median))], new: [figure(evenly(median * ratio))] };
  });

const changeOf = (rounds: readonly PairedRound[]): BuildChange => compareBuilds(rounds)[0]!;

describe("two builds measured in turn", () => {
  test("differ by their ratio within rounds at any machine speed", () => {
    const ratios = [1.09, 1.11, 1.1, 1.08, 1.12, 1.1, 1.09, 1.1, 1.11, 1.1];
    const slower = changeOf(roundsOf(ratios));
    expect(slower).toMatchObject({ case: "f64", size: 1, calls: 1 });
    expect(slower.oldUs).toBeCloseTo(13);
    for (const each of ["ratio", "meanRatio", "p99Ratio"] as const) {
      expect(slower[each]).toBeCloseTo(1.1);
    }
    expect(slower.low).toBeGreaterThanOrEqual(1.08);
    expect(slower.high).toBeLessThanOrEqual(1.12);
    expect(verdictOf(slower)).toBe("slower");
    expect(verdictOf(changeOf(roundsOf(ratios.map((ratio) => 1 / ratio))))).toBe("quicker");
  });

  test("do not differ if rounds disagree or the ratio is small", () => {
    const unsure = changeOf(roundsOf([1.4, 0.9, 1.3, 0.8, 1.2, 1.1, 0.95, 1.3, 0.9, 1.25]));
    expect(unsure.ratio).toBeGreaterThan(1.1);
    expect(unsure.low).toBeLessThan(1);
    expect(verdictOf(unsure)).toBe("");
    expect(verdictOf(changeOf(roundsOf(NEVER_THE_SAME.map(() => 1.02))))).toBe("");
    expect(verdictOf(changeOf(roundsOf(NEVER_THE_SAME.map(() => 0.98))))).toBe("");
  });

  test("have their means and tails compared as well", () => {
    const tail = [...evenly(10).slice(0, -2), 50, 50];
    const change = changeOf([1, 2, 3].map(() => ({
      old: [figure(evenly(10))],
      new: [figure(tail)],
    })));
    expect(change.ratio).toBe(1);
    expect(change.meanRatio).toBeGreaterThan(1.05);
    expect(change.p99Ratio).toBeCloseTo(4.9, 1);
    expect(verdictOf(change)).toBe("");
  });

  test("are compared case by case", () => {
    const both = (first: number, second: number): RoundFigure[] => [
      figure(evenly(first)),
      figure(evenly(second), "add"),
    ];
    const changes = compareBuilds([1, 2, 3].map(() => ({ old: both(10, 20), new: both(20, 10) })));
    expect(changes.map(({ case: name, oldUs, newUs }) => [name, oldUs, newUs]))
      .toEqual([["f64", 10, 20], ["add", 20, 10]]);
    expect(changes.map(verdictOf)).toEqual(["slower", "quicker"]);
  });
});

test("a verdict needs the whole interval beyond 3 %", () => {
  expect(verdictOf({ low: 1.031, high: 1.2 })).toBe("slower");
  expect(verdictOf({ low: 1.029, high: 1.2 })).toBe("");
  expect(verdictOf({ low: 0.5, high: 0.969 })).toBe("quicker");
  expect(verdictOf({ low: 0.5, high: 0.971 })).toBe("");
});
