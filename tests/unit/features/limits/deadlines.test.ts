/** Time limits on a clock of the test's own: when they are kept, and what a look costs. */
import { describe, expect, test, vi } from "vitest";
import type { PoolParts } from "../../../../src/api/pool/parts.ts";
import { createSettings, type GivenSettings } from "../../../../src/host/calls/call-settings.ts";
import { Cancellation } from "../../../../src/features/calls/limits/host/cancellation.ts";
import { InFlight, type PendingCall } from "../../../../src/host/calls/in-flight.ts";
import { LaneSet } from "../../../../src/host/lanes/lane-set.ts";
import { FakeLane } from "../../../support/lanes.ts";

interface Clock {
  nowMs: number;
  /** Timers waiting, soonest first. */
  timers: { readonly at: number; readonly callback: () => void }[];
}

function bench() {
  const clock: Clock = { nowMs: 1000, timers: [] };
  const begun = new Set<PendingCall>();
  /** What it takes to look at one call. */
  const cost = { checkedMs: 0, takeMs: 0 };
  const ended: string[] = [];
  const inFlight = new InFlight();
  const lanes = new LaneSet();
  let looks = 0;
  const nothing = (): void => {};

  /** Calls are begun when the test says so. */
  class FakeEndings extends Cancellation {
    override hasBegun(call: PendingCall): boolean {
      clock.nowMs += cost.checkedMs;
      return begun.has(call);
    }

    override expire(call: PendingCall, kind: "run" | "call"): void {
      ended.push(`${call.slot} ${kind} at ${clock.nowMs - 1000}`);
      inFlight.reject(call, kind);
    }
  }

  const runtime = {
    now: () => clock.nowMs,
    setTimeout: (callback: () => void, delayMs: number) => {
      const timer = { at: clock.nowMs + delayMs, callback };
      clock.timers.push(timer);
      const clear = (): void => {
        clock.timers = clock.timers.filter((other) => other !== timer);
      };
      return { clear, ref: nothing, unref: nothing };
    },
  };
  const stop = (lane: FakeLane, error: Error): void => {
    ended.push(`lane ${lane.id}: ${error.message}`);
  };
  const { deadlines } = new FakeEndings({
    startData: { limits: new SharedArrayBuffer(64) },
    dispatcher: { inFlight, lanes },
    spec: { runtime, options: { hardTimeoutMs: 100 } },
    supervisor: { stopping: { stretch: 1, stop } },
    takeResponses: () => {
      looks++;
      clock.nowMs += cost.takeMs;
    },
  } as unknown as PoolParts);
  /** A call that the lane with id 0 has, if there is one. */
  const make = (given: GivenSettings): PendingCall => {
    const settings = createSettings(given);
    const call = inFlight.add(nothing, (reason) => {
      if (reason instanceof Error) ended.push(`${call.slot} lost at ${clock.nowMs - 1000}`);
    }, settings);
    call.lane = 0;
    deadlines.add(call, settings.tickMs);
    return call;
  };
  /** `calls`: those in its ring. */
  const createLane = (id: number, calls = 0): FakeLane => {
    const lane = new FakeLane({ id });
    for (let call = 0; call < calls; call++) lane.send(0);
    lanes.move(lane, "preparing");
    lanes.move(lane, "open");
    return lane;
  };
  let abandoned = 0;
  /** A call of the lane is given up; its worker is stopped in `leftMs`, by a limit of `limitMs`. Returns its slot. */
  const abandon = (lane: FakeLane, leftMs: number, limitMs: number): number => {
    const killAtMs = clock.nowMs + leftMs;
    lane.load.orphaned.add(++abandoned, 1, { load: 0, killAtMs, limitMs });
    return abandoned;
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
    clock.nowMs = Math.max(clock.nowMs, end);
  };
  return {
    abandon,
    clock,
    begun,
    cost,
    createLane,
    ended,
    inFlight,
    make,
    pass,
    looks: () => looks,
  };
}

