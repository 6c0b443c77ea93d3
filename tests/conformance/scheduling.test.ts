/** Which worker runs what, as callers see it: nothing waits behind a long call, everything runs once. */
import { describe, expect, test } from "vitest";
import { type PoolOptions, transfer } from "../../src/mod.ts";
import type { TestPool } from "../fixtures/tasks.ts";
import {
  begun,
  rejection,
  release,
  settledWithin,
  sharedWords,
  testPool,
  until,
} from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";

/** The order in which calls settle. */
function recorder() {
  const order: string[] = [];
  return { order, note: (name: string) => () => void order.push(name) };
}

describe("no call waits behind a long call while another worker is free", () => {
  test("short calls made after a long call finish before it", async () => {
    const pool = testPool({ threads: 2 });
    await pool.ready;
    for (let round = 0; round < 2; round++) {
      const words = sharedWords();
      const long = pool.call.hold(0, words);
      const small = Array.from({ length: 1000 }, (_, n) => pool.call.echo(n));
      expect(await Promise.all(small)).toEqual(small.map((_, n) => n));
      release(words);
      await long;
    }
  });

  test("calls are stolen from behind a call that runs longer than estimated", async () => {
    // With `maxQueue` no lane gets more than `maxConcurrency` calls.
    const pool = testPool({ threads: 2, maxQueue: 100_000 });
    await pool.ready;
    for (let n = 0; n < 300; n++) await pool.call.hold(0); // quick, by all experience
    const [words, others] = [sharedWords(), sharedWords()];
    const [long, other] = [pool.call.hold(0, words), pool.call.hold(0, others)];
    await Promise.all([begun(words), begun(others)]);
    // Too many for one lane: some wait behind the long call when the other worker is free again.
    const calls = Array.from({ length: 3000 }, () => pool.call.hold(0));
    const { moved } = pool.stats();
    release(others);
    expect(new Set(await Promise.all(calls))).toEqual(new Set([await other]));
    expect(pool.stats().moved).toBeGreaterThan(moved);
    release(words);
    expect(await long).not.toBe(await other);
  });

  test.each([64 * 1024, 1024 * 1024, 3 * 1024 * 1024])(
    "calls with %d bytes, copied or moved, run beside a call that takes longer than estimated",
    async (bytes) => {
      const data = [
        () => new Uint8Array(bytes),
        () => transfer(new Uint8Array(bytes)),
        () => ({ text: "x".repeat(bytes) }), // memory of its own carries it
      ];
      for (const balancer of ["adaptive", "firstIdle"] as const) {
        const pool = testPool({ threads: 2, balancer });
        await pool.ready;
        for (let n = 0; n < 100; n++) await pool.call.meet(sharedWords(), 1, data[n % 3]!()); // quick
        for (let round = 0; round < 6; round++) {
          const words = sharedWords();
          const calls = [0, 1].map(() => pool.call.meet(words, 2, data[round % 3]!()));
          expect(new Set(await Promise.all(calls)).size).toBe(2);
        }
      }
    },
  );

  test("long calls are spread over the workers", async () => {
    const pool = testPool({ threads: 3 });
    await pool.ready;
    for (let round = 0; round < 4; round++) {
      const words = sharedWords();
      const workers = await Promise.all(Array.from({ length: 3 }, () => pool.call.meet(words, 3)));
      expect(new Set(workers).size).toBe(3);
    }
  });
});

