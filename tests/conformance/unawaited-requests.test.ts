/** What a task has asked for before its result was sent is carried out, awaited or not. */
import { describe, expect, test } from "vitest";
import { callback, createPool, type Pool, type PoolOptions } from "../../src/mod.ts";
import { begun, closedAfterTest, rejection, sharedWords, until } from "../support/conformance.ts";

type Tasks = typeof import("../fixtures/unawaited-tasks.ts");
type Words = Int32Array<SharedArrayBuffer>;

const url = new URL("../fixtures/unawaited-tasks.ts", import.meta.url);

async function askingPool(options: PoolOptions = { threads: 2 }): Promise<Pool<Tasks>> {
  const pool = closedAfterTest(createPool(options)<Tasks>(url));
  await pool.ready;
  return pool;
}

const range = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** Calls of parents that end before their children begin. All children: `count`. */
const parents: Record<string, (pool: Pool<Tasks>, words: Words, count: number) => unknown> = {
  "a value": ({ call }, words, count) => call.asks(words, count),
  "a promise": ({ call }, words, count) => call.asksLater(words, count),
  "large arguments": ({ call }, words, count) => call.asksMuch(words, count),
  "slow children": ({ call }, words, count) => call.asksSlow(words, count),
  "a stream": ({ call }, words, count) => call.asksAndYields(words, count).toArray(),
  "map()": ({ call, map }, words, count) =>
    map(call.asksChunk, Array.from({ length: count }, () => words), { chunk: 1 }).toArray(),
  "a chunk of map()": ({ call, map }, words, count) =>
    map(call.asksChunk, Array.from({ length: count }, () => words)).toArray(),
  "a broadcast to one worker": ({ broadcast }, words, count) => broadcast.asks(words, count),
  "pool.sync": ({ sync }, words, count) => sync.asks(words, count),
  "a scope": ({ scope }, words, count) => scope((inner) => inner.call.asks(words, count)),
};

const COUNTS = [1, 2, 10, 100];

describe("nested calls that nobody awaits are made by", () => {
  test.each(Object.keys(parents))("%s", async (name) => {
    const pool = await askingPool({ threads: name.startsWith("a broadcast") ? 1 : 2 });
    for (const count of COUNTS) {
      const words = sharedWords();
      await parents[name]!(pool, words, count);
      await until(() => words[2]! + words[3]! >= count);
      expect([words[2], words[3]]).toEqual([count, 0]);
      await until(() => pool.stats().inFlight === 0);
    }
  });
});

test("nested calls go on when the worker that asked for them is replaced", async () => {
  const pool = await askingPool({ threads: 2, recycleAfter: 1 });
  const words = sharedWords();
  await pool.call.asksSlow(words, 3);
  await until(() => words[2]! >= 3);
  await until(() => pool.stats().inFlight === 0);
});

test("nested calls of a call that is given up are aborted, those of one that throws too", async () => {
  const pool = await askingPool();
  const words = sharedWords();
  const controller = new AbortController();
  const aborted = rejection(pool.call.asksEndless.with({ signal: controller.signal })(words, 10));
  await until(() => words[2]! >= 10);
  controller.abort();
  expect(await aborted).toMatchObject({ name: "AbortError" });
  const timedOut = rejection(pool.call.asksEndless.with({ runTimeoutMs: 50 })(words, 10));
  expect(await timedOut).toMatchObject({ code: "HEDDLE_TIMEOUT" });
  expect(await rejection(pool.call.asksEndlessAndThrows(words, 10))).toBeInstanceOf(RangeError);
  await until(() => pool.stats().inFlight === 0);
  await until(() => words[3]! >= 30);
});

test("nested calls go on if their parent returns the value that its time limit would give", async () => {
  const pool = await askingPool();
  const words = sharedWords();
  expect(await pool.call.asks.with({ timeoutMs: 10_000, timeoutValue: 10 })(words, 10)).toBe(10);
  await until(() => words[2]! >= 10);
  const limits = { runTimeoutMs: 50, timeoutValue: "late" };
  expect(await pool.call.asksEndless.with(limits)(words, 10)).toBe("late");
  await until(() => words[3]! >= 10);
  await until(() => pool.stats().inFlight === 0);
});

