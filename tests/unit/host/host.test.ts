/** The host's bookkeeping: slab, queue, turn clock, safety check. */
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { Encoder } from "../../../src/codec/encoder.ts";
import { CONTROL_BYTES } from "../../../src/lane/layout.ts";
import { DataCloneError, ProtocolError } from "../../../src/errors.ts";
import { Responses } from "../../../src/host/dispatch/responses.ts";
import type { Lane } from "../../../src/host/lanes/lane.ts";
import { CallQueue } from "../../../src/host/dispatch/queue/call-queue.ts";
import { InFlight, type PendingCall, QUEUED_ON_HOST } from "../../../src/host/calls/in-flight.ts";
import type { CallPart } from "../../../src/host/calls/call-extra.ts";
import { createSettings, PLAIN } from "../../../src/host/calls/call-settings.ts";
import { giveLaneMemory, takeLaneMemory } from "../../../src/host/workers/lane-memory.ts";
import { PendingWork } from "../../../src/host/calls/pending-work.ts";
import { Sender } from "../../../src/host/dispatch/queue/sender.ts";
import { type Receiver, Watchdog } from "../../../src/host/workers/watchdog.ts";
import { TurnClock } from "../../../src/sync/turn-clock.ts";
import { currentRuntime } from "../../../src/runtimes/current.ts";
import { createHeld } from "../../support/endpoints.ts";
import { FakeLane, laneSetOf } from "../../support/lanes.ts";

