/** Requests of workers while the host blocks, and of calls that have ended. */
import { describe, expect, test } from "vitest";
import type { PoolParts } from "../../../../src/api/pool/parts.ts";
import { Codec } from "../../../../src/codec/codec.ts";
import { CallbackEndedError, CallEndedError, type HeddleError } from "../../../../src/errors.ts";
import type { CallSettings } from "../../../../src/host/calls/call-settings.ts";
import {
  InFlight,
  type PendingCall,
  type Reject,
  type Resolve,
} from "../../../../src/host/calls/in-flight.ts";
import type { Lane } from "../../../../src/host/lanes/lane.ts";
import { type Departure, HANDLE } from "../../../../src/realm/handles.ts";
import { HostRequests } from "../../../../src/features/calls/requests/host/host-requests.ts";
import { SnapshotEncoder } from "../../../../src/lane/snapshot.ts";
import { SnapshotReader } from "../../../../src/lane/snapshot-reader.ts";
import { toSnapshot } from "../../../../src/lane/standalone-values.ts";
import {
  type AnswerMessage,
  NO_CALL,
  type RequestHeader,
  UNKNOWN_CALL,
} from "../../../../src/features/calls/requests/messages.ts";
import { currentRuntime } from "../../../../src/runtimes/current.ts";
import { FakeLane, laneSetOf } from "../../../support/lanes.ts";

const NAMES = ["f", "g"];
const HOST_FUNCTIONS = ["x", "y", "z"];
const isGoing = (): boolean => false;

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
    const answer = (isSync: boolean) => ({ request, value }: AnswerMessage): void =>
      void answers.push([id, request, isSync, reader.read(toSnapshot(value))[0]]);
    return Object.assign(lane, { postStream: answer(false), postAnswer: answer(true) });
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
  /** Calls of which only one worker may run each. */
  const pinned = new Map<PendingCall, number>();
  const state = { isClosed: false };
  const cancellation = {
    abort: (call: PendingCall, reason: unknown) => {
      aborted.push(call);
      inFlight.reject(call, reason);
    },
  };
  const note = (value: unknown): unknown => {
    ran.push(value);
    return value;
  };
  const hostFunctions: Record<string, unknown> = { forever: () => new Promise(() => {}) };
  for (const name of HOST_FUNCTIONS) hostFunctions[name] = note;
  const requests = new HostRequests({
    get isOver() {
      return state.isClosed;
    },
    get hasWorker() {
      return set.open.length > 0 || set.all.length < maxThreads;
    },
    spec: {
      options: { context: undefined, hostFunctions, hardTimeoutMs: Infinity },
      signatures: [],
      sources: NAMES.map((name) => ({ name })),
      tasks: NAMES.map(() => ({ settings: {}, isStream: false, check: undefined })),
    },
    part: () => cancellation,
    codec,
    snapshots: new SnapshotEncoder(codec, 1000),
    dispatcher: {
      inFlight,
      lanes: set,
      submitter: {
        submitNested: (
          task: number,
          _snapshot: unknown,
          settings: CallSettings,
          resolve: Resolve,
          reject: Reject,
        ) => add(task, 1, [resolve, reject, settings]),
      },
      phases: {
        pause: (lane: Lane) => void set.move(lane, "suspended"),
        resume: (lane: Lane) => lane.phase === "suspended" && set.move(lane, "open"),
      },
      waiting: {
        pinned: { mayRun: (lane: Lane, call: PendingCall) => pinned.get(call) === lane.id },
        sendBeyondLimits: (call: PendingCall, to: readonly Lane[]) => call.lane = to[0]!.id,
      },
    },
    takeResponses: () => {},
  } as unknown as PoolParts);
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
  return { requests, request, add, take, ran, aborted, inFlight, set, pinned, lanes, state };
}

type Answer = ReturnType<ReturnType<typeof createHost>["take"]>[number];

const messageOf = ([, , , error]: Answer): string => (error as HeddleError).message;
const codeOf = ([, , , error]: Answer): string => (error as HeddleError).code;

