/** The life of workers: start, end, replacement, shutdown. */
import { describe, expect, test } from "vitest";
import { createPool, PoolClosedError, WorkerLostError, WorkerStartError } from "../../src/mod.ts";
import { kernelPool, rejection } from "./pools.ts";

describe("a worker that ends", () => {
  test("rejects its call, and is replaced", async () => {
    const { call } = kernelPool({ threads: 1 });
    for (let n = 0; n < 3; n++) {
      const lost = await rejection(call.exit(3));
      expect(lost).toBeInstanceOf(WorkerLostError);
      expect(lost).toMatchObject({ exitCode: 3 });
      expect(await call.add(n, 1)).toBe(n + 1);
    }
  });

  test("leaves the calls that it has not begun to its successor", async () => {
    const { call, ready } = kernelPool({ threads: 1 });
    await ready;
    const lost = rejection(call.exit(1));
    const queued = Array.from({ length: 100 }, (_, n) => call.add(n, 1));
    expect(await lost).toBeInstanceOf(WorkerLostError);
    expect(await Promise.all(queued)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
  });

  test("leaves the others at work", async () => {
    const { call } = kernelPool({ threads: 2 });
    const slow = Array.from({ length: 20 }, (_, n) => call.sleep(20, n).catch(() => "lost"));
    const lost = await rejection(call.exit(1));
    expect(lost).toBeInstanceOf(WorkerLostError);
    const values = await Promise.all(slow);
    for (const [n, value] of values.entries()) expect([n, "lost"]).toContain(value);
    expect(await call.add(1, 1)).toBe(2);
  });
});

test("a module that cannot be loaded fails the pool", async () => {
  const pool = createPool({ threads: 1 })(new URL("./missing.ts", import.meta.url));
  const error = await rejection(pool.call.f!());
  expect(error).toBeInstanceOf(WorkerStartError);
  expect(await rejection(pool.ready)).toBe(error);
  await pool.shutdown();
});

describe("shutdown", () => {
  test("waits for the calls in flight, and refuses later ones", async () => {
    const pool = kernelPool({ threads: 1 });
    const slow = pool.call.sleep(30, "done");
    const closed = pool.shutdown();
    expect(await rejection(pool.call.add(1, 1))).toBeInstanceOf(PoolClosedError);
    expect(await slow).toBe("done");
    await closed;
  });

  test("rejects what does not end in time", async () => {
    const pool = kernelPool({ threads: 1 });
    const slow = rejection(pool.call.sleep(60_000, "never"));
    await pool.ready;
    await pool.shutdown(1);
    expect(await slow).toBeInstanceOf(PoolClosedError);
  });

  test("of a pool that has just begun to start", async () => {
    const pool = kernelPool({ threads: 2 });
    await pool.shutdown();
    expect(await rejection(pool.ready)).toBeInstanceOf(PoolClosedError);
  });
});

test("several pools in one thread do not disturb each other", async () => {
  const pools = [1, 2, 3].map(() => kernelPool({ threads: 1 }));
  const sums = await Promise.all(
    pools.flatMap(({ call }, index) => Array.from({ length: 50 }, (_, n) => call.add(index, n))),
  );
  expect(sums.reduce((a, b) => a + b)).toBe(3 * 1225 + 50 * 3);
});

test("a closed pool and its threads are followed by another", async () => {
  for (let n = 0; n < 5; n++) {
    const pool = kernelPool({ threads: 2 });
    expect(await pool.call.busy(1)).toBe(1);
    await pool.shutdown();
  }
});