describe("in-flight slab", () => {
  test("the id of a settled call never matches the next call in its slot", () => {
    const calls = new InFlight();
    const call = calls.add(() => {}, () => {});
    const { slot, generation } = call;
    expect(calls.find(slot, generation)).toBe(call);
    calls.resolve(call, 1);
    expect(calls.find(slot, generation)).toBeUndefined();
    expect(calls.find(slot, generation + 1)).toBeUndefined(); // the slot is free
    expect(calls.add(() => {}, () => {}).slot).toBe(slot);
    expect(calls.find(slot, generation)).toBeUndefined();
    expect(calls.find(slot, generation + 1)).toBeDefined();
    for (const bad of [-1, 1, 1000, 2 ** 31 - 1]) expect(calls.find(bad, 0)).toBeUndefined();
  });

  test("a retried call gets a new id", () => {
    const calls = new InFlight();
    const call = calls.add(() => {}, () => {});
    const { slot, generation } = call;
    const snapshot = createHeld();
    const first = { slot, generation, task: 0, snapshot, priority: 0 };
    const again = calls.renew(call, call.keep(), first);
    expect(again).toEqual({ ...first, generation: generation + 1 });
    expect([call.extra!.retryPayload, call.extra!.retries]).toEqual([again, 1]);
    expect(calls.find(slot, generation)).toBeUndefined();
    expect(calls.find(slot, again.generation)).toBe(call);
    expect(calls.size).toBe(1);
  });

  test("a plain call that gets a stream once it is sent is not revoked in the place of another", () => {
    const calls = new InFlight();
    const limited = calls.add(() => {}, () => {}, createSettings({ timeoutMs: 100 }));
    limited.position = 640; // as `Sender` does for calls that are not plain
    calls.resolve(limited, 1);
    const plain = calls.add(() => {}, () => {});
    expect([plain, plain.extra, plain.position]).toEqual([limited, undefined, 640]);
    plain.keep();
    expect(plain.position).toBe(-1); // it was released, as far as anybody can tell
    limited.keep();
    plain.position = 1280;
    plain.keep();
    expect(plain.position).toBe(1280);
  });

  test("each part of a call hears once that it is over, also if the stack ends meanwhile", () => {
    const calls = new InFlight();
    const call = calls.add(() => {}, () => {}, createSettings({ timeoutMs: 100 }));
    const over: string[] = [];
    const part = (name: string): CallPart => ({
      onOver() {
        over.push(name);
        if (name === "cut") throw new RangeError("stack");
      },
    });
    const [first, removed, cut] = ["first", "removed", "cut"].map(part);
    for (const each of [first!, removed!, cut!, first!]) call.extra!.add(each);
    call.extra!.remove(removed!);
    expect(() => calls.resolve(call, 1)).toThrow(RangeError);
    calls.recount();
    expect(over).toEqual(["cut", "first"]);
    expect([calls.size, call.extra]).toEqual([0, undefined]);
  });

  test("a response marks a waking worker as awake", () => {
    const inFlight = new InFlight();
    const lane = new FakeLane();
    const { slot, generation } = inFlight.add(() => {}, () => {});
    lane.send(0, slot, generation);
    lane.load.isWaking = true;
    const responses = new Responses(inFlight, [], { onRecord: () => false });
    expect([responses.take(lane, 1), lane.load.isWaking]).toEqual([0, true]);
    lane.respond(1, slot, generation);
    expect([responses.take(lane, 1), lane.load.isWaking]).toEqual([1, false]);
  });

  test("every call settles exactly once, in any order (property)", () => {
    fc.assert(fc.property(fc.array(fc.nat(9), { maxLength: 200 }), (steps) => {
      const calls = new InFlight();
      const open: { call: PendingCall; id: number }[] = [];
      const settled: string[] = [];
      let id = 0;
      for (const step of steps) {
        if (step < 5 || open.length === 0) {
          const mine = id++;
          const call = calls.add(
            (value) => settled.push(`${mine} ${value}`),
            (reason) => settled.push(`${mine} ${reason}`),
          );
          call.lane = mine % 3;
          open.push({ call, id: mine });
        } else {
          const [{ call, id }] = open.splice(step % open.length, 1) as [typeof open[number]];
          if (step % 2 === 0) calls.resolve(call, id);
          else calls.reject(call, id);
          expect(settled.at(-1)).toBe(`${id} ${id}`);
        }
        if (step === 9) calls.recount(); // nothing was miscounted
        expect(calls.size).toBe(open.length);
        for (const lane of [0, 1, 2]) {
          const expected = open.filter(({ id }) => id % 3 === lane).map(({ call }) => call.slot);
          const found = calls.callsOf(lane).map(({ slot }) => slot);
          expect(found.sort()).toEqual(expected.sort());
        }
      }
      expect(new Set(settled).size).toBe(settled.length);
    }));
  });

  const limited = createSettings({ timeoutMs: 100 });

  /** Fields as they are when the stack ends in the midst of `add` or of settling. */
  function damaged() {
    const ended: string[] = [];
    const calls = new InFlight(() => ended.push("empty"));
    const add = (name: string, settings = PLAIN): PendingCall =>
      calls.add((value) => ended.push(`${name} ${value}`), () => {}, settings);
    return { calls, ended, add };
  }

  test("a recount includes calls that were not counted", () => {
    const { calls, ended, add } = damaged();
    add("whole");
    const uncounted = add("before");
    calls.resolve(uncounted, 1);
    uncounted.resolve = (value) => ended.push(`uncounted ${value}`);
    uncounted.reject = () => {};
    expect(calls.size).toBe(1);
    calls.recount();
    expect(calls.size).toBe(2);
    expect(add("next").slot).toBe(2); // its slot is not free
    for (const call of calls.callsOf()) calls.resolve(call, "over");
    expect(ended).toEqual(["before 1", "whole over", "uncounted over", "empty", "next over"]);
  });

  test("a recount drops calls that were settled but not released", () => {
    const { calls, ended, add } = damaged();
    const addTimed = (name: string): PendingCall => add(name, limited);
    const [first, cut, last] = ["first", "cut", "last"].map(addTimed);
    cut!.resolve = cut!.reject = undefined;
    expect(calls.size).toBe(3);
    calls.recount();
    calls.recount();
    expect(calls.size).toBe(2);
    const all = (): PendingCall[] => calls.callsOf();
    expect(all()).toEqual([first, last]);
    expect(addTimed("next")).toBe(cut);
    expect(all()).toEqual([first, cut, last]);
    expect(add("another").slot).toBe(3); // the slot was free once
    for (const call of calls.callsOf()) calls.resolve(call, "over");
    expect(all()).toEqual([]);
    expect([calls.size, ended.at(-1)]).toEqual([0, "another over"]);
    expect(ended.filter((end) => end === "empty")).toHaveLength(1);
  });
});

