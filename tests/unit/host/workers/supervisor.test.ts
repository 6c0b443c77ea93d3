/** The life of workers: their starts, their ends, and what replaces them. */
import { describe, expect, test } from "vitest";
import { packError } from "../../../../src/codec/codec.ts";
import { TimeoutError } from "../../../../src/errors.ts";
import { InFlight } from "../../../../src/host/calls/in-flight.ts";
import { createSettings } from "../../../../src/host/calls/call-settings.ts";
import type { FixedPool } from "../../../../src/features/workers/scaling/host/fixed-pools.ts";
import { PoolBudget } from "../../../../src/features/workers/scaling/host/pool-budget.ts";
import { currentRuntime } from "../../../../src/runtimes/current.ts";
import { createSupervisor } from "../../../support/supervised.ts";

/** A supervisor whose workers are ready. */
function createReady(...given: Parameters<typeof createSupervisor>) {
  const pool = createSupervisor(...given);
  pool.supervisor.start();
  for (const thread of pool.threads) thread.ready();
  pool.events.length = 0;
  return pool;
}

describe("a start", () => {
  test("is complete once minThreads workers are ready", () => {
    const { events, replaceLast, supervisor, threads } = createSupervisor({ minThreads: 2 });
    supervisor.start();
    threads[1]!.ready();
    expect(events).toEqual(["1 takes calls"]);
    expect([supervisor.workerIds, supervisor.isStarting(0)]).toEqual([[0, 1], true]);
    threads[0]!.ready();
    expect(events).toEqual(["1 takes calls", "ready", "0 takes calls"]);
    expect([supervisor.started, supervisor.isStarting(0)]).toEqual([2, false]);
    replaceLast();
    threads[2]!.ready();
    expect(events.slice(3)).toEqual(["1 ended", "2 takes calls"]);
  });

  test("without minThreads is complete at once", () => {
    const { events, supervisor, threads } = createSupervisor({ minThreads: 0, maxThreads: 1 });
    supervisor.start();
    expect([events, threads]).toEqual([["ready"], []]);
  });

  test("closes its other workers if a thread cannot be created", () => {
    const { exits, pass, state, supervisor, threads, timers } = createSupervisor({ minThreads: 2 });
    state.canSpawn = (id) => id === 0;
    expect(() => supervisor.start()).toThrow("no thread 1");
    expect([...supervisor.threads].map((lane) => lane.phase)).toEqual(["closing"]);
    threads[0]!.exit(0);
    pass(1000);
    expect(exits).toMatchObject([[{ reason: "the pool was closed" }, undefined]]);
    expect([threads.length, timers.size]).toEqual([1, 0]);
  });
});

describe("a pool of fixed size", () => {
  test("counts in the budget of its thread, until it is closed and its threads have ended", () => {
    const budget = PoolBudget.ofThread(4);
    const before = budget.threads;
    const { supervisor, threads } = createSupervisor({ minThreads: 2 });
    expect(budget.threads).toBe(before);
    supervisor.start();
    for (const thread of threads) thread.ready();
    expect([budget.threads - before, supervisor.sizing]).toEqual([2, undefined]);
    void supervisor.close();
    threads[0]!.exit(0);
    expect(budget.threads - before).toBe(1);
    threads[1]!.exit(0);
    expect(budget.threads).toBe(before);
  });

  test("may start its threads at any time: they are reserved until it is closed", () => {
    const pools = new Set<WeakRef<FixedPool>>();
    const budget = new PoolBudget(2, pools);
    const { supervisor, threads } = createSupervisor({ minThreads: 2 });
    pools.add(new WeakRef(supervisor));
    expect([budget.threads, budget.hasRoom]).toEqual([0, false]);
    supervisor.start();
    void supervisor.close();
    expect([budget.threads, budget.hasRoom]).toEqual([2, false]);
    threads[0]!.exit(0);
    expect([budget.threads, budget.hasRoom]).toEqual([1, true]);
  });

  test("leaves that of its options to others, and is no part of another", () => {
    const budget = new PoolBudget(4);
    const before = PoolBudget.ofThread(4).threads;
    const { supervisor } = createSupervisor({ budget, minThreads: 1 });
    supervisor.start();
    expect([budget.threads, PoolBudget.ofThread(4).threads]).toEqual([1, before]);
  });

  test("starts a worker for a call that waits while the thread of a stopped one goes on", () => {
    const { dispatcher, supervisor, threads } = createReady();
    supervisor.stopping!.stop(dispatcher.lanes.open[0]!, new Error("late"));
    supervisor.checkLoad();
    expect(threads.length).toBe(1); // no call waits
    dispatcher.waitingCalls = 1;
    supervisor.checkLoad();
    expect(threads.length).toBe(2);
    threads[0]!.exit();
    supervisor.checkLoad();
    expect([threads.length, supervisor.started]).toEqual([2, 2]);
  });

  test("starts one for a call that comes late while it drains, and none when it is closed", () => {
    const { dispatcher, pass, supervisor, threads } = createReady();
    supervisor.drain();
    threads[0]!.exit();
    pass(1000);
    expect(threads.length).toBe(1);
    dispatcher.waitingCalls = 1;
    supervisor.checkLoad();
    expect(threads.length).toBe(2);
    void supervisor.close();
    threads[1]!.exit();
    supervisor.checkLoad();
    pass(1000);
    expect(threads.length).toBe(2);
  });

  test("starts one while it drains for a call that is behind another", () => {
    const { dispatcher, pass, supervisor, threads } = createReady();
    supervisor.drain();
    dispatcher.followingCalls = 1;
    threads[0]!.exit();
    pass(1000);
    expect(threads.length).toBe(2);
  });

  test("starts none when it is closed before it has lost one", () => {
    const { dispatcher, supervisor, threads } = createReady();
    void supervisor.close();
    threads[0]!.exit(0);
    dispatcher.waitingCalls = 1;
    supervisor.checkLoad();
    expect(threads.length).toBe(1);
  });
});

