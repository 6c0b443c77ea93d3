/** What is counted, traced and printed of a call, and when. */
import { describe, expect, test } from "vitest";
import { InvalidArgumentError } from "../../../../src/errors.ts";
import { PLAIN } from "../../../../src/host/calls/call-settings.ts";
import { InFlight, type PendingCall } from "../../../../src/host/calls/in-flight.ts";
import type { Dispatcher } from "../../../../src/host/dispatch/dispatcher.ts";
import type { Submitter } from "../../../../src/host/dispatch/submitter.ts";
import { CallEntry } from "../../../../src/host/dispatch/call-entry.ts";
import { CallObserver } from "../../../../src/features/watching/observe/host/call-observer.ts";
import {
  DebugLog,
  type DebugTopic,
} from "../../../../src/features/watching/observe/host/debug-log.ts";
import {
  CallMeter,
  callMetricsBytes,
  CallStamps,
} from "../../../../src/features/watching/observe/call-metrics.ts";
import type { TracingChannel } from "../../../../src/runtimes/runtime.ts";
import { FakeLane, laneSetOf } from "../../../support/lanes.ts";

interface Given {
  readonly hasSubscribers?: boolean;
  readonly topics?: readonly DebugTopic[];
  readonly capture?: () => unknown;
}

/** A channel that notes its events and messages. */
function createChannel(hasSubscribers: boolean, events: unknown[], messages: object[]) {
  const channel: TracingChannel = {
    hasSubscribers,
    begin: (message, f) => {
      messages.push(message);
      events.push("start");
      return f();
    },
    settle: (_message, f) => {
      events.push("asyncStart");
      f();
      events.push("asyncEnd");
    },
    fail: () => void events.push("error"),
  };
  return channel;
}

/** An entry, and a list of what becomes of its calls. Each is sent to worker 3. */
function createEntry({ hasSubscribers = false, topics, capture }: Given = {}) {
  const events: unknown[] = [];
  const lines: string[] = [];
  const messages: object[] = [];
  const calls: PendingCall[] = [];
  const channel = createChannel(hasSubscribers, events, messages);
  const inFlight = new InFlight(() => {}, () => {}, 2);
  const lane = new FakeLane({ id: 3 });
  const metrics = new SharedArrayBuffer(callMetricsBytes(1));
  const stamps = new CallStamps(metrics, () => 1000, () => {});
  const state = { refusal: undefined as Error | undefined };
  const submit: Submitter["submit"] = (_task, args, resolve, reject) => {
    events.push(["submit", ...args]);
    if (state.refusal !== undefined) throw state.refusal;
    const call = inFlight.add(resolve, reject);
    stamps.made(call.slot);
    call.lane = lane.id;
    lane.give(0);
    calls.push(call);
    return call;
  };
  const submitPlain: Submitter["submitPlain"] = (...call) => void submit(...call, PLAIN);
  const runtime = {
    originMs: 0,
    now: () => 5,
    printError: (line: string) => void lines.push(line),
  };
  const submitter = { submit, submitPlain };
  const lanes = laneSetOf([lane]);
  const dispatcher = { inFlight, lanes, submitter } as unknown as Dispatcher;
  const { counts } = inFlight;
  const debug = topics && new DebugLog(topics, "pool", runtime);
  const common = { ownFolder: undefined, dispatcher };
  const entry = new CallEntry({
    ...common,
    watched: debug === undefined ? channel : { hasSubscribers: true },
    createFollower: () => new CallObserver({ ...common, channel, debug, stamps, pool: "pool" }),
    capture,
    signatures: [],
    names: [{ name: "add" }],
  });
  const make = (...args: readonly unknown[]): void =>
    entry.submitPlain(
      0,
      args,
      (value) => events.push(["resolved", value]),
      (reason) => events.push(["rejected", reason]),
    );
  const meter = new CallMeter(metrics, 1, () => 1030);
  return { calls, counts, entry, events, inFlight, lines, make, messages, meter, stamps, state };
}

