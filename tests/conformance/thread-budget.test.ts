/** Pools that share a budget of threads. */
import { describe, expect, test } from "vitest";
import { threadBudget } from "../../src/mod.ts";
import type { TestPool } from "../fixtures/tasks.ts";
import { begun, rejection, release, sharedWords, testPool, until } from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";

/** A pool that has as many threads as its budget gives it. */
function elasticPool(options: Parameters<typeof testPool>[0]): TestPool {
  return testPool({ threads: "auto", ...options });
}

/** The most threads that the pools had together at any time, without those that close, by their events. */
function watch(...pools: readonly TestPool[]) {
  const seen = { most: 0 };
  for (const pool of pools) {
    pool.addEventListener("workerStart", () => {
      const workers = pools.flatMap(({ stats }) => stats().workers);
      const alive = workers.filter(({ state }) => state !== "closing").length;
      seen.most = Math.max(seen.most, alive);
    });
  }
  return seen;
}

describe("a budget of threads", () => {
  test("two pools never have more threads together, and each gets what the other does not use", async () => {
    const budget = threadBudget({ max: 3 });
    const one = elasticPool({ budget });
    const other = elasticPool({ budget });
    const seen = watch(one, other);
    for (const pool of [one, other, one]) {
      const words = sharedWords();
      const calls = Array.from({ length: 60 }, () => pool.call.hold(1, words));
      await begun(words, 2); // one has borrowed the thread that the other does not need
      release(words);
      expect(new Set(await Promise.all(calls)).size).toBe(2);
    }
    await Promise.all(
      [one, other].flatMap(({ call }) => Array.from({ length: 200 }, () => call.burn(1))),
    );
    expect(seen.most).toBe(3);
    expect(one.stats().workersLost + other.stats().workersLost).toBe(0);
  });

  test("a pool whose calls wait gets an idle thread at once, not after idleTimeoutMs", async () => {
    const budget = threadBudget({ max: 2 });
    const idle = elasticPool({ budget, minThreads: 0, idleTimeoutMs: 2 ** 30 });
    const words = sharedWords();
    const calls = Array.from({ length: 60 }, () => idle.call.hold(1, words));
    await begun(words, 2);
    release(words);
    await Promise.all(calls);
    const reasons: string[] = [];
    idle.addEventListener("workerExit", ({ detail }) => void reasons.push(detail.reason));
    const pool = elasticPool({ budget, minThreads: 0 });
    expect(await pool.call.echo(1)).toBe(1);
    await until(() => idle.stats().workers.length === 1);
    expect(reasons).toEqual(["another pool gets its thread"]);
    expect(budget).toMatchObject({ max: 2, threads: 2, waiting: 0 });
    expect(await idle.call.echo(2)).toBe(2);
  });

  test("a pool of busy workers gives one back when it has finished its calls", async () => {
    const budget = threadBudget({ max: 2 });
    const rich = elasticPool({ budget, minThreads: 0 });
    const end = { isReached: false };
    const keepBusy = async (): Promise<void> => {
      while (!end.isReached) await rich.call.burn(2);
    };
    const loops = Array.from({ length: 8 }, keepBusy);
    await until(() => rich.stats().ready === 2);
    const poor = elasticPool({ budget, minThreads: 0 });
    expect(await poor.call.echo(1)).toBe(1);
    end.isReached = true;
    await Promise.all(loops);
    expect(rich.stats().workersLost).toBe(0);
  });

  test("minThreads are guaranteed", async () => {
    const budget = threadBudget({ max: 1 });
    const one = elasticPool({ budget, threads: 2 });
    await one.ready;
    const other = elasticPool({ budget });
    expect(await other.call.echo(1)).toBe(1);
    expect(budget.threads).toBe(3);
    const words = sharedWords();
    const calls = Array.from({ length: 60 }, () => other.call.hold(1, words));
    await begun(words);
    await pause(50);
    expect(budget.threads).toBe(3); // no further one
    release(words);
    expect(new Set(await Promise.all(calls)).size).toBe(1);
  });

  test("the death of a worker gives its thread back", async () => {
    const budget = threadBudget({ max: 2 });
    const dying = elasticPool({ budget, minThreads: 0, maxThreads: 1 });
    const other = elasticPool({ budget, minThreads: 0 });
    const [first, words] = [sharedWords(), sharedWords()];
    const held = dying.call.hold(1, first);
    const lost = rejection(dying.call.exit(3));
    await begun(first);
    const calls = [1, 2].map(() => other.call.hold(1, words));
    await until(() => budget.waiting === 1);
    release(first);
    await held;
    expect(await lost).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    await begun(words, 2);
    release(words);
    expect(new Set(await Promise.all(calls)).size).toBe(2);
    expect(budget.threads).toBe(2);
  });

  test("shutdown gives all threads back", async () => {
    const budget = threadBudget({ max: 2 });
    const first = elasticPool({ budget });
    await first.ready;
    const second = elasticPool({ budget });
    const words = sharedWords();
    const calls = Array.from({ length: 60 }, () => second.call.hold(1, words));
    await until(() => budget.waiting === 1);
    await first.shutdown();
    await begun(words, 2);
    release(words);
    expect(new Set(await Promise.all(calls)).size).toBe(2);
    await second.shutdown();
    expect(budget).toMatchObject({ threads: 0, waiting: 0 });
  });

  test("a pool that waits for a further thread can be closed", async () => {
    const budget = threadBudget({ max: 1 });
    const first = elasticPool({ budget });
    await first.ready;
    const second = elasticPool({ budget, minThreads: 0, maxThreads: 2 });
    const words = sharedWords();
    const calls = [1, 2, 3].map(() => rejection(second.call.hold(1, words)));
    await until(() => budget.waiting === 1);
    await second.shutdown(0);
    for (const error of await Promise.all(calls)) {
      expect(error).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
    }
    expect(budget.waiting).toBe(0);
  });

  test("without a budget, a number of threads is not limited", async () => {
    const pools = [0, 1, 2].map(() => testPool({ threads: 3 }));
    await Promise.all(pools.map(({ ready }) => ready));
    expect(pools.map(({ stats }) => stats().ready)).toEqual([3, 3, 3]);
  });
});
