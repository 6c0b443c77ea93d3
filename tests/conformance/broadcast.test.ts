/** Calls that run once in every worker. */
import { describe, expect, test } from "vitest";
import { createPool, type Pool, type PoolOptions } from "../../src/mod.ts";
import { closedAfterTest, until } from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/module-tasks.ts");

const url = new URL("../fixtures/module-tasks.ts", import.meta.url);

const createIdle = (options: PoolOptions = { threads: 3 }): Pool<Tasks> =>
  closedAfterTest(createPool(options)<Tasks>(url));

async function createReady(options?: PoolOptions): Promise<Pool<Tasks>> {
  const pool = createIdle(options);
  await pool.ready;
  return pool;
}

describe("a broadcast", () => {
  test("runs once in every worker and resolves with the results in order", async () => {
    const { call, broadcast } = await createReady();
    const first = await broadcast.workerOf();
    expect(new Set(first).size).toBe(3);
    expect(await broadcast.workerOf()).toEqual(first);
    expect(await broadcast.configure("rate", { a: [1] })).toEqual([1, 1, 1]);
    const values = await Promise.all(Array.from({ length: 30 }, () => call.configured("rate")));
    expect(values).toEqual(values.map(() => ({ a: [1] })));
  });

  test("made at once reaches workers that are starting", async () => {
    const { broadcast, call } = createIdle();
    const argument = { n: 1 };
    const results = broadcast.configure("early", argument);
    argument.n = 2; // taken when the call was made
    expect(await results).toEqual([1, 1, 1]);
    expect(await call.configured("early")).toEqual({ n: 1 });
    await expect(
      (broadcast as unknown as Record<string, () => Promise<unknown>>)["nope"]!(),
    ).rejects.toMatchObject({ code: "HEDDLE_UNKNOWN_TASK" });
  });

  test("waits for all and rejects with the errors by worker", async () => {
    const { broadcast } = await createReady();
    const [, second] = await broadcast.workerOf();
    const error = await broadcast.failIn(second!).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AggregateError);
    expect(error).toMatchObject({ errors: [new RangeError("this one")], workerIds: [1] });
    expect(String(error)).toMatch(/failed in 1 of 3 workers: 1/);
  });

  test("that is sticky runs first in workers that start later", async () => {
    const { broadcast, call, stats } = await createReady({ threads: 2, recycleAfter: 3 });
    expect(await broadcast.configure.with({ sticky: true })("rate", 5)).toEqual([1, 1]);
    for (let n = 0; n < 30; n++) expect(await call.configured("rate")).toBe(5);
    expect(stats().recycled).toBeGreaterThan(3);
  });

  test("that is sticky runs first also where it is the last call that a worker may get", async () => {
    for (const recycleAfter of [1, 2]) {
      const { broadcast, call } = await createReady({ threads: 1, recycleAfter });
      for (let n = 1; n <= recycleAfter; n++) {
        await broadcast.configure.with({ sticky: true })(`rate${n}`, n);
      }
      for (let n = 0; n < 3; n++) expect(await call.configured("rate1")).toBe(1);
    }
  });

  test("that is sticky runs first in the replacement of a lost worker", async () => {
    const { broadcast, call, stats } = await createReady({ threads: 1 });
    await broadcast.configure.with({ sticky: true })("rate", 5);
    await call.exit();
    await until(() => stats().workersLost === 1, () => pause(5));
    expect(await call.configured("rate")).toBe(5);
  });

  test("that is sticky and fails in a new worker ends that worker", async () => {
    const { broadcast, call, stats } = await createReady({ threads: 2 });
    const [first] = await broadcast.workerOf();
    const isThere = new Int32Array(new SharedArrayBuffer(4));
    expect(await broadcast.failLater.with({ sticky: true })(isThere)).toEqual([0, 0]);
    Atomics.store(isThere, 0, 1);
    await call.exit();
    await until(() => stats().workersLost >= 2, () => pause(5)); // the one that ended and its replacement
    Atomics.store(isThere, 0, 0);
    await until(() => stats().ready === 2, () => pause(5));
    expect(first).toBeTypeOf("number");
  });

  test("that is sticky and made at once runs before any other call", async () => {
    const { broadcast, call } = createIdle({ minThreads: 1, maxThreads: 3 });
    const results = broadcast.configure.with({ sticky: true })("rate", 5);
    expect(await Promise.all(Array.from({ length: 6 }, () => call.configured("rate")))).toEqual(
      [5, 5, 5, 5, 5, 5],
    );
    expect(new Set(await results)).toEqual(new Set([1]));
    await Promise.all(Array.from({ length: 6 }, () => call.block(40)));
    const seen = await Promise.all(Array.from({ length: 50 }, () => call.configured("rate")));
    expect(new Set(seen)).toEqual(new Set([5]));
  });

  test("to no worker resolves with no results", async () => {
    const { broadcast, call } = createIdle({ minThreads: 0, maxThreads: 1 });
    expect(await broadcast.configure.with({ sticky: true })("rate", 1)).toEqual([]);
    expect(await call.configured("rate")).toBe(1);
  });

  test("rejects for a worker that is lost meanwhile", async () => {
    const { broadcast, call } = await createReady({ threads: 2 });
    const blocked = broadcast.block(100);
    await call.exit.with({ affinity: 1 })().catch(() => {});
    await blocked.catch(() => {});
    const results = await Promise.allSettled([broadcast.block(1)]);
    expect(results).toHaveLength(1);
  });

  test("transfers nothing", async () => {
    const { broadcast } = await createReady({ threads: 1 });
    expect(() => broadcast.lengths.with({ transfer: [] } as never)).toThrow(/no option "transfer"/);
    expect(() => broadcast.lengths.with({ sticky: 1 } as never)).toThrow(
      /sticky must be a boolean/,
    );
  });
});
