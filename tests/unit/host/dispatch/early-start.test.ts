/** The first call of a pool, in the ring of a worker that starts. The test plays the worker. */
import { expect, test } from "vitest";
import type { EarlyTask } from "../../../../src/host/calls/queued-call.ts";
import { InFlight, QUEUED_ON_HOST } from "../../../../src/host/calls/in-flight.ts";
import { PLAIN } from "../../../../src/host/calls/call-settings.ts";
import { EarlyStart } from "../../../../src/host/dispatch/early-start.ts";
import type { Sender } from "../../../../src/host/dispatch/queue/sender.ts";
import type { WaitingCalls } from "../../../../src/host/dispatch/queue/waiting-calls.ts";
import { LaneSet } from "../../../../src/host/lanes/lane-set.ts";
import { UNKNOWN_LOAD } from "../../../../src/metering/task-timings.ts";
import { FakeLane } from "../../../support/lanes.ts";

/** A call that was sent by its name. `runsByName`: what the worker says of its task, when it has left the record alone or run it. */
function sent(runsByName: boolean) {
  const inFlight = new InFlight();
  const lanes = new LaneSet();
  const lane = new FakeLane({ id: 1 });
  lanes.starting = lane;
  const outcomes: unknown[] = [];
  const call = inFlight.add((value) => outcomes.push(["resolved", value]), () => {});
  const putBack: unknown[] = [];
  const early = new EarlyStart({
    inFlight,
    lanes,
    sender: {
      sendSnapshot: () => {
        call.lane = lane.id;
        lane.load.add(UNKNOWN_LOAD);
        return true;
      },
    } as unknown as Sender,
    waiting: {
      putBack: (calls: readonly unknown[]) => putBack.push(...calls),
    } as unknown as WaitingCalls,
    requeue: () => {}, // the worker has taken the record
  });
  const named: EarlyTask = {
    name: "f",
    find: () => ({ task: 3, settings: PLAIN, runsByName }),
  };
  const { slot, generation } = call;
  const snapshot = lane.pair.host.snapshots.capture([1]);
  const queued = { slot, generation, task: -1, early: named, snapshot, priority: 0 };
  expect(early.start(queued)).toBe(true);
  return { call, early, lane, outcomes, putBack, queued };
}

test("a task that runs by its name gets its call, which counts for it", () => {
  const { call, early, lane, putBack } = sent(true);
  early.onTasksKnown();
  expect([call.row, call.lane, lane.load.outstanding, putBack]).toEqual([4, 1, 1, []]);
  expect(call.extra!.retryPayload).toMatchObject({ task: 3, early: undefined });
});

test("a call that the worker has left alone is made again", () => {
  const { call, early, lane, putBack, queued } = sent(false);
  early.onTasksKnown();
  expect([call.lane, lane.load.outstanding, putBack]).toEqual([QUEUED_ON_HOST, 0, [queued]]);
});

test("unless the reader of its stream wants no more", () => {
  const { call, early, lane, outcomes, putBack } = sent(false);
  call.keep().isCancelled = true;
  early.onTasksKnown();
  expect([lane.load.outstanding, putBack, outcomes]).toEqual([0, [], [["resolved", undefined]]]);
});

test("none is sent when another was, or when workers run something first", () => {
  const { early, queued } = sent(true);
  expect(early.start(queued)).toBe(false);
  const over = sent(true);
  over.lane.load.sent = 0;
  over.early.end();
  expect(over.early.start(over.queued)).toBe(false);
});
