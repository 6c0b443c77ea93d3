/** Work stealing over real rings, with a clock of the test's own. */
import { describe, expect, test } from "vitest";
import { CALL } from "../../../../src/lane/frame.ts";
import type { Snapshot } from "../../../../src/lane/snapshot.ts";
import { LONG, SHORT, UNKNOWN_LOAD } from "../../../../src/metering/task-timings.ts";
import { ProtocolError } from "../../../../src/errors.ts";
import type { QueuedCall } from "../../../../src/host/calls/queued-call.ts";
import { createSettings } from "../../../../src/host/calls/call-settings.ts";
import { InFlightWindow } from "../../../../src/host/lanes/in-flight-window.ts";
import {
  InFlight,
  type PendingCall,
  QUEUED_ON_HOST,
} from "../../../../src/host/calls/in-flight.ts";
import {
  type LaneChooser,
  PACKED,
  PACKED_WHEN_CROWDED,
  Placement,
} from "../../../../src/host/schedule/placement.ts";
import {
  Revocation,
  type RevocationOptions,
  unclaimedCalls,
} from "../../../../src/host/schedule/revocation.ts";
import { WorkStealing } from "../../../../src/features/workers/stealing/work-stealing.ts";
import { EMPTY } from "../../../../src/ring/consumer.ts";
import { FakeLane, type FakeLaneState, laneSetOf } from "../../../support/lanes.ts";

const load = (tenths: number, kind = SHORT): number => ((tenths + 1) << 2) | kind;
const LONG_LOAD = load(9000, LONG);
/** A backlog beyond this, in tenths of a microsecond, is shared with a worker that is awake. */
const SHARED = 200;

interface Situation {
  readonly victims?: readonly FakeLaneState[];
  readonly thief?: FakeLaneState;
  readonly coresLeft?: number;
  /** Whether a balancer of the user's places the calls. */
  readonly isBalanced?: boolean;
}

/** Lanes that have calls, and behind them one that has none. */
function createPool(
  { victims = [{}], thief = {}, coresLeft = 4, isBalanced = false }: Situation = {},
) {
  const inFlight = new InFlight();
  const limits = {
    maxConcurrency: 1,
    maxQueue: Infinity,
    inliner: undefined,
    recycleAfter: Infinity,
  };
  const depth = new InFlightWindow(limits, true);
  const placement: LaneChooser = isBalanced
    ? {
      depth,
      maySteal: false,
      wakesFrom: PACKED,
      sharesFrom: SHARED,
      pick: () => undefined,
      forget: () => {},
    }
    : new Placement(depth, { coresLeft });
  const fakes = [...victims, thief].map((state, id) => new FakeLane({ ...state, id }));
  const lanes = laneSetOf(fakes);
  const clock = { nowMs: 1000, timers: [] as { at: number; callback: () => void }[] };
  const sent: QueuedCall[] = [];
  /** Slots of the calls that went back to the host, in order. */
  const returned: number[][] = [];
  const failed: Error[] = [];
  let moves = 0;
  const revoking: RevocationOptions = {
    inFlight,
    putBack: (calls) => {
      for (const { slot, generation } of calls) {
        expect(inFlight.find(slot, generation)?.lane).toBe(QUEUED_ON_HOST);
      }
      returned.push(calls.map(({ slot }) => slot));
    },
    failLane: (lane, error) => {
      failed.push(error);
      lanes.move(lane, "closing");
      lanes.ignore(lane);
    },
  };
  const revocation = new Revocation(revoking);
  const stealing = new WorkStealing({
    ...revoking,
    revocation,
    lanes,
    placement,
    send: (lane, call) => {
      const { slot, generation, task, snapshot } = call;
      if (!lane.endpoint.sendSnapshot(CALL, slot, generation, task, snapshot, [])) return false;
      const pending = inFlight.find(slot, generation)!;
      pending.lane = lane.id;
      lane.load.add(pending.load);
      sent.push(call);
      return true;
    },
    now: () => clock.nowMs,
    setTimeout: (callback, delayMs) => {
      const timer = { at: clock.nowMs + delayMs, callback };
      clock.timers.push(timer);
      const clear = (): void => {
        clock.timers = clock.timers.filter((other) => other !== timer);
      };
      return { clear, ref: () => {}, unref: () => {} };
    },
    onMoved: () => void moves++,
  });
  const add = (lane: FakeLane, callLoad: number, settings = createSettings({})): PendingCall => {
    const call = inFlight.add(() => {}, () => {}, settings);
    call.lane = lane.id;
    call.load = callLoad;
    return call;
  };
  /** Calls of the lane in its ring, with the slot as their argument; returns their slots. */
  const send = (lane: FakeLane, callLoad: number, count = 1): number[] =>
    Array.from({ length: count }, () => {
      const call = add(lane, callLoad);
      lane.send(callLoad, call.slot, call.generation, call.slot);
      call.position = lane.endpoint.tx.position;
      return call.slot;
    });
  /** The worker of the lane answers its oldest call, which it has begun, and the host takes the response. */
  const answer = (lane: FakeLane, slot: number): void => {
    const { generation, load } = inFlight.callsOf(lane.id).find((call) => call.slot === slot)!;
    lane.respond(1, slot, generation);
    lane.takeResponse(load);
    inFlight.resolve(inFlight.find(slot, generation)!, 0);
  };
  /** Slots of the calls in the lane's ring that nobody has begun. */
  const waiting = (lane: FakeLane): number[] => {
    const { tx } = lane.endpoint;
    return unclaimedCalls(tx).map((index) => tx.memory.i32[(index >> 2) + 2]!);
  };
  /** Lets time pass, timers and all. */
  const pass = (ms: number): void => {
    const end = clock.nowMs + ms;
    for (;;) {
      const next = clock.timers.toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > end) break;
      clock.timers = clock.timers.filter((timer) => timer !== next);
      clock.nowMs = Math.max(clock.nowMs, next.at);
      next.callback();
    }
    clock.nowMs = end;
  };
  return {
    stealing,
    revocation,
    inFlight,
    lanes,
    victim: fakes[0]!,
    thief: fakes.at(-1)!,
    fakes,
    clock,
    sent,
    returned,
    failed,
    moves: () => moves,
    add,
    send,
    answer,
    waiting,
    pass,
  };
}

