/** Where calls go: estimates, loads, placement, and how long to spin. */
import { describe, expect, test } from "vitest";
import {
  ASYNC,
  KIND_MASK,
  LONG,
  SHORT,
  TaskTimer,
  TaskTimings,
  taskTimingsBytes,
  tenthsOf,
  UNKNOWN_LOAD,
} from "../../../../src/metering/task-timings.ts";
import { IDLE, SLEEP, SPIN, type WaitHint } from "../../../../src/host/lanes/lane-set.ts";
import { LaneLoad } from "../../../../src/host/lanes/lane-load.ts";
import { type DepthLimits, InFlightWindow } from "../../../../src/host/lanes/in-flight-window.ts";
import { PACKED, PACKED_WHEN_CROWDED, Placement } from "../../../../src/host/schedule/placement.ts";
import { FakeLane, laneSetOf } from "../../../support/lanes.ts";

const depthOf = (usual: number, maxQueue = 1): InFlightWindow =>
  Object.assign(
    new InFlightWindow(
      { maxConcurrency: 1, maxQueue, inliner: undefined, recycleAfter: Infinity },
      true,
    ),
    { usual },
  );

const load = (tenths: number, kind = SHORT): number => ((tenths + 1) << 2) | kind;

describe("in-flight window", () => {
  const limits: DepthLimits = {
    maxConcurrency: 8,
    maxQueue: Infinity,
    inliner: undefined,
    recycleAfter: Infinity,
  };
  function laneWith(calls: number, tenths: number, kind = SHORT): LaneLoad {
    const lane = new LaneLoad();
    for (let call = 0; call < calls; call++) lane.add(load(tenths, kind));
    return lane;
  }

  test("is 1024 calls, or maxConcurrency if that is larger", () => {
    const depth = new InFlightWindow(limits, false);
    expect(depth.hasRoom(laneWith(1023, 1), true)).toBe(true);
    expect(depth.hasRoom(laneWith(1024, 1), true)).toBe(false);
    expect(new InFlightWindow({ ...limits, maxConcurrency: 2000 }, false).usual).toBe(2000);
  });

  test("is maxConcurrency if the queue is bounded: all other calls wait where they are counted", () => {
    expect(new InFlightWindow({ ...limits, maxQueue: 100 }, true).usual).toBe(8);
  });

  test("holds up to 50 ms of short calls if no option depends on their order", () => {
    const depth = new InFlightWindow(limits, true);
    const many = laneWith(20_000, 20);
    expect(depth.hasRoom(many, true)).toBe(true);
    expect(depth.hasRoom(many, false)).toBe(false);
    expect(depth.hasRoom(laneWith(20_000, 30), true)).toBe(false);
    for (const kind of [ASYNC, LONG]) {
      const mixed = laneWith(2000, 1);
      mixed.add(load(1, kind));
      expect(depth.hasRoom(mixed, true)).toBe(false);
    }
    for (const other of [{ maxQueue: 1e6 }, { inliner: {} }, { recycleAfter: 1e6 }]) {
      expect(new InFlightWindow({ ...limits, ...other }, true).hasRoom(many, true)).toBe(false);
    }
    depth.keepUsual();
    expect(depth.hasRoom(many, true)).toBe(false);
    expect(depth.hasRoom(laneWith(1000, 1), false)).toBe(true);
  });

  test("counts the calls beyond its usual size as waiting", () => {
    const lanes = [10, 1024, 1030, 2000].map((calls) => ({ load: laneWith(calls, 1) }));
    expect(new InFlightWindow(limits, true).excessOf(lanes)).toBe(6 + 976);
  });
});

