/** Where calls go: estimates, loads, placement, relief, and how long to spin. */
import { describe, expect, test } from "vitest";
import {
  FAR,
  KIND_MASK,
  LONG,
  NEAR,
  ServiceTimer,
  ServiceTimes,
  serviceTimesBytes,
  tenthsOf,
  UNKNOWN_LOAD,
} from "../../src/endpoint/service-times.ts";
import type { Lane } from "../../src/host/lane.ts";
import {
  ALONE,
  DISTANT,
  IDLE,
  NEAR as NEAR_OUTLOOK,
  type Outlook,
  outlookOf,
} from "../../src/host/lanes.ts";
import { ActiveCount } from "../../src/park/active-count.ts";
import { LaneLoad } from "../../src/host/lane-load.ts";
import { Depth, type DepthLimits } from "../../src/host/depth.ts";
import { MovedBytes } from "../../src/host/moved-bytes.ts";
import type { PendingCall } from "../../src/host/in-flight.ts";
import { PACKED, PACKED_WHEN_CROWDED, Placement } from "../../src/host/placement.ts";
import { AT_EASE, findRelief, OVERDUE, STUCK, takeAll, takeCalls } from "../../src/host/relief.ts";
import { SpinLength } from "../../src/park/spin-length.ts";
import { currentRuntime } from "../../src/runtimes/current.ts";
import { createHeld } from "../support/endpoints.ts";

const { isArrayBuffer } = currentRuntime.kinds;

const depthOf = (usual: number, maxQueue = 1): Depth =>
  Object.assign(
    new Depth({ maxConcurrency: 1, maxQueue, inliner: undefined, recycleAfter: Infinity }, true),
    { usual },
  );

const load = (tenths: number, kind = NEAR): number => ((tenths + 1) << 2) | kind;

/** As the scheduler does it: counted first. */
function give(lane: LaneLoad, callLoad: number): void {
  lane.outstanding++;
  lane.add(callLoad);
}

describe("depth", () => {
  const limits: DepthLimits = {
    maxConcurrency: 8,
    maxQueue: Infinity,
    inliner: undefined,
    recycleAfter: Infinity,
  };
  function laneWith(calls: number, tenths: number, kind = NEAR): LaneLoad {
    const lane = new LaneLoad(0.05);
    for (let call = 0; call < calls; call++) give(lane, load(tenths, kind));
    return lane;
  }

  test("1024 calls as a rule, or as many as a worker runs at once", () => {
    const depth = new Depth(limits, false);
    expect(depth.hasRoom(laneWith(1023, 1), true)).toBe(true);
    expect(depth.hasRoom(laneWith(1024, 1), true)).toBe(false);
    expect(new Depth({ ...limits, maxConcurrency: 2000 }, false).usual).toBe(2000);
  });

  test("more of quick calls, up to 50 ms, as long as their order does not matter", () => {
    const depth = new Depth(limits, true);
    const many = laneWith(20_000, 20);
    expect(depth.hasRoom(many, true)).toBe(true);
    expect(depth.hasRoom(many, false)).toBe(false);
    expect(depth.hasRoom(laneWith(20_000, 30), true)).toBe(false);
    for (const kind of [FAR, LONG]) {
      const mixed = laneWith(2000, 1);
      give(mixed, load(1, kind));
      expect(depth.hasRoom(mixed, true)).toBe(false);
    }
    for (const other of [{ maxQueue: 1e6 }, { inliner: {} }, { recycleAfter: 1e6 }]) {
      expect(new Depth({ ...limits, ...other }, true).hasRoom(many, true)).toBe(false);
    }
    depth.keepUsual();
    expect(depth.hasRoom(many, true)).toBe(false);
    expect(depth.hasRoom(laneWith(1000, 1), false)).toBe(true);
  });

  test("what is beyond the usual counts as waiting", () => {
    const lanes = [10, 1024, 1030, 2000].map((calls) => ({ load: laneWith(calls, 1) }));
    expect(new Depth(limits, true).excessOf(lanes)).toBe(6 + 976);
  });
});