/** The first argument of every call that the worker of `lane` is given, in order. */
function receive({ pair: { worker } }: FakeLane): unknown[] {
  const values: unknown[] = [];
  const { rx } = worker;
  for (let index = rx.poll(); index !== EMPTY; index = rx.poll()) {
    if (rx.acquire(index)) {
      values.push(worker.readValues(index, rx.memory.i32[(index >> 2) + 4]!)[0]);
    }
    rx.release();
  }
  return values;
}

describe("calls behind a long call", () => {
  test("all move to an idle worker immediately", () => {
    const { stealing, revocation, inFlight, victim, thief, send, waiting, returned } = createPool();
    const [first, ...others] = send(victim, LONG_LOAD, 7);
    victim.begin();
    expect(stealing.rebalance()).toBe(true);
    expect(waiting(victim)).toEqual([]);
    expect(waiting(thief)).toEqual(others);
    expect(returned.flat()).toEqual([]);
    expect(revocation.moved).toBe(6);
    expect(inFlight.callsOf(thief.id).map(({ slot }) => slot)).toEqual(others);
    expect(inFlight.callsOf(victim.id).map(({ slot }) => slot)).toEqual([first]);
    expect([victim.load.outstanding, thief.load.outstanding]).toEqual([1, 6]);
    expect(victim.load.backlog).toBe(9000);
    expect(receive(thief)).toEqual(others); // arguments and all
    expect(victim.begin()).toBe(false); // the worker passes them
  });

  test("move even if a wake costs more than they take", () => {
    const { stealing, victim, send, waiting } = createPool({
      thief: { isAwake: false },
      coresLeft: 1,
    });
    send(victim, load(2000, LONG));
    send(victim, load(1), 2);
    victim.begin();
    expect(victim.load.backlog).toBeLessThan(PACKED_WHEN_CROWDED);
    expect(stealing.rebalance()).toBe(true);
    expect(waiting(victim)).toEqual([]);
  });

  test("stay if there is only one call or no worker is free", () => {
    const alone = createPool();
    alone.send(alone.victim, LONG_LOAD);
    alone.victim.begin();
    expect(alone.stealing.rebalance(alone.clock.nowMs)).toBe(false);
    const busy = createPool();
    busy.send(busy.victim, LONG_LOAD, 3);
    busy.send(busy.thief, load(1));
    busy.victim.begin();
    expect(busy.stealing.rebalance()).toBe(false);
    expect(busy.revocation.moved).toBe(0);
    busy.thief.isResting = true; // with a response that nobody has read
    expect(busy.stealing.rebalance()).toBe(true);
    expect(busy.revocation.moved).toBe(2);
  });

  test("stay if a balancer placed them", () => {
    const { stealing, clock, victim, send, waiting } = createPool({ isBalanced: true });
    send(victim, LONG_LOAD, 3);
    victim.begin();
    expect(stealing.rebalance()).toBe(false);
    expect(stealing.rebalance(clock.nowMs + 1000)).toBe(false);
    expect(waiting(victim)).toHaveLength(2);
  });

  test("move to an awake worker before a parked one", () => {
    const { stealing, fakes, victim, send, waiting } = createPool({
      victims: [{}, { isAwake: false }],
    });
    const [, waits] = send(victim, LONG_LOAD, 2);
    victim.begin();
    expect(stealing.rebalance()).toBe(true);
    expect(fakes.map(waiting)).toEqual([[], [], [waits]]);
  });

  test("move before calls behind short calls", () => {
    const { stealing, fakes, send, waiting } = createPool({ victims: [{}, {}] });
    const [busy, blocked, thief] = fakes as [FakeLane, FakeLane, FakeLane];
    send(busy, load(100), 100);
    const [, waits] = send(blocked, LONG_LOAD, 2);
    busy.begin();
    blocked.begin();
    expect(stealing.rebalance()).toBe(true);
    expect(waiting(thief)).toEqual([waits]);
    expect(waiting(busy)).toHaveLength(99);
  });
});

