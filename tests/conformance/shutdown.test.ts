/** Time limits, aborts, retries: how calls end before, or instead of, their answer. */
import { describe, expect, test } from "vitest";
import { createPool, type Pool, type PoolOptions, transfer } from "../../src/mod.ts";
import { createLimitedPool } from "../fixtures/limited.ts";
import {
  begun,
  closedAfterTest,
  rejection,
  release,
  sharedWords,
  testPool,
} from "../support/conformance.ts";

function limitedPool(
  options: Parameters<typeof createLimitedPool>[0] = {},
): ReturnType<typeof createLimitedPool> {
  return closedAfterTest(createLimitedPool(options));
}

type Tasks = typeof import("../fixtures/module-tasks.ts");

const url = new URL("../fixtures/module-tasks.ts", import.meta.url);

const createIdle = (options: PoolOptions = { threads: 3 }): Pool<Tasks> =>
  closedAfterTest(createPool(options)<Tasks>(url));

async function createReady(options?: PoolOptions): Promise<Pool<Tasks>> {
  const pool = createIdle(options);
  await pool.ready;
  return pool;
}

test("shutdown accepts a time or { timeoutMs }", async () => {
  for (const options of [0, { timeoutMs: 0 }, { timeoutMs: 10 }]) {
    const pool = limitedPool();
    await pool.ready;
    const call = rejection(pool.call.sleep(60_000));
    await pool.shutdown(options);
    expect(await call).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
  }
  const pool = limitedPool();
  const finished = pool.call.sleep(30);
  await pool.shutdown({ timeoutMs: Infinity });
  expect(await finished).toBe(undefined);
  const bad: [unknown, RegExp][] = [
    [{ drain: false }, /no option "drain"/],
    [{ timeoutMs: -1 }, /timeoutMs must be/],
    [{ wait: 1 }, /no option "wait"/],
    ["soon", /timeoutMs must be/],
  ];
  for (const [options, message] of bad) {
    expect(String(await rejection(limitedPool().shutdown(options as never)))).toMatch(message);
  }
});

describe("shutdown(0)", () => {
  test("queued calls never run", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    await pool.ready;
    const calls = [pool.call.untilSet(words)];
    for (let n = 1; n < 30; n++) calls.push(pool.call.mark(words) as Promise<never>);
    const outcomes = Promise.allSettled(calls);
    await begun(words);
    const closing = pool.shutdown(0);
    release(words);
    await closing;
    expect(new Set((await outcomes).map(({ status }) => status))).toEqual(new Set(["rejected"]));
    expect(Atomics.load(words, 2)).toBe(0);
  });

  test("queued calls sent by message never run", async () => {
    const pool = limitedPool({ balancer: "roundRobin" });
    const words = sharedWords();
    await pool.ready;
    const calls = [
      pool.call.untilSet(words),
      pool.call.markWith(words, new Uint8Array(100_000)),
      pool.call.markWith(words, transfer(new Uint8Array(10))),
    ];
    const outcomes = Promise.allSettled(calls);
    await begun(words);
    const closing = pool.shutdown(0);
    release(words);
    await closing;
    expect(new Set((await outcomes).map(({ status }) => status))).toEqual(new Set(["rejected"]));
    expect(Atomics.load(words, 2)).toBe(0);
  });

  test("aborts the signals of running tasks", async () => {
    const pool = limitedPool({ teardownTimeoutMs: 60_000 });
    const words = sharedWords();
    const call = rejection(pool.call.untilAborted(words));
    await begun(words);
    await pool.shutdown(0);
    expect(await call).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
    expect(Atomics.load(words, 2)).toBe(1);
  });
});

describe("shutdown", () => {
  test("can reject the calls that no worker has begun", async () => {
    const { call, shutdown } = await createReady({ threads: 1 });
    const running = call.block(100);
    await call.workerOf.with({ priority: "high" })("x".repeat(10)).catch(() => {});
    const second = Promise.allSettled([call.block(50)]); // handles a rejection from its beginning
    const queued = Array.from({ length: 20 }, () => call.block(1));
    const closed = shutdown({ queued: "reject" });
    const states = await Promise.allSettled(queued);
    expect(states.filter(({ status }) => status === "rejected").length).toBeGreaterThan(0);
    await second;
    await closed;
    expect(await running).toBeTypeOf("number");
  });

  test("with bad options is refused", async () => {
    const { shutdown } = createIdle({ threads: 1 });
    await expect(shutdown({ queued: "drop" as never })).rejects.toThrow(/queued must be "run" or/);
  });
});