describe("bursts of short calls", () => {
  /** A pool that knows `echo` and `hold(0)` for quick ones. */
  async function knowingPool(options: PoolOptions = {}) {
    const pool = testPool({ threads: 1, ...options });
    await pool.ready;
    for (let n = 0; n < 200; n++) await Promise.all([pool.call.echo(n), pool.call.hold(0)]);
    return pool;
  }

  const burst = (pool: TestPool, calls: number): Promise<unknown>[] =>
    Array.from({ length: calls }, (_, n) => pool.call.echo(n % 3 === 0 ? n : { n }));
  const answers = (calls: number): unknown[] =>
    Array.from({ length: calls }, (_, n) => n % 3 === 0 ? n : { n });

  test("go into the rings, and needsDrain still applies", async () => {
    for (const threads of [1, 2]) {
      // A worker that is held up while it measures takes tasks for slow ones, for a while: most pools, not all.
      let inRings = 0;
      for (let round = 0; round < 5; round++) {
        const pool = await knowingPool({ threads });
        const calls = burst(pool, 6000);
        if (pool.stats().queued === 0) inRings++;
        expect(pool.needsDrain).toBe(true);
        await pool.drained();
        expect(pool.needsDrain).toBe(false);
        expect(pool.stats().inFlight).toBeLessThanOrEqual(threads * 2048);
        expect(await Promise.all(calls)).toEqual(answers(6000));
        await pool.shutdown();
      }
      expect(inRings).toBeGreaterThanOrEqual(3);
    }
  });

  test("wait on the host if an option depends on their order or number", async () => {
    const kept = [
      { maxQueue: 100_000 },
      { inliner: true },
      { balancer: "leastLoaded" },
      { recycleAfter: 100_000 },
    ];
    for (const options of kept) {
      const pool = await knowingPool(options as PoolOptions);
      const calls = burst(pool, 6000);
      expect(pool.stats().queued).toBeGreaterThan(0);
      expect(await Promise.all(calls)).toEqual(answers(6000));
    }
    const pool = await knowingPool();
    const order: string[] = [];
    await pool.call.echo.with({ priority: "high" })(0);
    const calls = burst(pool, 4000).map((call) => call.then(() => order.push("normal")));
    calls.push(pool.call.echo.with({ priority: "high" })(1).then(() => order.push("high")));
    await Promise.all(calls);
    expect(order.length - order.indexOf("high")).toBeGreaterThan(500);
  });

  test("are released by an abort", async () => {
    const pool = await knowingPool();
    const words = sharedWords();
    const snapshot = pool.call.hold(0, words);
    const controller = new AbortController();
    const { signal } = controller;
    const calls = Array.from({ length: 3000 }, (_, n) => pool.call.echo.with({ signal })(n));
    const settled = Promise.allSettled(calls);
    await begun(words);
    expect(pool.needsDrain).toBe(true);
    const drained = pool.drained();
    controller.abort();
    await drained;
    expect((await settled).every(({ status }) => status === "rejected")).toBe(true);
    release(words);
    await snapshot;
  });

  test.each([0, 100, 5000, 10_000])(
    "move to another worker if a call after %d others is long",
    async (before) => {
      const pool = await knowingPool({ threads: 2 });
      const words = sharedWords();
      const quick = (calls: number) => Array.from({ length: calls }, () => pool.call.hold(0));
      const calls = quick(before);
      const long = pool.call.hold(0, words);
      const after = quick(20_000 - before);
      // The long call holds its worker until all others are done, so those after it have run in the other one.
      expect(await settledWithin(Promise.all([...calls, ...after]), 20_000)).toBe("settled");
      release(words);
      const workers = new Set(await Promise.all(after));
      expect([workers.size, workers.has(await long)]).toEqual([1, false]);
    },
  );

  test("run elsewhere if a lost worker has not begun them", async () => {
    const pool = await knowingPool({ threads: 2 });
    const calls = burst(pool, 4000);
    const dead = rejection(pool.call.exit(7));
    calls.push(...burst(pool, 4000));
    const settled = await Promise.allSettled(calls);
    expect(await dead).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    const values = settled.map((one) => one.status === "fulfilled" ? one.value : "lost");
    expect(values).toEqual([...answers(4000), ...answers(4000)]);
  });
});

