/** Pools whose threads cannot start, with threads and workers that the test plays. */
import { describe, expect, test } from "vitest";
import { packError } from "../../../../src/codec/codec.ts";
import { BEGUN, LIFE } from "../../../../src/lane/layout.ts";
import { PoolBudget } from "../../../../src/features/workers/scaling/host/pool-budget.ts";
import { currentRuntime } from "../../../../src/runtimes/current.ts";
import { createSupervisor, FakeThread } from "../../../support/supervised.ts";

/** A pool that goes on without threads, on the workers of which the list is returned. */
function createPool(size: Parameters<typeof createSupervisor>[0]) {
  const hosted: FakeThread[] = [];
  const load = Promise.withResolvers<() => FakeThread>();
  const pool = createSupervisor(size, true, () => load.promise);
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return {
    ...pool,
    hosted,
    /** The code of workers is loaded. */
    load: async (): Promise<void> => {
      load.resolve(() => {
        const worker = new FakeThread();
        hosted.push(worker);
        return worker;
      });
      await settled();
    },
    failLoad: async (): Promise<void> => {
      load.reject(new Error("no code"));
      await settled();
    },
  };
}

/** Its code has begun to run in the newest worker of the pool. */
function begin({ supervisor }: ReturnType<typeof createPool>): void {
  const { buffer } = [...supervisor.threads].at(-1)!.endpoint.rx.memory.i32;
  Atomics.store(new Int32Array(buffer), LIFE, BEGUN);
}

describe("a pool without threads", () => {
  test("goes on with one worker on the host, however many it should have", async () => {
    const { events, failures, hosted, load, state, supervisor } = createPool({ minThreads: 3 });
    state.canSpawn = () => false;
    supervisor.start();
    expect([events, supervisor.isOnHost]).toEqual([["no thread 0, 0 left"], true]);
    supervisor.checkLoad();
    await load();
    expect(hosted).toHaveLength(1);
    hosted[0]!.ready();
    expect(events.slice(1)).toEqual(["ready", expect.stringContaining("takes calls")]);
    expect([failures, hosted.length, supervisor.started]).toEqual([[], 1, 1]);
  });

  test("with minThreads 0 starts it with the first call, and again when it was idle", async () => {
    const { dispatcher, events, hosted, load, state, supervisor } = createPool({
      minThreads: 0,
      maxThreads: 4,
    });
    state.canSpawn = () => false;
    supervisor.start();
    dispatcher.waitingCalls = 3;
    supervisor.checkLoad();
    await load();
    hosted[0]!.ready();
    expect(events.slice(0, 2)).toEqual(["ready", "no thread 0, 0 left"]);
    dispatcher.phases.end(dispatcher.lanes.open[0]!, "it was idle");
    hosted[0]!.exit(0);
    expect(hosted).toHaveLength(2); // calls wait
  });

  test("fails if the code of workers cannot be loaded", async () => {
    const { failLoad, failures, state, supervisor } = createPool({ minThreads: 1 });
    state.canSpawn = () => false;
    supervisor.start();
    await failLoad();
    expect(failures).toMatchObject([{
      code: "HEDDLE_WORKER_START",
      message: "Neither a thread nor a worker on the host can start: Error: no code",
    }]);
  });

  test("starts nothing after it was closed", async () => {
    const { hosted, load, state, supervisor } = createPool({ minThreads: 1 });
    state.canSpawn = () => false;
    supervisor.start();
    await supervisor.close();
    await load();
    expect(hosted).toEqual([]);
  });
});

test("a pool that has some threads goes on with these", () => {
  const { dispatcher, events, pass, state, supervisor, threads } = createPool({ minThreads: 3 });
  state.canSpawn = (id) => id < 2;
  supervisor.start();
  expect(events).toEqual(["no thread 2, 2 left"]);
  for (const thread of threads) thread.ready();
  expect(events).toContain("ready");
  dispatcher.waitingCalls = 1;
  supervisor.checkLoad();
  pass(1000);
  expect([threads.length, supervisor.isOnHost]).toEqual([2, false]);
});