describe("shutdown", () => {
  test("waits for calls in flight", async () => {
    const pool = testPool({ threads: 2 });
    const calls = Promise.all([pool.call.sleep(50, 1), pool.call.echo(2), pool.call.asyncEcho(3)]);
    await pool.shutdown();
    expect(await calls).toEqual([1, 2, 3]);
    expect(pool.stats()).toMatchObject({ ready: 0, inFlight: 0 });
  });

  test("rejects calls that do not finish in time and stops a stuck worker", async () => {
    const pool = testPool({ threads: 2 });
    await pool.ready;
    const calls = [pool.call.hang(), pool.call.spin(sharedWords()), pool.call.sleep(60_000)];
    const rejections = calls.map((call) => rejection(call));
    await pool.shutdown(20);
    for (const error of await Promise.all(rejections)) {
      expect(error).toMatchObject({ name: "PoolClosedError", code: "HEDDLE_POOL_CLOSED" });
    }
  });

  test("new calls reject immediately during and after shutdown", async () => {
    const pool = testPool();
    const running = pool.call.sleep(50, "done");
    const closing = pool.shutdown();
    expect(await rejection(pool.call.echo(1))).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
    expect(await running).toBe("done");
    await closing;
    expect(await rejection(pool.call.echo(1))).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
  });

  test("a further call may shorten the time, never lengthen it, and reject what waits", async () => {
    const pool = testPool({ threads: 1 });
    await pool.ready;
    const words = sharedWords();
    const running = rejection(pool.call.answerWhen(words));
    await begun(words);
    const closed = pool.shutdown(Infinity);
    const waits = testPool({ threads: 1, maxConcurrency: 1, maxQueue: 10 });
    await waits.ready;
    const others = sharedWords();
    const busy = rejection(waits.call.answerWhen(others));
    await begun(others);
    const queued = rejection(waits.call.echo(1));
    const waitsClosed = waits.shutdown(60_000);
    expect(waits.shutdown({ queued: "reject" })).toBe(waitsClosed);
    expect(await queued).toMatchObject({
      code: "HEDDLE_POOL_CLOSED",
      message: "The pool was closed before this call began.",
    });
    expect(waits.stats().inFlight).toBe(1);
    void waits.shutdown(90_000);
    void waits.shutdown(1);
    await waitsClosed;
    expect(await busy).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
    expect(pool.shutdown({ timeoutMs: 0 })).toBe(closed);
    await closed;
    expect(await running).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
  });

  test("a second call returns the same promise, and ready rejects if the pool never became ready", async () => {
    const pool = testPool();
    const first = pool.shutdown(0);
    expect(pool.shutdown()).toBe(first);
    await first;
    expect(await rejection(pool.ready)).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
  });

  test("works before the workers are ready, with calls waiting", async () => {
    const pool = testPool({ threads: 3 });
    const call = pool.call.echo("early");
    await pool.shutdown();
    expect(await call).toBe("early");
  });

  test("works through Symbol.dispose and Symbol.asyncDispose", async () => {
    const one = testPool();
    await one.ready;
    const call = rejection(one.call.hang());
    one[Symbol.dispose]();
    expect(await call).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
    const two = testPool();
    const slow = two.call.sleep(30, "slow");
    await two[Symbol.asyncDispose]();
    expect(await slow).toBe("slow");
  });

  test("works for twenty pools in a row", async () => {
    for (let round = 0; round < 20; round++) {
      const pool = testPool();
      if (round % 2 === 0) expect(await pool.call.add(round, 1)).toBe(round + 1);
      await pool.shutdown(round % 3 === 0 ? 0 : undefined);
    }
  });
});