describe("service times", () => {
  function timer() {
    const buffer = new SharedArrayBuffer(taskTimingsBytes(2));
    const clock = { ms: 1000 };
    const measures = { count: 0 };
    const timing = new TaskTimer(buffer, () => {
      measures.count++;
      return clock.ms;
    });
    const run = (us: number, task = 0, isDone = true): void => {
      const start = timing.begin(task);
      clock.ms += us / 1000;
      if (start >= 0) timing.end(task, start, isDone);
    };
    return { buffer, times: new TaskTimings(buffer), timing, clock, measures, run };
  }

  test("are unknown at first and then measured per task", () => {
    const { times, run } = timer();
    expect(times.loadOf(0)).toBe(UNKNOWN_LOAD);
    run(7);
    expect(tenthsOf(times.loadOf(0))).toBe(70);
    expect(times.loadOf(0) & KIND_MASK).toBe(SHORT);
    expect(times.loadOf(1)).toBe(UNKNOWN_LOAD);
  });

  test("ignore a single slow run of a short task", () => {
    const { times, run } = timer();
    for (let call = 0; call < 100; call++) run(0.2);
    for (let call = 0; call < 64; call++) run(call === 63 || call === 0 ? 5000 : 0.2);
    expect(times.loadOf(0) & KIND_MASK).toBe(SHORT);
    expect(tenthsOf(times.loadOf(0))).toBeLessThan(20);
    for (let call = 0; call < 70; call++) run(5000); // but this does
    expect(times.loadOf(0) & KIND_MASK).toBe(LONG);
  });

  test("follow changes; short tasks are sampled and long tasks are always measured", () => {
    const { times, measures, run } = timer();
    for (let call = 0; call < 1000; call++) run(1);
    expect(measures.count).toBeLessThan(100);
    expect(tenthsOf(times.loadOf(0))).toBe(10);
    for (let call = 0; call < 1000; call++) run(200);
    expect(tenthsOf(times.loadOf(0))).toBeGreaterThan(1700);
    expect(times.loadOf(0) & KIND_MASK).toBe(LONG);
    const before = measures.count;
    for (let call = 0; call < 10; call++) run(200);
    expect(measures.count - before).toBe(20);
    for (let call = 0; call < 1000; call++) run(1);
    expect(tenthsOf(times.loadOf(0))).toBeLessThan(20);
  });

  test("count a first call above 10 ms as long until a short second call", () => {
    const { buffer, clock, times, run } = timer();
    run(9000, 1);
    expect(times.loadOf(1)).toBe(UNKNOWN_LOAD);
    run(11_000);
    expect(times.loadOf(0) & KIND_MASK).toBe(LONG);
    run(1);
    expect([times.loadOf(0) & KIND_MASK, tenthsOf(times.loadOf(0))]).toEqual([SHORT, 10]);
    // Nor does a worker that is new to the task make it long for those that know it.
    const other = new TaskTimer(buffer, () => clock.ms);
    const start = other.begin(0);
    clock.ms += 15;
    other.end(0, start, true);
    expect(times.loadOf(0) & KIND_MASK).toBe(SHORT);
  });

  test("are the shortest of the first three calls, and unknown before", () => {
    const { times, run } = timer();
    run(300);
    run(400);
    expect(times.loadOf(0)).toBe(UNKNOWN_LOAD);
    run(2);
    expect(times.loadOf(0) & KIND_MASK).toBe(SHORT);
    expect(tenthsOf(times.loadOf(0))).toBe(20);
    for (const us of [300, 200, 400]) run(us, 1);
    expect(times.loadOf(1) & KIND_MASK).toBe(LONG);
    expect(tenthsOf(times.loadOf(1))).toBe(2000);
    run(1000, 1);
    expect(tenthsOf(times.loadOf(1))).toBe(4000);
  });

  test("classify an async task as async even if it blocks its worker briefly", () => {
    const { times, timing, clock, run } = timer();
    const start = clock.ms;
    run(2, 1, false);
    expect(times.loadOf(1) & KIND_MASK).toBe(ASYNC); // it may take any time
    clock.ms += 30;
    timing.settled(1, start);
    expect(times.loadOf(1) & KIND_MASK).toBe(ASYNC);
    expect(tenthsOf(times.loadOf(1))).toBe(20);
    run(2, 0, false);
    timing.settled(0, clock.ms);
    expect(times.loadOf(0) & KIND_MASK).toBe(SHORT);
  });

  test("do not overflow for tasks that run for hours", () => {
    const { times, run } = timer();
    for (let call = 0; call < 3; call++) run(3_600_000_000);
    expect(tenthsOf(times.loadOf(0))).toBeGreaterThan(500_000_000);
    expect(times.loadOf(0) & KIND_MASK).toBe(LONG);
  });
});