describe("moved bytes", () => {
  const isBusy = () => false;
  const isResting = () => true;
  const over = {} as PendingCall;

  test("answers make room, whichever they are of", () => {
    const moved = new MovedBytes(100, isArrayBuffer);
    const watches = [40, 40, 20].map((bytes) => {
      expect(moved.hasRoomFor(bytes, isBusy)).toBe(true);
      return moved.add(bytes);
    });
    expect(moved.hasRoomFor(1, isBusy)).toBe(false);
    watches[0]!.onOver(over);
    expect(moved.hasRoomFor(33, isBusy)).toBe(true);
    expect(moved.hasRoomFor(34, isBusy)).toBe(false);
    for (const watch of watches.slice(1)) watch.onOver(over);
    moved.add(60).onOver(over);
    for (const bytes of [50, 50]) moved.add(bytes);
    expect(moved.hasRoomFor(1, isBusy)).toBe(false);
  });

  test("what is larger than the limit goes all the same, two at a time", () => {
    const moved = new MovedBytes(100, isArrayBuffer);
    for (let call = 0; call < 2; call++) {
      expect(moved.hasRoomFor(1000, isBusy)).toBe(true);
      moved.add(1000);
    }
    expect(moved.hasRoomFor(1000, isBusy)).toBe(false);
  });

  test("a worker that waits for calls gets some, and what it has kept no longer counts", () => {
    const moved = new MovedBytes(100, isArrayBuffer);
    const kept = [60, 40].map((bytes) => moved.add(bytes));
    expect(moved.hasRoomFor(10, isBusy)).toBe(false);
    expect(moved.hasRoomFor(10, isResting)).toBe(true);
    const watches = [50, 50].map((bytes) => moved.add(bytes));
    expect(moved.hasRoomFor(10, isBusy)).toBe(false);
    for (const watch of kept) watch.onOver(over);
    expect(moved.hasRoomFor(10, isBusy)).toBe(false);
    watches[0]!.onOver(over);
    expect(moved.hasRoomFor(50, isBusy)).toBe(true);
  });

  test("copies that heddle has made do not count, nor do ports", () => {
    const { port1, port2 } = new MessageChannel();
    const transfer = [new ArrayBuffer(8), port1, new ArrayBuffer(16)];
    const held = createHeld({ transfer });
    const moved = new MovedBytes(100, isArrayBuffer);
    expect(moved.bytesOf({ ...held, mayKeep: false })).toBe(24);
    expect(moved.bytesOf({ ...held, mayKeep: true })).toBe(0);
    expect(new MovedBytes(Infinity, isArrayBuffer).bytesOf({ ...held, mayKeep: false })).toBe(0);
    port2.close();
  });
});

