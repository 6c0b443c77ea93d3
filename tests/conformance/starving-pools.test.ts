/** No pool starves: whatever other pools of the process hold, a pool with a call to run has a thread for it. */
import { availableParallelism } from "node:os";
import { describe, expect, test } from "vitest";
import { createPool, type Pool, type PoolOptions, threadBudget } from "../../src/mod.ts";
import { begun, closedAfterTest, release, sharedWords, until } from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/blocking-tasks.ts");

const url = new URL("../fixtures/blocking-tasks.ts", import.meta.url);

function create(options: PoolOptions): Pool<Tasks> {
  return closedAfterTest(createPool(options)<Tasks>(url));
}

/** How a pool is made, in a budget that both share, and how it is used. */
interface Kind {
  readonly options: (budget: ReturnType<typeof threadBudget>) => PoolOptions;
  readonly use: (pool: Pool<Tasks>, value: number) => unknown;
}

const call: Kind["use"] = ({ call }, value) => call.echo(value);
const kinds: Record<string, Kind> = {
  // As many threads as cores: nothing is left of the budget that pools without one share.
  "fixed": { options: () => ({ threads: Math.min(4, availableParallelism()) }), use: call },
  "elastic": { options: () => ({ minThreads: 1, maxThreads: 2 }), use: call },
  "minThreads 0": { options: () => ({ minThreads: 0 }), use: call },
  "with a budget": { options: (budget) => ({ budget, minThreads: 0 }), use: call },
  "of pool.sync": {
    options: (budget) => ({ budget, minThreads: 0 }),
    use: ({ sync }, value) => sync.echo(value),
  },
  "of tasks that wait for tasks": {
    options: (budget) => ({ budget, minThreads: 1, maxThreads: 2 }),
    use: ({ call }, value) => call.syncOfLater(value),
  },
};
const pairs = Object.keys(kinds).flatMap((one) => Object.keys(kinds).map((other) => [one, other]));

describe("two pools in one process", () => {
  test.each(pairs)("%s, and beside it one %s", async (one, other) => {
    const budget = threadBudget({ max: 1 });
    const [first, second] = [kinds[one!]!, kinds[other!]!];
    const [holder, pool] = [create(first.options(budget)), create(second.options(budget))];
    expect(await first.use(holder, 1)).toBe(1);
    // Its threads are idle.
    expect(await second.use(pool, 2)).toBe(2);
    const words = sharedWords();
    const held = holder.call.stay(words);
    await begun(words);
    // One of them is busy.
    expect(await second.use(pool, 3)).toBe(3);
    release(words);
    await held;
    expect(await first.use(holder, 4)).toBe(4);
  });
});

describe("a call that waits alone", () => {
  const busy: Record<string, PoolOptions> = {
    "behind a call of a task that is not known": {},
    "behind an async call, with maxConcurrency 1": { maxConcurrency: 1 },
    "with the balancer fifo": { balancer: "fifo" },
  };
  for (const way of ["call", "sync"] as const) {
    test.each(Object.entries(busy))(`by pool.${way} %s gets a worker`, async (_name, options) => {
      const pool = create({ minThreads: 1, maxThreads: 2, ...options });
      await pool.ready;
      for (let n = 0; n < 3; n++) await pool.call.echo(n); // a short task, and known as that
      const words = sharedWords();
      const held = options.maxConcurrency === 1
        ? pool.call.slowly(15_000).catch(() => {})
        : pool.call.stay(words);
      if (options.maxConcurrency === undefined) await begun(words);
      expect(await pool[way].echo(1)).toBe(1);
      expect(pool.stats()).toMatchObject({ workersStarted: 2 });
      release(words);
      if (options.maxConcurrency === undefined) await held;
      await pool.shutdown(0);
    });
  }

  test("for the worker of its key starts none", async () => {
    const pool = create({ minThreads: 1, maxThreads: 2 });
    const words = sharedWords();
    const held = pool.call.stay.with({ affinity: "key" })(words);
    await begun(words);
    const behind = pool.call.echo.with({ affinity: "key" })(1);
    await pause(60);
    expect(pool.stats()).toMatchObject({ workersStarted: 1 });
    release(words);
    await held;
    expect(await behind).toBe(1);
  });
});

test("pools beyond their first threads share a budget, and it says who waits", async () => {
  const budget = threadBudget({ max: 2 });
  const [one, other] = [create({ budget }), create({ budget })];
  const words = sharedWords();
  const calls = Promise.allSettled(
    [one, other].flatMap(({ call }) => [call.stay(words), call.stay(words)]),
  );
  await begun(words, 2);
  await until(() => budget.waiting === 2);
  expect(budget.threads).toBe(2);
  await other.shutdown(0);
  await begun(words, 3); // its thread
  release(words);
  await calls;
  expect(budget).toMatchObject({ waiting: 0 });
});
