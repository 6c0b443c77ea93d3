/** Workers that use too much memory. */
import { describe, expect, test } from "vitest";
import { createSupervisedPool } from "../fixtures/supervision-tasks.ts";
import {
  begun,
  closedAfterTest,
  rejection,
  release,
  sharedWords,
  testPool,
  until,
} from "../support/conformance.ts";
import { capabilities, pause } from "../support/runtime.ts";

function supervisedPool(
  options: Parameters<typeof createSupervisedPool>[0] = {},
): ReturnType<typeof createSupervisedPool> {
  return closedAfterTest(createSupervisedPool(options));
}

const MIB = 2 ** 20;

describe("memory", () => {
  test("a worker above maxWorkerBytes is replaced and no call is dropped", async () => {
    const pool = supervisedPool({ maxWorkerBytes: 160 * MIB });
    const workers = new Set<number>();
    let calls = 0;
    await until(() => workers.size === 3, async () => {
      const waiting = Promise.all([pool.call.sleep(30), pool.call.echo(++calls)]);
      const { workersStarted, recycled } = pool.stats();
      workers.add(await pool.call.leak(workersStarted > recycled + 1 ? 0 : 20));
      expect((await waiting)[1]).toBe(calls);
    });
    expect(pool.stats()).toMatchObject({ workersLost: 0, recycled: 2 });
    expect(calls).toBeGreaterThan(4); // not replaced at every call
  });

  test("a limit below the size of an empty worker replaces it at most once per call", async () => {
    const pool = supervisedPool({ maxWorkerBytes: 1000 });
    await pool.ready;
    await pool.call.sleep(100);
    expect(await pool.call.echo("all the same")).toBe("all the same");
    await pause(600);
    // One for each call at most: a worker that has done nothing yet is not replaced.
    expect(pool.stats().workersStarted).toBeLessThanOrEqual(3);
  });

  test("a worker below its limit is not replaced, and idle workers are not checked", async () => {
    const pool = supervisedPool({ maxWorkerBytes: 500 * MIB });
    for (let call = 0; call < 30; call++) {
      await pool.call.leak(1);
      await pool.call.sleep(5);
    }
    expect(pool.stats()).toMatchObject({ recycled: 0, workersStarted: 1 });
  });

  test.runIf(capabilities.readsThreads)(
    "a worker above it whose task does not return is replaced as well, and its calls move",
    async () => {
      const pool = supervisedPool({ maxWorkerBytes: 160 * MIB });
      await pool.call.echo(1);
      const words = new Int32Array(new SharedArrayBuffer(4));
      const held = pool.call.hold(200, words);
      const behind = pool.call.echo("behind");
      expect(await behind).toBe("behind");
      Atomics.store(words, 0, 1);
      await held;
      expect(pool.stats()).toMatchObject({ workersLost: 0, recycled: 1 });
    },
  );

  test("maxWorkerBytes takes a percentage of the memory of the system", async () => {
    const tiny = supervisedPool({ maxWorkerBytes: "0.000001%" });
    await tiny.call.sleep(100);
    await until(() => tiny.stats().recycled > 0, () => tiny.call.sleep(10));
    const whole = supervisedPool({ maxWorkerBytes: "100%" });
    await whole.call.leak(20);
    await whole.call.sleep(50);
    expect(whole.stats()).toMatchObject({ recycled: 0, workersStarted: 1 });
  });

  test("no further worker starts while less than minFreeMemory is free, and calls run all the same", async () => {
    const threads = { minThreads: 0, maxThreads: 3 };
    const pool = testPool({ ...threads, minFreeMemory: Number.MAX_SAFE_INTEGER });
    const calls = Array.from({ length: 60 }, () => pool.call.burn(10));
    expect(await Promise.all(calls)).toHaveLength(60);
    expect(pool.stats()).toMatchObject({ workersStarted: 1, ready: 1 });
    const other = testPool({ ...threads, minFreeMemory: "0.000001%" });
    const words = sharedWords();
    const held = Array.from({ length: 60 }, () => other.call.hold(1, words));
    await begun(words, 3);
    release(words);
    expect(new Set(await Promise.all(held)).size).toBe(3);
  });

  test.runIf(capabilities.resourceLimits)(
    "a worker that exceeds resourceLimits ends without affecting others",
    async () => {
      const pool = supervisedPool({ threads: 2, resourceLimits: { maxOldGenerationSizeMb: 32 } });
      const error = await rejection(pool.call.exhaust());
      expect(error).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
      expect(String((error as { reason: string }).reason)).toMatch(/memory/);
      expect(await pool.call.echo("others go on")).toBe("others go on");
    },
  );

  test.runIf(!capabilities.resourceLimits)(
    "resourceLimits are refused if the runtime does not support them",
    () => {
      expect(() => createSupervisedPool({ resourceLimits: { maxOldGenerationSizeMb: 32 } }))
        .toThrow(/Bun ignores resourceLimits|Deno leaves workers hanging at resourceLimits/);
    },
  );
});