describe("async tasks", () => {
  test("all start even if the first call blocked its worker", async () => {
    const pool = testPool({ threads: 1 });
    await pool.ready;
    await pool.call.barrier(1, undefined, 30); // known to keep its worker for long
    const calls = Array.from({ length: 100 }, () => pool.call.barrier(100));
    // Each resolves to the number of calls that had begun.
    expect(await Promise.all(calls)).toEqual(calls.map(() => 100));
  });

  test("all start if their task is not measured yet", async () => {
    const pool = testPool({ threads: 1 });
    const calls = Array.from({ length: 100 }, () => pool.call.barrier(100));
    expect(await Promise.all(calls)).toEqual(calls.map(() => 100));
  });
});

describe("every call runs once", () => {
  test("while calls move between workers", async () => {
    const pool = testPool({ threads: 3, ringBytes: 16384 });
    await pool.ready;
    const counters = new Int32Array(new SharedArrayBuffer(4 * 6000));
    for (let round = 0; round < 6; round++) {
      const calls = Array.from({ length: 1000 }, (_, n) => {
        const index = 1000 * round + n;
        const ms = n % 211 === 0 ? 8 : n % 17 === 0 ? 0.1 : 0;
        return pool.call.mark(
          counters,
          index,
          ms,
          n % 3 === 0 ? { n, text: "x".repeat(n % 90) } : n,
        );
      });
      expect(await Promise.all(calls)).toEqual(calls.map((_, n) => 1000 * round + n));
    }
    expect(counters.every((count) => count === 1)).toBe(true);
  });

  test("with intact numbers, objects and key lists on every worker", async () => {
    const pool = testPool({ threads: 2 });
    await pool.ready;
    for (let round = 0; round < 5; round++) {
      const values = Array.from({ length: 300 }, (_, n) => {
        if (n % 3 === 0) return n / 7;
        return n % 3 === 1 ? { n, [`key${round}`]: `text ${n}` } : [`${n}`, [n]];
      });
      const slow = pool.call.burn(40);
      expect(await Promise.all(values.map((value) => pool.call.echo(value)))).toEqual(values);
      await slow;
    }
  });
});

describe("order of calls that wait on the host", () => {
  /** A pool of one worker that is kept busy by two calls until `letGo` while others are made. */
  async function busyPool() {
    const pool = testPool({ threads: 1 });
    await pool.ready;
    for (let n = 0; n < 20; n++) await pool.call.hold(1); // long, by all experience
    const words = sharedWords();
    const done = [pool.call.hold(1, words), pool.call.hold(1, words)];
    const letGo = async (): Promise<void> => {
      release(words);
      await Promise.all(done);
    };
    return { pool, letGo };
  }

  test("is high, normal, low, first in first out within each, and low calls age", async () => {
    const { pool, letGo } = await busyPool();
    const order: string[] = [];
    const call = (priority: "high" | "normal" | "low", n: number) =>
      pool.call.hold.with({ priority })(0.06).then(() => order.push(`${priority} ${n}`));
    const calls = [call("low", 0), call("normal", 0), call("low", 1), call("high", 0)];
    calls.push(call("normal", 1), call("high", 1));
    await letGo();
    await Promise.all(calls);
    expect(order).toEqual(["high 0", "high 1", "normal 0", "normal 1", "low 0", "low 1"]);
  });

  test("depends on the priority of the task, and invalid priorities are refused", async () => {
    const { pool, letGo } = await busyPool();
    const order: string[] = [];
    const calls = [
      pool.call.hold(0.06).then(() => order.push("hold")),
      pool.call.urgent(1).then(() => order.push("urgent")),
    ];
    await letGo();
    await Promise.all(calls);
    expect(order).toEqual(["urgent", "hold"]);
    const bad = [{ priority: "top" }, { priority: 1001 }, { priority: NaN }, { urgency: 1 }, null];
    for (const options of bad) {
      expect(() => pool.call.echo.with(options as never)).toThrow(
        /priority must be|no option|takes/,
      );
    }
  });

  test('is the order of creation with the balancer "fifo", regardless of priority', async () => {
    const size = 400;
    for (const threads of [1, 3]) {
      const pool = testPool({ threads, balancer: "fifo" });
      await pool.ready;
      const log = new Int32Array(new SharedArrayBuffer(4 * (size + 1)));
      const workers = await Promise.all(
        Array.from(
          { length: size },
          (_, n) => pool.call.logStart.with({ priority: n % 3 - 1 })(log, n, n % 7 === 0 ? 0.5 : 0),
        ),
      );
      // Which of two workers writes down its beginning first is the system's to say; each by itself
      // begins in order.
      for (const worker of new Set(workers)) {
        const begun = [...log.subarray(1)].filter((n) => workers[n] === worker);
        expect(begun).toEqual([...begun].sort((a, b) => a - b));
      }
    }
  });
});

