/** Threads that the runtime cannot stop. */
import { describe, expect, test } from "vitest";
import { createLimitedPool } from "../fixtures/limited.ts";
import { closedAfterTest, rejection, sharedWords, until } from "../support/conformance.ts";
import { capabilities } from "../support/runtime.ts";

describe("a thread that cannot be stopped", () => {
  /** Runs a task that loops until the words say otherwise, and is stopped for it. */
  async function loop(pool: ReturnType<typeof createLimitedPool>): Promise<Int32Array> {
    const words = sharedWords();
    const error = await rejection(pool.call.untilSet(words));
    expect(error).toMatchObject({ code: "HEDDLE_TIMEOUT", kind: "hard" });
    return words;
  }
  const end = (all: readonly Int32Array[]): void => all.forEach((words) => void (words[0] = 1));

  test.runIf(!capabilities.stopsLoops)("is counted and reported while it runs", async () => {
    const pool = closedAfterTest(
      createLimitedPool({ hardTimeoutMs: 1000, maxAbandonedThreads: 2 }),
    );
    const printed: unknown[] = [];
    pool.addEventListener("threadAbandoned", (event) => {
      printed.push(event.detail);
      event.preventDefault();
    });
    const all = [await loop(pool), await loop(pool)];
    expect(printed).toEqual([{ workerId: 0, abandonedThreads: 1 }, {
      workerId: 1,
      abandonedThreads: 2,
    }]);
    expect(pool.stats()).toMatchObject({ abandonedThreads: 2, workersLost: 2 });
    end(all);
    await until(() => pool.stats().abandonedThreads === 0);
    expect(await pool.call.echo("goes on")).toBe("goes on");
  });

  test.runIf(!capabilities.stopsLoops)("is not replaced beyond maxAbandonedThreads", async () => {
    const pool = closedAfterTest(
      createLimitedPool({ threads: 2, hardTimeoutMs: 1000, maxAbandonedThreads: 0 }),
    );
    await pool.ready;
    const all = [await loop(pool)];
    expect(pool.stats()).toMatchObject({ abandonedThreads: 0, workersStarted: 2, ready: 1 });
    for (let n = 0; n < 10; n++) expect(await pool.call.echo(n)).toBe(n);
    end(all);
    await until(() => pool.stats().inFlight === 0);
    const words = sharedWords();
    words[0] = 1;
    expect(await pool.call.untilSet(words)).toBe("set");
  });

  test.runIf(!capabilities.stopsLoops)("fails the pool if it was the last worker", async () => {
    const pool = closedAfterTest(
      createLimitedPool({ hardTimeoutMs: 1000, maxAbandonedThreads: 1 }),
    );
    const all = [await loop(pool)];
    const words = sharedWords();
    const stuck = rejection(pool.call.untilSet(words));
    const behind = rejection(pool.call.mark(sharedWords()));
    expect(await stuck).toMatchObject({ kind: "hard" });
    const failure = {
      code: "HEDDLE_WORKER_START",
      message: expect.stringMatching(/No worker is left/),
    };
    expect(await behind).toMatchObject(failure);
    expect(await rejection(pool.call.echo(1))).toMatchObject(failure);
    end([...all, words]);
  });

  test.runIf(capabilities.stopsLoops)("does not exist if the runtime can stop loops", async () => {
    const pool = closedAfterTest(createLimitedPool({ hardTimeoutMs: 50, maxAbandonedThreads: 0 }));
    await loop(pool);
    await loop(pool);
    expect(pool.stats().abandonedThreads).toBe(0);
    await until(() => pool.stats().workersLost >= 2);
  });
});
