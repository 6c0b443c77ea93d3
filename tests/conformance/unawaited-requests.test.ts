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

test("functions of the host that nobody awaits are run", async () => {
  const got: number[] = [];
  const functions = { note: (n: number) => void got.push(n) };
  const pool = await askingPool({ threads: 1, host: { functions } });
  await pool.call.tellsHost(100);
  await until(() => got.length >= 100);
  expect(got).toEqual(range(100));
});