describe("deadlines", () => {
  test("count from the making of a call whose task was not known, which is noted after it has its settings", () => {
    const { clock, ended, make, pass } = bench();
    const call = make({ timeoutMs: 400 });
    call.keep().madeMs = clock.nowMs;
    clock.nowMs += 800; // the host was busy
    pass(50);
    expect(ended).toEqual(["0 call at 800"]);
  });

  test("a timeout starts with the task, a deadline with the call, and neither expires early", () => {
    const { begun, ended, make, pass } = bench();
    const slow = make({ runTimeoutMs: 160 });
    make({ timeoutMs: 320 });
    pass(200);
    expect(ended).toEqual([]);
    begun.add(slow);
    pass(159);
    expect(ended.filter((end) => end.includes("run"))).toEqual([]);
    pass(40);
    expect(ended.toSorted()).toEqual([
      expect.stringMatching(/^0 run at (3[6-9]\d)$/),
      expect.stringMatching(/^1 call at (3[2-4]\d)$/),
    ]);
  });

  test("no timer runs without a call that has a limit", () => {
    const { clock, inFlight, make, pass, looks } = bench();
    inFlight.add(() => {}, () => {});
    pass(1000);
    expect([clock.timers.length, looks()]).toEqual([0, 0]);
    const call = make({ runTimeoutMs: 1600 });
    expect(clock.timers.length).toBe(1);
    pass(400);
    inFlight.resolve(call, 1);
    pass(100);
    expect(clock.timers.length).toBe(0);
    expect(looks()).toBeLessThanOrEqual(10);
  });

  test("a check looks at calls with limits alone, however many others there are", () => {
    const { inFlight, make, pass } = bench();
    make({ runTimeoutMs: 100 });
    const all = vi.spyOn(inFlight, "callsOf");
    pass(50);
    expect(all).not.toHaveBeenCalled();
  });

  test("a shorter limit shortens the interval between checks", () => {
    const { clock, make, pass, ended } = bench();
    make({ timeoutMs: 8000 });
    expect(clock.timers[0]!.at - clock.nowMs).toBe(50);
    make({ timeoutMs: 16 });
    expect(clock.timers.map(({ at }) => at - clock.nowMs)).toEqual([1]);
    pass(19);
    expect(ended).toEqual([expect.stringMatching(/^1 call at 1[67]$/)]);
    expect(clock.timers).toHaveLength(1);
  });

  test("a worker that takes no call for twice the hard timeout is stopped", () => {
    const { createLane, ended, make, pass } = bench();
    const taking = createLane(1, 10);
    const answering = createLane(2, 10);
    const idle = createLane(3);
    createLane(4, 1);
    const backedUp = createLane(6);
    const begunAll = createLane(5, 1);
    expect(begunAll.begin()).toBe(true); // the record's room is not handed back
    make({ timeoutMs: 100_000 });
    for (let step = 0; step < 9; step++) {
      if (step % 3 === 2) idle.send(0);
      else if (idle.begin()) idle.publish();
      if (step === 6) backedUp.send(0); // after 300 ms without a call
      if (step % 2 === 1) {
        taking.begin();
        taking.publish();
        answering.respond();
        answering.takeResponse(0);
      }
      pass(50);
      if (step < 4) expect(ended).toEqual([]);
    }
    expect(new Set(ended)).toEqual(new Set(["lane 4: The worker took no call for 200 ms."]));
  });

  test("a busy host checks once more before a limit expires", () => {
    const { begun, clock, createLane, ended, inFlight, make, pass } = bench();
    const lane = createLane(0, 2);
    const call = make({ runTimeoutMs: 160 });
    make({ timeoutMs: 100_000 });
    begun.add(call);
    pass(50);
    clock.nowMs += 1000; // the host does something else, timers come late
    pass(0);
    expect(ended).toEqual([]);
    inFlight.resolve(call, "answered meanwhile");
    lane.begin();
    lane.publish();
    pass(150);
    expect(ended).toEqual([]);
    pass(150);
    expect(new Set(ended)).toEqual(new Set(["lane 0: The worker took no call for 200 ms."]));
  });

  test("calls whose responses arrive while the host takes others are on time", () => {
    const { abandon, begun, cost, createLane, ended, inFlight, make, pass } = bench();
    const lane = createLane(0);
    const calls = [{ runTimeoutMs: 160 }, { hardTimeoutMs: 160 }, { timeoutMs: 160 }].map(make);
    for (const call of calls) begun.add(call);
    const slot = abandon(lane, 100, 0);
    pass(60);
    cost.takeMs = 200;
    pass(10); // one look
    expect(ended).toEqual([]);
    cost.takeMs = 0;
    lane.load.orphaned.take(slot, 1);
    for (const call of calls) inFlight.resolve(call, "in time");
    pass(100);
    expect(ended).toEqual([]);
  });

  test("checks of many calls take at most a twentieth of the time, and a delayed check is ignored", () => {
    const { clock, cost, make, pass, looks } = bench();
    for (let n = 0; n < 10; n++) make({ runTimeoutMs: 160 });
    pass(100);
    cost.checkedMs = 50;
    pass(20); // one look, in which the host was not given the processor
    cost.checkedMs = 0;
    expect(clock.timers[0]!.at - clock.nowMs).toBeLessThan(20);
    cost.checkedMs = 0.5;
    for (let n = 0; n < 30; n++) pass(100);
    const [before, startMs] = [looks(), clock.nowMs];
    pass(2000);
    expect((looks() - before) / ((clock.nowMs - startMs) / 105)).toBeCloseTo(1, 0);
  });

  test("a slot's next call does not inherit its limits", () => {
    const { make, pass, inFlight, ended } = bench();
    const first = make({ timeoutMs: 100 });
    pass(90);
    inFlight.resolve(first, 1);
    const second = make({ timeoutMs: 100 });
    expect(second).toBe(first);
    pass(90);
    expect(ended).toEqual([]);
    pass(30);
    expect(ended).toHaveLength(1);
  });
});