describe("failed starts", () => {
  test("fail the pool at once before any worker was ready", () => {
    const { exits, failures, supervisor, threads, timers } = createSupervisor({ minThreads: 2 });
    supervisor.start();
    const error = packError(currentRuntime, new Error("no such export"));
    threads[0]!.send({ heddle: "failed", part: "export", error });
    threads[0]!.exit();
    expect(failures).toMatchObject([{ code: "HEDDLE_TASK_NOT_FOUND", message: "no such export" }]);
    expect(exits).toMatchObject([[{ replacedBy: undefined }, undefined]]);
    expect([threads.length, timers.size]).toEqual([2, 0]);
  });

  test("fail the pool later if five in a row leave it without a worker", () => {
    const { failures, replaceLast, threads, timers } = createReady();
    for (let start = 0; start < 5; start++) replaceLast(); // the first one was ready
    expect([threads.length, failures]).toEqual([6, []]);
    replaceLast();
    expect(failures).toMatchObject([{
      code: "HEDDLE_WORKER_START",
      message:
        "5 workers in a row could not be started: The worker ended while starting: it exited (exit code 1).",
      cause: { code: "HEDDLE_WORKER_START" },
    }]);
    expect([threads.length, timers.size]).toEqual([6, 0]);
  });

  test("count anew after a worker was ready", () => {
    const { failures, replaceLast, threads } = createReady();
    for (let start = 0; start < 5; start++) replaceLast();
    threads.at(-1)!.ready();
    replaceLast(true);
    for (let start = 0; start < 4; start++) replaceLast();
    expect(failures).toEqual([]);
    replaceLast();
    expect(failures).toMatchObject([{ message: expect.stringContaining("5 workers in a row") }]);
  });

  test("leave a pool with an open worker running", () => {
    const { failures, replaceLast, supervisor } = createReady({ minThreads: 2 });
    for (let start = 0; start < 7; start++) replaceLast();
    expect([failures, supervisor.workerIds]).toEqual([[], [0, 8]]);
  });

  test("count as well if the thread cannot be created", () => {
    const { failures, pass, state, supervisor, threads, timers } = createReady();
    const asked: number[] = [];
    state.canSpawn = (id) => asked.push(id) === 0;
    threads[0]!.exit();
    for (let attempt = 0; attempt < 10; attempt++) pass(500);
    const message = expect.stringContaining("5 workers in a row could not be started: no thread");
    expect(failures).toMatchObject([{ code: "HEDDLE_WORKER_START", message }]);
    expect([asked.length, supervisor.started, timers.size]).toEqual([5, 1, 0]);
  });
});

