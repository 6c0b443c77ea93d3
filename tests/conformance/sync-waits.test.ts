/**
 * Who waits for whom while the host blocks in `pool.sync`: each wait ends, with its result or with a coded error. Limits of calls
 * are such that a wait without end fails the test.
 */
import { tracingChannel } from "node:diagnostics_channel";
import { describe, expect, test } from "vitest";
import { callback, createPool, DeadlockError, type Pool, type PoolOptions } from "../../src/mod.ts";
import { begun, closedAfterTest, rejection, sharedWords, until } from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/waiting-tasks.ts");

const url = new URL("../fixtures/waiting-tasks.ts", import.meta.url);
const trackedUrl = new URL("../fixtures/waiting-tracked-tasks.ts", import.meta.url);

/** Ends a wait that should have ended before. */
const LIMIT = { timeoutMs: 15_000 };

const functions = {
  answer: () => "answer",
  config: () => 7,
  slow: async () => {
    await pause(50);
    return "slow";
  },
};

async function waitingPool(options: PoolOptions, module = url): Promise<Pool<Tasks>> {
  const pool = closedAfterTest(createPool({ host: { functions }, ...options })<Tasks>(module));
  await pool.ready;
  return pool;
}

/** The value, or the code of the error. */
function outcome(f: () => unknown): unknown {
  try {
    return f();
  } catch (error) {
    return codeOf(error);
  }
}

const codeOf = (error: unknown): unknown =>
  (error as { code?: unknown }).code ?? (error as Error).name;

const settled = (calls: readonly Promise<unknown>[]): Promise<unknown[]> =>
  Promise.all(calls.map((call) => call.catch(codeOf)));

const kinds: readonly (readonly [string, PoolOptions])[] = [
  ["1 thread", { threads: 1 }],
  ["1 thread, 1 task at once", { threads: 1, maxConcurrency: 1 }],
  ["1 thread, in order", { threads: 1, balancer: "fifo" }],
  ["2 threads", { threads: 2 }],
  ["2 threads, in order", { threads: 2, balancer: "fifo" }],
  ["2 threads, metrics", { threads: 2, metrics: true }],
  ["2 threads, mapError", { threads: 2, mapError: (reason) => reason }],
];

describe.each(kinds)("%s:", (_, options) => {
  test.each([["known", trackedUrl], ["not known", url]] as const)(
    "every wait ends, if the call of a request is %s",
    async (_, module) => {
      const { sync, call } = await waitingPool(options, module);
      const channel = tracingChannel("heddle:call");
      let ends = 0;
      const subscribers = { asyncEnd: () => void ends++ } as unknown as Parameters<
        typeof channel.subscribe
      >[0];
      channel.subscribe(subscribers);
      try {
        const others = [call.asks(5), call.asks(10, "slow"), call.nests(5), call.asksSync(15)];
        const found = [
          outcome(() => sync.add.with(LIMIT)(1, 2)),
          outcome(() => sync.rest.with(LIMIT)(30)),
          outcome(() => sync.rest.with({ timeoutMs: 20 })(3000)),
          outcome(() => sync.add.with({ ...LIMIT, affinity: "key" })(1, 2)),
          outcome(() => sync.nests.with(LIMIT)(1)),
          outcome(() => sync.asks.with(LIMIT)(1)),
          outcome(() => sync.asksSync.with(LIMIT)(1)),
          outcome(() => sync.callsBack.with(LIMIT)(callback(() => 1))),
        ];
        const deadlock = "HEDDLE_DEADLOCK";
        expect([3, deadlock]).toContain(found[3]); // the worker of its key may wait for the host
        expect(found.toSpliced(3, 1)).toEqual(
          [3, "rested", "HEDDLE_TIMEOUT", "rested", deadlock, deadlock, deadlock],
        );
        const [one, two, three, four] = await settled(others);
        // Of two unknown calls in one worker the host cannot tell which one it waits for: both end.
        const isKnown = module === trackedUrl;
        for (const [got, right] of [[one, "answer"], [two, "slow"], [three, "rested"]]) {
          expect(isKnown ? [right] : [right, deadlock]).toContain(got);
        }
        expect(["answer", deadlock]).toContain(four); // its thread may be the last one
        // In another thread, or nowhere.
        const nested = options.threads === 1 ? deadlock : "rested";
        expect(outcome(() => sync.nestsSync.with(LIMIT)(1))).toBe(nested);
        await until(() => ends >= 13);
      } finally {
        channel.unsubscribe(subscribers);
      }
    },
  );
});