test("a call whose lane fails while key lists are announced is settled by the lane", () => {
  const inFlight = new InFlight();
  const lane = new FakeLane({ id: 3 });
  const failed: string[] = [];
  const pending = new PendingWork();
  const sender = new Sender({
    inFlight,
    lanes: laneSetOf([lane]),
    kinds: currentRuntime.kinds,
    pending,
    canSteal: true,
    onSettings: () => {},
    maxCalls: Infinity,
    onLastCall: () => {},
    recover: () => {},
    failLane: ({ id }, error) => failed.push(`${id}: ${error.message}`),
  });
  lane.endpoint.announceKeyLists = () => {
    throw new ProtocolError("damaged");
  };
  const calls = [true, false].map((isHeld) => {
    const call = sender.begin(() => {}, () => {}, PLAIN, 0);
    const { slot, generation } = call;
    const { snapshots } = lane.endpoint;
    const encoder = snapshots.codec.acquire();
    const end = snapshots.encode(encoder, [{ a: 1 }], "args");
    const snapshot = snapshots.capture([{ a: 1 }]);
    const isSent = isHeld
      ? sender.sendSnapshot(lane, { slot, generation, task: 0, snapshot, priority: 0 }, 0)
      : sender.sendEncoded(lane, call, 0, 0, encoder, end, 1);
    expect([isSent, pending.marked]).toEqual([true, undefined]);
    return call;
  });
  expect(failed).toEqual(["3: damaged", "3: damaged"]);
  expect(inFlight.callsOf(lane.id)).toEqual(calls);
});

