/** Features that a pool has not used before, at times when other things are under way. */
import { describe, expect, test } from "vitest";
import { createSyncPool, type SyncPool } from "../fixtures/sync-tasks.ts";
import { closedAfterTest, rejection, release, sharedWords } from "../support/conformance.ts";

async function readyPool(threads: number): Promise<SyncPool> {
  const pool = closedAfterTest(createSyncPool({ threads }));
  await pool.ready;
  return pool;
}

describe("while a call without options is in flight", () => {
  test("a time limit and a signal end the calls that have them", async () => {
    const pool = await readyPool(2);
    const words = sharedWords();
    const other = pool.call.spin(words);
    const limited = pool.call.later.with({ timeoutMs: 20 })(60_000);
    expect(await rejection(limited)).toMatchObject({ name: "TimeoutError" });
    const controller = new AbortController();
    const aborted = pool.call.later.with({ signal: controller.signal })(60_000);
    controller.abort("enough");
    expect(await rejection(aborted)).toBe("enough");
    release(words);
    await other;
    const { timedOut, aborted: abortedCalls, completed } = pool.stats();
    expect({ timedOut, abortedCalls, completed }).toEqual({
      timedOut: 1,
      abortedCalls: 1,
      completed: 1,
    });
  });

  test("a broadcast runs in every worker, and a sticky one in those that come", async () => {
    const pool = await readyPool(2);
    const words = sharedWords();
    const other = pool.call.spin(words);
    const all = pool.broadcast.remember.with({ sticky: true })(7);
    release(words);
    await Promise.all([other, all]);
    await rejection(pool.call.exit(1));
    expect(await Promise.all([1, 2, 3, 4].map(() => pool.call.recall()))).toEqual([7, 7, 7, 7]);
  });

  test("the end of the pool ends a stream that is read", async () => {
    const pool = await readyPool(1);
    const stream = pool.call.count(Infinity);
    expect(await stream.next()).toEqual({ done: false, value: 0 });
    const ended = pool.shutdown(0);
    expect(await rejection(stream.toArray())).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
    await ended;
  });
});

describe("a host that blocks", () => {
  /** Blocks for a few milliseconds at a time, without a turn of the event loop, until `isOver`. */
  function blockUntil(isOver: () => boolean, pool: SyncPool): void {
    for (let times = 0; times < 1000 && !isOver(); times++) pool.sync.later(10);
  }

  test.each(["of its own pool", "of another pool"])(
    "keeps the time limits %s that began before its first pool.sync",
    async (which) => {
      const pool = await readyPool(1);
      const limited = which === "of its own pool" ? pool : await readyPool(1);
      const late = rejection(limited.call.later.with({ timeoutMs: 20 })(60_000));
      blockUntil(() => limited.stats().timedOut > 0, pool);
      expect(limited.stats().timedOut).toBe(1);
      expect(await late).toMatchObject({ name: "TimeoutError" });
    },
  );

  test("keeps the time limit of a scope, which ends all its calls", async () => {
    const pool = await readyPool(1);
    const scope = pool.scope({ timeoutMs: 20 });
    const late = rejection(scope.call.later(60_000));
    blockUntil(() => pool.stats().aborted > 0, pool);
    expect(pool.stats().aborted).toBe(1);
    expect(await late).toMatchObject({ name: "TimeoutError" });
    await rejection(scope.close());
  });
});