describe("balancers", () => {
  const names = [
    "roundRobin",
    "firstIdle",
    "randomLane",
    "firstIdleOrRandom",
    "leastLoaded",
  ] as const;

  test.each(names)("%s", async (balancer) => {
    const pool = testPool({ threads: 2, balancer });
    await pool.ready;
    const workers = await Promise.all(Array.from({ length: 40 }, () => pool.call.burnOn(1)));
    expect(new Set(workers).size).toBe(2);
    expect(pool.stats().moved).toBe(0);
    // One after the other: only those that take turns or throw dice use both.
    const oneByOne = new Set<number>();
    for (let n = 0; n < 40; n++) oneByOne.add(await pool.call.burnOn(0));
    expect(oneByOne.size).toBe(balancer === "roundRobin" || balancer === "randomLane" ? 2 : 1);
  });

  test("roundRobin uses the workers in turn", async () => {
    const pool = testPool({ threads: 3, balancer: "roundRobin" });
    await pool.ready;
    const workers: number[] = [];
    for (let n = 0; n < 9; n++) workers.push(await pool.call.burnOn(0));
    expect(workers.slice(3)).toEqual(workers.slice(0, 6));
    expect(new Set(workers).size).toBe(3);
  });

  test("a function chooses the worker", async () => {
    const seen: number[] = [];
    let answer: number | undefined = 1;
    const pool = testPool({
      threads: 2,
      balancer: (workers) => {
        seen.push(workers.length);
        for (const { workerId, outstanding, backlogMs: backlogMicroseconds } of workers) {
          expect([workerId, outstanding, backlogMicroseconds].every((n) => n >= 0)).toBe(true);
        }
        return answer;
      },
    });
    await pool.ready;
    const workers = await Promise.all(Array.from({ length: 10 }, () => pool.call.burnOn(0)));
    expect(new Set(workers).size).toBe(1);
    for (const bad of [2, -1, 0.5, "x"]) {
      answer = bad as number;
      await expect(pool.call.echo(1)).rejects.toThrow(
        /balancer must return an integer from 0 to 1/,
      );
    }
    answer = undefined;
    const waiting = pool.call.echo(5);
    expect(pool.stats().queued).toBe(1);
    answer = 0;
    expect(await pool.call.echo(6)).toBe(6);
    expect(await waiting).toBe(5);
    expect(seen.every((count) => count === 2)).toBe(true);
  });

  test("a function is called once per call, also for calls sent by message", async () => {
    let asked = 0;
    const pool = testPool({ threads: 2, balancer: () => asked++ % 2 });
    await pool.ready;
    const values = [1, "text", new SharedArrayBuffer(8), new Uint8Array(100_000), { a: [1] }];
    for (const [n, value] of values.entries()) {
      expect(await pool.call.count(value)).toBe(1);
      expect(asked).toBe(n + 1);
    }
    const workers = await Promise.all(
      Array.from({ length: 4 }, () => pool.call.burnOn(0)),
    );
    expect(workers[0]).not.toBe(workers[1]);
    expect(workers.slice(2)).toEqual(workers.slice(0, 2));
  });

  test("invalid balancers are refused", () => {
    for (const balancer of ["robin", "", 1, null, { strategy: "roundRobin" }, {}]) {
      expect(() => testPool({ balancer: balancer as never })).toThrow(/balancer must be/);
    }
  });
});

