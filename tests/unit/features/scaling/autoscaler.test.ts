/** Growing and shrinking on a clock of the test's own, with lanes of which only their calls are known. */
import { describe, expect, test } from "vitest";
import { UNKNOWN_LOAD } from "../../../../src/metering/task-timings.ts";
import type { Lane } from "../../../../src/host/lanes/lane.ts";
import {
  Autoscaler,
  type AutoscalerOptions,
} from "../../../../src/features/workers/scaling/host/autoscaler.ts";
import type { Runtime, Timer } from "../../../../src/runtimes/runtime.ts";
import { FakeLane } from "../../../support/lanes.ts";

/** Time for which calls have to wait before a worker is started. */
const WAIT_MS = 10;
const IDLE_MS = 1000;

interface FakeTimer {
  readonly callback: () => void;
  atMs: number;
  /** Undefined: it fires once. */
  readonly everyMs: number | undefined;
  isRef: boolean;
}

/** Time that passes when the test says so. */
function createClock() {
  let nowMs = 0;
  const timers = new Set<FakeTimer>();
  const add = (callback: () => void, delayMs: number, everyMs?: number): Timer => {
    const timer: FakeTimer = { callback, atMs: nowMs + delayMs, everyMs, isRef: true };
    timers.add(timer);
    return {
      ref: () => timer.isRef = true,
      unref: () => timer.isRef = false,
      clear: () => void timers.delete(timer),
    };
  };
  return {
    timers,
    now: () => nowMs,
    setTimeout: (callback: () => void, ms: number) => add(callback, ms),
    setInterval: (callback: () => void, ms: number) => add(callback, ms, ms),
    pass: (ms: number): void => {
      const endMs = nowMs + ms;
      for (;;) {
        const [next] = [...timers].sort((a, b) => a.atMs - b.atMs);
        if (next === undefined || next.atMs > endMs) break;
        nowMs = next.atMs;
        if (next.everyMs === undefined) timers.delete(next);
        else next.atMs += next.everyMs;
        next.callback();
      }
      nowMs = endMs;
    },
  };
}

/** A lane whose calls the test makes. */
function createLane() {
  const lane = new FakeLane();
  return {
    lane,
    /** Gives it a call. */
    call: (): void => lane.send(UNKNOWN_LOAD),
    answer: (): void => lane.load.remove(UNKNOWN_LOAD),
    /** Its calls are settled for their callers, and its worker goes on with them. */
    orphan: (): void => {
      const { orphaned, outstanding } = lane.load;
      const call = { load: UNKNOWN_LOAD, limitMs: undefined, killAtMs: Infinity };
      for (let slot = orphaned.size; slot < outstanding; slot++) orphaned.add(slot, 0, call);
    },
  };
}

/** A pool with `ready` workers whose calls the test makes. */
function createPool(ready: number, limits: Partial<AutoscalerOptions["size"]> = {}) {
  const clock = createClock();
  const lanes = Array.from({ length: ready }, createLane);
  const state = {
    starting: 0,
    isWaiting: false,
    isBackingOff: false,
    startCostMs: 0,
    /** Workers that start for the calls that wait. */
    beforehand: 0,
    following: 0,
  };
  const open: Lane[] = lanes.map(({ lane }) => lane);
  const startedMs: number[] = [];
  const retired: (readonly [lane: number, atMs: number])[] = [];
  const elastic = new Autoscaler({
    runtime: clock as unknown as Runtime,
    size: { minThreads: 1, maxThreads: 4, idleTimeoutMs: IDLE_MS, ...limits },
    lanes: () => open,
    alive: () => open.length + state.starting,
    isBackingOff: () => state.isBackingOff,
    hasWorker: () => open.length + state.starting > 0,
    starting: () => state.beforehand,
    startable: () => ({ count: state.isWaiting ? 1 : 0, following: state.following }),
    isWorthStart: (waitedMs) => waitedMs >= state.startCostMs,
    start: () => {
      state.starting++;
      startedMs.push(clock.now());
    },
    end: (lane) => {
      open.splice(open.indexOf(lane), 1);
      retired.push([lanes.findIndex((each) => each.lane === lane), clock.now()]);
    },
  });
  return {
    clock,
    pass: clock.pass,
    state,
    lanes,
    startedMs,
    retired,
    check: () => elastic.check(),
    /** The worker waits with its thread. */
    suspend: (lane: Lane) => {
      open.splice(open.indexOf(lane), 1);
    },
    close: () => elastic.close(),
    onReady: () => elastic.onReady(),
    /** A worker that was started is ready. */
    becomeReady: () => {
      const lane = createLane();
      lanes.push(lane);
      open.push(lane.lane);
      state.starting--;
      elastic.onReady();
      return lane;
    },
  };
}

