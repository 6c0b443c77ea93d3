/** When a host that waits spins, and what it does before it parks. */
import { describe, expect, test } from "vitest";
import { type HostWork, PollLoop } from "../../../../src/host/dispatch/poll-loop.ts";
import { LaneSet, READY, SLEEP, SPIN, type WaitHint } from "../../../../src/host/lanes/lane-set.ts";
import { AwakeCount } from "../../../../src/sync/awake-count.ts";
import { HostParker } from "../../../../src/sync/host-parking.ts";
import { currentRuntime } from "../../../../src/runtimes/current.ts";
import { PendingWork } from "../../../../src/host/calls/pending-work.ts";
import type { PendingCall } from "../../../../src/host/calls/in-flight.ts";
import { FakeLane, SPIN_MS } from "../../../support/lanes.ts";

/** Lanes of which the test says what there is to expect; counts the looks for responses. */
class FakeLanes extends LaneSet {
  outlookNow: WaitHint = SPIN;
  crowded = false;
  busy = true;
  responses = 0;
  looks = 0;

  constructor(workers: number) {
    super();
    for (let id = 0; id < workers; id++) {
      const lane = new FakeLane({ id });
      this.move(lane, "preparing");
      this.move(lane, "open");
    }
  }

  override get hasResponse(): boolean {
    this.looks++;
    return this.responses > 0;
  }

  override get isBusy(): boolean {
    return this.busy;
  }

  override get isCrowded(): boolean {
    return this.crowded;
  }

  override waitHint(): WaitHint {
    return this.responses > 0 ? READY : this.outlookNow;
  }
}

interface Situation {
  readonly workers?: number;
  readonly cores?: number;
  /** Workers that are awake. */
  readonly awake?: number;
  /** Whether spins are worth it. */
  readonly spins?: boolean;
}

/** How far the clock goes on with each reading. */
const CLOCK_STEP_MS = 0.01;

function createLoop({ workers = 2, cores = 4, awake = 1, spins = true }: Situation = {}) {
  const lanes = new FakeLanes(workers);
  const state = { hasQueued: false, hasRoom: false, canRebalance: false, nowMs: 0 };
  /** What the loop did, in order. */
  const done: string[] = [];
  lanes.requestSpace = () => void done.push("ask for space");
  const pending = new PendingWork();
  const work: HostWork = {
    lanes,
    pending,
    inFlight: { size: 1 },
    get hasQueued() {
      return state.hasQueued;
    },
    doBookkeeping: () => void done.push("bookkeeping"),
    drain: (max) => {
      const settled = Math.min(max, lanes.responses);
      lanes.responses -= settled;
      done.push("drain");
      return settled;
    },
    flush: () => {
      done.push("flush");
      const { hasRoom } = state;
      state.hasRoom = false;
      return hasRoom;
    },
    rebalance: () => {
      done.push("rebalance");
      const { canRebalance } = state;
      state.canRebalance = false;
      return canRebalance;
    },
    onPark: () => void done.push("park"),
    onIdle: () => void done.push("idle"),
  };
  const active = new AwakeCount([AwakeCount.create()], cores);
  for (let worker = 0; worker < awake; worker++) Atomics.add(active.words[0]!, 0, 1);
  const next: (() => void)[] = [];
  const parker = new HostParker(new Int32Array(new SharedArrayBuffer(128)), 0);
  const loop = new PollLoop(
    {
      ...currentRuntime,
      now: () => state.nowMs += CLOCK_STEP_MS,
      microtask: (callback) => void next.push(callback),
      macrotask: (callback) => void next.push(callback),
    },
    { parker, active, policy: { spins, settled: () => {} }, spinMs: SPIN_MS },
    work,
  );
  const run = (): void => {
    for (let callback = next.shift(); callback !== undefined; callback = next.shift()) callback();
  };
  /** Lets the loop run until it stops; returns what it did. */
  const poll = (begin: () => void = () => loop.kick()): string[] => {
    done.length = 0;
    begin();
    run();
    return done.slice();
  };
  return { lanes, pending, state, parker, loop, poll };
}

/** How often a host looks for a response that is `waitHint` before it parks. */
function looks(waitHint: WaitHint, workers: number, cores: number, spins = true): number {
  const { lanes, loop, poll } = createLoop({ workers, cores, spins });
  lanes.outlookNow = waitHint;
  poll();
  expect(loop.isParked).toBe(true);
  return lanes.looks;
}

describe("a host that waits", () => {
  /** The look between the announcement of a park and the park. */
  const LAST_LOOK = 1;

  test("spins only if the wait hint is SPIN, a core is free, and spins are worth it", () => {
    expect(looks(SPIN, 1, 2)).toBeGreaterThan(LAST_LOOK);
    expect(looks(SPIN, 1, 1)).toBe(LAST_LOOK);
    expect(looks(SPIN, 1, 2, false)).toBe(LAST_LOOK);
    expect(looks(SLEEP, 1, 2)).toBe(LAST_LOOK);
  });
});

