/** Requests of workers while the host blocks, and of calls that have ended. */
import { describe, expect, test } from "vitest";
import { Codec } from "../../../../src/codec/codec.ts";
import { CallbackEndedError, CallEndedError, type HeddleError } from "../../../../src/errors.ts";
import { createSettings } from "../../../../src/host/calls/call-settings.ts";
import { InFlight, type PendingCall } from "../../../../src/host/calls/in-flight.ts";
import type { Dispatcher } from "../../../../src/host/dispatch/dispatcher.ts";
import type { Cancellation } from "../../../../src/host/limits/cancellation.ts";
import { HostRequests } from "../../../../src/host/requests/host-requests.ts";
import { SnapshotEncoder } from "../../../../src/lane/snapshot.ts";
import { SnapshotReader } from "../../../../src/lane/snapshot-reader.ts";
import { toSnapshot } from "../../../../src/lane/standalone-values.ts";
import {
  type AnswerMessage,
  NO_CALL,
  type RequestHeader,
  UNKNOWN_CALL,
} from "../../../../src/protocol/host-requests.ts";
import { currentRuntime } from "../../../../src/runtimes/current.ts";
import { FakeLane, laneSetOf } from "../../../support/lanes.ts";

const NAMES = ["f", "g"];

/** A host with lanes whose workers the test plays. */
function createHost(threads: number, maxThreads = threads) {
  const codec = new Codec({
    access: currentRuntime,
    origin: 0,
    maxPayloadBytes: Infinity,
    allowsBorrow: true,
  });
  const answers: (readonly [lane: number, request: number, isSync: boolean, value: unknown])[] = [];
  const reader = new SnapshotReader(codec.standalone());
  const inFlight = new InFlight(() => {}, () => {}, 10);
  const lanes = Array.from({ length: threads }, (_, id) => {
    const lane = new FakeLane({ id });
    const note = (isSync: boolean) => ({ request, value }: AnswerMessage): void =>
      void answers.push([id, request, isSync, reader.read(toSnapshot(value))[0]]);
    return Object.assign(lane, { postStream: note(false), postAnswer: note(true) });
  });
  const set = laneSetOf(lanes);
  const add = (task: number, lane: number, made?: Parameters<InFlight["add"]>): PendingCall => {
    const call = inFlight.add(...made ?? [() => {}, () => {}]);
    call.row = task + 1;
    call.lane = lane;
    return call;
  };
  const aborted: PendingCall[] = [];
  const ran: unknown[] = [];
  const requests = new HostRequests({
    codec,
    snapshots: new SnapshotEncoder(codec, 1000),
    signatures: [],
    hasContext: false,
    dispatcher: {
      inFlight,
      lanes: set,
      submitter: {
        submitNested: (task, _snapshot, settings, resolve, reject) =>
          add(task, 1, [resolve, reject, settings]),
      } as Dispatcher["submitter"],
      suspend: (lane) => void set.suspend(lane),
      resume: (lane) => void set.resume(lane),
    } as Dispatcher,
    cancellation: {
      abort: (call, reason) => {
        aborted.push(call);
        inFlight.reject(call, reason);
      },
    } as Cancellation,
    findFunction: () => (value) => {
      ran.push(value);
      return value;
    },
    findTask: (name) => ({
      task: NAMES.indexOf(name),
      isStream: false,
      check: undefined,
      settings: () => createSettings({ affinity: { isNested: true } }),
    }),
    nameOf: (task) => NAMES[task]!,
    hasWorker: () => set.open.length > 0 || set.all.length < maxThreads,
  });
  let number = 0;
  /** A worker makes a request. Undefined: its code is not known to belong to a call. */
  const request = (
    lane: number,
    call: PendingCall | undefined | "unknown",
    header: RequestHeader,
    isSync = false,
    args: unknown[] = [],
  ): void => {
    const id = typeof call === "object"
      ? call
      : { slot: call === "unknown" ? UNKNOWN_CALL : NO_CALL, generation: 0 };
    const { slot, generation } = id;
    requests.onRecord(lanes[lane]!, { slot, generation, number: number++, isSync }, [
      ...args,
      header,
    ]);
    requests.takeAll();
  };
  /** Answers since the last look. */
  const take = () => answers.splice(0);
  return { requests, request, add, take, ran, aborted, inFlight, set };
}

type Answer = ReturnType<ReturnType<typeof createHost>["take"]>[number];

const messageOf = ([, , , error]: Answer): string => (error as HeddleError).message;
const codeOf = ([, , , error]: Answer): string => (error as HeddleError).code;