describe("a lasting backlog of short calls", () => {
  test("is split, and its worker keeps the older half", () => {
    const { stealing, revocation, victim, thief, send, waiting } = createPool();
    const slots = send(victim, load(50), 10);
    victim.begin();
    expect(stealing.rebalance()).toBe(true);
    expect(waiting(victim)).toEqual(slots.slice(1, 6));
    expect(waiting(thief)).toEqual(slots.slice(6));
    expect(revocation.moved).toBe(4);
    expect([victim.load.backlog, thief.load.backlog]).toEqual([300, 200]);
  });

  test("must be worth a wake if no awake worker is free", () => {
    for (const isAwake of [true, false]) {
      const worthwhile = isAwake ? SHARED : PACKED;
      for (const isEnough of [true, false]) {
        const { stealing, victim, send } = createPool({ thief: { isAwake } });
        send(victim, load(10), worthwhile / 10 + Number(isEnough));
        victim.begin();
        expect(stealing.rebalance()).toBe(isEnough);
      }
    }
  });

  test("must be larger if no core is left for the host", () => {
    for (const [coresLeft, worthwhile] of [[1, SHARED], [0, PACKED_WHEN_CROWDED]] as const) {
      for (const isEnough of [true, false]) {
        const { stealing, victim, send } = createPool({ coresLeft });
        send(victim, load(100), worthwhile / 100 + Number(isEnough));
        victim.begin();
        expect(stealing.rebalance()).toBe(isEnough);
      }
    }
  });

  test("does not include unread responses", () => {
    const { stealing, victim, send } = createPool();
    send(victim, load(30), 20);
    for (let call = 0; call < 15; call++) victim.begin();
    victim.respond(15);
    expect(stealing.rebalance()).toBe(false);
  });

  test("is not stolen from a worker that has begun no call", () => {
    const { stealing, victim, send, waiting } = createPool();
    send(victim, load(50), 10);
    expect(stealing.rebalance()).toBe(false);
    expect(waiting(victim)).toHaveLength(10);
  });

  test("moves a thousand calls at a time", () => {
    const capacity = 2 ** 18;
    const { stealing, victim, thief, send, waiting } = createPool({
      victims: [{ capacity }],
      thief: { capacity },
    });
    const slots = send(victim, load(5), 5000);
    victim.begin();
    expect(stealing.rebalance()).toBe(true);
    // Of the 2048 oldest it keeps the older half.
    expect(waiting(thief)).toEqual(slots.slice(1025, 2049));
    expect(waiting(victim)).toEqual([...slots.slice(1, 1025), ...slots.slice(2049)]);
  });
});

