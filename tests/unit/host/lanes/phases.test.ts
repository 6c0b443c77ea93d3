/** The phases of a lane: which may follow which, and what is known of lanes by them. */
import { expect, test } from "vitest";
import { LaneSet } from "../../../../src/host/lanes/lane-set.ts";
import { isAlive, type Phase, takesCalls } from "../../../../src/host/lanes/phase.ts";
import { FakeLane } from "../../../support/lanes.ts";

/** How a lane comes to each phase. */
const WAYS: Readonly<Record<Phase, readonly Phase[]>> = {
  starting: [],
  preparing: ["preparing"],
  open: ["preparing", "open"],
  suspended: ["preparing", "open", "suspended"],
  draining: ["preparing", "open", "draining"],
  closing: ["preparing", "open", "draining", "closing"],
  gone: ["gone"],
};
const PHASES = Object.keys(WAYS) as Phase[];

/** A lane in this phase, among others that are open. */
function createLane(phase: Phase) {
  const lanes = new LaneSet();
  const [before, lane, after] = [0, 1, 2].map((id) => new FakeLane({ id }));
  for (const other of [before!, after!]) for (const to of WAYS.open) lanes.move(other, to);
  for (const to of WAYS[phase]) expect(lanes.move(lane!, to)).toBe(true);
  return { lane: lane!, lanes };
}

test("a phase follows only those from which it can be reached", () => {
  const next = (from: Phase): Phase[] =>
    PHASES.filter((to) => {
      const { lane, lanes } = createLane(from);
      const isMoved = lanes.move(lane, to);
      expect(lane.phase).toBe(isMoved ? to : from);
      return isMoved;
    });
  expect(Object.fromEntries(PHASES.map((from) => [from, next(from).join(" ")]))).toEqual({
    starting: "preparing closing gone",
    preparing: "open draining closing gone",
    open: "suspended draining closing gone",
    suspended: "open draining closing gone",
    draining: "closing gone",
    closing: "gone",
    gone: "",
  });
});

test("lanes count, get calls and are read by their phases", () => {
  const facts = PHASES.map((phase) => {
    const { lane, lanes } = createLane(phase);
    const known = [isAlive(lane), takesCalls(lane)];
    return [phase, ...known, lanes.open.includes(lane), lanes.all.includes(lane)];
  });
  expect(facts).toEqual([
    ["starting", true, false, false, false],
    ["preparing", true, true, false, true],
    ["open", true, true, true, true],
    ["suspended", true, true, false, true],
    ["draining", false, false, false, true],
    ["closing", false, false, false, true], // with its pool; others are ignored from then on
    ["gone", false, false, false, false],
  ]);
});

test("those that listen hear of each move, in the new phase", () => {
  const { lane, lanes } = createLane("starting");
  const heard: string[] = [];
  lanes.watch(({ id, phase }, from) => heard.push(`${id}: ${from} → ${phase}`));
  for (const to of ["open", "preparing", "open", "open", "closing", "gone"] as const) {
    lanes.move(lane, to);
  }
  expect(heard).toEqual([
    "1: starting → preparing",
    "1: preparing → open",
    "1: open → closing",
    "1: closing → gone",
  ]);
});
