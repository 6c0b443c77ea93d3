/** When a further worker is worth its start. */
import { expect, test } from "vitest";
import { StartCost } from "../../../../src/features/workers/scaling/host/start-cost.ts";
import { FakeLane } from "../../../support/lanes.ts";

test("a worker is worth its start if its part of the work is worth two, or calls have waited for long", () => {
  let nowMs = 0;
  const cost = new StartCost(() => nowMs);
  // No start was measured: the first worker starts, perhaps for ever.
  cost.begin(new FakeLane());
  nowMs += 249;
  expect(cost.isWorth(1000, 1, 1000)).toBe(false);
  nowMs += 1;
  expect(cost.isWorth(undefined, 1, 0)).toBe(true);
  const start = (ms: number): void => {
    const lane = new FakeLane();
    cost.begin(lane);
    nowMs += ms;
    cost.end(lane);
  };
  start(40);
  expect([79, 80].map((waitedMs) => cost.isWorth(undefined, 1, waitedMs))).toEqual([false, true]);
  expect([160, 161].map((backlogMs) => cost.isWorth(backlogMs, 1, 10))).toEqual([false, true]);
  expect([240, 241].map((backlogMs) => cost.isWorth(backlogMs, 2, 10))).toEqual([false, true]);
  expect([159, 160].map((waitedMs) => cost.isWorth(1, 1, waitedMs))).toEqual([false, true]);
  start(80);
  expect([240, 241].map((backlogMs) => cost.isWorth(backlogMs, 1, 10))).toEqual([false, true]);
  start(10_000); // its module loads for long
  expect([199, 200].map((waitedMs) => cost.isWorth(undefined, 1, waitedMs))).toEqual([false, true]);
});