describe("backpressure", () => {
  test('maxQueue with "reject" refuses further calls, which do not run', async () => {
    const pool = testPool({ threads: 1, maxQueue: 10 });
    await pool.ready;
    const counters = new Int32Array(new SharedArrayBuffer(4 * 5000));
    for (let n = 0; n < 20; n++) await pool.call.burn(1);
    const settled = await Promise.allSettled(
      Array.from({ length: 5000 }, (_, n) => pool.call.mark(counters, n, 0, undefined)),
    );
    const refused = settled.filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThan(0);
    for (const { reason } of refused as PromiseRejectedResult[]) {
      expect(reason).toMatchObject({ code: "HEDDLE_QUEUE_FULL", maxQueue: 10 });
    }
    for (const [n, { status }] of settled.entries()) {
      expect(counters[n]).toBe(status === "fulfilled" ? 1 : 0);
    }
    expect(await pool.call.echo(1)).toBe(1);
  });

  test.each([1, 3])(
    "maxQueue calls wait beyond %d for each worker, also if they are async",
    async (maxConcurrency) => {
      for (const threads of [1, 2]) {
        const pool = testPool({ threads, maxConcurrency, maxQueue: 8 });
        await pool.ready;
        const words = sharedWords();
        release(words);
        for (let n = 0; n < 20; n++) await pool.call.answerWhen(words);
        Atomics.store(words, 0, 0);
        const calls = Array.from({ length: 100 }, () => pool.call.answerWhen(words));
        const settled = Promise.allSettled(calls);
        await until(() =>
          pool.stats().completed + pool.stats().failed >= 20 + 100 - 8 - threads * maxConcurrency
        );
        release(words);
        const accepted = (await settled).filter(({ status }) => status === "fulfilled");
        expect(accepted).toHaveLength(threads * maxConcurrency + 8);
      }
    },
  );

  test("a call is accepted if a worker is free, idempotent or not", async () => {
    const pool = testPool({ threads: 1, maxQueue: 1 });
    await pool.ready;
    const { promise, resolve } = Promise.withResolvers<number>();
    const waiting = pool.call.echo(promise); // on the host
    expect(await pool.call.echo(1)).toBe(1);
    expect(await pool.call.echo.with({ retries: 3 })(2)).toBe(2);
    resolve(3);
    expect(await waiting).toBe(3);
  });

  test("needsDrain and drained() bound the queue of a producer", async () => {
    for (const options of [{ maxQueue: 50, queuePolicy: "wait" as const }, { maxQueue: 50 }, {}]) {
      const pool = testPool({ threads: 1, ...options });
      await pool.ready;
      let most = 0;
      let mostInFlight = 0;
      let pauses = 0;
      const calls: Promise<unknown>[] = [];
      for (let n = 0; n < 6_000; n++) {
        calls.push(pool.call.echo(n));
        const { queued, inFlight } = pool.stats();
        most = Math.max(most, queued);
        mostInFlight = Math.max(mostInFlight, inFlight);
        if (!pool.needsDrain) continue;
        pauses++;
        await pool.drained();
        expect(pool.needsDrain).toBe(false);
      }
      expect(await Promise.all(calls)).toEqual(calls.map((_, n) => n));
      expect(pauses).toBeGreaterThan(0);
      expect(most).toBeLessThanOrEqual(options.maxQueue ?? 1024);
      expect(mostInFlight).toBeLessThanOrEqual(1024 + (options.maxQueue ?? 1024));
    }
  });

  test('queuePolicy "wait" refuses no calls', async () => {
    const pool = testPool({ threads: 1, maxQueue: 1, queuePolicy: "wait" });
    const calls = Array.from({ length: 5000 }, (_, n) => pool.call.echo(n));
    expect(pool.needsDrain).toBe(true);
    expect(await Promise.all(calls)).toEqual(calls.map((_, n) => n));
    expect(pool.needsDrain).toBe(false);
  });

  test("closing the pool resolves drained()", async () => {
    const pool = testPool({ threads: 1, maxQueue: 1, queuePolicy: "wait" });
    const { order, note } = recorder();
    const calls = [pool.call.hang(), pool.call.echo(2)].map((call) => rejection(call));
    expect(pool.needsDrain).toBe(true);
    void pool.drained().then(note("drained"));
    await pool.shutdown(0).then(note("closed"));
    expect(order).toEqual(["drained", "closed"]);
    expect(pool.needsDrain).toBe(false);
    for (const error of await Promise.all(calls)) {
      expect(error).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
    }
  });

  test("invalid values are refused", () => {
    for (const maxQueue of [-1, 1.5, "many", NaN]) {
      expect(() => testPool({ maxQueue: maxQueue as number })).toThrow(/maxQueue must be/);
    }
    expect(() => testPool({ queuePolicy: "drop" as "wait" })).toThrow(/queuePolicy must be/);
  });
});

