/** When a further worker is worth its start. */
import { expect, test } from "vitest";
import { StartCost } from "../../../../src/features/workers/scaling/host/start-cost.ts";
import { FakeLane } from "../../../support/lanes.ts";

test("a worker is worth its start if the calls would last longer, or have waited for longer", () => {
  let nowMs = 0;
  const cost = new StartCost(() => nowMs);
  expect(cost.isWorth(0.1, 1, 10)).toBe(true); // no start was measured
  const start = (ms: number): void => {
    const lane = new FakeLane();
    cost.begin(lane);
    nowMs += ms;
    cost.end(lane);
  };
  start(40);
  expect(cost.isWorth(undefined, 1, 10)).toBe(true); // nothing is known of the tasks
  expect([40, 41].map((backlogMs) => cost.isWorth(backlogMs, 1, 10))).toEqual([false, true]);
  expect([80, 81].map((backlogMs) => cost.isWorth(backlogMs, 2, 10))).toEqual([false, true]);
  expect([39, 40].map((waitedMs) => cost.isWorth(1, 1, waitedMs))).toEqual([false, true]);
  start(80);
  expect([60, 61].map((backlogMs) => cost.isWorth(backlogMs, 1, 10))).toEqual([false, true]);
});