describe("a call interrupted by a stack overflow", () => {
  /** Lanes of which the first may have its wakes cut off. */
  function createSender() {
    const inFlight = new InFlight();
    const [first, second] = [new FakeLane({ id: 0 }), new FakeLane({ id: 1 })];
    const pending = new PendingWork();
    const sender: Sender = new Sender({
      inFlight,
      lanes: laneSetOf([first, second]),
      kinds: currentRuntime.kinds,
      pending,
      canSteal: true,
      onSettings: () => {},
      maxCalls: Infinity,
      onLastCall: () => {},
      recover: () => sender.recover(() => false),
      failLane: () => {},
    });
    const outcomes: string[] = [];
    const begin = (name: string): PendingCall =>
      sender.begin(
        () => outcomes.push(`${name} resolved`),
        (reason) => {
          outcomes.push(`${name}: ${(reason as Error).message}`);
        },
        PLAIN,
        0,
      );
    const recover = (isQueued = false): void => sender.recover(() => isQueued);
    const isInterrupted = (): boolean => pending.marked !== undefined;
    return { inFlight, first, second, sender, outcomes, begin, recover, isInterrupted };
  }

  test("is the only call rejected", () => {
    const { inFlight, first, second, sender, outcomes, begin, recover, isInterrupted } =
      createSender();
    const whole = begin("whole");
    sender.sendNumber(first, whole, 0, 4, 1);
    expect([isInterrupted(), first.wakes]).toEqual([false, 1]);
    const lost = begin("lost");
    sender.unmark();
    lost.resolve = lost.reject = undefined; // settled, and its slot not released
    begin("cut");
    expect(isInterrupted()).toBe(true);
    first.load.outstanding = 10;
    const recovered = [first, second].map(({ endpoint: { tx } }) => vi.spyOn(tx, "recover"));
    recover();
    for (const each of recovered) expect(each).toHaveBeenCalledOnce();
    expect(inFlight.size).toBe(1);
    expect(outcomes).toEqual(["cut: The stack overflowed while this call was made."]);
    expect(isInterrupted()).toBe(false);
    expect(inFlight.callsOf()).toEqual([whole]);
    expect([first.load.outstanding, second.load.outstanding]).toEqual([1, 0]);
    expect([first.wakes, second.wakes]).toEqual([2, 1]);
  });

  test("passes no id or limits to the next call in its slot", () => {
    const { inFlight, begin, recover } = createSender();
    const settings = createSettings({ runTimeoutMs: 100 });
    const call = inFlight.add(() => {}, () => {}, settings);
    const { generation } = call;
    call.resolve = call.reject = undefined; // where the stack ended
    begin("cut");
    recover();
    const next = inFlight.add(() => {}, () => {});
    const other = inFlight.add(() => {}, () => {});
    expect([next, other]).toContain(call);
    expect([call.settings, call.extra]).toEqual([PLAIN, undefined]);
    expect(call.generation).not.toBe(generation);
  });

  test("is recovered before the next call is created", () => {
    const { inFlight, sender, outcomes, begin, isInterrupted } = createSender();
    begin("cut");
    const next = begin("next");
    expect(inFlight.callsOf()).toEqual([next]);
    expect([inFlight.size, isInterrupted()]).toEqual([1, true]);
    sender.unmark();
    expect(outcomes).toHaveLength(1);
    expect(outcomes[0]).toContain("cut");
  });

  test("differs from a queued call that finds no space", () => {
    const { inFlight, first, sender, isInterrupted } = createSender();
    first.endpoint.announceKeyLists = () => false;
    const { slot, generation } = inFlight.add(() => {}, () => {});
    const queued = { slot, generation, task: 0, priority: 0, snapshot: createHeld() };
    expect(sender.sendSnapshot(first, queued, 0)).toBe(false);
    expect(isInterrupted()).toBe(false);
  });

  test("is recovered if the stack overflows while a refusal is passed on", () => {
    const { inFlight, first, sender, recover, isInterrupted } = createSender();
    first.endpoint.announceKeyLists = () => {
      throw new DataCloneError("refused");
    };
    const overflow = (): never => {
      throw new RangeError("Maximum call stack size exceeded");
    };
    const call = sender.begin(() => {}, overflow, PLAIN, 0);
    const encoder = {} as Encoder;
    expect(() => sender.sendEncoded(first, call, 0, 0, encoder, 0, 0)).toThrow(RangeError);
    expect(isInterrupted()).toBe(true);
    recover();
    expect([inFlight.size, isInterrupted()]).toEqual([0, false]);
  });

  test("stays queued or settled if it already was", () => {
    const { inFlight, outcomes, begin, recover } = createSender();
    const queued = begin("queued");
    queued.lane = 1;
    recover(true);
    expect([queued.lane, inFlight.size, outcomes]).toEqual([QUEUED_ON_HOST, 1, []]);
    const settled = begin("settled");
    inFlight.resolve(settled, 1);
    recover();
    expect(outcomes).toEqual(["settled resolved"]);
    expect(inFlight.callsOf()).toEqual([queued]);
  });

  test("belongs to the worker if its record was published", () => {
    const { inFlight, first, sender, outcomes, begin, recover, isInterrupted } = createSender();
    const call = begin("sent");
    first.wake = () => {
      throw new RangeError("Maximum call stack size exceeded");
    };
    expect(() => sender.sendNumber(first, call, 0, 4, 1)).toThrow(RangeError);
    expect(isInterrupted()).toBe(true);
    const wakes: unknown[] = [];
    first.wake = (isAgain?: boolean) => void wakes.push(isAgain);
    recover();
    expect([outcomes, wakes]).toEqual([[], [true]]);
    expect([call.lane, first.load.outstanding]).toEqual([0, 1]);
    expect(inFlight.callsOf(0)).toEqual([call]);
    expect([first.begin(), first.begin()]).toEqual([true, false]);
  });

  test("is rejected if no record of it was published", () => {
    const { inFlight, first, sender, outcomes, begin, recover } = createSender();
    const sendNumber = first.endpoint.sendNumber;
    const call = begin("cut");
    first.endpoint.sendNumber = () => {
      throw new RangeError("Maximum call stack size exceeded");
    };
    expect(() => sender.sendNumber(first, call, 0, 4, 1)).toThrow(RangeError);
    first.endpoint.sendNumber = sendNumber;
    recover();
    expect(outcomes).toEqual(["cut: The stack overflowed while this call was made."]);
    expect([inFlight.size, first.load.outstanding, first.begin()]).toEqual([0, 0, false]);
  });
});

test("the call queue keeps its order through compaction", () => {
  const queue = new CallQueue();
  const call = (slot: number) => ({
    slot,
    generation: 0,
    task: 0,
    snapshot: undefined as never,
    priority: 0,
  });
  let pushed = 0;
  let shifted = 0;
  for (let round = 0; round < 200; round++) {
    for (let each = 0; each < (round * 37) % 100; each++) queue.push(call(pushed++));
    for (let each = 0; each < (round * 53) % 100 && queue.size > 0; each++) {
      expect(queue.peek()!.slot).toBe(shifted++);
      queue.take();
    }
    expect(queue.size).toBe(pushed - shifted);
  }
  expect(shifted).toBeGreaterThan(5000);
  queue.clear();
  expect(queue.peek()).toBeUndefined();
});