describe("elastic pools", () => {
  test("minThreads 0 starts no worker before the first call", async () => {
    const pool = testPool({ minThreads: 0, maxThreads: 2 });
    await pool.ready;
    expect(pool.stats().workersStarted).toBe(0);
    expect(await Promise.all([1, 2, 3].map((n) => pool.call.echo(n)))).toEqual([1, 2, 3]);
    expect(pool.stats().workersStarted).toBeGreaterThanOrEqual(1);
  });

  test("grow to maxThreads while calls wait, and shrink when idle", async () => {
    const pool = testPool({ minThreads: 1, maxThreads: 3, idleTimeoutMs: 50 });
    await pool.ready;
    expect(await pool.call.echo(1)).toBe(1);
    expect(pool.stats().workersStarted).toBe(1);
    const words = sharedWords();
    const calls = Array.from({ length: 60 }, () => pool.call.hold(1, words));
    await begun(words, 3);
    expect(pool.stats()).toMatchObject({ workersStarted: 3, ready: 3 });
    release(words);
    expect(new Set(await Promise.all(calls)).size).toBe(3);
    expect(pool.stats().workersStarted).toBe(3);
    await until(() => pool.stats().ready === 1);
    expect(pool.stats().workersLost).toBe(0);
    expect(await pool.call.echo(2)).toBe(2);
    expect(pool.stats().ready).toBe(1);
  });

  test("grow if one call waits behind a long call", async () => {
    const pool = testPool({ minThreads: 1, maxThreads: 2 });
    await pool.ready;
    for (let n = 0; n < 5; n++) await pool.call.hold(1);
    const words = sharedWords();
    const first = pool.call.hold(1, words);
    const second = await pool.call.hold(1);
    release(words);
    expect(second).not.toBe(await first);
  });

  test("shrink to zero workers and start again", async () => {
    const pool = testPool({ minThreads: 0, maxThreads: 1, idleTimeoutMs: 20 });
    for (let round = 0; round < 3; round++) {
      expect(await pool.call.echo(round)).toBe(round);
      await until(() => pool.stats().ready === 0);
    }
    expect(pool.stats()).toMatchObject({ workersStarted: 3, workersLost: 0 });
  });

  test("replace lost workers only up to minThreads", async () => {
    const pool = testPool({ minThreads: 0, maxThreads: 2 });
    await expect(pool.call.exit(3)).rejects.toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    expect(await pool.call.echo(1)).toBe(1);
    expect(pool.stats().workersStarted).toBe(2);
  });

  test("invalid values are refused", () => {
    for (const bad of [-1, 1.5, "2", NaN]) {
      expect(() => testPool({ minThreads: bad as number })).toThrow(/minThreads must be/);
      expect(() => testPool({ idleTimeoutMs: bad as number })).toThrow(/idleTimeoutMs must be/);
    }
    expect(() => testPool({ maxThreads: 0 })).toThrow(/maxThreads must be/);
    expect(() => testPool({ minThreads: 3, maxThreads: 2 })).toThrow(/minThreads, 3, must not be/);
  });
});