describe("load of a lane", () => {
  test("is a sum, and is near unless it has a long call or only async calls", () => {
    const lane = new LaneLoad();
    expect(lane.mayRespondSoon).toBe(false);
    lane.add(load(10, ASYNC));
    expect(lane.mayRespondSoon).toBe(false);
    lane.add(load(20));
    expect([lane.backlog, lane.mayRespondSoon, lane.hasLong]).toEqual([30, true, false]);
    lane.add(load(900, LONG));
    expect([lane.backlog, lane.mayRespondSoon, lane.hasLong]).toEqual([930, false, true]);
    lane.remove(load(900, LONG));
    lane.remove(load(10, ASYNC));
    expect([lane.backlog, lane.mayRespondSoon, lane.hasLong]).toEqual([20, true, false]);
    lane.isWaking = true; // waking up takes longer than a spin
    expect([lane.mayRespondSoon, lane.hasOnlyShort]).toEqual([false, true]);
    lane.isWaking = false;
    lane.remove(UNKNOWN_LOAD); // counted as something else: the end of all calls sets it right
    expect([lane.outstanding, lane.backlog, lane.mayRespondSoon]).toEqual([0, 0, false]);
  });

  test("is recounted from its calls and its orphaned calls", () => {
    const lane = new LaneLoad();
    for (const each of [load(1), load(2, ASYNC), load(9000, LONG)]) lane.add(each);
    lane.orphaned.add(7, 0, { load: load(30, ASYNC), killAtMs: Infinity, limitMs: undefined });
    lane.outstanding = 100;
    lane.backlog = -1;
    const { emptied } = lane;
    lane.recount([load(10), load(20)]);
    expect([lane.outstanding, lane.backlog]).toEqual([3, 60]);
    expect([lane.hasLong, lane.hasOnlyShort, lane.mayRespondSoon]).toEqual([false, false, true]);
    expect(lane.emptied).not.toBe(emptied); // the lane is not stalled since before
    for (const each of [load(10), load(20)]) lane.remove(each);
    expect([lane.outstanding, lane.mayRespondSoon]).toEqual([1, false]); // only what was given up is left
    lane.recount([load(9000, LONG)]);
    expect([lane.outstanding, lane.hasLong, lane.mayRespondSoon]).toEqual([2, true, false]);
    lane.orphaned.take(7, 0);
    lane.recount([]);
    expect([lane.outstanding, lane.backlog, lane.hasLong, lane.hasOnlyShort]).toEqual([
      0,
      0,
      false,
      true,
    ]);
  });
});

describe("wait hint", () => {
  const waitHint = (...loads: readonly number[][]): WaitHint =>
    laneSetOf(loads.map((given) => {
      const lane = new FakeLane();
      for (const each of given) lane.give(each);
      return lane;
    })).waitHint();
  const quick = load(10);
  const tooLong = load(9000, LONG);

  test("is the best hint of any lane", () => {
    expect(waitHint([], [])).toBe(IDLE);
    expect(waitHint([tooLong], [quick], [])).toBe(SPIN);
    expect(waitHint([load(1500, LONG)], [quick])).toBe(SPIN);
    expect(waitHint([tooLong], [])).toBe(SLEEP);
    expect(waitHint([load(10, ASYNC)], [])).toBe(SLEEP);
  });
});

