/** Ratios of contenders in turn. */
import { expect, test } from "vitest";
import { pairedRatio } from "./paired.ts";
import type { RoundFigure } from "./schema.ts";
import { takeInTurn } from "../scenarios/in-turn.ts";

const place = { case: "a case", size: 1, unit: "µs", count: 1 } as const;
const round = (...blocks: number[]): RoundFigure => ({ ...place, samples: [0], blocks });

test("neighbours pair, so a slow moment of the machine does not count", () => {
  const own = [round(10, 20, 300), round(10, 10, 10)];
  const others = [round(5, 10, 150), round(5, 5, 5)];
  expect(pairedRatio(own, "b", others)).toEqual({ to: "b", ratio: 2, low: 2, high: 2, pairs: 6 });
});

test("fresh processes pair by their medians", () => {
  const rounds = (values: number[]): RoundFigure[] =>
    values.map((value) => ({ ...place, samples: [value, value, 1000] }));
  const paired = pairedRatio(rounds([3, 6, 9, 12, 15]), "b", rounds([1, 2, 3, 4, 5]));
  expect(paired).toMatchObject({ ratio: 3, pairs: 5 });
});

test("the interval holds the ratio, and is wider if pairs differ", () => {
  const ones = round(...Array.from({ length: 40 }, () => 1));
  const even = pairedRatio([round(...Array.from({ length: 40 }, (_, n) => 2 + n % 2 / 100))], "b", [
    ones,
  ])!;
  const uneven = pairedRatio([round(...Array.from({ length: 40 }, (_, n) => 1 + n % 7))], "b", [
    ones,
  ])!;
  for (const { low, ratio, high } of [even, uneven]) {
    expect(low).toBeLessThanOrEqual(ratio);
    expect(high).toBeGreaterThanOrEqual(ratio);
  }
  expect(uneven.high - uneven.low).toBeGreaterThan(even.high - even.low);
});

test("too few pairs, other numbers of them, and nothing to compare with give no ratio", () => {
  expect(pairedRatio([round(1, 1)], "b", [round(1, 1)])).toBeUndefined();
  expect(pairedRatio([round(1, 1, 1, 1, 1)], "b", [round(1, 1, 1, 1)])).toBeUndefined();
  expect(pairedRatio([round(1, 1, 1, 1, 1)], "b", [round(0, 0, 0, 0, 0)])).toBeUndefined();
});

test("contenders take turns there and back, warm-ups do not count, and one that fails is left out", async () => {
  const order: string[] = [];
  const contenders = ["a", "b", "c"].map((name) => ({ name }));
  const found = await takeInTurn({
    contenders,
    turns: 2,
    warmUps: 1,
    place: { case: "a case", size: 1 },
    take: ({ name }) => {
      order.push(name);
      if (name === "c" && order.length > 3) throw new Error("tired");
      return Promise.resolve([{ case: "a case", size: 1, unit: "µs", samples: [1, 3, 2] }]);
    },
  });
  expect(order).toEqual(["c", "b", "a", "a", "b", "c", "b", "a"]);
  expect(found).toEqual([
    {
      case: "a case",
      size: 1,
      unit: "µs",
      contender: "a",
      samples: [1, 3, 2, 1, 3, 2],
      blocks: [2, 2],
    },
    {
      case: "a case",
      size: 1,
      unit: "µs",
      contender: "b",
      samples: [1, 3, 2, 1, 3, 2],
      blocks: [2, 2],
    },
    { case: "a case", size: 1, contender: "c", reason: "tired", isSkipped: false },
  ]);
});