test("spinMs accepts 0 and refuses invalid values", async () => {
  const pool = testPool({ threads: 1, spinMs: 0 });
  for (let n = 0; n < 50; n++) expect(await pool.call.echo(n)).toBe(n);
  for (const bad of [-0.1, 1.5, NaN, "0.1"]) {
    expect(() => testPool({ spinMs: bad as number })).toThrow(/spinMs must be/);
  }
});

describe("inliner", () => {
  test("runs some of the calls on the host with the same results", async () => {
    for (const inliner of [true, { position: "first" as const, batchSize: 3 }]) {
      const pool = testPool({ threads: 1, inliner });
      await pool.ready;
      for (let n = 0; n < 10; n++) await pool.call.burn(2); // long, by all experience
      const workers = await Promise.all(Array.from({ length: 40 }, () => pool.call.burnOn(3)));
      expect(new Set(workers).size).toBe(2);
      expect(pool.stats().inlined).toBeGreaterThan(0);
    }
  });

  test("copies arguments, results and errors as a worker does", async () => {
    const pool = testPool({ threads: 1, inliner: { position: "first", batchSize: 100 } });
    const shared = { list: [1, new Map([["a", new Date(0)]])], self: undefined as unknown };
    shared.self = shared;
    const call = pool.call.echo(shared);
    shared.list.length = 0;
    const copy = await call as typeof shared;
    expect(copy.list).toEqual([1, new Map([["a", new Date(0)]])]);
    expect(copy.self).toBe(copy);
    expect(copy).not.toBe(shared);
    const large = new Uint8Array(300_000).fill(7);
    expect(await pool.call.echo(large)).toEqual(large);
    expect(await pool.call.asyncEcho({ a: "text" })).toEqual({ a: "text" });
    const memory = new SharedArrayBuffer(8);
    expect(await pool.call.echo(memory)).toBe(memory);
    await expect(pool.call.fail("type")).rejects.toMatchObject({
      name: "TypeError",
      message: "wrong type",
    });
    await expect(pool.call.failLater("fields")).rejects.toMatchObject({ code: "E_FIELDS" });
    await expect(pool.call.fail("string")).rejects.toBe("just a string");
    await expect(pool.call.returnFunction()).rejects.toMatchObject({ code: "HEDDLE_DATA_CLONE" });
    const values = Array.from({ length: 50 }, (_, n) => ({ n, name: `name ${n}` }));
    expect(await Promise.all(values.map((value) => pool.call.echo(value)))).toEqual(values);
    expect(pool.stats().inlined).toBeGreaterThan(50);
  });

  test("runs no imported tasks, and no tasks below dispatchThreshold", async () => {
    const pool = testPool({ threads: 1, inliner: { position: "first", dispatchThreshold: 5 } });
    await pool.ready;
    expect(await pool.call.renamed(1)).toBe(await pool.call.renamed(1));
    for (let n = 0; n < 4; n++) await pool.call.echo(n);
    expect(pool.stats().inlined).toBe(0);
    await Promise.all(Array.from({ length: 200 }, (_, n) => pool.call.renamed(n)));
    expect(pool.stats().inlined).toBe(0);
    await Promise.all(Array.from({ length: 200 }, (_, n) => pool.call.echo(n)));
    expect(pool.stats().inlined).toBeGreaterThan(0);
  });

  test("invalid values are refused", () => {
    const bad = [
      ["yes", /inliner must be/],
      [{ where: "last" }, /inliner has no option "where"/],
      [{ position: "middle" }, /inliner.position must be/],
      [{ batchSize: 0 }, /inliner.batchSize must be/],
      [{ dispatchThreshold: 0.5 }, /inliner.dispatchThreshold must be/],
    ] as const;
    for (const [inliner, message] of bad) {
      expect(() => testPool({ inliner: inliner as never })).toThrow(message);
    }
  });
});

