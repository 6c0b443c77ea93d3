/** What the phases of a lane mean for its calls, with lanes and a queue that the test plays. */
import { expect, test } from "vitest";
import { ProtocolError } from "../../../../src/errors.ts";
import { InFlight } from "../../../../src/host/calls/in-flight.ts";
import { LanePhases, type LanePhasesParts } from "../../../../src/host/dispatch/lane-phases.ts";
import { LaneSet } from "../../../../src/host/lanes/lane-set.ts";
import type { Phase } from "../../../../src/host/lanes/phase.ts";
import { FakeLane } from "../../../support/lanes.ts";

/** A lane with one call, in the last of these phases. `log`: what happens, in order. */
function createLane(...before: readonly Phase[]) {
  const log: string[] = [];
  const lanes = new LaneSet();
  const lane = Object.assign(new FakeLane(), {
    end: (reason: string | Error): Promise<void> => {
      log.push(`end: ${reason}`);
      return Promise.resolve();
    },
  });
  for (const phase of before) lanes.move(lane, phase);
  lane.load.add(0);
  lanes.watch(({ phase }) => void log.push(phase));
  const parts = {
    inFlight: new InFlight(),
    lanes,
    pending: { isDue: false, kick: () => {} },
    placement: { forget: () => {} },
    responses: { take: () => log.push("take responses") },
    waiting: { flush: () => false, pinned: undefined },
    events: { onWait: () => log.push("wait") },
    requeue: () => log.push("requeue"),
  };
  const phases = new LanePhases(parts as unknown as LanePhasesParts);
  return { lane, lanes, log, parts, phases };
}

test("a lane that is paused gets no calls until it goes on", () => {
  const { lane, lanes, log, phases } = createLane("preparing", "open");
  phases.pause(lane);
  expect([log, lanes.open]).toEqual([["suspended", "requeue", "wait"], []]);
  phases.resume(lane);
  expect(lanes.open).toEqual([lane]);
});

test("a lane that waits for the host while it is prepared is not open when it goes on", () => {
  const { lane, lanes, log, phases } = createLane("preparing");
  phases.pause(lane);
  phases.resume(lane);
  expect([log, lanes.open]).toEqual([[], []]);
  expect([phases.open(lane), lanes.open]).toEqual([true, [lane]]);
});

test("a lane that drains while it is paused or prepared does not open again, and ends for that reason", () => {
  for (const from of [["preparing"], ["preparing", "open", "suspended"]] as const) {
    const { lane, lanes, log, phases } = createLane(...from);
    phases.drain(lane, "it was recycled");
    phases.resume(lane);
    expect([phases.open(lane), lanes.open]).toEqual([false, []]);
    expect(log).toEqual(["draining", "requeue"]); // it has a call
    lane.load.remove(0);
    phases.endDrained();
    phases.endDrained();
    expect(log.slice(2)).toEqual(["closing", "take responses", "requeue", "end: it was recycled"]);
    expect(lanes.all).toEqual([]);
  }
});

test("a lane is stopped after its calls were queued, unless its rings are damaged", () => {
  const late = createLane("preparing", "open");
  late.phases.end(late.lane, new Error("late"));
  expect(late.log).toEqual(["closing", "requeue", "end: Error: late"]);
  const damaged = createLane("preparing", "open");
  damaged.phases.end(damaged.lane, new ProtocolError("damaged"));
  expect(damaged.log).toEqual(["closing", expect.stringContaining("damaged")]);
});

test("a lane that closes with its pool is read until it breaks the protocol", () => {
  const { lane, lanes, log, phases } = createLane("preparing", "open", "closing");
  phases.end(lane, "it was idle");
  expect([log, lanes.all]).toEqual([[], [lane]]);
  phases.end(lane, new ProtocolError("damaged"));
  expect([log, lanes.all]).toEqual([[expect.stringContaining("damaged")], []]);
});

test("a lane whose ring is damaged ends when a call in it exceeds a limit", () => {
  const { lane, log, parts, phases } = createLane("preparing", "open");
  Object.assign(parts, {
    requeue: () => {
      throw new ProtocolError("damaged");
    },
  });
  phases.end(lane, new Error("too long"));
  expect(log.at(-1)).toMatch(/^end: .*too long/);
});