/** Checks until a request that its task awaits is refused: its worker does nothing. */
function checkIdle(
  { requests, lanes }: Pick<ReturnType<typeof createHost>, "requests" | "lanes">,
): void {
  for (const lane of lanes) lane.isAwake = false;
  for (let n = 0; n < 25; n++) requests.check();
}

describe("while the host waits for a call with its thread", () => {
  test.each([true, false])("a function for that call is a deadlock (sync: %s)", (isSync) => {
    const host = createHost(2);
    const { requests, request, add, take, ran, set } = host;
    const call = add(0, 0);
    requests.whileBlocked(call, "pool.sync.f()", isGoing, () => {
      request(0, call, ["function", "x"], isSync);
      if (isSync) return;
      for (let n = 0; n < 1000; n++) requests.check(); // the task may not await it, and end
      expect(take()).toEqual([]);
      checkIdle(host);
    });
    const [answer] = take() as [Answer];
    expect([codeOf(answer), answer[2]]).toEqual(["HEDDLE_DEADLOCK", isSync]);
    const way = isSync ? "sync" : "call";
    expect(messageOf(answer)).toContain(`pool.sync.f() → host.${way}.x()`);
    expect(ran).toEqual([]);
    expect(set.open).toHaveLength(2);
  });

  test("nested calls are made, and a function for them is a deadlock", () => {
    const host = createHost(2);
    const { requests, request, add, take, inFlight } = host;
    const call = add(0, 0);
    requests.whileBlocked(call, "pool.sync.f()", isGoing, () => {
      request(0, call, ["task", "g"]);
      const [child] = inFlight.callsOf(1) as [PendingCall];
      request(1, child, ["callback", 0]);
      checkIdle(host);
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
    requests.whileBlocked(add(0, 0), "pool.sync.f()", isGoing, () => {
      request(1, other, ["function", "x"], false, [7]);
      expect([ran, take()]).toEqual([[], []]);
    });
    await Promise.resolve();
    await Promise.resolve();
    expect([ran, take()]).toEqual([[7], [[1, 0, false, 7]]]);
  });

  test("the last free worker may not wait for the host", () => {
    const { requests, request, add, take } = createHost(2);
    requests.whileBlocked(add(0, 0), "pool.sync.f()", isGoing, () => {
      request(1, add(1, 1), ["function", "x"], true);
      expect(take()).toEqual([]);
      request(0, add(1, 0), ["function", "y"], true);
      expect(codeOf(take()[0]!)).toBe("HEDDLE_DEADLOCK");
    });
  });

  test("a request that may be of several calls waits until it is clear whose it is", () => {
    const host = createHost(2);
    const { requests, request, add, take, inFlight } = host;
    const call = add(0, 0);
    const other = add(1, 0);
    requests.whileBlocked(call, "pool.sync.f()", isGoing, () => {
      request(0, "unknown", ["function", "x"]);
      checkIdle(host);
      expect(take()).toEqual([]);
      inFlight.resolve(other, 1);
      requests.check();
      expect(codeOf(take()[0]!)).toBe("HEDDLE_DEADLOCK");
    });
  });

  test("a request that may be of that call is refused when nothing happens for long", () => {
    const { requests, request, add, take, lanes } = createHost(2);
    const call = add(0, 0);
    add(1, 0);
    add(1, 1);
    requests.whileBlocked(call, "pool.sync.f()", isGoing, () => {
      request(0, "unknown", ["function", "x"]);
      request(1, "unknown", ["function", "y"]);
      request(0, undefined, ["function", "z"]);
      for (let n = 0; n < 2000; n++) requests.check(); // its worker runs something
      lanes[0]!.isAwake = lanes[1]!.isAwake = false;
      for (let n = 0; n < 499; n++) requests.check();
      expect(take()).toEqual([]);
      for (let n = 0; n < 2000; n++) requests.check();
      const [answer, ...others] = take() as [Answer];
      expect([codeOf(answer), others]).toEqual(["HEDDLE_DEADLOCK", []]);
      expect(messageOf(answer)).toMatch(
        /pool\.sync\.f\(\) → host\.call\.x\(\).*5 s.*worker 0.*\(f, g\).*currentPool\(\)/,
      );
    });
  });

  test("the call of a request that may be of several may be one of that call", () => {
    const { requests, request, add, take, inFlight, lanes } = createHost(2);
    const call = add(0, 0);
    const other = add(1, 0);
    lanes[1]!.isAwake = false;
    requests.whileBlocked(call, "pool.sync.f()", isGoing, () => {
      request(0, "unknown", ["task", "g"]);
      const [child] = inFlight.callsOf(1) as [PendingCall];
      request(1, child, ["function", "x"]);
      for (let n = 0; n < 499; n++) requests.check();
      expect(take()).toEqual([]);
      inFlight.resolve(other, 1);
      requests.check();
      expect(codeOf(take()[0]!)).toBe("HEDDLE_DEADLOCK");
    });
  });

  test("a worker that runs that call, or one of it, may not wait for the host", () => {
    const { requests, request, add, take, inFlight } = createHost(3);
    const call = add(0, 0);
    requests.whileBlocked(call, "pool.sync.f()", isGoing, () => {
      request(0, add(1, 0), ["function", "x"], true);
      const [answer] = take() as [Answer];
      expect(codeOf(answer)).toBe("HEDDLE_DEADLOCK");
      expect(messageOf(answer)).toContain("pool.sync.f() → host.sync.x(): worker 0 would wait");
      request(0, call, ["task", "g"]);
      expect(inFlight.callsOf(1)).toHaveLength(1);
      request(1, undefined, ["function", "y"], true);
      expect(codeOf(take()[0]!)).toBe("HEDDLE_DEADLOCK");
      request(2, undefined, ["function", "z"], true);
      expect(take()).toEqual([]);
    });
  });

  test("nor may a call for which such a worker waits", () => {
    const host = createHost(3);
    const { requests, request, add, take, inFlight } = host;
    const call = add(0, 0);
    const other = add(1, 0);
    requests.whileBlocked(call, "pool.sync.f()", isGoing, () => {
      request(0, other, ["task", "g"], true);
      const [child] = inFlight.callsOf(1) as [PendingCall];
      request(1, child, ["function", "x"]);
      checkIdle(host);
      expect(codeOf(take()[0]!)).toBe("HEDDLE_DEADLOCK");
    });
  });

  test("nor may the only worker that may run that call", () => {
    const { requests, request, add, take, pinned } = createHost(3);
    const call = add(0, -1);
    pinned.set(call, 1);
    requests.whileBlocked(call, "pool.sync.f()", isGoing, () => {
      request(0, add(1, 0), ["function", "x"], true);
      expect(take()).toEqual([]);
      request(1, add(1, 1), ["function", "x"], true);
      expect(codeOf(take()[0]!)).toBe("HEDDLE_DEADLOCK");
    });
  });

  test("a request for an outer wait is a deadlock as well", () => {
    const host = createHost(3);
    const { requests, request, add, take } = host;
    const [outer, inner] = [add(0, 0), add(1, 1)];
    requests.whileBlocked(outer, "pool.sync.f()", isGoing, () => {
      requests.whileBlocked(inner, "pool.sync.g()", isGoing, () => {
        request(0, outer, ["function", "x"]);
        checkIdle(host);
        expect(messageOf(take()[0]!)).toContain("pool.sync.f() → host.call.x()");
      });
    });
  });

  test("a call that is over no longer counts", () => {
    const { requests, request, add, take, inFlight } = createHost(2);
    const call = add(0, 0);
    let isOver = false;
    requests.whileBlocked(call, "pool.sync.f()", () => isOver, () => {
      inFlight.resolve(call, 1);
      isOver = true;
      expect(add(1, 0)).toBe(call); // the slot is used again
      request(0, call, ["function", "x"], true);
      expect(take()).toEqual([]);
    });
  });

  test("that waits on the host goes where calls wait for the host", () => {
    const { requests, request, add, take } = createHost(2);
    const call = add(0, -1);
    requests.whileBlocked(call, "pool.sync.f()", isGoing, () => {
      request(1, add(1, 1), ["function", "x"]);
      expect([take(), call.lane]).toEqual([[], 1]);
    });
  });

  test("and no worker is ready but one that waits for the host, it gives up", () => {
    const { requests, add, aborted, lanes, set } = createHost(1);
    const [lane] = lanes as [FakeLane];
    set.move(lane, "closing");
    set.ignore(lane);
    const call = add(0, -1);
    let reason: unknown;
    call.reject = (error) => reason = error;
    requests.whileBlocked(call, "pool.sync.f()", isGoing, () => {
      requests.onRecord(lane, { slot: NO_CALL, generation: 0, number: 0, isSync: false }, [
        ["function", "x"],
      ]);
      requests.takeAll();
      for (let n = 0; n < 149; n++) requests.check();
      expect(aborted).toEqual([]);
      requests.check();
    });
    expect((reason as HeddleError).message).toMatch(
      /pool\.sync\.f\(\): no worker.*host\.call\.x\(\)/,
    );
  });
});

test("the host does not wait for a worker that waits for it", () => {
  const { requests, request, add, aborted, pinned } = createHost(2);
  request(0, add(1, 0), ["function", "forever"], true);
  const free = add(0, -1);
  requests.whileBlocked(free, "pool.sync.f()", isGoing, () => {});
  expect(aborted).toEqual([]);
  const call = add(0, -1);
  pinned.set(call, 0);
  let reason: unknown;
  call.reject = (error) => reason = error;
  requests.whileBlocked(call, "pool.sync.f()", isGoing, () => {});
  expect((reason as HeddleError).message).toMatch(/pool\.sync\.f\(\): worker 0, which alone/);
});

test("the host does not wait for a call that no worker can begin", () => {
  const { requests, add, set, aborted } = createHost(1);
  const lane = set.open[0]!;
  set.move(lane, "suspended");
  const call = add(0, -1);
  let reason: unknown;
  call.reject = (error) => reason = error;
  requests.whileBlocked(call, "pool.sync.f()", isGoing, () => {});
  expect(aborted).toEqual([call]);
  expect((reason as HeddleError).code).toBe("HEDDLE_DEADLOCK");
  set.move(lane, "open");
  requests.whileBlocked(add(0, 0), "pool.sync.f()", isGoing, () => {});
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
  const { requests, request, add, aborted, take, inFlight, state } = createHost(2);
  request(0, add(0, 0), ["task", "g"]);
  const [child] = inFlight.callsOf(1) as [PendingCall];
  requests.onWorkerExit({ workerId: 0 });
  expect(aborted).toEqual([child]);
  take();
  state.isClosed = true;
  request(0, add(0, 0), ["task", "g"]);
  expect([codeOf(take()[0]!), inFlight.callsOf(1)]).toEqual(["HEDDLE_POOL_CLOSED", []]);
});

test("what a nested call carries is not on its way if the call is not made, because its worker has ended", () => {
  const { requests, add, take } = createHost(2);
  const { slot, generation } = add(0, 0);
  const events: string[] = [];
  const departure: Departure = {
    hasArrived: false,
    closeOrigin: () => void events.push("closed"),
    carry: () => void events.push("carried"),
    end: () => void events.push("ended"),
  };
  class End {}
  const value = { kind: "channel", buffer: new SharedArrayBuffer(8), departure };
  const end = Object.defineProperty(new End(), HANDLE, { value });
  const header: RequestHeader = ["task", "g"];
  const lane = { id: 0, postStream: () => false } as unknown as Lane;
  requests.onRecord(lane, { slot, generation, number: 0, isSync: false }, [end, header]);
  requests.onWorkerExit({ workerId: 0 });
  requests.takeAll();
  expect(events).toEqual(["closed", "ended"]);
  take();
});
