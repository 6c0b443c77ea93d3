/** Which worker runs what, and when: bursts, async tasks, full rings. */
import { describe, expect, test } from "vitest";
import type { PoolOptions } from "../../src/mod.ts";
import type { TestPool } from "../fixtures/tasks.ts";
import {
  begun,
  rejection,
  release,
  settledWithin,
  sharedWords,
  testPool,
} from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";

/** The order in which calls settle. */
function recorder() {
  const order: string[] = [];
  return { order, note: (name: string) => () => void order.push(name) };
}

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
      // The long call holds its worker until all others are done: those behind it have to run in the other one.
      expect(await settledWithin(Promise.all([...calls, ...after]), 20_000)).toBe("settled");
      await begun(words);
      release(words);
      await long;
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
