/** Calls over a network that loses messages and machines, in virtual time. */
import { describe, expect, test } from "vitest";
import { NoMachinesError, TimeoutError, WorkerLostError } from "../../../src/errors.ts";
import { createSettings, PLAIN } from "../../../src/host/calls/call-settings.ts";
import { AwakeClock } from "../../../src/nats/awake-clock.ts";
import { Caller } from "../../../src/nats/caller/caller.ts";
import { Liveness } from "../../../src/nats/caller/liveness.ts";
import type { RemoteCall } from "../../../src/nats/caller/remote-call.ts";
import type { LocalCalls } from "../../../src/nats/machine/local-calls.ts";
import { Machine } from "../../../src/nats/machine/machine.ts";
import {
  allSubject,
  callSubject,
  resolveConnect,
  resolveServe,
} from "../../../src/nats/options.ts";
import {
  ACCEPTED,
  ALIVE,
  BUSY,
  CALL,
  ownVersion,
  PROBE,
  readHeader,
  RESULT,
} from "../../../src/nats/wire/frames.ts";
import { VirtualClock, VirtualServer } from "../../support/virtual-nats.ts";

const subject = "virtual.tests";
const LOST_MS = 3000;

/** What a call has come to: its value, its error, or "pending". */
function watch(result: PromiseLike<unknown>): { outcome: unknown } {
  const watched: { outcome: unknown } = { outcome: "pending" };
  result.then((value) => watched.outcome = value, (error) => watched.outcome = error);
  return watched;
}

class Network {
  readonly clock = new VirtualClock();
  readonly server = new VirtualServer(this.clock);
  /** Runs of each task, with the machine that ran it. */
  readonly runs: string[] = [];

  caller(options: object = {}): Caller {
    const caller = new Caller(
      this.clock.runtime,
      resolveConnect({ subject, lostAfterMs: LOST_MS, ...options }),
    );
    caller.open(this.server.connect().connection);
    return caller;
  }

  /** A machine that runs `wait(ms)`, and `never()`. */
  machine(name: string, options: object = {}, version = ownVersion()) {
    const { connection, kill } = this.server.connect();
    const { clock, runs } = this;
    const sleep = (ms: unknown): Promise<string> => {
      runs.push(name);
      return new Promise((resolve) =>
        clock.runtime.setTimeout(() => resolve(`by ${name}`), ms as number)
      );
    };
    const calls = { wait: sleep, never: () => sleep(1e9) };
    for (const call of Object.values(calls)) Object.assign(call, { with: () => call });
    // Its timer is ahead of the caller's.
    const early = (limitMs: number) => Promise.reject(new TimeoutError("call", limitMs));
    Object.assign(calls, {
      hasty: { with: ({ timeoutMs }: { timeoutMs: number }) => () => early(timeoutMs) },
      nested: { with: () => () => early(7) },
    });
    const machine = new Machine(
      clock.runtime,
      resolveServe({ subject, name, terminates: false, discovery: false, ...options }, () => name),
      connection,
      calls as unknown as LocalCalls,
    );
    connection.subscribe(machine.subject, { callback: machine.onMessage });
    connection.subscribe(allSubject(subject, version), { callback: machine.onMessage });
    const calling = callSubject(subject, version);
    connection.subscribe(calling, { queue: "machines", callback: machine.onCall });
    return { machine, kill };
  }
}

const again = createSettings({ retries: 1 });
const kindOf = (data: Uint8Array): number | undefined => readHeader(data)?.kind;

test("a limit that the machine's timer enforces first is the caller's", async () => {
  const network = new Network();
  network.machine("m");
  const caller = network.caller();
  await network.clock.advance(1);
  const call = async (name: string, settings: object): Promise<unknown> => {
    const call = watch(caller.call(name, createSettings({ timeoutMs: 30, ...settings }), []));
    await network.clock.advance(20);
    return call.outcome;
  };
  expect(await call("hasty", {})).toMatchObject({ kind: "call", limitMs: 30 });
  expect(await call("hasty", { timeoutValue: "late" })).toBe("late");
  expect(await call("nested", { timeoutValue: "late" })).toMatchObject({ limitMs: 7 });
});

