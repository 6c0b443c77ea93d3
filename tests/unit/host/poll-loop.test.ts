/** When a host that waits spins, and what it does before it parks. */
import { describe, expect, test } from "vitest";
import { type HostWork, PollLoop } from "../../../src/host/poll-loop.ts";
import { LaneSet, READY, SLEEP, SPIN, type WaitHint } from "../../../src/host/balance/lane-set.ts";
import { AwakeCount } from "../../../src/sync/awake-count.ts";
import { HostParker } from "../../../src/sync/host-parking.ts";
import { currentRuntime } from "../../../src/runtimes/current.ts";
import { FakeLane, SPIN_MS } from "../../support/lanes.ts";

/** Lanes of which the test says what there is to expect; counts the looks for responses. */
class FakeLanes extends LaneSet {
  outlookNow: WaitHint = SPIN;
  crowded = false;
  busy = true;
  responses = 0;
  looks = 0;

  constructor(workers: number) {
    super();
    for (let id = 0; id < workers; id++) this.add(new FakeLane({ id }));
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
}

function createLoop({ workers = 2, cores = 4, awake = 1 }: Situation = {}) {
  const lanes = new FakeLanes(workers);
  const state = { hasQueued: false, hasRoom: false, canRebalance: false, nowMs: 0 };
  /** What the loop did, in order. */
  const done: string[] = [];
  lanes.requestSpace = () => void done.push("ask for space");
  const work: HostWork = {
    lanes,
    get hasQueued() {
      return state.hasQueued;
    },
    recover: () => void done.push("recover"),
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
      now: () => state.nowMs += 0.01,
      microtask: (callback) => void next.push(callback),
      macrotask: (callback) => void next.push(callback),
    },
    parker,
    active,
    work,
    SPIN_MS,
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
  return { lanes, state, parker, loop, poll };
}

/** How often a host looks for a response that is `waitHint` before it parks. */
function looks(waitHint: WaitHint, workers: number, cores: number): number {
  const { lanes, loop, poll } = createLoop({ workers, cores });
  lanes.outlookNow = waitHint;
  poll();
  expect(loop.isParked).toBe(true);
  return lanes.looks;
}

describe("a host that waits", () => {
  /** The look between the announcement of a park and the park. */
  const LAST_LOOK = 1;

  test("spins only if the wait hint is SPIN and a core is free", () => {
    expect(looks(SPIN, 1, 2)).toBeGreaterThan(LAST_LOOK);
    expect(looks(SPIN, 1, 1)).toBe(LAST_LOOK);
    expect(looks(SLEEP, 1, 2)).toBe(LAST_LOOK);
  });
});

describe("a host that has found no response", () => {
  test("requests space, checks again, then parks", () => {
    const { lanes, loop, parker, poll } = createLoop();
    lanes.outlookNow = SLEEP;
    expect(poll()).toEqual(["recover", "flush", "flush", "rebalance", "park"]);
    lanes.crowded = true;
    const asked = ["recover", "flush", "ask for space", "flush", "rebalance", "park"];
    expect(poll()).toEqual(asked);
    lanes.crowded = false;
    expect(poll()).not.toContain("ask for space");
    expect([loop.isParked, parker.isAnnounced]).toEqual([true, true]);
    expect(loop.statistics.parks).toBe(3);
  });

  test("requests space for its queued calls", () => {
    const { lanes, state, poll } = createLoop();
    lanes.outlookNow = SLEEP;
    state.hasQueued = true;
    expect(poll()).toContain("ask for space");
  });

  test("polls once more after it rebalanced calls", () => {
    const { lanes, state, loop, poll } = createLoop();
    lanes.outlookNow = SLEEP;
    state.canRebalance = true;
    const once = ["recover", "flush", "flush", "rebalance"];
    expect(poll()).toEqual([...once, ...once, "park"]);
    expect(loop.isParked).toBe(true);
  });

  test("polls again after it found space for queued calls", () => {
    const { lanes, state, parker, poll } = createLoop();
    lanes.outlookNow = SLEEP;
    lanes.crowded = true;
    let asks = 0;
    // The room comes after the announcement.
    lanes.requestSpace = () => {
      expect(parker.isAnnounced).toBe(true);
      state.hasRoom = ++asks === 1;
    };
    const [first, last] = [["recover", "flush", "flush"], ["rebalance", "park"]];
    expect(poll()).toEqual([...first!, ...first!, ...last!]);
    expect(asks).toBe(2);
  });

  test("settles responses, then parks once there are no more", () => {
    const { lanes, loop, poll } = createLoop();
    lanes.outlookNow = SLEEP;
    poll();
    lanes.responses = 3;
    const all = poll(() => loop.onWakeMessage());
    expect(all.filter((each) => each === "drain")).toHaveLength(1);
    expect(all.at(-1)).toBe("park");
    expect(loop.statistics).toEqual({ parks: 2, wakeMessages: 1 });
    lanes.busy = false;
    expect(poll().at(-1)).toBe("idle");
    expect(loop.isParked).toBe(false);
  });

  test("flushes and rebalances on a tick only if it is parked and calls wait", () => {
    const { lanes, state, loop, poll } = createLoop();
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
    state.hasQueued = true;
    expect(tick()).toContain("flush");
  });
});
