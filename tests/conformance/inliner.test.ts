/** Calls that the host runs itself. */
import { describe, expect, test } from "vitest";
import { TimeoutError } from "../../src/mod.ts";
import { createLimitedPool } from "../fixtures/limited.ts";
import { closedAfterTest, rejection, testPool } from "../support/conformance.ts";

function limitedPool(
  options: Parameters<typeof createLimitedPool>[0] = {},
): ReturnType<typeof createLimitedPool> {
  return closedAfterTest(createLimitedPool(options));
}

describe("calls run by the host", () => {
  test("tasks with a signal run in workers, and hard limits apply on the host", async () => {
    const inliner = { position: "first", batchSize: 4 } as const;
    const signalled = limitedPool({ inliner });
    await signalled.ready;
    expect(await signalled.call.countWithSignal(1)).toEqual([1, undefined, true]);
    expect(signalled.stats().inlined).toBe(0);
    const pool = limitedPool({ inliner, hardTimeoutMs: 60 });
    await pool.ready;
    expect(await rejection(pool.call.sleep(2 ** 30))).toBeInstanceOf(TimeoutError);
    expect(pool.stats()).toMatchObject({ inlined: 1, workersLost: 0 });
  });
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