describe("the delay before a replacement", () => {
  test("doubles with each worker that answered nothing, up to 500 ms", () => {
    const { delayMs, pass, threads } = createReady();
    const delays = Array.from({ length: 9 }, () => {
      threads.at(-1)!.exit();
      const ms = delayMs();
      pass(ms - 1);
      const before = threads.length;
      pass(1);
      expect(threads.length).toBe(before + 1);
      threads.at(-1)!.ready();
      return ms;
    });
    expect(delays).toEqual([10, 20, 40, 80, 160, 320, 500, 500, 500]);
  });

  test("starts over after any response, and is 5 ms after a worker that answered", () => {
    const { delayMs, dispatcher, pass, threads } = createReady();
    const end = (): number => {
      threads.at(-1)!.exit();
      const ms = delayMs();
      pass(ms);
      threads.at(-1)!.ready();
      return ms;
    };
    expect([end(), end(), end()]).toEqual([10, 20, 40]);
    dispatcher.responses.taken++;
    expect([end(), end()]).toEqual([10, 20]);
    threads.at(-1)!.respond(dispatcher.lanes.all[0]!.endpoint);
    expect(end()).toBe(5);
  });

  test("keeps the process running only until all workers were ready once", () => {
    const { supervisor, threads, timers, pass } = createSupervisor({ minThreads: 2 });
    const end = (thread: number): boolean[] => {
      threads[thread]!.exit();
      return [...timers].map(({ isRef }) => isRef);
    };
    supervisor.start();
    threads[0]!.ready();
    expect(end(0)).toEqual([true]);
    pass(500);
    for (const thread of [1, 2]) threads[thread]!.ready();
    expect(end(1)).toEqual([false]);
  });
});

describe("workers that end without a response", () => {
  test("fail the pool after ten in a row", () => {
    const { exits, failures, replaceLast, threads, timers } = createReady();
    for (let end = 0; end < 9; end++) {
      replaceLast();
      threads.at(-1)!.ready();
    }
    expect(failures).toEqual([]);
    replaceLast();
    const message = "10 workers in a row ended before they had a call; the last: it exited.";
    expect(failures).toMatchObject([{ code: "HEDDLE_WORKER_START", message }]);
    expect(exits.map(([, error]) => error === undefined)).toEqual([
      ...Array.from({ length: 9 }, () => false),
      true,
    ]);
    expect([threads.length, timers.size]).toEqual([10, 0]);
  });

  test("do not count if they were stopped for a time limit", () => {
    const { delayMs, dispatcher, failures, pass, supervisor, threads } = createReady();
    for (let end = 0; end < 12; end++) {
      supervisor.stopping!.stop(dispatcher.lanes.open[0]!, new TimeoutError("hard", 50));
      expect(threads.at(-1)!.isTerminated).toBe(true);
      threads.at(-1)!.exit();
      expect([delayMs(), failures]).toEqual([5, []]);
      pass(5);
      threads.at(-1)!.ready();
    }
    threads.at(-1)!.exit();
    expect(delayMs()).toBe(10);
  });
});

describe("a lost worker", () => {
  test("is replaced, and its calls are retried or lost, before its exit is reported", () => {
    const { dispatcher, events, exits, pass, supervisor, threads } = createReady({ minThreads: 2 });
    const inFlight = new InFlight();
    for (const retries of [0, 1, 0]) {
      const call = inFlight.add(() => {}, () => {}, createSettings({ hasSignal: true }));
      call.extra!.retries = retries;
      dispatcher.lost.push(call);
    }
    threads[0]!.exit(7);
    expect(events).toEqual(["0 ended", "call 0 is lost", "call 2 is lost"]);
    const exit = { workerId: 0, reason: "it exited", exitCode: 7, callsLost: 2, replacedBy: 2 };
    expect(exits).toMatchObject([[exit, { code: "HEDDLE_WORKER_LOST", exitCode: 7 }]]);
    pass(10);
    expect([supervisor.workerIds, supervisor.lost]).toEqual([[1, 2], 1]);
  });

  test("is not replaced in a draining pool, unless calls wait", () => {
    for (const queued of [0, 1]) {
      const { dispatcher, exits, failures, pass, supervisor, threads } = createReady();
      supervisor.drain();
      dispatcher.waiting.queued = queued;
      threads[0]!.exit();
      pass(1000);
      expect(exits[0]![0].replacedBy).toBe(queued === 0 ? undefined : 1);
      expect([threads.length, failures]).toEqual([1 + queued, []]);
    }
  });

  test("above minThreads is replaced only if calls wait", () => {
    for (const queued of [0, 1]) {
      const { dispatcher, pass, supervisor, threads } = createReady({
        minThreads: 1,
        maxThreads: 2,
      });
      dispatcher.waitingCalls = 1;
      supervisor.checkLoad();
      pass(10);
      threads[1]!.ready();
      dispatcher.waitingCalls = 0;
      pass(10);
      dispatcher.waiting.queued = queued;
      threads[1]!.exit();
      pass(1000);
      expect(threads.length).toBe(2 + queued);
    }
  });
});