describe("growth", () => {
  test("starts a worker after calls have waited, and the next after the same time", () => {
    const { check, clock, pass, startedMs, state } = createPool(1);
    state.isWaiting = true;
    check();
    expect(startedMs).toEqual([]);
    pass(WAIT_MS - 1);
    check(); // neither begins the wait anew nor adds another
    expect(startedMs).toEqual([]);
    pass(100);
    expect(startedMs).toEqual([WAIT_MS, 2 * WAIT_MS, 3 * WAIT_MS]);
    expect(clock.timers.size).toBe(0);
  });

  test("stops when no call waits", () => {
    const { check, clock, pass, startedMs, state } = createPool(1);
    check();
    expect(clock.timers.size).toBe(0);
    state.isWaiting = true;
    check();
    state.isWaiting = false;
    pass(100);
    expect(startedMs).toEqual([]);
    state.isWaiting = true;
    check();
    pass(WAIT_MS);
    state.isWaiting = false;
    pass(100);
    expect(startedMs).toEqual([100 + WAIT_MS]);
  });

  test("starts no worker until it is worth its start", () => {
    const { check, pass, startedMs, state } = createPool(1);
    state.isWaiting = true;
    state.startCostMs = 35;
    check();
    pass(39);
    expect(startedMs).toEqual([]);
    pass(1);
    expect(startedMs).toEqual([40]);
    state.isWaiting = false;
    pass(10);
    /** Calls that wait for 25 ms, in which there are two looks. */
    const burst = (): void => {
      state.isWaiting = true;
      check();
      pass(25);
      state.isWaiting = false;
      pass(5);
    };
    pass(1001);
    burst();
    expect(startedMs).toEqual([40]);
    pass(1001); // forgets it
    burst();
    expect(startedMs).toEqual([40]);
    pass(900);
    burst(); // both together are worth a start
    expect(startedMs).toHaveLength(2);
  });

  test("counts no wait for a worker that starts first", () => {
    const { check, pass, startedMs, state } = createPool(0, { maxThreads: 2 });
    state.starting = 1;
    state.isWaiting = true;
    state.startCostMs = 20;
    check();
    pass(100);
    expect(startedMs).toEqual([]);
  });

  test("starts one at once if the last one takes no more calls, also while it watches", () => {
    const { check, lanes, pass, startedMs, state, suspend } = createPool(1);
    state.isWaiting = true;
    state.startCostMs = 1000;
    check();
    pass(WAIT_MS / 2);
    suspend(lanes[0]!.lane);
    check();
    expect(startedMs).toEqual([WAIT_MS / 2]);
    check();
    pass(WAIT_MS);
    expect(startedMs).toHaveLength(1); // that one is starting
  });

  test("starts none while enough are starting", () => {
    const { check, pass, startedMs, state } = createPool(1);
    state.isWaiting = true;
    state.beforehand = 1;
    check();
    pass(10 * WAIT_MS);
    expect(startedMs).toEqual([]);
    state.beforehand = 0;
    pass(WAIT_MS);
    expect(startedMs).toEqual([11 * WAIT_MS]);
  });

  test("looks on while calls follow others, and no longer", () => {
    const { check, clock, pass, startedMs, state } = createPool(1);
    state.following = 2;
    check();
    pass(10 * WAIT_MS);
    expect([startedMs, clock.timers.size]).toEqual([[], 1]);
    state.following = 0;
    pass(WAIT_MS);
    expect([startedMs, clock.timers.size]).toEqual([[], 0]);
  });

  test("never exceeds maxThreads, including workers that still start", () => {
    const { becomeReady, check, clock, pass, startedMs, state } = createPool(1, { maxThreads: 2 });
    state.isWaiting = true;
    check();
    state.starting = 1; // another one, in the meantime
    pass(100);
    expect(startedMs).toEqual([]);
    becomeReady();
    check();
    expect([...clock.timers].map(({ atMs }) => atMs - clock.now())).toEqual([IDLE_MS]);
    pass(100);
    expect(startedMs).toEqual([]);
  });

  test("pauses while the replacement of a lost worker backs off", () => {
    const { check, clock, pass, startedMs, state } = createPool(1);
    state.isWaiting = state.isBackingOff = true;
    check();
    expect(clock.timers.size).toBe(0);
    state.isBackingOff = false;
    check();
    state.isBackingOff = true;
    pass(100);
    expect(startedMs).toEqual([]);
    state.isBackingOff = false;
    check();
    pass(WAIT_MS);
    expect(startedMs).toEqual([100 + WAIT_MS]);
  });

  test("starts one worker immediately if there is none", () => {
    const { check, pass, startedMs, state } = createPool(0, { minThreads: 0 });
    check();
    expect(startedMs).toEqual([]);
    state.isWaiting = true;
    check();
    expect(startedMs).toEqual([0]);
    check();
    pass(WAIT_MS - 1);
    expect(startedMs).toEqual([0]);
    pass(1);
    expect(startedMs).toEqual([0, WAIT_MS]);
  });
});

