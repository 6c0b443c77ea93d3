/** Calls that end before their response: where they are when they are aborted, and which signals abort them. */
import { describe, expect, test, vi } from "vitest";
import type { PoolParts } from "../../../../src/api/pool/parts.ts";
import { TimeoutError } from "../../../../src/errors.ts";
import { createSettings, type GivenSettings } from "../../../../src/host/calls/call-settings.ts";
import { InFlight, type PendingCall, RUN_BY_HOST } from "../../../../src/host/calls/in-flight.ts";
import { Signals } from "../../../../src/features/calls/limits/host/abort-signals.ts";
import { Cancellation } from "../../../../src/features/calls/limits/host/cancellation.ts";
import type { AbortMessage } from "../../../../src/features/calls/limits/messages.ts";
import type { StreamMessage } from "../../../../src/features/calls/streams/messages.ts";
import { wasAborted } from "../../../../src/features/calls/limits/abort-epochs.ts";
import { FakeLane, laneSetOf } from "../../../support/lanes.ts";

const NOW_MS = 1000;
const LOST_LANE = 4;

/** A host with one lane, and a list of all that happens, in order. */
function createBench() {
  const events: unknown[] = [];
  let clockReadings = 0;
  const inFlight = new InFlight();
  const lane = Object.assign(new FakeLane({ id: 3 }), {
    postStream: (message: AbortMessage | StreamMessage): void => {
      const { heddle, slot } = message;
      const isAbort = heddle === "abort" && "value" in message.reason;
      events.push(isAbort ? ["notified", slot, message.reason.value] : [heddle, slot]);
    },
  });
  const limits = new SharedArrayBuffer(64);
  const abortEpochs = new Int32Array(limits);
  const cancellation = new Cancellation({
    startData: { limits },
    dispatcher: {
      inFlight,
      lanes: laneSetOf([lane]),
      waiting: { onQueuedSettled: () => void events.push("onQueuedSettled") },
    },
    loop: { kick: () => void events.push("onRevoked") },
    spec: {
      runtime: {
        now: () => {
          clockReadings++;
          return NOW_MS;
        },
      },
    },
  } as unknown as PoolParts);
  vi.spyOn(cancellation.deadlines, "watch").mockImplementation(() =>
    void events.push("onOrphaned")
  );
  /** A call that waits on the host. */
  const queue = (given: GivenSettings = {}): PendingCall => {
    const call = inFlight.add(
      (value) => events.push(["resolved", value]),
      (reason) => events.push(["rejected", reason]),
      createSettings(given),
    );
    if (call.settings.hasSignal) cancellation.begin(call);
    return call;
  };
  /** A call in the ring of the lane. */
  const send = (given?: GivenSettings): PendingCall => {
    const call = queue(given);
    lane.send(call.load, call.slot, call.generation);
    call.lane = lane.id;
    call.position = lane.endpoint.tx.position;
    return call;
  };
  /** A call that the worker has begun. */
  const run = (given?: GivenSettings): PendingCall => {
    const call = send(given);
    lane.begin();
    return call;
  };
  /** What synchronous code of the call's task asks for. */
  const isRaised = (slot: number, generation: number) => wasAborted(abortEpochs, slot, generation);
  const parts = { cancellation, events, inFlight, isRaised, lane, queue, run, send };
  return { ...parts, clockReadings: () => clockReadings };
}

/** The result stream of a call. */
const streamOf = (isOpen: boolean, drop = () => {}) => ({
  isOpen,
  taken: 0,
  onItems: () => {},
  drop,
  isWaitedFor: false,
  isOfNext: false,
});

describe("a call that is aborted", () => {
  test("on the host is rejected with the reason, and no worker is notified", () => {
    const { cancellation, events, isRaised, queue } = createBench();
    const call = queue({ hasSignal: true });
    const { slot, generation } = call;
    cancellation.abort(call, "enough");
    expect(events).toEqual([["rejected", "enough"], "onQueuedSettled"]);
    expect(isRaised(slot, generation)).toBe(false);
    expect([cancellation.aborted, cancellation.timedOut]).toEqual([1, 0]);
  });

  test("before its worker has begun it is revoked", () => {
    const { cancellation, events, lane, send } = createBench();
    const [first, second] = [send({ hasSignal: true }), send()];
    cancellation.abort(first, "enough");
    expect(events).toEqual([["rejected", "enough"], "onRevoked"]);
    expect([lane.load.outstanding, lane.load.orphaned.size]).toEqual([1, 0]);
    const steps = [lane.begin(), cancellation.hasBegun(second), lane.begin()];
    expect(steps).toEqual([true, true, false]);
  });
});