describe("a recycled worker", () => {
  test("takes calls until its successor is ready, and closes when it has answered", () => {
    const { dispatcher, exits, supervisor, threads } = createReady({
      minThreads: 1,
      maxThreads: 2,
    });
    const lane = dispatcher.lanes.open[0]!;
    expect([supervisor.recycling!.recycle(lane), supervisor.recycling!.recycle(lane)]).toEqual([
      true,
      false,
    ]);
    expect(dispatcher.lanes.open).toEqual([lane]);
    threads[1]!.ready();
    expect(dispatcher.lanes.open.map(({ id }) => id)).toEqual([1]);
    dispatcher.phases.end(lane, lane.endsFor!); // the dispatcher reports that it is drained
    threads[0]!.exit(0);
    expect(exits).toMatchObject([[{ reason: "it was recycled", replacedBy: 1 }, undefined]]);
    expect([supervisor.recycled, supervisor.lost, threads.length]).toEqual([1, 0, 2]);
  });

  test("continues if its successor fails to start, for 5 s at least", () => {
    const { dispatcher, failures, pass, supervisor, threads } = createReady();
    const lane = dispatcher.lanes.open[0]!;
    supervisor.recycling!.recycle(lane);
    threads[1]!.exit();
    pass(4999);
    expect([supervisor.recycling!.recycle(lane), threads.length, failures]).toEqual([false, 2, []]);
    expect(dispatcher.lanes.open).toEqual([lane]);
    pass(1);
    expect(supervisor.recycling!.recycle(lane)).toBe(true);
  });
});

test("workers that cannot be stopped get no calls, and the pool fails if there is no other", () => {
  const { dispatcher, failures, supervisor, threads } = createReady({ minThreads: 2 }, false);
  const [first, second] = dispatcher.lanes.open.slice();
  const cause = new TimeoutError("hard", 50);
  supervisor.stopping!.stop(first!, cause);
  expect([dispatcher.lanes.open, failures]).toEqual([[second], []]);
  supervisor.stopping!.stop(second!, cause);
  const message = expect.stringContaining("No worker is left: 2 run tasks that cannot be stopped");
  expect(failures).toMatchObject([{ code: "HEDDLE_WORKER_START", message, cause }]);
  expect(threads.map(({ isTerminated }) => isTerminated)).toEqual([false, false]);
});

test("a closed pool replaces nothing and settles when its last worker is gone", async () => {
  const { dispatcher, exits, pass, supervisor, threads, timers } = createReady({ minThreads: 3 });
  threads[0]!.exit();
  let isClosed = false;
  const closed = supervisor.close().then(() => isClosed = true);
  expect(timers.size).toBe(0);
  dispatcher.lost.push(new InFlight().add(() => {}, () => {}));
  threads[1]!.exit(0);
  pass(1000);
  await Promise.resolve();
  expect([isClosed, threads.length]).toEqual([false, 3]);
  threads[2]!.exit(0);
  await closed;
  const reason = "the pool was closed";
  expect(exits.slice(1)).toMatchObject([
    [{ workerId: 1, callsLost: 1, replacedBy: undefined, reason }, undefined],
    [{ workerId: 2, callsLost: 0, replacedBy: undefined, reason }, undefined],
  ]);
  expect(supervisor.lost).toBe(1);
});

describe("a replacement whose thread cannot be created", () => {
  test("keeps the number that its predecessor's end has named", () => {
    const { exits, pass, state, supervisor, threads } = createSupervisor();
    supervisor.start();
    threads[0]!.ready();
    state.canSpawn = () => false;
    threads[0]!.exit();
    pass(15); // one attempt
    state.canSpawn = () => true;
    pass(500);
    threads[1]!.ready();
    expect([exits[0]![0].replacedBy, supervisor.workerIds]).toEqual([1, [1]]);
  });

  test("is tried less and less often", () => {
    const { pass, state, supervisor, threads } = createSupervisor({ minThreads: 2 });
    supervisor.start();
    for (const thread of threads) thread.ready();
    let attempts = 0;
    state.canSpawn = () => {
      attempts++;
      return false;
    };
    threads[0]!.exit();
    for (let ms = 0; ms < 5000; ms++) pass(1);
    expect(attempts).toBeGreaterThan(5);
    expect(attempts).toBeLessThan(20);
  });
});