describe("shrinking", () => {
  /** `ready` workers, each of which has had a call. */
  function createIdlePool(ready: number, limits?: Partial<AutoscalerOptions["size"]>) {
    const pool = createPool(ready, limits);
    for (const { call, answer } of pool.lanes) {
      call();
      answer();
    }
    pool.onReady();
    return pool;
  }

  test("closes workers that are idle at two checks, last first, down to minThreads", () => {
    const { clock, pass, retired } = createIdlePool(4, { minThreads: 2 });
    pass(2 * IDLE_MS - 1);
    expect(retired).toEqual([]);
    pass(1);
    expect(retired).toEqual([[3, 2 * IDLE_MS], [2, 2 * IDLE_MS]]);
    expect(clock.timers.size).toBe(0); // there is nothing to look for any more
    pass(100 * IDLE_MS);
    expect(retired).toHaveLength(2);
  });

  test("closes the only worker with minThreads 0", () => {
    const { pass, retired } = createIdlePool(1, { minThreads: 0 });
    pass(2 * IDLE_MS);
    expect(retired).toEqual([[0, 2 * IDLE_MS]]);
  });

  test("keeps a worker that has a call or had one between the checks", () => {
    const { lanes, pass, retired } = createIdlePool(3);
    const [first, second, third] = lanes as [typeof lanes[0], typeof lanes[0], typeof lanes[0]];
    second.call();
    for (let step = 0; step < 10; step++) {
      first.call();
      first.answer();
      third.call();
      third.answer();
      pass(IDLE_MS);
    }
    expect(retired).toEqual([]);
    second.answer();
    first.call();
    first.answer();
    // The third worker was seen idle at the look before this one, the second now for the first time.
    pass(IDLE_MS);
    expect(retired).toEqual([[2, 11 * IDLE_MS]]);
    pass(IDLE_MS);
    expect(retired).toEqual([[2, 11 * IDLE_MS], [1, 12 * IDLE_MS]]);
  });

  test("continues with one timer when a worker is added", () => {
    const { becomeReady, clock, pass, retired, state } = createIdlePool(2);
    pass(2 * IDLE_MS);
    expect(retired).toEqual([[1, 2 * IDLE_MS]]);
    state.starting = 2;
    becomeReady();
    pass(IDLE_MS / 2);
    becomeReady();
    expect(clock.timers.size).toBe(1);
    pass(1.5 * IDLE_MS);
    expect(retired.slice(1)).toEqual([[3, 4 * IDLE_MS], [2, 4 * IDLE_MS]]);
  });

  test("orphaned calls count as idle after 5 s without another call", () => {
    const { lanes: [lane], pass, retired } = createIdlePool(1, { minThreads: 0 });
    lane!.call();
    lane!.call();
    pass(10 * IDLE_MS);
    lane!.orphan();
    lane!.call(); // its caller waits for it
    pass(10 * IDLE_MS);
    expect(retired).toEqual([]);
    lane!.answer();
    pass(6 * IDLE_MS - 1); // first seen with orphaned calls alone after 21 s
    expect(retired).toEqual([]);
    pass(1);
    expect(retired).toEqual([[0, 26 * IDLE_MS]]);
  });

  test("orphaned calls count as idle after idleTimeoutMs if that is longer", () => {
    const pool = createIdlePool(1, { minThreads: 0, idleTimeoutMs: 60_000 });
    pool.lanes[0]!.call();
    pool.lanes[0]!.orphan();
    pool.pass(119_999);
    expect(pool.retired).toEqual([]);
    pool.pass(1);
    expect(pool.retired).toEqual([[0, 120_000]]);
  });

  test("uses no timer with minThreads workers or idleTimeoutMs Infinity", () => {
    expect(createIdlePool(1).clock.timers.size).toBe(0);
    expect(createIdlePool(3, { idleTimeoutMs: Infinity }).clock.timers.size).toBe(0);
  });
});

test("no timer keeps the process running", () => {
  const { check, clock, onReady, state } = createPool(2);
  state.isWaiting = true;
  check();
  onReady();
  expect([...clock.timers].map(({ isRef }) => isRef)).toEqual([false, false]);
});

describe("after close", () => {
  test("pending checks are cancelled and no new check is scheduled", () => {
    const { check, clock, close, onReady, pass, retired, startedMs, state } = createPool(2);
    state.isWaiting = true;
    check();
    onReady();
    expect(clock.timers.size).toBe(2);
    close();
    check();
    onReady();
    expect(clock.timers.size).toBe(0);
    pass(100 * IDLE_MS);
    expect([startedMs, retired]).toEqual([[], []]);
  });

  test("no worker is started immediately", () => {
    const { check, close, startedMs, state } = createPool(0, { minThreads: 0 });
    close();
    state.isWaiting = true;
    check();
    expect(startedMs).toEqual([]);
  });
});