describe("a host that has found no response", () => {
  test("parks, and does nothing else without a reason", () => {
    const { lanes, loop, parker, poll } = createLoop();
    lanes.outlookNow = SLEEP;
    expect(poll()).toEqual(["park"]);
    expect([loop.isParked, parker.isAnnounced]).toEqual([true, true]);
    expect(loop.statistics.parks).toBe(1);
  });

  test("stays parked while further calls are made whose responses are not near", () => {
    const { lanes, loop, parker, poll } = createLoop({ awake: 4 });
    lanes.outlookNow = SLEEP;
    poll();
    const { looks } = lanes;
    expect(poll()).toEqual(["park"]);
    lanes.outlookNow = SPIN; // but no core is free
    expect(poll()).toEqual(["park"]);
    expect([lanes.looks, loop.isParked, parker.isAnnounced]).toEqual([looks, true, true]);
    lanes.responses = 1;
    lanes.busy = false;
    expect(poll()).toEqual(["drain", "idle"]);
    expect([loop.isParked, parker.isAnnounced]).toEqual([false, false]);
  });

  test("announces again after a wake, whatever its message says of the announcement", () => {
    const { lanes, loop, parker, poll } = createLoop();
    lanes.outlookNow = SLEEP;
    poll();
    parker.cancel(); // a worker was faster
    expect(poll(() => loop.onWakeMessage())).toEqual(["park"]);
    expect([loop.isParked, parker.isAnnounced]).toEqual([true, true]);
  });

  test("announces again after a wake that finds a poll scheduled", () => {
    const { lanes, loop, parker, poll } = createLoop();
    lanes.outlookNow = SLEEP;
    poll();
    parker.cancel();
    poll(() => {
      loop.kick();
      loop.onWakeMessage();
    });
    expect([loop.isParked, parker.isAnnounced]).toEqual([true, true]);
  });

  test("does its bookkeeping, requests space and checks again before it parks, if that is due", () => {
    const { lanes, pending, state, poll } = createLoop();
    lanes.outlookNow = SLEEP;
    pending.isDue = true;
    expect(poll()).toEqual(["bookkeeping", "flush", "park"]);
    state.hasQueued = true;
    const queued = ["bookkeeping", "ask for space", "flush", "park"];
    expect(poll()).toEqual(queued);
    pending.isDue = state.hasQueued = false;
    lanes.crowded = true;
    expect(poll()).toEqual(["ask for space", "rebalance", "park"]);
    lanes.crowded = false;
    expect(poll()).toEqual(["park"]);
  });

  test("repairs what a stack overflow interrupted", () => {
    const { lanes, pending, poll } = createLoop();
    lanes.outlookNow = SLEEP;
    pending.marked = {} as PendingCall;
    expect(poll()).toEqual(["bookkeeping", "park"]);
  });

  test("polls once more after it rebalanced calls", () => {
    const { lanes, state, loop, poll } = createLoop();
    lanes.outlookNow = SLEEP;
    lanes.crowded = state.canRebalance = true;
    const once = ["ask for space", "rebalance"];
    expect(poll()).toEqual([...once, ...once, "park"]);
    expect(loop.isParked).toBe(true);
  });

  test("polls again after it found space for queued calls", () => {
    const { lanes, pending, state, parker, poll } = createLoop();
    lanes.outlookNow = SLEEP;
    pending.isDue = state.hasQueued = true;
    let asks = 0;
    // The room comes after the announcement.
    lanes.requestSpace = () => {
      expect(parker.isAnnounced).toBe(true);
      state.hasRoom = ++asks === 1;
    };
    const once = ["bookkeeping", "flush"];
    expect(poll()).toEqual([...once, ...once, "park"]);
    expect(asks).toBe(2);
  });

  test("settles responses, then parks once there are no more", () => {
    const { lanes, loop, poll } = createLoop();
    lanes.outlookNow = SLEEP;
    poll();
    lanes.responses = 3;
    expect(poll(() => loop.onWakeMessage())).toEqual(["drain", "park"]);
    expect(loop.statistics).toEqual({ parks: 2, wakeMessages: 1 });
    lanes.busy = false;
    lanes.responses = 1;
    expect(poll()).toEqual(["drain", "idle"]);
    expect(loop.isParked).toBe(false);
  });

  test("that was woken and has settled every call leaves its park announced", () => {
    const { lanes, loop, parker, poll } = createLoop();
    lanes.outlookNow = SLEEP;
    poll();
    parker.cancel();
    lanes.busy = false;
    lanes.responses = 1;
    expect(poll(() => loop.onWakeMessage())).toEqual(["drain", "idle"]);
    expect([loop.isParked, parker.isAnnounced]).toEqual([true, true]);
    // An infrequent call finds it parked.
    lanes.busy = true;
    expect(poll()).toEqual(["park"]);
    expect([loop.isParked, parker.isAnnounced]).toEqual([true, true]);
  });

  test("reads the clock for few of many infrequent calls", () => {
    const { lanes, loop, parker, state, poll } = createLoop();
    lanes.outlookNow = SLEEP;
    const call = (): void => {
      lanes.busy = true;
      poll();
      parker.cancel();
      lanes.busy = false;
      lanes.responses = 1;
      poll(() => loop.onWakeMessage());
    };
    for (let round = 0; round < 100; round++) call();
    const { nowMs } = state;
    for (let round = 0; round < 100; round++) call();
    expect((state.nowMs - nowMs) / CLOCK_STEP_MS).toBeLessThan(10);
  });

  test("flushes and rebalances on a tick only if it is parked and calls wait", () => {
    const { lanes, pending, state, loop, poll } = createLoop();
    lanes.outlookNow = SLEEP;
    const tick = () => poll(() => loop.onTick());
    lanes.crowded = true;
    expect(tick()).toEqual([]); // it is not parked
    lanes.crowded = false;
    poll();
    expect(tick()).toEqual([]);
    lanes.crowded = true;
    expect(tick()).toContain("rebalance");
    lanes.crowded = false;
    pending.isDue = state.hasQueued = true;
    expect(tick()).toContain("flush");
  });
});