describe("a call that is aborted while it runs", () => {
  test("is rejected before its task is notified", () => {
    const { cancellation, events, isRaised, lane, run } = createBench();
    const call = run({ hasSignal: true });
    const { slot, generation } = call;
    cancellation.abort(call, "enough");
    expect(events).toEqual([["rejected", "enough"], ["notified", slot, "enough"]]);
    expect(isRaised(slot, generation)).toBe(true);
    expect([lane.load.outstanding, lane.load.orphaned.size]).toEqual([1, 1]);
  });

  test("and has no signal or stream is not notified", () => {
    const { cancellation, events, isRaised, run } = createBench();
    const call = run();
    const { slot, generation } = call;
    cancellation.abort(call, "enough");
    expect([events, isRaised(slot, generation)]).toEqual([[["rejected", "enough"]], false]);
  });

  test("drops the items of its stream first, and its task is notified", () => {
    const { cancellation, events, run } = createBench();
    const call = run();
    call.keep().stream = streamOf(true, () => void events.push("dropped"));
    cancellation.abort(call, "enough");
    expect(events).toEqual(["dropped", ["rejected", "enough"], ["notified", 0, "enough"]]);
  });

  test("is rejected even if no lane has it, and its task sees the flag", () => {
    for (const lane of [RUN_BY_HOST, LOST_LANE]) {
      const { cancellation, events, isRaised, queue } = createBench();
      const call = queue({ hasSignal: true });
      call.lane = lane;
      const { slot, generation } = call;
      cancellation.abort(call, "enough");
      expect(events).toEqual([["rejected", "enough"]]);
      expect(isRaised(slot, generation)).toBe(true);
    }
  });

  test("raises no flag for the next call in its slot", () => {
    for (const passed of [1, 2 ** 30 + 1]) {
      const { cancellation, isRaised, queue, run } = createBench();
      const aborted = run({ hasSignal: true });
      cancellation.abort(aborted, "enough");
      aborted.generation = passed; // so many calls had the slot
      const { slot, generation } = queue({ hasSignal: true });
      expect([slot, generation, isRaised(slot, generation)]).toEqual([0, passed, false]);
    }
  });
});

describe("an orphaned call ends its worker", () => {
  const find = (given: GivenSettings, begunMs = -1) => {
    const { cancellation, clockReadings, events, lane, run } = createBench();
    const call = run(given);
    call.keep().begunMs = begunMs;
    cancellation.abort(call, "enough");
    const orphan = lane.load.orphaned.take(0, 0)!;
    const isReported = events.includes("onOrphaned");
    return { ...orphan, isReported, hasReadClock: clockReadings() > 0 };
  };

  test("killAfterMs after the abort, or when its hard timeout ends, whichever is sooner", () => {
    expect(find({ killAfterMs: 50 })).toMatchObject({ killAtMs: NOW_MS + 50, limitMs: undefined });
    const both = { killAfterMs: 50, hardTimeoutMs: 200 };
    expect(find(both, NOW_MS - 10)).toMatchObject({ killAtMs: NOW_MS + 50, limitMs: undefined });
    expect(find(both, NOW_MS - 180)).toMatchObject({ killAtMs: NOW_MS + 20, limitMs: 200 });
    expect(find({ hardTimeoutMs: 200 })).toMatchObject({ killAtMs: NOW_MS + 200, limitMs: 200 });
    expect(find({ killAfterMs: 50 }).isReported).toBe(true);
  });

  test("never without such a limit, which needs no clock", () => {
    expect(find({})).toMatchObject({ killAtMs: Infinity, isReported: false, hasReadClock: false });
  });
});

describe("an expired call", () => {
  test("rejects with the limit that it exceeded, and killAfterMs counts from then", () => {
    const { cancellation, events, lane, run, queue } = createBench();
    cancellation.expire(run({ runTimeoutMs: 20, timeoutMs: 30, killAfterMs: 50 }), "run");
    cancellation.expire(queue({ runTimeoutMs: 20, timeoutMs: 30 }), "call");
    const errors = [new TimeoutError("run", 20), new TimeoutError("call", 30)];
    const [first, second] = errors.map((error) => ["rejected", error]);
    expect(events).toEqual(["onOrphaned", first, second, "onQueuedSettled"]);
    expect(lane.load.orphaned.take(0, 0)).toMatchObject({ killAtMs: NOW_MS + 50 });
    expect([cancellation.timedOut, cancellation.aborted]).toEqual([2, 0]);
  });

  test("resolves with timeoutValue, unless its stream has begun", () => {
    const { cancellation, events, queue } = createBench();
    for (const stream of [undefined, streamOf(false), streamOf(true)]) {
      const call = queue({ timeoutMs: 20, timeoutValue: "late" });
      call.keep().stream = stream;
      cancellation.expire(call, "call");
    }
    const outcomes = events.filter((event) => Array.isArray(event));
    const late = ["resolved", "late"];
    expect(outcomes).toEqual([late, late, ["rejected", new TimeoutError("call", 20)]]);
  });
});