describe("threads that end before their code runs", () => {
  test("are unavailable once all have ended", async () => {
    const pool = createPool({ minThreads: 2 });
    const { events, exits, failures, hosted, load, supervisor, threads } = pool;
    supervisor.start();
    threads[0]!.exit();
    expect([events, failures]).toEqual([["0 ended"], []]);
    threads[1]!.exit();
    await load();
    expect(events.at(-1)).toMatch(
      /^The worker ended while starting: it exited \(exit code 1\)\., 0 left$/,
    );
    expect([hosted.length, failures]).toEqual([1, []]);
    expect(exits.map(([, error]) => error)).toEqual([undefined, undefined]);
  });

  test("are a failure like others if a thread takes calls", () => {
    const { dispatcher, events, pass, supervisor, threads } = createPool({
      minThreads: 1,
      maxThreads: 2,
    });
    supervisor.start();
    threads[0]!.ready();
    dispatcher.waitingCalls = 1;
    supervisor.checkLoad();
    pass(10);
    threads[1]!.exit();
    expect([events.at(-1), supervisor.isOnHost]).toEqual(["1 ended", false]);
  });

  test("are not those that fail in a module, or exit there", () => {
    for (const end of ["failed", "exit"]) {
      const pool = createPool({ minThreads: 1 });
      const { failures, supervisor, threads } = pool;
      supervisor.start();
      begin(pool);
      const error = packError(currentRuntime, new Error("broken"));
      if (end === "failed") threads[0]!.send({ heddle: "failed", part: "module", error });
      threads[0]!.exit();
      expect(failures).toMatchObject([{ code: "HEDDLE_WORKER_START" }]);
      expect(supervisor.isOnHost).toBe(false);
    }
  });
});

describe("a pool in a budget", () => {
  test("starts its guaranteed workers, and further ones of the first only if there is room", () => {
    const budget = new PoolBudget(3);
    const share = { guaranteed: 1, isLimited: true };
    const first = createSupervisor({ minThreads: 2, budget, share });
    first.supervisor.start();
    const second = createSupervisor({ minThreads: 2, budget, share });
    second.supervisor.start();
    expect([first.threads.length, second.threads.length]).toEqual([2, 1]);
    second.threads[0]!.ready();
    expect(second.events).toEqual(["ready", "0 takes calls"]);
    // An idle worker of the first is taken back for calls of the second.
    for (const thread of first.threads) thread.ready();
    second.dispatcher.waitingCalls = 1;
    second.supervisor.checkLoad();
    second.pass(10);
    expect([second.threads.length, budget.waiting]).toEqual([1, 1]);
    first.pass(10); // the workers of the first are idle, and its clock says so
    second.pass(10);
    first.threads[1]!.exit(0);
    expect(first.exits).toMatchObject([[{ reason: "another pool gets its thread" }, undefined]]);
    expect([second.threads.length, budget.threads, budget.waiting]).toEqual([2, 3, 0]);
  });

  test("has a worker for its calls at any time, and further ones only if there is room", () => {
    const budget = new PoolBudget(2);
    const share = { guaranteed: 0, isLimited: true };
    const size = { minThreads: 0, maxThreads: 2, budget, share };
    const [one, other, third] = [size, size, size].map((size) => createSupervisor(size));
    for (const { dispatcher, supervisor } of [one!, other!, third!]) {
      supervisor.start();
      dispatcher.waitingCalls = 1;
      supervisor.checkLoad();
    }
    expect(budget.threads).toBe(3);
    one!.threads[0]!.ready();
    one!.dispatcher.waiting.queued = 1;
    one!.threads[0]!.exit();
    expect(one!.exits[0]![0].replacedBy).toBe(1);
    one!.pass(1000);
    one!.threads[1]!.ready();
    one!.supervisor.checkLoad();
    one!.pass(100);
    expect([one!.threads.length, budget.threads, budget.waiting]).toEqual([2, 3, 1]);
    for (const pool of [other!, third!]) {
      pool.dispatcher.waitingCalls = 0;
      pool.threads[0]!.exit();
      one!.pass(10);
    }
    expect([one!.threads.length, budget.threads, budget.waiting]).toEqual([3, 2, 0]);
  });
});
