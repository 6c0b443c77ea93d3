/** Workers that are replaced after a number of calls (`recycleAfter`). */
import { describe, expect, test } from "vitest";
import { TimeoutError } from "../../src/mod.ts";
import { createLimitedPool } from "../fixtures/limited.ts";
import { createSupervisedPool } from "../fixtures/supervision-tasks.ts";
import { closedAfterTest, rejection, release, sharedWords, until } from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";

function limitedPool(
  options: Parameters<typeof createLimitedPool>[0] = {},
): ReturnType<typeof createLimitedPool> {
  return closedAfterTest(createLimitedPool(options));
}

describe("recycleAfter", () => {
  test("workers are replaced and no call is dropped", async () => {
    const pool = limitedPool({ threads: 2, recycleAfter: 100 });
    const words = sharedWords();
    const long = pool.call.sleep(300);
    const answers: Promise<number>[] = [];
    await until(() => pool.stats().recycled >= 4, () => {
      for (let n = 0; n < 50; n++) answers.push(pool.call.mark(words));
      return answers.at(-1)!;
    });
    await long;
    const runs = await Promise.all(answers);
    expect(runs.toSorted((a, b) => a - b)).toEqual(runs.map((_, n) => n + 1));
    await until(() => pool.stats().ready === 2);
    expect(pool.stats()).toMatchObject({ workersLost: 0, inFlight: 0, lateResponses: 0 });
  });

  test("a call queued in the ring of a retiring worker runs elsewhere", async () => {
    const pool = limitedPool({ recycleAfter: 20 });
    const words = sharedWords();
    await pool.ready;
    for (let n = 0; n < 20; n++) await pool.call.echo(n);
    const long = pool.call.untilSet(words);
    const behind = pool.call.echo("behind");
    // The successor, which would take the first call otherwise, opens when the host is free.
    const latest = performance.now() + 20_000;
    while (Atomics.load(words, 1) === 0 && performance.now() < latest);
    expect(await behind).toBe("behind");
    expect(pool.stats().recycled).toBeGreaterThan(0);
    release(words);
    expect(await long).toBe("set");
  });
});

describe("workers being replaced", () => {
  test("do not count while they drain, so a lost successor is replaced", async () => {
    const pool = limitedPool({ recycleAfter: 20 });
    expect(await rejection(pool.call.hang.with({ runTimeoutMs: 5 })())).toBeInstanceOf(
      TimeoutError,
    );
    await until(() => pool.stats().recycled > 0, () => pool.call.echo(1));
    expect(await rejection(pool.call.exit(3))).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    expect(await pool.call.echo("a third one")).toBe("a third one");
  });

  test("drain at most as many at a time as the maximum number of workers", async () => {
    const pool = limitedPool({ recycleAfter: 20 });
    void rejection(pool.call.hang());
    await until(() => pool.stats().recycled > 0, () => pool.call.echo(1));
    for (let n = 0; n < 100; n++) await pool.call.echo(n);
    expect(pool.stats().workersStarted).toBe(2);
    await pool.shutdown(0);
  });

  test("are not replaced a second time if they die while they drain", async () => {
    const pool = limitedPool({ recycleAfter: 100 });
    const words = sharedWords();
    const dying = rejection(pool.call.exitWhenSet(words));
    await until(() => pool.stats().recycled > 0, () => pool.call.echo(1));
    const controller = new AbortController();
    const { signal } = controller;
    // More than a lane takes, so that calls wait on the host when it happens.
    const calls = Array.from(
      { length: 1100 },
      () => pool.call.markSlowly.with({ signal })(words, 5),
    );
    const outcomes = Promise.allSettled(calls);
    Atomics.store(words, 0, 1);
    expect(await dying).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    expect(pool.stats().queued).toBeGreaterThan(0);
    await pause(100); // longer than the pause before a replacement
    expect(pool.stats()).toMatchObject({ ready: 1, workersLost: 1 });
    controller.abort();
    await outcomes;
  });
});

describe("recycleAfter below 16 is exact", () => {
  test.each([1, 3])("each worker runs %i calls", async (recycleAfter) => {
    const pool = closedAfterTest(createSupervisedPool({ threads: 1, recycleAfter }));
    const marks = await Promise.all(Array.from({ length: 6 }, () => pool.call.leak(0)));
    const calls = [...new Set(marks)].map((mark) => marks.filter((one) => one === mark).length);
    expect(calls).toEqual(Array.from({ length: 6 / recycleAfter }, () => recycleAfter));
    expect(pool.stats()).toMatchObject({ workersLost: 0 });
    for (let n = 0; n < recycleAfter; n++) expect(await pool.call.echo(n)).toBe(n);
  });

  test("each worker runs one call if calls are long or sequential", async () => {
    const pool = closedAfterTest(createSupervisedPool({ threads: 2, recycleAfter: 1 }));
    const marks = new Set<number>();
    for (let round = 0; round < 3; round++) {
      const long = pool.call.sleep(30);
      marks.add(await pool.call.leak(0));
      await long;
    }
    expect(marks.size).toBe(3);
    await until(() => pool.stats().recycled >= 6);
    const { workersStarted, recycled } = pool.stats();
    expect(workersStarted).toBeLessThanOrEqual(recycled + 2);
  });
});