describe("responses", () => {
  /** Takes responses of which there are as many as `ready` says; a lane that is not in it is damaged. */
  class FakeAnswers extends Responses {
    readonly order: number[] = [];
    readonly ready = new Map<Lane, number>();
    lanes: Lane[] = [];

    override take(lane: Lane, max: number): number {
      const ready = this.ready.get(lane);
      if (ready === undefined) throw new ProtocolError("damaged");
      const taken = Math.min(ready, max);
      if (taken > 0) this.order.push(this.lanes.indexOf(lane));
      this.ready.set(lane, ready - taken);
      lane.load.outstanding -= taken;
      return taken;
    }
  }

  /** `ready`: of each lane; below 0: the lane is damaged. */
  function fakeAnswers(...ready: number[]): FakeAnswers {
    const answers = new FakeAnswers(new InFlight(), [], { onRecord: () => false });
    for (const count of ready) {
      const lane = new FakeLane();
      lane.load.outstanding = Math.abs(count);
      answers.lanes.push(lane);
      if (count >= 0) answers.ready.set(lane, count);
    }
    return answers;
  }

  const takeFrom = (answers: FakeAnswers, max: number): number =>
    answers.takeFrom(answers.lanes, max, (lane) => {
      answers.lanes.splice(answers.lanes.indexOf(lane), 1);
    });

  test("of a busy lane do not delay those of other lanes", () => {
    const answers = fakeAnswers(100_000, 1, 5, 100_000);
    for (let poll = 0; poll < 5; poll++) expect(takeFrom(answers, 1024)).toBe(1024);
    expect(answers.order).toEqual([0, 1, 2, 3, 0, 3, 0]);
  });

  test("are all taken up to the limit, also next to damaged lanes", () => {
    const answers = fakeAnswers(3, -1, -1, 4, 0, -1);
    expect(takeFrom(answers, 5)).toBe(5);
    expect(takeFrom(answers, 1024)).toBe(2);
    expect(takeFrom(answers, 1024)).toBe(0);
    expect(answers.lanes.map(({ load }) => load.outstanding)).toEqual([0, 0, 0]);
  });
});

describe("turn clock", () => {
  /** Units after a turn of the event loop for which the clock is not read. */
  const UNTIMED_UNITS = 4;

  function createClock(turnsPerYield = 1) {
    const state = { nowMs: 0, soon: [] as (() => void)[], turns: 0, reads: 0 };
    const clock = new TurnClock({
      now: () => (state.reads++, state.nowMs),
      macrotask: (callback) => void state.soon.push(callback),
      turnsPerYield,
      maxTurnMs: 1,
      maxStride: 16,
      onTurn: () => state.turns++,
    });
    return { clock, state };
  }

  test("a turn ends after its time at any speed of units", () => {
    for (const unitMs of [0.001, 0.01, 0.3, 2]) {
      const { clock, state } = createClock();
      let units = 0;
      do {
        state.nowMs += unitMs;
        units++;
      } while (!clock.isOver(1));
      const overtime = state.nowMs - 1 - UNTIMED_UNITS * unitMs; // the clock starts after these
      expect(overtime).toBeLessThanOrEqual(Math.max(2 * unitMs, 16 * 0.01) + 1e-9);
      expect(units).toBeGreaterThan(1);
    }
  });

  test("short units are timed in samples", () => {
    const { clock, state } = createClock();
    for (let unit = 0; unit < 160; unit++) {
      state.nowMs += 0.001;
      clock.isOver(1);
    }
    expect(state.reads).toBeLessThan(20);
  });

  test("after a yield, onTurn runs after the requested number of event loop turns", () => {
    for (const turnsPerYield of [1, 24]) {
      const { clock, state } = createClock(turnsPerYield);
      clock.yieldTurn();
      for (let turn = 0; turn < turnsPerYield; turn++) {
        expect(state.turns).toBe(0);
        expect(state.soon).toHaveLength(1);
        state.soon.shift()!();
      }
      expect(state.turns).toBe(1);
      expect(state.soon).toHaveLength(0);
    }
  });

  test("a few units after a message need no clock and no macrotask, once turns have ended by themselves", () => {
    const { clock, state } = createClock();
    for (let call = 0; call < 100; call++) {
      clock.turned();
      clock.isOver(1);
      for (const callback of state.soon.splice(0)) callback();
    }
    state.reads = 0;
    const armed = Array.from({ length: 100 }, () => {
      clock.turned();
      clock.isOver(1);
      return state.soon.splice(0).map((callback) => callback()).length;
    });
    expect(armed.filter((macrotasks) => macrotasks > 0).length).toBeLessThan(10);
    expect(state.reads).toBeLessThan(10);
  });

  test("messages that come in one turn do not put off its end", () => {
    const { clock, state } = createClock();
    const turns: number[] = [];
    let startMs = 0;
    for (let message = 0; message < 500; message++) {
      clock.turned();
      state.nowMs += 0.6;
      if (!clock.isOver(1)) continue;
      clock.yieldTurn();
      while (state.soon.length > 0) state.soon.shift()!();
      turns.push(state.nowMs - startMs);
      startMs = state.nowMs;
    }
    expect(Math.max(...turns.slice(1))).toBeLessThan(5);
  });

  test("a turn of the event loop starts a new turn of the clock", () => {
    const { clock, state } = createClock();
    for (let burst = 0; burst < 100; burst++) {
      state.nowMs += 0.6;
      expect(clock.isOver(1)).toBe(false);
      for (const callback of state.soon.splice(0)) callback();
    }
    expect(state.turns).toBe(0);
  });
});