test("a call has begun once the host runs it or a worker has taken it", () => {
  const { cancellation, lane, queue, run, send } = createBench();
  const calls = [run(), send(), queue(), queue(), queue()];
  calls[3]!.lane = LOST_LANE;
  calls[4]!.lane = RUN_BY_HOST;
  const hasBegun = () => calls.map((call) => cancellation.hasBegun(call));
  expect(hasBegun()).toEqual([true, false, false, false, true]);
  lane.begin();
  expect(hasBegun()).toEqual([true, true, false, false, true]);
});

test("a stream without a reader ends with its call, or its task is asked to end it", () => {
  const { cancellation, events, inFlight, lane, queue, run, send } = createBench();
  const stop = (call: PendingCall, isOpen = false): unknown[] => {
    call.keep().stream = streamOf(isOpen);
    cancellation.stopStream(call);
    return events.splice(0);
  };
  const lost = Object.assign(queue(), { lane: LOST_LANE });
  expect(stop(lost)).toEqual([]);
  const running = run();
  expect(stop(running, true)).toEqual([["cancel", running.slot]]);
  expect(stop(send({ isStream: true }))).toEqual([["resolved", undefined], "onRevoked"]);
  expect(stop(queue())).toEqual([["resolved", undefined], "onQueuedSettled"]);
  expect([inFlight.callsOf(), lane.load.outstanding]).toEqual([[lost, running], 1]);
});

test("a closing pool notifies tasks with signals or streams, and settles nothing", () => {
  const { cancellation, events, inFlight, isRaised, queue, run } = createBench();
  const [signal, plain, stream] = [run({ hasSignal: true }), run(), run()];
  stream!.keep().stream = streamOf(true);
  queue({ hasSignal: true });
  cancellation.onPoolEnding("closed");
  expect(events).toEqual([["notified", 0, "closed"], ["notified", 2, "closed"]]);
  expect([signal, plain].map(({ slot }) => isRaised(slot, 0))).toEqual([true, false]);
  expect(inFlight.size).toBe(4);
});

test("a lost call is rejected, and its thread, which may go on, sees the flag", () => {
  const { cancellation, events, inFlight, isRaised, run } = createBench();
  const error = new Error("gone");
  inFlight.rejectLost(run({ hasSignal: true }), error);
  expect([events, isRaised(0, 0)]).toEqual([[["rejected", error]], true]);
  expect([cancellation.aborted, cancellation.timedOut]).toEqual([0, 0]);
});

describe("signals of callers", () => {
  /** Signals that abort the calls of a bench, and a signal whose listeners are counted. */
  function createSignals() {
    const bench = createBench();
    const signals = new Signals(bench.cancellation);
    const controller = new AbortController();
    const { signal } = controller;
    const [add, remove] = (["addEventListener", "removeEventListener"] as const)
      .map((name) => vi.spyOn(signal, name));
    const make = (): PendingCall => {
      const call = bench.queue({ signal });
      signals.watch(call);
      return call;
    };
    /** How many were added, and how many of these removed. */
    const listeners = () => {
      const [added, removed] = [add!, remove!].map(({ mock }) => mock.calls.map(([, f]) => f));
      return [added!.length, removed!.filter((listener) => added!.includes(listener)).length];
    };
    return { ...bench, controller, listeners, make };
  }

  test("get one listener for all calls, which is removed after the last of them", () => {
    const { controller, events, inFlight, listeners, make } = createSignals();
    const [first, second] = [make(), make()];
    expect(listeners()).toEqual([1, 0]);
    inFlight.resolve(first, 1);
    expect(listeners()).toEqual([1, 0]);
    inFlight.resolve(second, 2);
    expect(listeners()).toEqual([1, 1]);
    make();
    expect(listeners()).toEqual([2, 1]);
    controller.abort("enough");
    expect(events.slice(2)).toEqual([["rejected", "enough"], "onQueuedSettled"]);
    expect(listeners()).toEqual([2, 2]);
  });

  test("abort each of their calls once", () => {
    const { cancellation, controller, events, inFlight, listeners, make, queue } = createSignals();
    make();
    make();
    const other = queue();
    controller.abort("enough");
    controller.abort("again");
    const rejected = [["rejected", "enough"], "onQueuedSettled"];
    expect(events).toEqual([...rejected, ...rejected]);
    expect([cancellation.aborted, inFlight.callsOf(), listeners()]).toEqual([2, [other], [1, 1]]);
  });

  test("that are aborted already abort the call at once and keep no listener", () => {
    const { controller, events, inFlight, listeners, make } = createSignals();
    controller.abort("before");
    make();
    expect(events).toEqual([["rejected", "before"], "onQueuedSettled"]);
    expect(listeners()).toEqual([1, 1]);
    expect(inFlight.size).toBe(0);
  });
});