test("a nested call is aborted when the worker of its stream is stopped", async () => {
  const pool = await askingPool();
  const words = sharedWords();
  for await (const item of pool.call.yieldsAndWaits.with({ killAfterMs: 50 })(words)) {
    expect(item).toBe(1);
    break;
  }
  await until(() => pool.stats().inFlight === 0);
});

test("nested calls that are aborted while they wait for room are aborted", async () => {
  const pool = await askingPool({ threads: 2, ringBytes: 64 * 1024 });
  expect(await pool.call.abortsMany(sharedWords(), 1000)).toBe(1000);
  await until(() => pool.stats().inFlight === 0);
});

test("what a task asks for after its result is made without a parent, after an abort refused with a code", async () => {
  const pool = await askingPool();
  const words = sharedWords();
  await pool.call.asksAfterwards(words);
  await until(() => words[2] === 1);
  const controller = new AbortController();
  const aborted = rejection(pool.call.asksTooLate.with({ signal: controller.signal })(words));
  await begun(words);
  controller.abort();
  await aborted;
  await until(() => words[3] === 1);
  expect(words[2]).toBe(1);
});

/** Tasks that call a callback and do not await it. */
const tellers: Record<
  string,
  (pool: Pool<Tasks>, count: number, f: (n: number) => void) => unknown
> = {
  "a value": ({ call }, count, f) => call.tells(count, callback(f)),
  "a promise": ({ call }, count, f) => call.tellsLater(count, callback(f)),
  "an error": ({ call }, count, f) => rejection(call.tellsAndThrows(count, callback(f))),
  "a stream": ({ call }, count, f) => call.tellsAndYields(count, callback(f)).toArray(),
  "a scope": ({ scope }, count, f) => scope((inner) => inner.call.tells(count, callback(f))),
};

describe("callbacks that nobody awaits are run for a task of", () => {
  test.each(Object.keys(tellers))("%s", async (name) => {
    const pool = await askingPool({ threads: 1 });
    for (const count of COUNTS) {
      const got: number[] = [];
      await tellers[name]!(pool, count, (n) => void got.push(n));
      await until(() => got.length >= count);
      expect(got).toEqual(range(count));
    }
  });
});

test.each([0, 20])("pool.sync runs them afterwards, if its task goes on for %i ms", async (ms) => {
  const got: number[] = [];
  const functions = { note: (n: number) => void got.push(n) };
  const pool = await askingPool({ threads: 1, host: { functions } });
  for (let round = 1; round <= 5; round++) {
    pool.sync.tellsAndRests(3, callback((n: number) => void got.push(n)), ms);
    await until(() => got.length >= 6 * round);
  }
  expect(got).toHaveLength(30);
});

test("a result of a function of the host that cannot be looked at rejects its request alone", async () => {
  const no = new Error("no");
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const promise = Promise.resolve(1);
  Object.defineProperty(promise, "constructor", {
    get: () => {
      throw no;
    },
  });
  const bad: unknown[] = [
    {
      // oxlint-disable-next-line unicorn/no-thenable -- such a value is what is tested
      get then() {
        throw no;
      },
    },
    proxy,
    promise,
  ];
  const pool = await askingPool({
    threads: 1,
    host: { functions: { note: (n: number) => bad[n] ?? n } },
  });
  expect(await pool.call.notes(5)).toEqual(["Error", "TypeError", "Error", 3, 4]);
});

test("functions of the host that nobody awaits are run", async () => {
  const got: number[] = [];
  const functions = { note: (n: number) => void got.push(n) };
  const pool = await askingPool({ threads: 1, host: { functions } });
  await pool.call.tellsHost(100);
  await until(() => got.length >= 100);
  expect(got).toEqual(range(100));
});