describe("a machine that is killed", () => {
  test("is lost after lostAfterMs of silence, not before, and its calls name it", async () => {
    const network = new Network();
    const caller = network.caller();
    const { kill } = network.machine("one");
    const call = watch(caller.call("never", PLAIN, []));
    await network.clock.advance(100);
    expect(network.runs).toEqual(["one"]);
    kill();
    await network.clock.advance(LOST_MS - 200);
    expect(call.outcome).toBe("pending");
    await network.clock.advance(2500);
    expect(call.outcome).toBeInstanceOf(WorkerLostError);
    expect(call.outcome).toMatchObject({ machine: "one" });
    expect(caller.stats()).toMatchObject({ machinesLost: 1, inFlight: 0, failed: 1 });
  });

  test("loses its calls after four intervals without an answer", async () => {
    const network = new Network();
    const caller = network.caller();
    const { kill } = network.machine("one");
    await network.clock.advance(500);
    const call = watch(caller.call("never", PLAIN, []));
    await network.clock.advance(100);
    kill();
    // Questions at 2, 3 and 4 s stay without an answer; the check at 5 s finds it lost.
    await network.clock.advance(4300);
    expect(call.outcome).toBe("pending");
    await network.clock.advance(200);
    expect(call.outcome).toBeInstanceOf(WorkerLostError);
  });

  test("leaves calls that may be repeated to another", async () => {
    const network = new Network();
    const caller = network.caller();
    const { kill } = network.machine("one");
    const call = watch(caller.call("wait", again, [60_000]));
    await network.clock.advance(100);
    network.machine("two");
    kill();
    await network.clock.advance(70_000);
    expect(call.outcome).toBe("by two");
    expect(network.runs).toEqual(["one", "two"]);
    expect(caller.stats()).toMatchObject({ retried: 1, completed: 1 });
  });
});

describe("a long call", () => {
  test("is not lost while its machine answers", async () => {
    const network = new Network();
    const caller = network.caller();
    network.machine("one");
    const call = watch(caller.call("wait", PLAIN, [600_000]));
    await network.clock.advance(599_000);
    expect(call.outcome).toBe("pending");
    await network.clock.advance(2000);
    expect(call.outcome).toBe("by one");
    expect(network.runs).toEqual(["one"]);
  });

  test("survives answers to questions that are lost now and then", async () => {
    const network = new Network();
    const caller = network.caller();
    network.machine("one");
    let probes = 0;
    network.server.isLost = ({ data }) =>
      (kindOf(data) === ALIVE || kindOf(data) === ACCEPTED) && ++probes % 3 !== 0;
    const call = watch(caller.call("wait", PLAIN, [120_000]));
    await network.clock.advance(125_000);
    expect(call.outcome).toBe("by one");
  });
});

describe("a message that is lost", () => {
  test("a response: the call is lost, with its machine's name, although the machine is there", async () => {
    const network = new Network();
    const caller = network.caller();
    network.machine("one");
    network.server.isLost = ({ data }) => kindOf(data) === RESULT;
    const call = watch(caller.call("wait", PLAIN, [100]));
    await network.clock.advance(10_000);
    expect(call.outcome).toBeInstanceOf(WorkerLostError);
    expect((call.outcome as WorkerLostError).reason).toBe("its response was lost on the way");
    expect((call.outcome as WorkerLostError).machine).toBe("one");
    expect(caller.stats()).toMatchObject({ machines: 1, machinesLost: 0 });
  });

  test("a response that crosses with one question loses no call", async () => {
    const network = new Network();
    const caller = network.caller();
    network.machine("one");
    // Ends just before a question of the caller arrives: the machine says that it does not have the call.
    for (let ms = 1990; ms < 2010; ms++) {
      const call = watch(caller.call("wait", PLAIN, [ms]));
      await network.clock.advance(5000);
      expect(call.outcome).toBe("by one");
    }
  });

  test("a response that is overtaken by one answer to a question loses no call", async () => {
    const network = new Network();
    const { clock, server } = network;
    const caller = network.caller();
    network.machine("one");
    const { connection } = server.connect();
    let overtaken: { subject: string; data: Uint8Array } | undefined;
    let answers = 0;
    // The response takes another way and arrives just after the machine said that it does not have the call.
    server.isLost = ({ subject, data }) => {
      if (overtaken === undefined) {
        if (kindOf(data) !== RESULT) return false;
        overtaken = { subject, data };
        return true;
      }
      if (kindOf(data) === ALIVE && ++answers === 1) {
        const response = overtaken;
        clock.runtime.setTimeout(() => connection.publish(response.subject, response.data), 1);
      }
      return false;
    };
    const call = watch(caller.call("wait", PLAIN, [1500]));
    await clock.advance(10_000);
    expect(call.outcome).toBe("by one");
    expect(answers).toBe(1);
    expect(caller.stats()).toMatchObject({ completed: 1, failed: 0, lateResponses: 0 });
  });

  test("a request: no machine has the call", async () => {
    const network = new Network();
    const caller = network.caller();
    network.machine("one");
    await network.clock.advance(10);
    network.server.isLost = ({ data }) => kindOf(data) === CALL;
    const call = watch(caller.call("wait", PLAIN, [10]));
    await network.clock.advance(20_000);
    expect(call.outcome).toBeInstanceOf(WorkerLostError);
    expect((call.outcome as WorkerLostError).reason).toBe("no machine has it");
    expect(network.runs).toEqual([]);
  });

  test("a request that may be repeated is sent again", async () => {
    const network = new Network();
    const caller = network.caller();
    network.machine("one");
    let isFirst = true;
    network.server.isLost = ({ data }) => {
      if (kindOf(data) !== CALL || !isFirst) return false;
      isFirst = false;
      return true;
    };
    const call = watch(caller.call("wait", again, [10]));
    await network.clock.advance(20_000);
    expect(call.outcome).toBe("by one");
    expect(network.runs).toEqual(["one"]);
  });
});

