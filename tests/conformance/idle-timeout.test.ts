/** Pools whose number of workers follows the load. */
import { describe, expect, test } from "vitest";
import { begun, release, sharedWords, testPool, until } from "../support/conformance.ts";

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
    for (const bad of [-1, "2", NaN]) {
      expect(() => testPool({ minThreads: bad as number })).toThrow(/minThreads must be/);
      expect(() => testPool({ idleTimeoutMs: bad as number })).toThrow(/idleTimeoutMs must be/);
    }
    expect(() => testPool({ minThreads: 1.5 })).toThrow(/minThreads must be/);
    expect(() => testPool({ maxThreads: 0 })).toThrow(/maxThreads must be/);
    expect(() => testPool({ minThreads: 3, maxThreads: 2 })).toThrow(/minThreads, 3, must not be/);
  });
});