describe("a lane without responses", () => {
  test("is checked again by one timer and keeps its calls until then", () => {
    const { stealing, clock, victim, send, waiting, moves } = createPool();
    const [, ...others] = send(victim, load(10), 3);
    victim.begin();
    expect(stealing.rebalance()).toBe(false);
    expect(clock.timers).toEqual([]); // only what is known to last was asked for
    expect(stealing.rebalance(clock.nowMs)).toBe(false);
    expect(stealing.rebalance(clock.nowMs + 0.9)).toBe(false);
    expect(clock.timers.map(({ at }) => at - clock.nowMs)).toEqual([1]);
    expect(waiting(victim)).toEqual(others);
    expect(moves()).toBe(0);
  });

  test("is stalled after 1 ms, and all calls behind the begun call are stolen", () => {
    const { stealing, clock, victim, thief, send, waiting, pass, moves } = createPool();
    const [, ...others] = send(victim, load(10), 6);
    victim.begin();
    stealing.rebalance(clock.nowMs);
    pass(1);
    expect(waiting(victim)).toEqual([]);
    expect(waiting(thief)).toEqual(others);
    expect(moves()).toBe(1);
    expect(clock.timers).toEqual([]);
    expect(receive(thief)).toEqual(others);
  });

  test("gets another millisecond after each response", () => {
    const { stealing, clock, victim, send, answer, waiting, pass, moves } = createPool();
    const slots = send(victim, load(10), 8);
    victim.begin();
    stealing.rebalance(clock.nowMs);
    for (let round = 0; round < 5; round++) {
      answer(victim, slots[round]!);
      victim.begin();
      pass(1);
      expect(moves()).toBe(0);
      expect(clock.timers).toHaveLength(1);
    }
    expect(waiting(victim)).toEqual(slots.slice(6));
    pass(1);
    expect(moves()).toBe(1);
    expect(waiting(victim)).toEqual([]);
  });

  test("is timed from its next call after it was empty", () => {
    const { stealing, clock, victim, send, answer, pass, moves } = createPool();
    const [first, second] = send(victim, load(10), 2) as [number, number];
    victim.begin();
    stealing.rebalance(clock.nowMs);
    answer(victim, first);
    victim.begin();
    pass(0.5);
    stealing.rebalance(clock.nowMs);
    answer(victim, second);
    pass(1000);
    send(victim, load(10), 2);
    victim.begin();
    expect(stealing.rebalance(clock.nowMs)).toBe(false);
    expect(moves()).toBe(0);
  });

  test("keeps its calls for 10 ms if its worker is still waking up", () => {
    const { stealing, clock, victim, thief, send, waiting, pass, moves } = createPool();
    const slots = send(victim, load(10), 3);
    stealing.rebalance(clock.nowMs);
    pass(9.9);
    expect([moves(), clock.timers.length]).toEqual([0, 1]);
    expect(waiting(victim)).toEqual(slots);
    pass(1.1);
    expect(moves()).toBe(1);
    expect(waiting(thief)).toEqual(slots);
    expect([victim.load.outstanding, thief.load.outstanding]).toEqual([0, 3]);
    // It has had no calls since, and answered none: the time counts from its next calls on.
    pass(1000);
    thief.isResting = true;
    send(victim, load(10), 3);
    expect(stealing.rebalance(clock.nowMs)).toBe(false);
  });

  test("is not checked after `stop`", () => {
    const { stealing, clock, victim, send, pass, moves } = createPool();
    send(victim, load(10), 3);
    victim.begin();
    stealing.rebalance(clock.nowMs);
    stealing.stop();
    expect(clock.timers).toEqual([]);
    pass(100);
    expect(moves()).toBe(0);
  });

  test("keeps its long calls for 10 ms if none has begun", () => {
    const { stealing, clock, victim, send, pass, moves } = createPool();
    send(victim, LONG_LOAD, 3);
    expect(stealing.rebalance()).toBe(false);
    expect(clock.timers).toEqual([]);
    expect(stealing.rebalance(clock.nowMs)).toBe(false);
    pass(9);
    expect(moves()).toBe(0);
    pass(2);
    expect(moves()).toBe(1);
  });
});

