import { expect, test } from "vitest";
import { StoppedWorkers } from "../../../../src/features/calls/limits/host/stopped-workers.ts";
import type { Lane } from "../../../../src/host/lanes/lane.ts";
import type { Workers } from "../../../../src/host/workers/feature.ts";
import { RESULT_NUMBER } from "../../../../src/lane/frame.ts";
import { FakeLane, laneSetOf } from "../../../support/lanes.ts";

/** Stops workers on a machine of four cores. `ended`: those that were ended; `busy`: how many workers are busy. */
function create(stopsThreads: boolean, maxAbandonedThreads = 2, busy = 0) {
  const ended: number[] = [];
  const workers = {
    dispatcher: {
      lanes: Object.defineProperty(laneSetOf([]), "busyCount", { value: busy }),
      phases: { end: (lane: FakeLane) => void ended.push(lane.id), drain: () => {} },
    },
    events: { emit: () => true },
    runtime: { cores: 4, stopsThreads },
    size: { maxAbandonedThreads },
    mayStart: true,
  };
  const stopped = new StoppedWorkers(workers as unknown as Workers);
  const stop = (lane: FakeLane): void => stopped.stop(lane, new Error("late"));
  return { ended, stop, stopped };
}

const stuckLane = (id: number): FakeLane => new FakeLane({ id, isAwake: true });

test("threads count until they park or respond", () => {
  const { stop, stopped } = create(false);
  const [one, two] = [stuckLane(0), stuckLane(1)];
  stop(one);
  stop(two);
  expect(stopped.abandonedThreads).toBe(2);
  one.isAwake = false;
  expect(stopped.abandonedThreads).toBe(1);
  two.pair.worker.sendNumber(0, 0, RESULT_NUMBER, 0, 1);
  expect(stopped.abandonedThreads).toBe(0);
});

test("no more threads than the maximum may be abandoned", () => {
  const { ended, stop, stopped } = create(false);
  const stuck = [0, 1, 2].map((id) => stuckLane(id));
  for (const lane of stuck) stop(lane);
  stop(new FakeLane({ id: 3, isAwake: false }));
  expect([ended, stopped.abandonedThreads]).toEqual([[0, 1, 3], 2]);
  expect(stuck.map((lane) => (lane as Lane).isUnstoppable)).toEqual([undefined, undefined, true]);
});

test("no thread counts if the runtime can stop it", () => {
  const { ended, stop, stopped } = create(true, 0, 100);
  stop(stuckLane(0));
  expect([ended, stopped.abandonedThreads, stopped.stretch]).toEqual([[0], 0, 1]);
});

test("limits grow as abandoned threads occupy cores and never shrink", () => {
  const stretchOf = (threads: number, busy: number): number => {
    const { stop, stopped } = create(false, Infinity, busy);
    for (let id = 0; id < threads; id++) stop(stuckLane(id));
    return stopped.stretch;
  };
  expect([stretchOf(0, 100), stretchOf(6, 2), stretchOf(1, 1)]).toEqual([1, 2, 1]);
});