describe("machines of another version of the protocol", () => {
  test("get no calls: those of the caller's own version run all", async () => {
    const network = new Network();
    const caller = network.caller();
    for (const version of [2, 3]) network.machine("other", {}, version);
    network.machine("own");
    const calls = Array.from({ length: 20 }, () => watch(caller.call("wait", PLAIN, [1])));
    await network.clock.advance(100);
    expect(calls.map(({ outcome }) => outcome)).toEqual(new Array(20).fill("by own"));
  });

  test("are none for a caller, which is told", async () => {
    const network = new Network();
    const caller = network.caller({ machineWaitMs: 1000 });
    network.machine("other", {}, 2);
    const call = watch(caller.call("wait", again, [1]));
    await network.clock.advance(2000);
    expect(call.outcome).toBeInstanceOf(NoMachinesError);
    expect(String(call.outcome)).toContain("with version 1 of the protocol");
    expect(network.runs).toEqual([]);
  });

  test("have subjects that no other subject of tasks has", () => {
    const subjects = [1, 2, 3].flatMap((version) =>
      ["a", "a.call", "a.all", "a.call.2"].flatMap((tasks) => [
        callSubject(tasks, version),
        allSubject(tasks, version),
      ])
    );
    expect(new Set(subjects).size).toBe(subjects.length);
  });
});

describe("without room", () => {
  test("calls wait for a machine up to machineWaitMs", async () => {
    const network = new Network();
    const caller = network.caller({ machineWaitMs: 5000 });
    const [lost, kept] = [1, 2].map(() => watch(caller.call("wait", PLAIN, [1])));
    await network.clock.advance(4500);
    expect([lost!.outcome, kept!.outcome]).toEqual(["pending", "pending"]);
    network.machine("one");
    await network.clock.advance(400);
    expect([lost!.outcome, kept!.outcome]).toEqual(["by one", "by one"]);
    const none = new Network();
    const alone = none.caller({ machineWaitMs: 5000 });
    const refused = watch(alone.call("wait", PLAIN, [1]));
    await none.clock.advance(4900);
    expect(refused.outcome).toBe("pending");
    await none.clock.advance(400);
    expect(refused.outcome).toBeInstanceOf(NoMachinesError);
    expect(String(refused.outcome)).toContain("5000 ms (machineWaitMs)");
  });

  test("a busy machine is asked again, at growing pauses", async () => {
    const network = new Network();
    const caller = network.caller();
    network.machine("one", { maxInFlight: 1 });
    const first = watch(caller.call("wait", PLAIN, [10_000]));
    await network.clock.advance(10);
    const second = watch(caller.call("wait", PLAIN, [10]));
    const refusals = (): number =>
      network.server.published.filter(({ data }) => kindOf(data) === BUSY).length;
    await network.clock.advance(100);
    const early = refusals();
    await network.clock.advance(100);
    const next = refusals() - early;
    await network.clock.advance(5000);
    const late = refusals();
    await network.clock.advance(100);
    expect(early).toBeGreaterThan(next);
    // From 50 to 100 ms each, in the end.
    expect(refusals() - late).toBeLessThanOrEqual(2);
    await network.clock.advance(6000);
    expect([first.outcome, second.outcome]).toEqual(["by one", "by one"]);
  });

  test("a call's timeoutMs holds wherever it waits", async () => {
    const network = new Network();
    const caller = network.caller({ machineWaitMs: 60_000 });
    const timed = createSettings({ timeoutMs: 700 });
    const call = watch(caller.call("wait", timed, [1]));
    await network.clock.advance(690);
    expect(call.outcome).toBe("pending");
    await network.clock.advance(20);
    expect(call.outcome).toBeInstanceOf(TimeoutError);
  });
});