describe("placement", () => {
  const coresOf = (coresLeft: number) => ({ coresLeft });
  const cores = coresOf(4);

  /** Indices of the lanes that take `count` calls of this load; −1: none. */
  function place(
    placement: Placement,
    fakes: FakeLane[],
    callLoad: number,
    count: number,
  ): number[] {
    return Array.from({ length: count }, () => {
      const lane = placement.pick(fakes, callLoad);
      lane?.load.add(callLoad);
      return fakes.findIndex((fake) => fake === lane);
    });
  }

  test("short calls go to one lane until its backlog takes longer than a wake", () => {
    const fakes = [new FakeLane(), new FakeLane()];
    const placed = place(new Placement(depthOf(1024), cores), fakes, load(100), 30);
    const each = PACKED / 100;
    expect(placed.slice(0, each)).toEqual(Array.from({ length: each }, () => 0));
    expect(placed.slice(each, 2 * each)).toEqual(Array.from({ length: each }, () => 1));
    expect(fakes[0]!.load.outstanding - fakes[1]!.load.outstanding).toBe(0);
  });

  test("more calls go to one lane if another worker would have no core", () => {
    const fakes = [new FakeLane(), new FakeLane()];
    const placed = place(new Placement(depthOf(1024), coresOf(1)), fakes, load(100), 120);
    const each = PACKED_WHEN_CROWDED / 100;
    expect(placed.slice(0, each)).toEqual(Array.from({ length: each }, () => 0));
    expect(new Set(placed.slice(each))).toEqual(new Set([1]));
  });

  test("unread responses do not count as backlog", () => {
    const fakes = [new FakeLane(), new FakeLane()];
    const placement = new Placement(depthOf(1024), cores);
    place(placement, fakes, load(10), 50);
    fakes[0]!.respond(45);
    expect(place(placement, fakes, load(10), 20)).toEqual(Array.from({ length: 20 }, () => 0));
  });

  test("long calls and calls of unmeasured tasks go to idle lanes", () => {
    for (const callLoad of [load(5000, LONG), UNKNOWN_LOAD]) {
      const fakes = [new FakeLane(), new FakeLane(), new FakeLane()];
      expect(place(new Placement(depthOf(1024), cores), fakes, callLoad, 7)).toEqual([
        0,
        1,
        2,
        0,
        1,
        2,
        -1,
      ]);
    }
  });

  test("async calls go to the lane with the fewest of them, before any has begun", () => {
    const fakes = [new FakeLane(), new FakeLane(), new FakeLane()];
    fakes[0]!.give(load(10, ASYNC), 4);
    fakes[1]!.give(load(10), 40); // done soon, and not counted
    fakes[2]!.give(load(9000, LONG)); // an async call would wait behind it
    const placement = new Placement(depthOf(1024), cores);
    expect(place(placement, fakes, load(10, ASYNC), 6)).toEqual([1, 1, 1, 1, 0, 1]);
    for (const fake of fakes) fake.give(load(9000, LONG), 2);
    expect(place(placement, fakes, load(10, ASYNC), 1)).toEqual([-1]);
  });

  test("of several resting workers the one with the fewest calls takes a long one", () => {
    const fakes = [3, 1, 2].map((calls) =>
      new FakeLane({ isResting: true }).give(load(10, ASYNC), calls)
    );
    const placement = new Placement(depthOf(1024), cores);
    for (const callLoad of [load(9000, LONG), UNKNOWN_LOAD]) {
      expect(placement.pick(fakes, callLoad)).toBe(fakes[1]);
    }
  });

  test("short calls avoid lanes with a long call and use them last", () => {
    const fakes = [new FakeLane(), new FakeLane()];
    const placement = new Placement(depthOf(1024), cores);
    fakes[0]!.give(load(9000, LONG));
    expect(new Set(place(placement, fakes, load(1), 500))).toEqual(new Set([1]));
    fakes[1]!.give(load(90_000, LONG));
    // Behind the one that is done within a millisecond as many as are done by then as well.
    expect(place(placement, fakes, load(100), 13)).toEqual([
      ...Array.from({ length: 10 }, () => 0),
      -1,
      -1,
      -1,
    ]);
  });

  test("without stealing, calls wait behind a few short ones only", () => {
    const fakes = [new FakeLane(), new FakeLane()];
    // Nothing is known about the first call, which may take for ever, and no core is left for another worker.
    fakes[0]!.give(UNKNOWN_LOAD);
    const placement = new Placement(depthOf(1024), coresOf(1), false);
    const each = PACKED / 100;
    const placed = place(placement, fakes, load(100), each + 2);
    expect(placed).toEqual([...Array.from({ length: each }, () => 1), -1, -1]);
    for (const callLoad of [load(5000, LONG), UNKNOWN_LOAD, load(10, ASYNC)]) {
      const busy = [new FakeLane().give(load(5000, LONG)), new FakeLane()];
      expect(place(placement, busy, callLoad, 1)).toEqual([1]);
      busy[1]!.give(load(5000, LONG));
      expect(place(placement, busy, callLoad, 1)).toEqual([-1]);
    }
  });

  test("a lane with a resting worker takes calls even if responses are unread", () => {
    const fakes = [new FakeLane(), new FakeLane()];
    for (const fake of fakes) fake.give(load(9000, LONG), 5);
    const placement = new Placement(depthOf(1024), cores);
    expect(place(placement, fakes, load(9000, LONG), 1)).toEqual([-1]);
    fakes[1]!.isResting = true;
    expect(place(placement, fakes, load(9000, LONG), 1)).toEqual([1]);
    expect(place(placement, fakes, load(1), 1)).toEqual([1]);
  });

  test("a short call goes to an awake worker and does not wake a resting one", () => {
    const fakes = [new FakeLane(), new FakeLane()];
    const placement = new Placement(depthOf(1024), cores);
    place(placement, fakes, load(100), 10); // five each
    fakes[0]!.isResting = true; // answered them all, and nobody has read that yet
    fakes[1]!.respond(4);
    expect(place(placement, fakes, load(100), 3)).toEqual([1, 1, 1]);
  });

  test("more calls go to each worker if more workers are awake", () => {
    const fakes = Array.from({ length: 9 }, () => new FakeLane());
    for (const fake of fakes.slice(0, 8)) fake.give(load(PACKED + 100));
    expect(place(new Placement(depthOf(1024), cores), fakes, load(100), 1)).not.toEqual([8]);
    for (const fake of fakes.slice(0, 8)) fake.give(load(PACKED));
    expect(place(new Placement(depthOf(1024), cores), fakes, load(100), 1)).toEqual([8]);
  });

  test("a full lane and a removed lane get no calls", () => {
    const fakes = [new FakeLane(), new FakeLane()];
    const placement = new Placement(depthOf(8), cores);
    expect(place(placement, fakes, load(0), 20).filter((lane) => lane < 0)).toHaveLength(4);
    const [gone, left] = [new FakeLane(), new FakeLane()];
    const other = new Placement(depthOf(8), cores);
    place(other, [gone, left], load(0), 1);
    other.forget(gone);
    expect(place(other, [left], load(0), 1)).toEqual([0]);
  });
});