describe("service times", () => {
  function timer() {
    const buffer = new SharedArrayBuffer(serviceTimesBytes(2));
    const clock = { ms: 1000 };
    const measures = { count: 0 };
    const timing = new ServiceTimer(buffer, () => {
      measures.count++;
      return clock.ms;
    });
    const run = (us: number, task = 0, isDone = true): void => {
      const start = timing.begin(task);
      clock.ms += us / 1000;
      if (start >= 0) timing.end(task, start, isDone);
    };
    return { buffer, times: new ServiceTimes(buffer), timing, clock, measures, run };
  }

  test("nothing is known at first, then what is measured, per task", () => {
    const { times, run } = timer();
    expect(times.loadOf(0)).toBe(UNKNOWN_LOAD);
    run(7);
    expect(tenthsOf(times.loadOf(0))).toBe(70);
    expect(times.loadOf(0) & KIND_MASK).toBe(NEAR);
    expect(times.loadOf(1)).toBe(UNKNOWN_LOAD);
  });

  test("one call that something got in the way of does not make a quick task a long one", () => {
    const { times, run } = timer();
    for (let call = 0; call < 100; call++) run(0.2);
    for (let call = 0; call < 64; call++) run(call === 63 || call === 0 ? 5000 : 0.2);
    expect(times.loadOf(0) & KIND_MASK).toBe(NEAR);
    expect(tenthsOf(times.loadOf(0))).toBeLessThan(20);
    for (let call = 0; call < 70; call++) run(5000); // but this does
    expect(times.loadOf(0) & KIND_MASK).toBe(LONG);
  });

  test("estimates follow, quick tasks are measured seldom and long ones always", () => {
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

  test("a first call of more than 10 ms is long; a quick second one sets that right", () => {
    const { buffer, clock, times, run } = timer();
    run(9000, 1);
    expect(times.loadOf(1)).toBe(UNKNOWN_LOAD);
    run(11_000);
    expect(times.loadOf(0) & KIND_MASK).toBe(LONG);
    run(1);
    expect([times.loadOf(0) & KIND_MASK, tenthsOf(times.loadOf(0))]).toEqual([NEAR, 10]);
    // Nor does a worker that is new to the task make it long for those that know it.
    const other = new ServiceTimer(buffer, () => clock.ms);
    const start = other.begin(0);
    clock.ms += 15;
    other.end(0, start, true);
    expect(times.loadOf(0) & KIND_MASK).toBe(NEAR);
  });

  test("first calls run cold code: the shortest of three counts, and none is long before", () => {
    const { times, run } = timer();
    run(300);
    run(400);
    expect(times.loadOf(0)).toBe(UNKNOWN_LOAD);
    run(2);
    expect(times.loadOf(0) & KIND_MASK).toBe(NEAR);
    expect(tenthsOf(times.loadOf(0))).toBe(20);
    for (const us of [300, 200, 400]) run(us, 1);
    expect(times.loadOf(1) & KIND_MASK).toBe(LONG);
    expect(tenthsOf(times.loadOf(1))).toBe(2000);
    run(1000, 1);
    expect(tenthsOf(times.loadOf(1))).toBe(4000);
  });

  test("an async task is far, however quickly it lets go of its worker", () => {
    const { times, timing, clock, run } = timer();
    const start = clock.ms;
    run(2, 1, false);
    expect(times.loadOf(1) & KIND_MASK).toBe(NEAR);
    clock.ms += 30;
    timing.settled(1, start);
    expect(times.loadOf(1) & KIND_MASK).toBe(FAR);
    expect(tenthsOf(times.loadOf(1))).toBe(20);
  });

  test("hours do not overflow", () => {
    const { times, run } = timer();
    for (let call = 0; call < 3; call++) run(3_600_000_000);
    expect(tenthsOf(times.loadOf(0))).toBeGreaterThan(500_000_000);
    expect(times.loadOf(0) & KIND_MASK).toBe(LONG);
  });
});

describe("load of a lane", () => {
  test("adds up, and is near unless something long or only far calls are in it", () => {
    const lane = new LaneLoad(0.05);
    expect(lane.isNear).toBe(false);
    give(lane, load(10, FAR));
    expect(lane.isNear).toBe(false);
    give(lane, load(20));
    expect([lane.backlog, lane.isNear, lane.hasLong]).toEqual([30, true, false]);
    give(lane, load(900, LONG));
    expect([lane.backlog, lane.isNear, lane.hasLong]).toEqual([930, false, true]);
    lane.remove(load(900, LONG));
    lane.remove(load(10, FAR));
    expect([lane.backlog, lane.isNear, lane.hasLong]).toEqual([20, true, false]);
    give(lane, load(750, LONG)); // too long to wait behind, but not to be spun for
    expect([lane.isNear, lane.isNearAlone, lane.hasLong]).toEqual([false, true, true]);
    give(lane, load(751, LONG));
    expect(lane.isNearAlone).toBe(false);
    lane.remove(load(751, LONG));
    lane.remove(load(750, LONG));
    expect([lane.backlog, lane.isNear, lane.hasLong]).toEqual([20, true, false]);
    lane.remove(UNKNOWN_LOAD); // counted as something else: the end of all calls sets it right
    expect([lane.outstanding, lane.backlog, lane.isNear]).toEqual([0, 0, false]);
  });
});

interface FakeLane {
  readonly load: LaneLoad;
  isResting: boolean;
  isAwake: boolean;
  ready: number;
  waiting: number[];
  readonly endpoint: unknown;
}

function fakeLane(state: Partial<FakeLane> = {}): FakeLane {
  const lane: FakeLane = {
    load: new LaneLoad(0.05),
    isResting: false,
    isAwake: true,
    ready: 0,
    waiting: [],
    endpoint: {
      rx: { countReady: () => lane.ready, hasRecord: false },
      unbegunCalls: (most?: number) => lane.waiting.slice(0, most),
      takeBack: (index: number) => index < 0 ? undefined : { slot: index },
    },
    ...state,
  };
  return lane;
}

const lanesOf = (fakes: FakeLane[]): Lane[] => fakes as unknown as Lane[];

describe("what can be expected of the workers", () => {
  const outlook = (...loads: readonly number[][]): Outlook =>
    outlookOf(lanesOf(loads.map((given) => {
      const lane = fakeLane();
      for (const each of given) give(lane.load, each);
      return lane;
    })));
  const quick = load(10);
  const spunFor = load(600, LONG);
  const tooLong = load(9000, LONG);

  test("is the best that one of them has", () => {
    expect(outlook([], [])).toBe(IDLE);
    expect(outlook([tooLong], [quick], [])).toBe(NEAR_OUTLOOK);
    expect(outlook([spunFor], [quick])).toBe(NEAR_OUTLOOK);
    expect(outlook([tooLong], [])).toBe(DISTANT);
    expect(outlook([load(10, FAR)], [])).toBe(DISTANT);
  });

  test("may be worth spinning for where long calls are one worker's alone", () => {
    expect(outlook([], [spunFor, spunFor], [])).toBe(ALONE);
    expect(outlook([spunFor, tooLong])).toBe(DISTANT);
    expect(outlook([spunFor], [spunFor])).toBe(DISTANT);
    expect(outlook([spunFor], [tooLong])).toBe(DISTANT);
    expect(outlook([tooLong], [spunFor], [spunFor])).toBe(DISTANT);
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
      const lane = placement.pick(lanesOf(fakes), callLoad) as unknown as FakeLane | undefined;
      if (lane !== undefined) give(lane.load, callLoad);
      return lane === undefined ? -1 : fakes.indexOf(lane);
    });
  }

  test("small calls pile up on one lane until that would take longer than a wake", () => {
    const fakes = [fakeLane(), fakeLane()];
    const placed = place(new Placement(depthOf(1024), cores), fakes, load(100), 30);
    const each = PACKED / 100;
    expect(placed.slice(0, each)).toEqual(Array.from({ length: each }, () => 0));
    expect(placed.slice(each, 2 * each)).toEqual(Array.from({ length: each }, () => 1));
    expect(fakes[0]!.load.outstanding - fakes[1]!.load.outstanding).toBe(0);
  });

  test("where a further worker would have no core of its own, much more is packed", () => {
    const fakes = [fakeLane(), fakeLane()];
    const placed = place(new Placement(depthOf(1024), coresOf(1)), fakes, load(100), 120);
    const each = PACKED_WHEN_CROWDED / 100;
    expect(placed.slice(0, each)).toEqual(Array.from({ length: each }, () => 0));
    expect(new Set(placed.slice(each))).toEqual(new Set([1]));
  });

  test("answers that are there already do not count as backlog", () => {
    const fakes = [fakeLane(), fakeLane()];
    const placement = new Placement(depthOf(1024), cores);
    place(placement, fakes, load(10), 50);
    fakes[0]!.ready = 45;
    expect(place(placement, fakes, load(10), 20)).toEqual(Array.from({ length: 20 }, () => 0));
  });

  test("long calls, and those of unmeasured tasks, go to lanes with nothing to do", () => {
    for (const callLoad of [load(5000, LONG), UNKNOWN_LOAD]) {
      const fakes = [fakeLane(), fakeLane(), fakeLane()];
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

  test("small calls avoid lanes with a long one, and wait behind it at the very last", () => {
    const fakes = [fakeLane(), fakeLane()];
    const placement = new Placement(depthOf(1024), cores);
    give(fakes[0]!.load, load(9000, LONG));
    expect(new Set(place(placement, fakes, load(1), 500))).toEqual(new Set([1]));
    give(fakes[1]!.load, load(90_000, LONG));
    // Behind the one that is done within a millisecond as many as are done by then as well.
    expect(place(placement, fakes, load(100), 13)).toEqual([
      ...Array.from({ length: 10 }, () => 0),
      -1,
      -1,
      -1,
    ]);
  });

  test("a lane whose worker rests takes calls, whatever it has not answered yet", () => {
    const fakes = [fakeLane(), fakeLane()];
    for (const { load: laneLoad } of fakes) {
      for (let n = 0; n < 5; n++) give(laneLoad, load(9000, LONG));
    }
    const placement = new Placement(depthOf(1024), cores);
    expect(place(placement, fakes, load(9000, LONG), 1)).toEqual([-1]);
    fakes[1]!.isResting = true;
    expect(place(placement, fakes, load(9000, LONG), 1)).toEqual([1]);
    expect(place(placement, fakes, load(1), 1)).toEqual([1]);
  });

  test("a worker that rests is not woken for a small call while another is awake", () => {
    const fakes = [fakeLane(), fakeLane()];
    const placement = new Placement(depthOf(1024), cores);
    place(placement, fakes, load(100), 10); // five each
    fakes[0]!.isResting = true; // answered them all, and nobody has read that yet
    fakes[1]!.ready = 4;
    expect(place(placement, fakes, load(100), 3)).toEqual([1, 1, 1]);
  });

  test("cores are counted beside those that are awake, or will be", () => {
    const active = new ActiveCount([ActiveCount.create()], 4);
    Atomics.add(active.words[0]!, 0, 1);
    Atomics.add(active.words[0]!, 0, 1);
    expect([0, 1, 2, 3, 5].map((awake) => active.coresLeftBeside(awake))).toEqual([2, 2, 2, 1, -1]);
  });

  test("the more workers are awake the more is packed on each", () => {
    const fakes = Array.from({ length: 9 }, () => fakeLane());
    for (const { load: laneLoad } of fakes.slice(0, 8)) give(laneLoad, load(PACKED + 100));
    expect(place(new Placement(depthOf(1024), cores), fakes, load(100), 1)).not.toEqual([8]);
    for (const { load: laneLoad } of fakes.slice(0, 8)) give(laneLoad, load(PACKED));
    expect(place(new Placement(depthOf(1024), cores), fakes, load(100), 1)).toEqual([8]);
  });

  test("no lane gets more than its fill, and a lane that is gone nothing", () => {
    const fakes = [fakeLane(), fakeLane()];
    const placement = new Placement(depthOf(8), cores);
    expect(place(placement, fakes, load(0), 20).filter((lane) => lane < 0)).toHaveLength(4);
    const [gone, left] = [fakeLane(), fakeLane()];
    const other = new Placement(depthOf(8), cores);
    place(other, [gone, left], load(0), 1);
    other.forget(lanesOf([gone])[0]!);
    expect(place(other, [left], load(0), 1)).toEqual([0]);
  });
});

describe("relief", () => {
  const find = (fakes: FakeLane[], urgency: 0 | 1 | 2): number[] | undefined => {
    const relief = findRelief(lanesOf(fakes), urgency, {
      wakesFrom: PACKED,
      sharesFrom: 200,
    });
    return relief && [...relief.from, relief.to].map((lane) => fakes.indexOf(lane as never));
  };
  const busy = (tenths: number, count: number, kind = NEAR): FakeLane => {
    const lane = fakeLane();
    for (let n = 0; n < count; n++) give(lane.load, load(tenths, kind));
    return lane;
  };

  test("what waits behind a long call goes to whoever has nothing to do", () => {
    expect(find([busy(9000, 2, LONG), fakeLane()], AT_EASE)).toEqual([0, 1]);
    expect(find([busy(9000, 1, LONG), fakeLane()], AT_EASE)).toBeUndefined();
    expect(find([busy(9000, 2, LONG), busy(1, 1)], AT_EASE)).toBeUndefined();
    const resting = busy(1, 1, FAR);
    resting.isResting = true;
    expect(find([busy(9000, 2, LONG), resting], AT_EASE)).toEqual([0, 1]);
  });

  test("a backlog of small calls is shared with a worker that is awake, less readily with one that is not", () => {
    expect(find([busy(10, 30), fakeLane()], AT_EASE)).toEqual([0, 1]);
    expect(find([busy(10, 15), fakeLane()], AT_EASE)).toBeUndefined();
    expect(find([busy(10, 30), fakeLane({ isAwake: false })], AT_EASE)).toBeUndefined();
    expect(find([busy(10, PACKED / 10 + 5), fakeLane({ isAwake: false })], AT_EASE)).toEqual([
      0,
      1,
    ]);
    expect(find([busy(10, 3), fakeLane({ isAwake: false })], STUCK)).toEqual([0, 1]);
    expect(find([busy(10, 1), fakeLane({ isAwake: false })], STUCK)).toBeUndefined();
    expect(find([busy(10, 1), fakeLane({ isAwake: false })], OVERDUE)).toEqual([0, 1]);
  });

  test("what is shared with a worker that is awake depends on whether the host has a core", () => {
    for (const [coresLeft, sharesFrom] of [[1, 200], [0, PACKED_WHEN_CROWDED]] as const) {
      const placement = new Placement(depthOf(1024), { coresLeft });
      expect(placement.sharesFrom).toBe(sharesFrom);
      const enough = [busy(10, sharesFrom / 10 + 1), fakeLane()];
      expect(findRelief(lanesOf(enough), AT_EASE, placement)).toBeDefined();
      const few = [busy(10, sharesFrom / 10 - 1), fakeLane()];
      expect(findRelief(lanesOf(few), AT_EASE, placement)).toBeUndefined();
    }
  });

  test("half of what waits, all of what waits behind a long one, nothing of a worker that is just waking", () => {
    const take = (lane: FakeLane, urgency: 0 | 1 | 2): number[] | undefined =>
      takeCalls(lanesOf([lane])[0]!, urgency, () => undefined)?.map(({ slot }) => slot);
    const lane = busy(10, 6);
    lane.waiting = [1, 2, 3, 4, 5];
    expect(take(lane, AT_EASE)).toEqual([4, 5]);
    expect(take(lane, STUCK)).toEqual([1, 2, 3, 4, 5]);
    const blocked = busy(9000, 4, LONG);
    blocked.waiting = [1, -2, 3];
    expect(take(blocked, AT_EASE)).toEqual([1, 3]); // the other was begun meanwhile
    const waking = busy(10, 2);
    waking.waiting = [1, 2];
    expect(take(waking, STUCK)).toBeUndefined();
    expect(take(waking, OVERDUE)).toEqual([1, 2]);
  });

  test("of very many calls some at a time, oldest first, but all of a worker that takes no more", () => {
    const count = 5000;
    const lane = busy(1, count);
    lane.waiting = Array.from({ length: count }, (_, n) => n + 1);
    const slots = (taken?: readonly { readonly slot: number }[]) => taken!.map(({ slot }) => slot);
    const [real] = lanesOf([lane]);
    const stuck = slots(takeCalls(real!, STUCK, () => undefined));
    expect(stuck).toEqual(lane.waiting.slice(0, 1024));
    const shared = slots(takeCalls(real!, AT_EASE, () => undefined));
    expect(shared).toEqual(lane.waiting.slice(1024, 2048));
    expect(slots(takeAll(real!, () => undefined))).toEqual(lane.waiting);
  });
});

describe("length of a spin", () => {
  test("twice the gap, none when calls come far apart, and again when they come quickly", () => {
    const length = new SpinLength(0.05);
    expect(length.spinMs).toBeCloseTo(0.01);
    for (let n = 0; n < 30; n++) length.ended(0.02);
    expect(length.spinMs).toBeCloseTo(0.04);
    for (let n = 0; n < 30; n++) length.ended(5);
    expect(length.spinMs).toBe(0);
    for (let n = 0; n < 30; n++) length.ended(0.01);
    expect(length.spinMs).toBeGreaterThan(0.01);
    for (let n = 0; n < 30; n++) length.endedInSpin();
    expect(length.spinMs).toBeCloseTo(0.01);
    expect(new SpinLength(0).spinMs).toBe(0);
  });
});