describe("time in which this process did not run", () => {
  test("counts as that of two checks", () => {
    let nowMs = 5000;
    const clock = new AwakeClock(() => nowMs, 100);
    nowMs += 150;
    expect(clock.now()).toBe(150);
    nowMs += 600_000;
    expect(clock.now()).toBe(200);
    clock.tick();
    nowMs += 90;
    expect(clock.now()).toBe(290);
  });

  /** A call of machine 7, which is asked at each check. */
  const asked = () => {
    const lost: string[] = [];
    const call = { sentAt: 1, machine: 7, timesMissing: 0 } as unknown as RemoteCall;
    const calls = new Map([["a", call]]);
    const liveness = new Liveness({
      intervalMs: 1000,
      checks: 3,
      calls,
      now: 0,
      probe: () => {},
      lose: (_call, reason) => {
        lost.push(reason);
        calls.clear();
      },
    });
    liveness.heard(7, 1);
    return { liveness, lost, call };
  };

  test("is not the silence of a machine", () => {
    const { liveness, lost } = asked();
    for (let nowMs = 1000; nowMs <= 4000; nowMs += 1000) liveness.check(nowMs);
    liveness.check(600_000); // its answers have not been read yet
    expect(lost).toEqual([]);
    liveness.heard(7, 600_001);
    liveness.check(601_000);
    expect(lost).toEqual([]);
    for (let nowMs = 602_000; nowMs <= 604_000; nowMs += 1000) liveness.check(nowMs);
    expect(lost).toHaveLength(1);
  });

  test("does not keep a loop that is always late from noticing a loss", () => {
    const { liveness, lost } = asked();
    for (let checks = 1; checks <= 10; checks++) liveness.check(5000 * checks);
    expect(lost).toHaveLength(1);
  });

  test("only answers in a row that miss a call count", () => {
    const { liveness, lost, call } = asked();
    for (let round = 0; round < 3; round++) {
      liveness.alive(7, "m", ["a"]);
      liveness.accepted(7, "m", ["a"]);
    }
    expect(call.timesMissing).toBe(0);
    expect(lost).toEqual([]);
    for (let round = 0; round < 2; round++) liveness.alive(7, "m", ["a"]);
    expect(lost).toEqual(["its response was lost on the way"]);
  });
});

test("a machine answers only below its inbox prefix", async () => {
  const network = new Network();
  const { clock, server } = network;
  const caller = network.caller();
  network.machine("one");
  const call = watch(caller.call("wait", PLAIN, [50]));
  await clock.advance(10);
  const request = server.published.find(({ data }) => kindOf(data) === CALL)!;
  const inbox = request.reply!.slice(0, request.reply!.lastIndexOf("."));
  const own = server.connect().connection;
  const before = server.published.length;
  for (const reply of ["$KV.bucket.key", "_INBOX.other.1", "_INBOX.heddlex.1", "_INBOX.heddle"]) {
    own.publish(request.subject, request.data, { reply });
    own.publish(allSubject(subject), caller.codec.encodeOwn(PROBE, [reply, "a"], {}));
  }
  own.publish(allSubject(subject), caller.codec.encodeOwn(PROBE, [inbox, "a"], {}));
  await clock.advance(100);
  expect(call.outcome).toBe("by one");
  const answers = server.published.slice(before + 9).map((each) => each.subject);
  expect(answers).toContain(`${inbox}.0`);
  const others = answers.filter((each) => !each.startsWith("_INBOX.heddle."));
  expect(others.filter((each) => !each.startsWith(subject))).toEqual([]);
  expect(network.runs).toEqual(["one"]);
});

test("a machine runs a request once that arrives twice", async () => {
  const network = new Network();
  const caller = network.caller();
  network.machine("one");
  const call = watch(caller.call("wait", PLAIN, [50]));
  await network.clock.advance(1);
  const request = network.server.published.find(({ data }) => kindOf(data) === CALL)!;
  network.server.connect().connection.publish(request.subject, request.data, {
    reply: request.reply!,
  });
  await network.clock.advance(100);
  expect(call.outcome).toBe("by one");
  expect(network.runs).toEqual(["one"]);
});