describe("safety check", () => {
  function createReceiver(state: Partial<Receiver>) {
    const receiver = {
      isAnnounced: true,
      isWaitingInLoop: true,
      isLeftAlone: true,
      hasReason: true,
      progress: "1",
      wake: vi.fn(),
      repost: vi.fn(),
      ...state,
    };
    return { receiver, check: new Watchdog(currentRuntime, () => [[receiver, receiver]]) };
  }

  test("a lost wake is found at the second check, counted and repaired", () => {
    const { receiver, check } = createReceiver({});
    check.check();
    expect(check.statistics.hits).toBe(0);
    check.check();
    expect(check.statistics).toEqual({ hits: 1, lateWakes: 0 });
    expect(receiver.wake).toHaveBeenCalledOnce();
  });

  test("progress, an awake receiver or an empty ring is not reported", () => {
    const moving = createReceiver({});
    for (let look = 0; look < 5; look++) {
      moving.receiver.progress = String(look);
      moving.check.check();
    }
    const awake = createReceiver({ isAnnounced: false, isWaitingInLoop: false });
    const empty = createReceiver({ hasReason: false });
    for (let look = 0; look < 5; look++) {
      awake.check.check();
      empty.check.check();
    }
    for (const { check } of [moving, awake, empty]) {
      expect(check.statistics).toEqual({ hits: 0, lateWakes: 0 });
    }
  });

  test("a posted wake that was not received is posted again and counted separately", () => {
    const { receiver, check } = createReceiver({ isAnnounced: false });
    check.check();
    check.check();
    expect(check.statistics).toEqual({ hits: 0, lateWakes: 1 });
    expect(receiver.repost).toHaveBeenCalledOnce();
  });

  test("a thread delayed before its second check or its wake is woken and counted separately", () => {
    for (const state of [{ isWaitingInLoop: false }, { isLeftAlone: false }]) {
      const { receiver, check } = createReceiver(state);
      check.check();
      check.check();
      expect(check.statistics).toEqual({ hits: 0, lateWakes: 1 });
      expect(receiver.wake).toHaveBeenCalledOnce();
    }
  });
});

describe("lane memory", () => {
  test("is reused for rings of the same sizes with cleared control words, up to a limit", () => {
    const sizes = { requests: 4096, responses: 8192 };
    const first = takeLaneMemory(sizes);
    new Int32Array(first).fill(7);
    giveLaneMemory(first, sizes);
    expect(takeLaneMemory({ requests: 8192, responses: 4096 })).not.toBe(first);
    const again = takeLaneMemory({ ...sizes });
    expect(again).toBe(first);
    expect(new Set(new Int32Array(again, 0, CONTROL_BYTES / 4))).toEqual(new Set([0]));
    expect(takeLaneMemory(sizes)).not.toBe(first);
    const wide = { requests: 2 ** 24, responses: 2 ** 24 };
    const large = Array.from({ length: 4 }, () => takeLaneMemory(wide));
    for (const memory of large) giveLaneMemory(memory, wide);
    const reused = large.map(() => takeLaneMemory(wide)).filter((each) => large.includes(each));
    expect(reused).toHaveLength(2); // of 32 MiB each
  });
});