describe("while the host waits for a call with its thread", () => {
  test.each([true, false])("a function for that call is a deadlock (sync: %s)", (isSync) => {
    const { requests, request, add, take, ran, set } = createHost(2);
    const call = add(0, 0);
    requests.whileBlocked(call, "pool.sync.f()", () => {
      request(0, call, ["function", "x"], isSync);
    });
    const [answer] = take() as [Answer];
    expect([codeOf(answer), answer[2]]).toEqual(["HEDDLE_DEADLOCK", isSync]);
    const way = isSync ? "sync" : "call";
    expect(messageOf(answer)).toContain(`pool.sync.f() → host.${way}.x()`);
    expect(ran).toEqual([]);
    expect(set.open).toHaveLength(2);
  });

  test("nested calls are made, and a function for them is a deadlock", () => {
    const { requests, request, add, take, inFlight } = createHost(2);
    const call = add(0, 0);
    requests.whileBlocked(call, "pool.sync.f()", () => {
      request(0, call, ["task", "g"]);
      const [child] = inFlight.callsOf(1) as [PendingCall];
      request(1, child, ["callback", 0]);
      const [answer] = take() as [Answer];
      expect(codeOf(answer)).toBe("HEDDLE_DEADLOCK");
      expect(messageOf(answer)).toContain("pool.sync.f() → g → a callback");
      inFlight.resolve(child, 5);
      expect(take()).toEqual([[0, 0, false, 5]]);
    });
  });

  test("functions for other calls wait until it goes on", async () => {
    const { requests, request, add, take, ran } = createHost(2);
    const other = add(1, 1);
    requests.whileBlocked(add(0, 0), "pool.sync.f()", () => {
      request(1, other, ["function", "x"], false, [7]);
      expect([ran, take()]).toEqual([[], []]);
    });
    await Promise.resolve();
    await Promise.resolve();
    expect([ran, take()]).toEqual([[7], [[1, 0, false, 7]]]);
  });

  test("the last free worker may not wait for the host", () => {
    const { requests, request, add, take } = createHost(2);
    requests.whileBlocked(add(0, 0), "pool.sync.f()", () => {
      request(1, add(1, 1), ["function", "x"], true);
      expect(take()).toEqual([]);
      request(0, add(1, 0), ["function", "y"], true);
      expect(codeOf(take()[0]!)).toBe("HEDDLE_DEADLOCK");
    });
  });

  test("a call of which the worker does not know which made it counts if it may be that one", () => {
    const { requests, request, add, take, ran } = createHost(2);
    const call = add(0, 0);
    add(1, 0);
    add(1, 1);
    requests.whileBlocked(call, "pool.sync.f()", () => {
      request(0, "unknown", ["function", "x"]);
      expect(codeOf(take()[0]!)).toBe("HEDDLE_DEADLOCK");
      request(1, "unknown", ["function", "x"]);
      request(0, undefined, ["function", "x"]);
      expect([ran, take()]).toEqual([[], []]);
    });
  });
});

test("the host does not wait for a call that no worker can begin", () => {
  const { requests, add, set, aborted } = createHost(1);
  const lane = set.open[0]!;
  set.suspend(lane);
  const call = add(0, -1);
  let reason: unknown;
  call.reject = (error) => reason = error;
  requests.whileBlocked(call, "pool.sync.f()", () => {});
  expect(aborted).toEqual([call]);
  expect((reason as HeddleError).code).toBe("HEDDLE_DEADLOCK");
  set.resume(lane);
  requests.whileBlocked(add(0, 0), "pool.sync.f()", () => {});
  expect(aborted).toHaveLength(1);
});

test("a call that has ended makes no calls and has no callbacks", () => {
  const { request, add, take, inFlight } = createHost(2);
  const call = add(0, 0);
  const { slot, generation } = call;
  inFlight.reject(call, "aborted");
  const ended = { slot, generation } as PendingCall;
  request(0, ended, ["task", "g"]);
  request(0, ended, ["callback", 0]);
  const [nested, callback] = take() as [Answer, Answer];
  expect(nested[3]).toBeInstanceOf(CallEndedError);
  expect(callback[3]).toBeInstanceOf(CallbackEndedError);
});

test("the calls of a call end with its error and not with its result", async () => {
  const { request, add, aborted, inFlight } = createHost(2);
  const [failing, passing] = [add(0, 0), add(0, 0)];
  request(0, failing, ["task", "g"]);
  request(0, passing, ["task", "g"]);
  const [first] = inFlight.callsOf(1) as [PendingCall];
  inFlight.resolve(passing, 1);
  inFlight.reject(failing, new Error("over"));
  await Promise.resolve();
  await Promise.resolve();
  expect(aborted).toEqual([first]);
});

test("the calls of a worker end with it", () => {
  const { requests, request, add, aborted, take, inFlight } = createHost(2);
  request(0, add(0, 0), ["task", "g"]);
  const [child] = inFlight.callsOf(1) as [PendingCall];
  requests.onEnded(0);
  expect(aborted).toEqual([child]);
  take();
  requests.close();
  request(0, add(0, 0), ["task", "g"]);
  expect([codeOf(take()[0]!), inFlight.callsOf(1)]).toEqual(["HEDDLE_POOL_CLOSED", []]);
});