describe("regressions", () => {
  test("a full ring does not block calls to other workers", async () => {
    const pool = testPool({ threads: 3, ringBytes: 65536 });
    await pool.ready;
    for (let n = 0; n < 300; n++) await pool.call.hold(0); // quick, by all experience
    const text = "x".repeat(15_000);
    const words = sharedWords();
    const first = pool.call.hold(0, words);
    const calls = Array.from({ length: 8 }, () => pool.call.echo(text));
    expect(await Promise.all(calls)).toEqual(calls.map(() => text));
    release(words);
    await first;
  });

  test("calls are stolen from one worker while another has a call that cannot move", async () => {
    const pool = testPool({ threads: 3 });
    await pool.ready;
    for (let n = 0; n < 6; n++) await pool.call.hold(3); // long, by all experience
    const words = sharedWords();
    const shared = new SharedArrayBuffer(8); // goes by the port: such a call is not moved
    const others = [
      pool.call.hold(3, words),
      pool.call.hold(3, words),
      pool.call.hold(30),
      pool.call.count(shared),
    ];
    expect(await pool.call.echo(1)).toBe(1);
    release(words);
    await Promise.all(others);
  });

  test("calls made by a balancer run once and settle", async () => {
    const counters = new Int32Array(new SharedArrayBuffer(400));
    const inner: Promise<unknown>[] = [];
    const pool: ReturnType<typeof testPool> = testPool({
      threads: 2,
      maxConcurrency: 1,
      balancer: (workers) => {
        if (inner.length < 20) {
          inner.push(Promise.resolve()); // before the call, which asks again
          const index = 50 + inner.length;
          inner.push(pool.call.mark.with({ priority: "high" })(counters, index, 0, undefined));
        }
        return workers.findIndex(({ outstanding }) => outstanding < 2) < 0 ? undefined : 0;
      },
    });
    await pool.ready;
    const outer = Array.from({ length: 40 }, (_, n) => pool.call.mark(counters, n, 0, undefined));
    await Promise.all([...outer, ...inner]);
    expect([...counters.subarray(0, 40)]).toEqual(Array.from({ length: 40 }, () => 1));
    expect(counters.reduce((sum, count) => sum + count)).toBe(40 + inner.length / 2);
  });

  test("a balancer may close the pool and throw", async () => {
    for (const isThrowing of [false, true]) {
      let isArmed = false;
      const pool: ReturnType<typeof testPool> = testPool({
        threads: 1,
        balancer: () => {
          if (!isArmed) return 0;
          void pool.shutdown(0);
          if (isThrowing) throw new Error("closed it");
          return 0;
        },
      });
      await pool.ready;
      isArmed = true;
      await expect(pool.call.echo(1)).rejects.toThrow(/closed/);
      await expect(pool.call.echo(2)).rejects.toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
    }
  });

  test("the balancer is called again for a queued call while the pool is idle", async () => {
    const answers: { next: number | undefined } = { next: undefined };
    const pool = testPool({ threads: 1, balancer: () => answers.next });
    await pool.ready;
    const call = pool.call.echo(1);
    await pause(20);
    answers.next = 0;
    expect(await call).toBe(1);
  });

  test("calls that a lost worker has not begun run before later calls", async () => {
    const pool = testPool({ threads: 1 });
    await pool.ready;
    const { order, note } = recorder();
    const dying = pool.call.exit(1).catch(note("lost"));
    const calls = [pool.call.echo(0).then(note("first"))];
    for (let n = 0; n < 5; n++) calls.push(pool.call.echo(n).then(note("later")));
    await Promise.all([dying, ...calls]);
    expect(order.slice(0, 2)).toEqual(["lost", "first"]);
  });

  test("tasks on the host get no `this` and respect maxConcurrency", async () => {
    const pool = testPool({
      threads: 1,
      maxConcurrency: 2,
      inliner: { position: "first", batchSize: 50 },
    });
    await pool.ready;
    expect(await pool.call.thisOf()).toBe("undefined");
    expect(pool.stats().inlined).toBe(1);
    await Promise.all(Array.from({ length: 20 }, () => pool.call.sleep(5)));
    expect(pool.stats().inlined).toBeLessThan(21);
  });
});