describe("while the host blocks", () => {
  test.each([1, 2])("requests of other calls wait, in %i threads", async (threads) => {
    const { sync, call } = await waitingPool({ threads });
    const others = Array.from({ length: 2 * threads }, () => call.asks(5));
    expect(sync.rest.with(LIMIT)(100)).toBe("rested");
    expect(await settled(others)).toEqual(others.map(() => "answer"));
  });

  test("a worker that runs its call may not wait for it", async () => {
    const { sync, call } = await waitingPool({ threads: 2 });
    const other = rejection(call.asksSync.with({ affinity: "key" })(30));
    expect(sync.rest.with({ ...LIMIT, affinity: "key" })(100)).toBe("rested");
    expect(await other).toBeInstanceOf(DeadlockError);
  });

  test("the only worker that may run its call may not wait for it", async () => {
    const { sync, call } = await waitingPool({ threads: 2 });
    const words = sharedWords();
    const other = rejection(call.computesAndAsks.with({ affinity: "key" })(words, 50));
    await begun(words);
    expect(sync.add.with({ ...LIMIT, affinity: "key" })(1, 2)).toBe(3);
    expect(await other).toBeInstanceOf(DeadlockError);
  });

  test("its call does not wait behind calls that wait for the host", async () => {
    for (const options of [{ balancer: "fifo" }, { maxConcurrency: 1 }] as const) {
      for (const name of ["answer", "slow"]) {
        const { sync, call } = await waitingPool({ threads: 1, ...options });
        const other = call.asks(0, name);
        await pause(20);
        expect(sync.add.with(LIMIT)(1, 2)).toBe(3);
        expect(await other).toBe(name);
      }
    }
  });

  test("code beside calls waits for the host in a worker that its call does not need", async () => {
    for (const threads of [1, 2]) {
      const { sync, call } = await waitingPool({ threads });
      await call.asksLater.with({ affinity: 1 })(5);
      const end = performance.now() + 50;
      while (performance.now() < end);
      const affinity = threads === 1 ? { affinity: 1 } : {};
      expect(sync.add.with({ ...LIMIT, ...affinity })(1, 2)).toBe(3);
    }
  });

  test("a listener that blocks as well does not keep a deadlock from being found", async () => {
    const pool = await waitingPool({ threads: 3 });
    const { sync, call } = pool;
    let inner: unknown;
    pool.addEventListener("workerExit", (event) => {
      event.preventDefault();
      Atomics.store(words, 0, 1);
      inner ??= outcome(() => sync.rest.with(LIMIT)(100));
    });
    const words = sharedWords();
    const other = rejection(call.exits.with({ affinity: 1 })(10));
    let error: unknown;
    try {
      sync.asksWhen.with({ ...LIMIT, affinity: 2 })(words);
    } catch (reason) {
      error = reason;
    }
    expect(inner).toBe("rested");
    expect(error).toBeInstanceOf(DeadlockError);
    expect((error as Error).message).toMatch(/^pool\.sync\.asksWhen\(\) → host\.call\.answer\(\)/);
    await other;
  });

  test("a nested call is a deadlock by what it asks, and an abort ends it", async () => {
    for (const module of [url, trackedUrl]) {
      const { sync } = await waitingPool({ threads: 2 }, module);
      expect(outcome(() => sync.nestsAsking.with(LIMIT)())).toBe("HEDDLE_DEADLOCK");
      expect(sync.abortsNested.with(LIMIT)()).toBe("TimeoutError");
      expect(sync.abortsDeeply.with(LIMIT)()).toBe("RangeError");
    }
  });

  test("a worker that waits for it while it starts is a deadlock, and starts afterwards", async () => {
    const module = new URL("../fixtures/asks-while-loading.ts", import.meta.url);
    type Module = typeof import("../fixtures/asks-while-loading.ts");
    const pool = closedAfterTest(createPool({ threads: 1, host: { functions } })<Module>(module));
    let error: unknown;
    try {
      pool.sync.configured.with(LIMIT)();
    } catch (reason) {
      error = reason;
    }
    expect(error).toBeInstanceOf(DeadlockError);
    expect((error as Error).message).toMatch(/^pool\.sync\.configured\(\).*host\.call\.config\(\)/);
    expect(await pool.call.configured()).toBe(7);
    expect(pool.sync.configured.with(LIMIT)()).toBe(7);
  });
});

describe("a program that makes no other calls", () => {
  test("has workers replaced that use too much memory", async () => {
    const { sync, stats } = await waitingPool({ threads: 1, maxWorkerBytes: 200_000_000 });
    const end = performance.now() + 20_000;
    while (stats().recycled === 0 && performance.now() < end) sync.leak.with(LIMIT)(2_000_000);
    expect(stats().recycled).toBeGreaterThan(0);
    expect(sync.add.with(LIMIT)(1, 2)).toBe(3);
  });

  test("has idle workers closed", async () => {
    const pool = await waitingPool({ minThreads: 1, maxThreads: 2, idleTimeoutMs: 50 });
    const { sync, call, stats } = pool;
    await Promise.all([call.computesAndAsks(sharedWords(), 60), call.rest(60), call.add(1, 2)]);
    await until(() => stats().workers.length === 2, () => Promise.all([busy(call), busy(call)]));
    const end = performance.now() + 20_000;
    while (stats().workers.length === 2 && performance.now() < end) sync.add.with(LIMIT)(1, 2);
    expect(stats().workers).toHaveLength(1);
  });
});

const busy = (call: Pool<Tasks>["call"]): Promise<unknown> =>
  call.computesAndAsks(sharedWords(), 20);
