/** What `npm run bench:ab` calls slower. */
import { expect, test } from "vitest";
import type { RoundFigure } from "../harness/schema.ts";
import { type Change, changesOf, NEW, OLD, verdictOf } from "./changes.ts";

const figure = (contender: string, blocks: number[], name = "f64"): RoundFigure => ({
  contender,
  case: name,
  size: 1,
  unit: "µs",
  samples: blocks,
  count: blocks.length,
  blocks,
});

/** Blocks of a machine whose speed is another each time, and the ratio of the builds in each. */
const SPEEDS = [1, 2.5, 1.2, 0.7, 3, 1.9, 1.1, 0.8, 2.2, 1.4];
const changeOf = (ratios: readonly number[]): Change =>
  changesOf([
    figure(OLD, SPEEDS),
    figure(NEW, SPEEDS.map((speed, index) => speed * ratios[index]!)),
  ])[0]!;

test("builds differ by their ratio within pairs at any machine speed", () => {
  const ratios = [1.09, 1.11, 1.1, 1.08, 1.12, 1.1, 1.09, 1.1, 1.11, 1.1];
  const slower = changeOf(ratios);
  expect(slower).toMatchObject({ case: "f64", size: 1 });
  expect(slower.ratio).toBeCloseTo(1.1);
  expect(slower.p99Ratio).toBeCloseTo(1.1, 1);
  expect(verdictOf(slower)).toBe("slower");
  expect(verdictOf(changeOf(ratios.map((ratio) => 1 / ratio)))).toBe("quicker");
});

test("they do not differ if pairs disagree or the ratio is small", () => {
  expect(verdictOf(changeOf([1.4, 0.9, 1.3, 0.8, 1.2, 1.1, 0.95, 1.3, 0.9, 1.25]))).toBe("");
  expect(verdictOf(changeOf(SPEEDS.map(() => 1.02)))).toBe("");
  expect(verdictOf(changeOf(SPEEDS.map(() => 0.98)))).toBe("");
});

test("fresh processes pair by their order, and each case by itself", () => {
  const rounds = [1, 2, 3, 4, 5].flatMap((us) => [
    ...[OLD, NEW].map((build) => figure(build, [us])),
    figure(OLD, [us], "cold"),
    figure(NEW, [2 * us], "cold"),
  ]).map((each) => ({ ...each, blocks: undefined }) as unknown as RoundFigure);
  const changes = changesOf(rounds);
  expect(changes.map(({ case: name, ratio }) => [name, ratio])).toEqual([["f64", 1], ["cold", 2]]);
  expect(changes.map(verdictOf)).toEqual(["", "slower"]);
});