describe("limits of a worker with a response backlog", () => {
  const GRACE_MS = 1000;

  test("are suspended for begun calls, for at most one second", () => {
    const { begun, createLane, ended, make, pass } = bench();
    const lane = createLane(0);
    for (const given of [{ runTimeoutMs: 160 }, { hardTimeoutMs: 160 }, { timeoutMs: 160 }]) {
      begun.add(make(given));
    }
    pass(50);
    lane.hasBacklog = true;
    pass(GRACE_MS);
    expect(ended).toEqual([]);
    pass(40);
    expect(ended.toSorted()).toEqual([
      expect.stringMatching(/^0 run at 10[5-8]\d$/),
      expect.stringMatching(/^1 lost at 10[5-8]\d$/),
      expect.stringMatching(/^2 call at 10[5-8]\d$/),
      "lane 0: The task ran longer than the hard timeout of 160 ms; its worker was stopped.",
    ]);
  });

  test("apply again after the backlog and include its time", () => {
    const { begun, createLane, ended, inFlight, make, pass } = bench();
    const lane = createLane(0);
    const [late, answered] = [make({ runTimeoutMs: 160 }), make({ runTimeoutMs: 160 })];
    begun.add(late).add(answered);
    pass(50);
    lane.hasBacklog = true;
    pass(500);
    inFlight.resolve(answered, "in time");
    lane.hasBacklog = false;
    pass(30);
    expect(ended).toEqual([expect.stringMatching(/^0 run at 5[5-8]\d$/)]);
  });

  test("are suspended for up to one second per backlog", () => {
    const { begun, createLane, ended, make, pass } = bench();
    const lane = createLane(0);
    begun.add(make({ runTimeoutMs: 320 }));
    lane.hasBacklog = true;
    pass(900);
    lane.hasBacklog = false;
    pass(0);
    begun.add(make({ runTimeoutMs: 320 }));
    pass(60);
    expect(ended).toEqual([expect.stringMatching(/^0 run at 9\d\d$/)]);
    lane.hasBacklog = true;
    pass(900);
    expect(ended).toHaveLength(1);
    pass(200);
    expect(ended).toEqual([expect.anything(), expect.stringMatching(/^1 run at 19[6-9]\d$/)]);
  });

  test("are suspended for a second in which the host takes responses, not while it is busy", () => {
    const { begun, clock, createLane, ended, inFlight, make, pass } = bench();
    const lane = createLane(0);
    const [stuck, answered] = [make({ runTimeoutMs: 1600 }), make({ runTimeoutMs: 1600 })];
    begun.add(stuck).add(answered);
    lane.hasBacklog = true;
    pass(200);
    lane.respond();
    clock.nowMs += 5000; // the host does something else, and responses wait all the time
    pass(0);
    lane.takeResponse(0);
    pass(500);
    expect(ended).toEqual([]);
    inFlight.resolve(answered, "in time");
    pass(600);
    expect(ended).toEqual([expect.stringMatching(/^0 run at 6\d\d\d$/)]);
  });

  test("are suspended no longer than a second by a worker that fills its ring no more", () => {
    const { begun, clock, createLane, ended, make, pass } = bench();
    createLane(0).hasBacklog = true;
    begun.add(make({ runTimeoutMs: 160 }));
    for (let step = 0; step < 6; step++) {
      pass(50);
      clock.nowMs += 300; // the host does something else, again and again
    }
    pass(50);
    expect(ended).toEqual([expect.stringMatching(/^0 run at 1[0-6]\d\d$/)]);
  });

  test("are not suspended for calls not begun or calls of other workers", () => {
    const { begun, createLane, ended, make, pass } = bench();
    createLane(0).hasBacklog = true;
    createLane(1);
    make({ timeoutMs: 160 });
    const other = make({ runTimeoutMs: 160 });
    other.lane = 1;
    begun.add(other);
    pass(200);
    expect(ended.toSorted()).toEqual([
      expect.stringMatching(/^0 call at 1[67]\d$/),
      expect.stringMatching(/^1 run at 1[67]\d$/),
    ]);
  });

  test("are suspended for orphaned calls and calls not taken", () => {
    const { abandon, createLane, ended, make, pass } = bench();
    const givingUp = createLane(1);
    const silent = createLane(2, 1);
    make({ timeoutMs: 100_000, hardTimeoutMs: 90 });
    abandon(givingUp, 30, 90);
    givingUp.hasBacklog = silent.hasBacklog = true;
    pass(GRACE_MS);
    expect(ended).toEqual([]);
    pass(20);
    expect(new Set(ended)).toEqual(
      new Set([
        "lane 1: The task ran longer than the hard timeout of 90 ms; its worker was stopped.",
        "lane 2: The worker took no call for 200 ms.",
      ]),
    );
  });

  test("stop the worker for the call with the earliest limit", () => {
    const { abandon, createLane, ended, make, pass } = bench();
    const lane = createLane(0);
    make({ timeoutMs: 100_000 });
    abandon(lane, 20, 10_000);
    abandon(lane, 10, 30);
    abandon(lane, 60, 50);
    lane.hasBacklog = true;
    pass(100);
    expect(ended).toEqual([]);
    lane.hasBacklog = false;
    pass(60);
    expect(new Set(ended)).toEqual(
      new Set([
        "lane 0: The task ran longer than the hard timeout of 30 ms; its worker was stopped.",
      ]),
    );
  });
});
