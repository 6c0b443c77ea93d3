/** `killAfterMs`: whatever ends a call early, the worker of a task that goes on is stopped after that time. */
import { describe, expect, test } from "vitest";
import { createPool, type Pool, type PoolOptions, TimeoutError } from "../../src/mod.ts";
import { begun, closedAfterTest, rejection, sharedWords, until } from "../support/conformance.ts";

type Tasks = typeof import("../fixtures/blocking-tasks.ts");

const url = new URL("../fixtures/blocking-tasks.ts", import.meta.url);
const KILL = { killAfterMs: 20 };

async function killingPool(options: PoolOptions = {}): Promise<Pool<Tasks>> {
  const pool = closedAfterTest(createPool({ threads: 1, ...options })<Tasks>(url));
  await pool.ready;
  return pool;
}

/** What a call of each way throws when it ends early, and its words. */
const causes: Record<string, (pool: Pool<Tasks>, words: Int32Array) => unknown> = {
  "signal": async ({ call }, words) => {
    const controller = new AbortController();
    const stays = rejection(call.stay.with({ ...KILL, signal: controller.signal })(words));
    await begun(words);
    controller.abort("aborted");
    expect(await stays).toBe("aborted");
  },
  "timeoutMs": async ({ call }, words) => {
    const error = await rejection(call.stay.with({ ...KILL, timeoutMs: 50 })(words));
    expect(error).toMatchObject({ kind: "call" });
  },
  "runTimeoutMs": async ({ call }, words) => {
    const error = await rejection(call.stay.with({ ...KILL, runTimeoutMs: 30 })(words));
    expect(error).toMatchObject({ kind: "run" });
  },
  "runTimeoutMs, and a hard timeout that is later": async ({ call }, words) => {
    const error = await rejection(call.stayBriefly(words));
    expect(error).toMatchObject({ kind: "run" });
  },
  "timeoutValue": async ({ call }, words) => {
    const limit = { ...KILL, runTimeoutMs: 30, timeoutValue: "late" };
    expect(await call.stay.with(limit)(words)).toBe("late");
  },
  "a time limit of an async task": async ({ call }, words) => {
    await rejection(call.hang.with({ ...KILL, timeoutMs: 30 })(words));
  },
  "a time limit of pool.sync": ({ sync }, words) => {
    for (const limit of [{ timeoutMs: 50 }, { runTimeoutMs: 30 }]) {
      expect(() => sync.stay.with({ ...KILL, ...limit })(words)).toThrow(TimeoutError);
      expect(sync.echo(1)).toBe(1); // timers run although the thread blocks
    }
  },
  "a time limit of an item of map": async ({ call, map }, words) => {
    const error = await rejection(map(call.stayBriefly, [words]).toArray());
    expect(error).toMatchObject({ kind: "run" });
  },
  "the end of map": async ({ call, map }, words) => {
    const controller = new AbortController();
    const { signal } = controller;
    const results = rejection(map(call.stayUntilKilled, [words], { signal }).toArray());
    await begun(words);
    controller.abort("enough");
    expect(await results).toBe("enough");
  },
  "a time limit of a broadcast": async ({ broadcast }, words) => {
    await rejection(broadcast.stay.with({ ...KILL, timeoutMs: 50 })(words));
  },
  "a scope that is cancelled": async ({ scope }, words) => {
    await scope(KILL, async ({ call, cancel }) => {
      const stays = rejection(call.stay(words));
      await begun(words);
      cancel();
      await stays;
    });
  },
  "the time limit of a scope": async ({ scope }, words) => {
    const error = await rejection(
      scope({ ...KILL, timeoutMs: 50 }, async ({ call }) => await call.stay(words)),
    );
    expect(error).toMatchObject({ kind: "scope" });
  },
  "a stream that is not wanted any more": async ({ call }, words) => {
    for await (const item of call.stayAfterOne.with(KILL)(words)) {
      expect(item).toBe(1);
      break;
    }
  },
  "the same, of an async task": async ({ call }, words) => {
    const stream = call.hangAfterOne.with(KILL)(words);
    expect(await stream.next()).toEqual({ done: false, value: 1 });
    const next = stream.next();
    await begun(words);
    expect(await stream.return()).toEqual({ done: true, value: undefined });
    expect(await next).toEqual({ done: true, value: undefined });
    expect(await stream.returned).toBeUndefined();
  },
  "a nested call whose caller has ended": async ({ call }, words) => {
    const parent = call.parentOfStay.with({ timeoutMs: 100 })(words, KILL.killAfterMs);
    expect(await rejection(parent)).toMatchObject({ kind: "call" });
  },
};

describe("killAfterMs stops the worker after", () => {
  test.each(Object.entries(causes))("%s", async (name, endEarly) => {
    const threads = name.includes("nested") ? 2 : 1;
    const hardTimeoutMs = name.includes("hard") ? 600_000 : Infinity;
    const pool = await killingPool({ threads, hardTimeoutMs });
    const words = sharedWords();
    await endEarly(pool, words);
    expect(Atomics.load(words, 1)).toBeGreaterThan(0);
    await until(() => pool.stats().workersLost === (name.includes("pool.sync") ? 2 : 1));
    expect(await Promise.all([1, 2, 3].map((n) => pool.call.echo(n)))).toEqual([1, 2, 3]);
    expect(Atomics.load(words, 0)).toBe(0); // it has not ended by itself
  });
});

test("a task that ends in time keeps its worker", async () => {
  const pool = await killingPool();
  const words = sharedWords();
  const late = rejection(pool.call.stay.with({ runTimeoutMs: 20, killAfterMs: 15_000 })(words));
  await late;
  Atomics.store(words, 0, 1);
  Atomics.notify(words, 0);
  expect(await pool.call.echo(1)).toBe(1);
  for await (const item of pool.call.stayAfterOne.with({ killAfterMs: 15_000 })(words)) {
    expect(item).toBe(1);
    break;
  }
  expect(await pool.call.echo(2)).toBe(2);
  expect(pool.stats()).toMatchObject({ workersLost: 0, inFlight: 0 });
});

test("the hard timeout stops the worker first if it is sooner", async () => {
  const pool = await killingPool({ hardTimeoutMs: 100 });
  const exits: unknown[] = [];
  pool.addEventListener("workerExit", (event) => {
    event.preventDefault();
    exits.push((event.detail.error?.cause as TimeoutError | undefined)?.limitMs);
  });
  const limits = { runTimeoutMs: 30, killAfterMs: 15_000 };
  await rejection(pool.call.stay.with(limits)(sharedWords()));
  expect(await pool.call.echo(1)).toBe(1);
  expect(exits).toEqual([100]);
});