describe("a call that nobody follows", () => {
  test("goes straight to the submitter, and settles at once", () => {
    const { calls, events, inFlight, make, messages, stamps } = createEntry();
    make(1);
    inFlight.resolve(calls[0]!, 2);
    expect(events).toEqual([["submit", 1], ["resolved", 2]]);
    expect([messages, stamps.isWanted]).toEqual([[], false]);
  });

  test("is counted for its task if it is refused", () => {
    const { counts, entry, make, state } = createEntry();
    state.refusal = new InvalidArgumentError("no");
    expect(() => make(1)).toThrow(state.refusal);
    const nothing = (): void => {};
    expect(() => entry.submit(1, [], nothing, nothing, PLAIN)).toThrow(state.refusal);
    const early = { name: "add", find: () => new InvalidArgumentError("no") };
    expect(() => entry.submit(early, [], nothing, nothing, PLAIN)).toThrow(state.refusal);
    expect([...counts.failed]).toEqual([1, 1, 1]);
    expect(counts.total).toEqual({ completed: 0, failed: 3 });
  });

  test("has the captured context as its last argument", () => {
    const { entry, events } = createEntry({ capture: () => "context" });
    entry.submit(0, [1, 2], () => {}, () => {}, PLAIN);
    expect(events).toEqual([["submit", 1, 2, "context"]]);
  });
});

describe("a traced call", () => {
  test("settles for its caller inside the event, a microtask later, with its worker and times", async () => {
    const { calls, events, inFlight, make, messages, meter, stamps } = createEntry({
      hasSubscribers: true,
    });
    make(1);
    expect(messages).toMatchObject([{ pool: "pool", task: "add", worker: undefined }]);
    expect(stamps.isWanted).toBe(false);
    meter.begin(0, 0, false);
    meter.responding(0);
    inFlight.resolve(calls[0]!, 2);
    expect(events.splice(0)).toEqual(["start", ["submit", 1]]);
    expect(messages).toMatchObject([{ worker: 3, waitMs: 30, result: 2 }]);
    await Promise.resolve();
    expect(events).toEqual(["asyncStart", ["resolved", 2], "asyncEnd"]);
  });

  test("that rejects reports its error first", async () => {
    const { calls, events, inFlight, make, messages } = createEntry({ hasSubscribers: true });
    make(1);
    const error = new Error("failed");
    inFlight.reject(calls[0]!, error);
    await Promise.resolve();
    expect(events.slice(2)).toEqual(["error", "asyncStart", ["rejected", error], "asyncEnd"]);
    expect(messages).toMatchObject([{ error, worker: 3 }]);
  });

  test("that is refused leaves no further call measured, and is counted", () => {
    const { counts, make, messages, stamps, state } = createEntry({ hasSubscribers: true });
    state.refusal = new Error("closed");
    expect(() => make(1)).toThrow(state.refusal);
    expect([stamps.isWanted, [...counts.failed]]).toEqual([false, [0, 1, 0]]);
    expect(messages).toMatchObject([{ worker: undefined }]);
  });
});

describe("the debug log", () => {
  test("numbers calls and says where they go and how they end", () => {
    const { calls, inFlight, lines, make } = createEntry({ topics: ["calls"] });
    make(1);
    make(2);
    inFlight.resolve(calls[1]!, 2);
    inFlight.reject(calls[0]!, new Error("failed"));
    expect(lines).toEqual([
      "pool     0.000 ms  call 0 add sent to worker 3, which has 0 others",
      "pool     0.000 ms  call 1 add sent to worker 3, which has 1 others",
      "pool     0.000 ms  call 1 add resolved by worker 3",
      expect.stringContaining("call 0 add rejected ("),
    ]);
  });

  test("prints no calls if that is not among its topics, and adds the caller to errors", async () => {
    const { calls, events, inFlight, lines, make } = createEntry({ topics: ["workers"] });
    make(1);
    const error = new Error("failed");
    inFlight.reject(calls[0]!, error);
    await Promise.resolve();
    expect(lines).toEqual([]);
    expect(events).toContainEqual(["rejected", error]);
    expect(error.stack).toContain("--- called as add() ---");
  });
});