describe("stolen calls", () => {
  test("go back to the host in order if the other ring has no space", () => {
    const { stealing, revocation, inFlight, victim, thief, send, waiting, returned } = createPool({
      thief: { capacity: 1024 },
    });
    const [, ...others] = send(victim, LONG_LOAD, 60);
    victim.begin();
    expect(stealing.rebalance()).toBe(true);
    const moved = waiting(thief);
    expect(moved.length).toBeGreaterThan(10);
    expect(moved.length).toBeLessThan(50);
    expect(returned).toEqual([others.slice(moved.length)]);
    expect([...moved, ...returned[0]!]).toEqual(others);
    expect(inFlight.callsOf(QUEUED_ON_HOST).map(({ slot }) => slot)).toEqual(returned[0]);
    expect([victim.load.outstanding, thief.load.outstanding]).toEqual([1, moved.length]);
    expect(revocation.moved).toBe(59);
  });

  test("exclude calls that the worker has begun", () => {
    const { stealing, victim, thief, send, waiting } = createPool();
    const slots = send(victim, LONG_LOAD, 6);
    for (let call = 0; call < 3; call++) victim.begin();
    expect(stealing.rebalance()).toBe(true);
    expect(waiting(thief)).toEqual(slots.slice(3));
    expect(victim.load.outstanding).toBe(3);
  });

  test("exclude cancelled calls, which never run", () => {
    const { stealing, revocation, inFlight, victim, thief, send, waiting } = createPool();
    const [, given, wanted] = send(victim, LONG_LOAD, 3);
    victim.begin();
    inFlight.reject(inFlight.callsOf().find(({ slot }) => slot === given)!, "given up");
    expect(stealing.rebalance()).toBe(true);
    expect(waiting(thief)).toEqual([wanted]);
    expect(revocation.moved).toBe(1);
    expect(victim.load.outstanding).toBe(1);
    expect(victim.begin()).toBe(false);
  });

  test("keep their arguments, task and priority", () => {
    const { stealing, victim, add, sent } = createPool({
      victims: [{ capacity: 2 ** 16 }],
      thief: { capacity: 2 ** 16 },
    });
    const { endpoint, pair } = victim;
    const objects = Array.from({ length: 100 }, (_, a) => ({ a, b: [a] }));
    const values: unknown[][] = [[1.5], ["text", objects], []];
    victim.send(LONG_LOAD);
    victim.begin();
    const calls = values.map((args, task) => {
      const call = add(victim, LONG_LOAD, createSettings({ priority: task - 1 }));
      const snapshot = pair.snapshots.capture(args);
      expect(endpoint.hasSpaceFor(snapshot)).toBe(true); // tells key lists
      expect(endpoint.sendSnapshot(CALL, call.slot, call.generation, task, snapshot)).toBe(true);
      victim.load.add(LONG_LOAD);
      return { call, snapshot };
    });
    expect(stealing.rebalance()).toBe(true);
    expect(sent.map(({ task, priority, slot }) => ({ task, priority, slot }))).toEqual(
      calls.map(({ call: { slot } }, task) => ({ task, priority: task - 1, slot })),
    );
    for (const [index, { snapshot }] of calls.entries()) {
      expect(sent[index]!.snapshot.count).toBe(snapshot.count);
      expect(sent[index]!.snapshot.inline!.subarray(0, snapshot.inline!.length)).toEqual(
        snapshot.inline,
      );
    }
    // What tells key lists is no call, and stays: the worker may need it for others.
    expect(endpoint.tx.sequence).toBe(5);
    expect([victim.begin(), victim.begin()]).toEqual([true, false]);
  });

  test("include a call with a message only if it can be sent again", () => {
    const { stealing, revocation, inFlight, victim, thief, add, send, waiting, clock } =
      createPool();
    const { endpoint, pair } = victim;
    send(victim, LONG_LOAD);
    victim.begin();
    const post = (isKept: boolean): PendingCall => {
      const call = add(victim, LONG_LOAD, createSettings({ retries: 1 }));
      const snapshot: Snapshot = pair.snapshots.capture([
        new Uint8Array(64 * 1024).fill(call.slot),
      ]);
      expect(snapshot.payload).toBeDefined();
      const { slot, generation } = call;
      if (isKept) call.keep().retryPayload = { slot, generation, task: 0, snapshot, priority: 0 };
      expect(endpoint.sendSnapshot(CALL, slot, generation, 0, snapshot, [])).toBe(true);
      victim.load.add(LONG_LOAD);
      return call;
    };
    const [moved, kept] = [post(true), post(false)];
    expect(stealing.rebalance()).toBe(true);
    expect(waiting(victim)).toEqual([kept.slot]);
    expect(waiting(thief)).toEqual([moved.slot]);
    expect(kept.lane).toBe(victim.id);
    expect(receive(thief)).toEqual([new Uint8Array(64 * 1024).fill(moved.slot)]);
    expect(stealing.rebalance(clock.nowMs)).toBe(false);
    expect(inFlight.callsOf(victim.id)).toContain(kept);
    expect(revocation.moved).toBe(1);
  });

  test("a damaged ring fails its lane", () => {
    const { stealing, victim, send, failed, lanes } = createPool();
    send(victim, LONG_LOAD, 3);
    victim.begin();
    const { tx } = victim.endpoint;
    tx.memory.i32[tx.unreleased()[1]! >> 2] = 5;
    expect(stealing.rebalance()).toBe(false);
    expect(failed).toEqual([expect.any(ProtocolError)]);
    expect(lanes.all).not.toContain(victim);
  });
});

