/** Time limits on a clock of the test's own: when they are kept, and what a look costs. */
import { describe, expect, test } from "vitest";
import { AbandonedCalls } from "../../src/host/abandoned.ts";
import { createSettings, type GivenSettings } from "../../src/host/call-settings.ts";
import type { Endings } from "../../src/host/endings.ts";
import { InFlight, type PendingCall } from "../../src/host/in-flight.ts";
import type { Lane } from "../../src/host/lane.ts";
import { Timekeeper } from "../../src/host/timekeeper.ts";

interface Clock {
  nowMs: number;
  /** Timers waiting, soonest first. */
  timers: { readonly at: number; readonly callback: () => void }[];
}

function bench() {
  const clock: Clock = { nowMs: 1000, timers: [] };
  const begun = new Set<PendingCall>();
  /** What it takes to look at one call. */
  const cost = { lookMs: 0, takeMs: 0 };
  const ended: string[] = [];
  const inFlight = new InFlight();
  let looks = 0;
  const lanes: Lane[] = [];
  const timekeeper = new Timekeeper({
    inFlight,
    endings: {
      hasBegun: (call: PendingCall) => {
        clock.nowMs += cost.lookMs;
        return begun.has(call);
      },
      expire: (call: PendingCall, kind: string) => {
        ended.push(`${call.slot} ${kind} at ${clock.nowMs - 1000}`);
        inFlight.reject(call, kind);
      },
    } as unknown as Endings,
    lanes: () => lanes,
    hardTimeoutMs: 100,
    now: () => clock.nowMs,
    setTimeout: (callback, delayMs) => {
      const timer = { at: clock.nowMs + delayMs, callback };
      clock.timers.push(timer);
      const clear = (): void => {
        clock.timers = clock.timers.filter((other) => other !== timer);
      };
      return { clear, ref: () => {}, unref: () => {} };
    },
    takeAnswers: () => {
      looks++;
      clock.nowMs += cost.takeMs;
    },
    stop: (lane, error) => void ended.push(`lane ${lane.id}: ${error.message}`),
  });
  const make = (given: GivenSettings): PendingCall => {
    const settings = createSettings(given);
    const call = inFlight.add(() => {}, () => {}, 0, settings);
    inFlight.submitted(call, call.generation);
    timekeeper.watch(settings.tickMs);
    return call;
  };
  const createLane = (id: number) => {
    const lane = {
      id,
      endpoint: {
        tx: { headPosition: 0, hasUnread: true },
        rx: { headPosition: 0 },
        unbegunCalls: () => [0],
      },
      answersHeld: 0,
      answersHandedOver: 0,
      abandoned: new AbandonedCalls(),
    };
    lanes.push(lane as unknown as Lane);
    return lane;
  };
  let abandoned = 0;
  /** A call of the lane is given up that was allowed `allowedMs`, of which `leftMs` are left; returns its slot. */
  const abandon = (
    lane: ReturnType<typeof createLane>,
    leftMs: number,
    allowedMs: number,
  ): number => {
    const killAtMs = clock.nowMs + leftMs;
    lane.abandoned.add(++abandoned, 1, { load: 0, killAtMs, allowedMs, limitMs: allowedMs });
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

describe("timekeeper", () => {
  test("a timeout counts from the beginning, a deadline from the call, neither early", () => {
    const { begun, ended, make, pass } = bench();
    const slow = make({ timeoutMs: 160 });
    make({ deadlineMs: 320 });
    pass(200);
    expect(ended).toEqual([]);
    begun.add(slow);
    pass(159);
    expect(ended.filter((end) => end.includes("timeout"))).toEqual([]);
    pass(40);
    expect(ended.toSorted()).toEqual([
      expect.stringMatching(/^0 timeout at (3[6-9]\d)$/),
      expect.stringMatching(/^1 deadline at (3[2-4]\d)$/),
    ]);
  });

  test("no timer runs without a call that has a limit", () => {
    const { clock, inFlight, make, pass, looks } = bench();
    const plain = inFlight.add(() => {}, () => {}, 0);
    inFlight.submitted(plain, plain.generation);
    pass(1000);
    expect([clock.timers.length, looks()]).toEqual([0, 0]);
    const call = make({ timeoutMs: 1600 });
    expect(clock.timers.length).toBe(1);
    pass(400);
    inFlight.resolve(call, 1);
    pass(100);
    expect(clock.timers.length).toBe(0);
    expect(looks()).toBeLessThanOrEqual(10);
  });

  test("a shorter limit shortens the time to the next look, and only then", () => {
    const { clock, make, pass, ended } = bench();
    make({ deadlineMs: 8000 });
    expect(clock.timers[0]!.at - clock.nowMs).toBe(50);
    make({ deadlineMs: 16 });
    expect(clock.timers.map(({ at }) => at - clock.nowMs)).toEqual([1]);
    pass(19);
    expect(ended).toEqual([expect.stringMatching(/^1 deadline at 1[67]$/)]);
    expect(clock.timers).toHaveLength(1);
  });

  test("a worker that takes nothing for twice the hard timeout is stopped, one that gets on is not", () => {
    const { createLane, ended, make, pass } = bench();
    const taking = createLane(1).endpoint.tx;
    const answering = createLane(2).endpoint.rx;
    const idle = createLane(3).endpoint.tx;
    createLane(4);
    make({ deadlineMs: 100_000 });
    for (let step = 0; step < 9; step++) {
      idle.hasUnread = step % 3 === 2;
      taking.headPosition += step % 2;
      answering.headPosition += step % 2;
      pass(50);
      expect(ended).toEqual(step < 4 ? [] : expect.arrayContaining([expect.any(String)]));
    }
    expect(new Set(ended)).toEqual(new Set(["lane 4: The worker took no call for 200 ms."]));
  });

  test("a busy host looks once more before it takes anything for late", () => {
    const { begun, clock, createLane, ended, inFlight, make, pass } = bench();
    const { tx } = createLane(0).endpoint;
    const call = make({ timeoutMs: 160 });
    make({ deadlineMs: 100_000 });
    begun.add(call);
    pass(50);
    clock.nowMs += 1000; // the host does something else, timers come late
    pass(0);
    expect(ended).toEqual([]);
    inFlight.resolve(call, "answered meanwhile");
    tx.headPosition++;
    pass(150);
    expect(ended).toEqual([]);
    pass(150);
    expect(new Set(ended)).toEqual(new Set(["lane 0: The worker took no call for 200 ms."]));
  });

  test("a worker that hands over what it holds is waited for, one that does not get on is not", () => {
    const { begun, createLane, ended, make, pass } = bench();
    const lane = createLane(0);
    lane.endpoint.tx.hasUnread = false;
    begun.add(make({ timeoutMs: 160 }));
    begun.add(make({ deadlineMs: 200 }));
    pass(50);
    lane.answersHeld = 1000;
    for (let n = 0; n < 20; n++) {
      pass(110);
      lane.answersHandedOver++;
    }
    expect(ended).toEqual([]);
    pass(140);
    expect(ended).toEqual([]);
    pass(110);
    expect(ended.filter((end) => !end.startsWith("lane"))).toEqual([
      expect.stringMatching(/^0 timeout/),
      expect.stringMatching(/^1 deadline/),
    ]);
  });

  test("a worker that always holds answers, but ever new ones, is not waited for longer than for those", () => {
    const { begun, createLane, ended, inFlight, make, pass } = bench();
    const lane = createLane(0);
    lane.endpoint.tx.hasUnread = false;
    begun.add(make({ timeoutMs: 160 }));
    const held = make({ timeoutMs: 160 });
    begun.add(held);
    lane.answersHeld = 10;
    for (let ms = 0; ms < 400; ms += 10) {
      lane.answersHeld++;
      lane.answersHandedOver++;
      // Among those that it held when the time was over.
      if (ms === 260) inFlight.resolve(held, "in time");
      pass(10);
    }
    // A hundred milliseconds' worth is held, of which each look that is waited for begins a new.
    expect(ended).toEqual([expect.stringMatching(/^0 timeout at (2[6-9]|3[0-8])\d$/)]);
  });

  test("nor does the time count in which the host was away, and took none", () => {
    const { begun, clock, createLane, ended, make, pass } = bench();
    const lane = createLane(0);
    lane.endpoint.tx.hasUnread = false;
    begun.add(make({ timeoutMs: 160 }));
    lane.answersHeld = 10;
    pass(50);
    clock.nowMs += 1000;
    pass(0);
    lane.endpoint.rx.headPosition++; // what was in the ring: now there is room
    pass(100);
    expect(ended).toEqual([]);
    pass(100);
    expect(ended).toEqual([expect.stringMatching(/^0 timeout/)]);
  });

  test("what is answered while other answers are taken is in time, however long that takes", () => {
    const { abandon, begun, cost, createLane, ended, inFlight, make, pass } = bench();
    const lane = createLane(0);
    lane.endpoint.tx.hasUnread = false;
    const calls = [{ timeoutMs: 160 }, { hardTimeoutMs: 160 }, { deadlineMs: 160 }].map(make);
    for (const call of calls) begun.add(call);
    const slot = abandon(lane, 100, 0);
    pass(60);
    cost.takeMs = 200;
    pass(10); // one look
    expect(ended).toEqual([]);
    cost.takeMs = 0;
    lane.abandoned.take(slot, 1);
    for (const call of calls) inFlight.resolve(call, "in time");
    pass(100);
    expect(ended).toEqual([]);
  });

  test("a worker that holds answers is given a moment to hand them over, however short the limit", () => {
    const { begun, createLane, ended, make, pass } = bench();
    const lane = createLane(0);
    lane.endpoint.tx.hasUnread = false;
    begun.add(make({ timeoutMs: 10 }));
    pass(2);
    lane.answersHeld = 1;
    pass(40);
    expect(ended).toEqual([]);
    pass(20);
    expect(ended).toEqual([expect.stringMatching(/^0 timeout/)]);
  });

  test("what has not begun is not among them", () => {
    const { createLane, ended, make, pass } = bench();
    const lane = createLane(0);
    lane.answersHeld = 10;
    make({ deadlineMs: 160 });
    pass(200);
    expect(ended).toEqual([expect.stringMatching(/^0 deadline at 1[67]\d$/)]);
  });

  test("a worker whose abandoned call may be among the answers it holds is given time", () => {
    const { abandon, createLane, ended, make, pass } = bench();
    const lane = createLane(0);
    lane.endpoint.tx.hasUnread = false;
    make({ deadlineMs: 100_000, hardTimeoutMs: 90 });
    abandon(lane, 30, 90);
    lane.answersHeld = 1000;
    for (let n = 0; n < 20; n++) {
      pass(60);
      lane.answersHandedOver++;
    }
    expect(ended).toEqual([]);
    lane.answersHandedOver = 1000;
    pass(20);
    expect(ended).toContainEqual(expect.stringMatching(/^lane 0: .* 90 ms/));
  });

  test("one that hands over none is stopped for whichever of its calls is due", () => {
    const { abandon, createLane, ended, make, pass } = bench();
    const lane = createLane(0);
    lane.endpoint.tx.hasUnread = false;
    make({ deadlineMs: 100_000, hardTimeoutMs: 90 });
    abandon(lane, 20, 10_000);
    abandon(lane, 40, 30);
    abandon(lane, 60, 0);
    lane.answersHeld = 1000;
    pass(40);
    expect(ended).toEqual([]);
    pass(40);
    expect(ended).toContainEqual(expect.stringMatching(/^lane 0: .* 30 ms/));
  });

  test("looks at very many calls take a twentieth of the time; one that was held up says nothing", () => {
    const { clock, cost, make, pass, looks } = bench();
    for (let n = 0; n < 10; n++) make({ timeoutMs: 160 });
    pass(100);
    cost.lookMs = 50;
    pass(20); // one look, in which the host was not given the processor
    cost.lookMs = 0;
    expect(clock.timers[0]!.at - clock.nowMs).toBeLessThan(20);
    cost.lookMs = 0.5;
    for (let n = 0; n < 30; n++) pass(100);
    const [before, startMs] = [looks(), clock.nowMs];
    pass(2000);
    expect((looks() - before) / ((clock.nowMs - startMs) / 105)).toBeCloseTo(1, 0);
  });

  test("a slot's next call does not inherit its limits", () => {
    const { make, pass, inFlight, ended } = bench();
    const first = make({ deadlineMs: 100 });
    pass(90);
    inFlight.resolve(first, 1);
    const second = make({ deadlineMs: 100 });
    expect(second).toBe(first);
    pass(90);
    expect(ended).toEqual([]);
    pass(30);
    expect(ended).toHaveLength(1);
  });
});
