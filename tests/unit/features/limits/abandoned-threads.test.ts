import { expect, test } from "vitest";
import { AbandonedThreads } from "../../../../src/features/calls/limits/host/abandoned-threads.ts";
import { RESULT_NUMBER } from "../../../../src/lane/frame.ts";
import { FakeLane } from "../../../support/lanes.ts";

const create = (canStop: boolean, max = 2) => new AbandonedThreads({ cores: 4, max, canStop });
const stuckLane = (id: number): FakeLane => new FakeLane({ id, isAwake: true });

test("threads count until they park or respond", () => {
  const abandoned = create(false);
  const [one, two] = [stuckLane(0), stuckLane(1)];
  expect([abandoned.add(one), abandoned.add(two), abandoned.size]).toEqual([true, true, 2]);
  one.isAwake = false;
  expect(abandoned.size).toBe(1);
  two.pair.worker.sendNumber(0, 0, RESULT_NUMBER, 0, 1);
  expect(abandoned.size).toBe(0);
});

test("no more threads than the maximum may be abandoned", () => {
  const abandoned = create(false);
  for (const id of [0, 1]) abandoned.add(stuckLane(id));
  expect(abandoned.mayStop(stuckLane(2))).toBe(false);
  expect(abandoned.mayStop(new FakeLane({ isAwake: false }))).toBe(true);
});

test("no thread counts if the runtime can stop it", () => {
  const abandoned = create(true, 0);
  expect([abandoned.mayStop(stuckLane(0)), abandoned.add(stuckLane(0))]).toEqual([true, false]);
  expect([abandoned.size, abandoned.stretch(100)]).toEqual([0, 1]);
});

test("limits grow as abandoned threads occupy cores and never shrink", () => {
  const abandoned = create(false, Infinity);
  expect(abandoned.stretch(100)).toBe(1);
  for (let id = 0; id < 6; id++) abandoned.add(stuckLane(id));
  expect([abandoned.stretch(2), create(false).stretch(0)]).toEqual([2, 1]);
});