describe("a retiring lane", () => {
  test("returns all calls it has not begun to the host", () => {
    const { revocation, inFlight, victim, send, returned, waiting } = createPool({
      victims: [{ capacity: 2 ** 18 }],
    });
    const [begun, ...others] = send(victim, load(1), 5000);
    victim.begin();
    revocation.requeue(victim);
    expect(returned).toEqual([others]);
    expect(waiting(victim)).toEqual([]);
    expect(victim.load.outstanding).toBe(1);
    expect(inFlight.callsOf(victim.id).map(({ slot }) => slot)).toEqual([begun]);
    expect(revocation.moved).toBe(4999);
  });

  test("begins no call after `revokeAll`, also none with a message", () => {
    const { revocation, inFlight, victim, send, add, returned } = createPool();
    const { endpoint, pair } = victim;
    send(victim, load(10), 3);
    victim.begin();
    const { slot, generation } = add(victim, load(10));
    const snapshot = pair.snapshots.capture([new Uint8Array(64 * 1024)]);
    endpoint.sendSnapshot(CALL, slot, generation, 0, snapshot);
    victim.load.add(load(10));
    endpoint.sendNumber(1000, 0, 0x121, 0, 1); // nobody waits for it
    victim.load.add(UNKNOWN_LOAD);
    revocation.revokeAll(victim);
    expect(victim.begin()).toBe(false);
    expect(victim.load.outstanding).toBe(1);
    expect([inFlight.size, returned, revocation.moved]).toEqual([4, [], 0]); // they stay the lane's
  });
});

describe("calls that follow others", () => {
  /** Both lanes have calls. */
  const busyPool = (situation?: Situation) => {
    const pool = createPool(situation);
    pool.send(pool.thief, UNKNOWN_LOAD);
    pool.thief.begin();
    const look = (passedMs: number) => {
      pool.clock.nowMs += passedMs;
      return pool.stealing.findFollowing();
    };
    return { ...pool, look };
  };

  test("are stuck if none has begun for 10 ms", () => {
    const { look, send, victim } = busyPool();
    send(victim, UNKNOWN_LOAD, 3);
    victim.begin();
    expect(look(0)).toEqual({ count: 2, startable: 0 });
    expect(look(8)).toEqual({ count: 2, startable: 0 });
    expect(look(2)).toEqual({ count: 2, startable: 2 });
    victim.begin();
    expect(look(0)).toEqual({ count: 1, startable: 0 });
    expect(look(10)).toEqual({ count: 1, startable: 1 });
    victim.begin();
    expect(look(10)).toEqual({ count: 0, startable: 0 });
  });

  test("wait behind a long call from the beginning", () => {
    const { look, send, victim } = busyPool();
    send(victim, LONG_LOAD, 2);
    victim.begin();
    expect(look(0)).toEqual({ count: 1, startable: 1 });
  });

  test("do not count if a lane is idle, which gets them, or if they cannot move", () => {
    const { look, send, add, thief, victim } = busyPool();
    const keyed = createSettings({ affinity: { key: "key" } });
    send(victim, UNKNOWN_LOAD);
    victim.begin();
    const { slot, generation } = add(victim, UNKNOWN_LOAD, keyed);
    victim.send(UNKNOWN_LOAD, slot, generation);
    look(0);
    expect(look(20)).toEqual({ count: 0, startable: 0 });
    send(victim, UNKNOWN_LOAD);
    look(0);
    expect(look(20)).toMatchObject({ count: 1 });
    thief.load.clear();
    expect(look(20)).toEqual({ count: 0, startable: 0 });
  });

  test("damage is the fault of its lane", () => {
    const { failed, look, send, victim } = busyPool();
    send(victim, UNKNOWN_LOAD, 2);
    victim.endpoint.tx.memory.i32.fill(-7, 0, 16);
    expect(look(0)).toMatchObject({ count: 0 });
    expect(failed).toMatchObject([{ code: "HEDDLE_PROTOCOL" }]);
  });
});
