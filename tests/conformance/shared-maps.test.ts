/** Maps, caches and vectors that threads share. */
import { describe, expect, test } from "vitest";
import { AtomicCounter, SharedCache, SharedMap, SharedVector } from "../../src/mod-shared.ts";
import { createSharedPool, type SharedPool } from "../fixtures/shared-tasks.ts";
import { closedAfterTest, rejection, until } from "../support/conformance.ts";
import { pause, realNow } from "../support/runtime.ts";

const pool = (...args: Parameters<typeof createSharedPool>): SharedPool =>
  closedAfterTest(createSharedPool(...args));

const values: readonly unknown[] = [
  0,
  -0,
  1.5,
  NaN,
  "",
  "text \ud83d \u{1f600}",
  true,
  null,
  undefined,
  -(2n ** 80n),
  { a: [1, { b: new Date(5) }], m: new Map([["k", new Set([1])]]) },
  new Float64Array([1.5, -0]),
  new Uint8Array(100_000).fill(7),
  new TypeError("no"),
];

describe("a map", () => {
  test("gives a wait what came while its event loop was blocked beyond its time limit", async () => {
    const shared = pool({ threads: 1 });
    await shared.ready;
    const map = new SharedMap<string, number>();
    const wait = map.wait("key", undefined, { timeoutMs: 20 });
    const change = shared.call.invoke([map, "set", "key", 1]);
    const endMs = realNow() + 40;
    while (realNow() < endMs || !map.has("key"));
    expect(await wait).toBe(1);
    await change;
  });

  test("has values of every kind, by keys of every kind, in all threads", async () => {
    const { call } = pool({ threads: 1 });
    const map = new SharedMap<string | number | bigint, unknown>();
    const keys = ["", "a", "ключ", "\ud800", 0, 1, -1.5, NaN, Infinity, 1n, -(2n ** 90n)];
    for (const [index, value] of values.entries()) map.set(`value ${index}`, value);
    for (const [index, value] of values.entries()) {
      expect(map.get(`value ${index}`)).toEqual(value);
      expect(await call.invoke([map, "get", `value ${index}`])).toEqual(value);
    }
    expect(Object.is(map.get("value 1"), -0)).toBe(true);
    for (const [index, key] of keys.entries()) map.set(key, index);
    for (const [index, key] of keys.entries()) {
      expect(map.get(key)).toBe(index);
      expect(await call.invoke([map, "get", key])).toBe(index);
    }
    expect([map.get(-0), map.has("0"), map.has("1n"), map.get("1")]).toEqual([
      4,
      false,
      false,
      undefined,
    ]);
    expect(map.size).toBe(values.length + keys.length);
    expect(new Set(map.keys())).toEqual(
      new Set([...keys, ...values.keys().map((n) => `value ${n}`)]),
    );
    expect([map.delete("a"), map.delete("a"), map.has("a")]).toEqual([true, false, false]);
    map.clear();
    expect([map.size, [...map]]).toEqual([0, []]);
  });

  test("stays free when a stack ends in the middle of a change, wherever that is", async () => {
    const { call } = pool({ threads: 1 });
    for (let round = 0; round < 2; round++) {
      const map = new SharedMap<string, unknown>().set("main", 0);
      for (const change of [["delete", "gone"], ["set", "k", { a: [1] }]] as const) {
        expect(await call.exhaustStack([map, ...change])).toBe(6);
        map.set("main", round); // throws WaitTimeoutError if the worker has left the latch taken
        expect([map.get("main"), map.delete("main")]).toEqual([round, true]);
      }
    }
  });

  test("has room for others as soon as its entries have expired", async () => {
    const map = new SharedMap<number, string>({ maxBytes: 2 ** 16, ttlMs: 200 });
    const full = (): void => {
      // Bounded: on a slow machine entries expire before the map is full.
      for (let n = 0; n < 1000; n++) map.set(n, "x".repeat(500));
    };
    expect(full).toThrow(/no room/);
    await pause(300);
    map.set(-1, "x".repeat(500));
    expect(map.size).toBe(1);
  });

  test("updates entries of different keys at the same time", async () => {
    const map = new SharedMap<string, number>();
    const hold = Promise.withResolvers<number>();
    const first = map.update("first", () => hold.promise);
    await pause(1);
    const others = Array.from({ length: 256 }, (_, n) => map.update(`key ${n}`, () => n));
    expect(await Promise.all(others)).toHaveLength(256);
    hold.resolve(1);
    expect(await first).toBe(1);
  });

  test("is changed by the host while a worker writes a value of many megabytes", async () => {
    const { call } = pool({ threads: 1 });
    const map = new SharedMap<string, unknown>({ maxBytes: 2 ** 28 });
    const done = call.invoke([map, "set", "large", new Uint8Array(1e8).fill(1)]);
    let isDone = false;
    void done.then(() => isDone = true);
    while (!isDone) {
      map.set("small", 1); // it would throw WaitTimeoutError behind a copy of 250 ms
      await pause(1);
    }
    expect((map.get("large") as Uint8Array).length).toBe(1e8);
  });

  test("loses no change: updates, sets and inserts of several threads at once", async () => {
    const { call } = pool({ threads: 3 });
    const map = new SharedMap<string, number>({ maxBytes: 2 ** 20 });
    const workers = [1, 2, 3].map(() => call.updateTimes([map, "n", 2000]));
    for (let time = 0; time < 500; time++) await map.update("n", (old) => (old ?? 0) + 1);
    await Promise.all(workers);
    expect(map.get("n")).toBe(6500);
    const slow = map.update("n", async (old) => {
      await pause(5);
      return old! + 1;
    });
    const quick = map.update("n", (old) => old! * 2);
    map.set("n", 10);
    expect(await Promise.all([slow, quick])).toEqual([11, 22]);
    expect([map.getOrInsert("n", 0), map.getOrInsert("new", 5), map.get("new")]).toEqual([
      22,
      5,
      5,
    ]);
    expect(map.getOrInsertComputed("computed", (key) => key.length)).toBe(8);
  });

  test("updates may be nested, and one that always changes itself fails", async () => {
    const map = new SharedMap<string, number>();
    const sum = await map.update("a", async (a = 1) => a + await map.update("b", (b = 2) => b + 1));
    expect([sum, map.get("a"), map.get("b")]).toEqual([4, 4, 3]);
    expect(
      await rejection(map.update("a", (a) => {
        map.set("a", a! + 1);
        return 0;
      })),
    ).toMatchObject({ code: "HEDDLE_DEADLOCK" });
    const many = Array.from({ length: 300 }, () =>
      map.update("n", async (n = 0) => {
        await pause(0);
        return n + 1;
      }));
    await Promise.all(many);
    expect(map.get("n")).toBe(300);
  });

  test("that is full says so and loses nothing; memory that was given back is used again", async () => {
    const map = new SharedMap<number, Uint8Array>({ maxBytes: 2 ** 17 });
    let count = 0;
    const fill = (bytes: number): void => {
      for (; count < 10_000; count++) map.set(count, new Uint8Array(bytes).fill(count));
    };
    expect(() => fill(1000)).toThrow(expect.objectContaining({ code: "HEDDLE_SHARED_FULL" }));
    expect(count).toBeGreaterThan(50);
    expect(map.size).toBe(count);
    for (let key = 0; key < count; key++) {
      expect(map.get(key)).toEqual(new Uint8Array(1000).fill(key));
    }
    for (const bytes of [8, 5000, 40_000, 1000, 60_000]) {
      map.clear();
      count = 0;
      expect(() => fill(bytes)).toThrow(/no room for the value/);
      expect(count).toBeGreaterThan(0);
      expect(map.get(count - 1)).toEqual(new Uint8Array(bytes).fill(count - 1));
    }
    expect(() => map.set(0, new Uint8Array(2 ** 20))).toThrow(/no room/);
    const { call } = pool({ threads: 1 });
    map.clear();
    await call.invoke([map, "set", 1, new Uint8Array(50_000).fill(3)]);
    expect(map.get(1)![49_999]).toBe(3);
  });

  test("entries expire", async () => {
    const map = new SharedMap<string, number>({ ttlMs: 40 });
    map.set("a", 1).set("kept", 2, { ttlMs: Infinity }).set("short", 3, { ttlMs: 1 });
    await until(() => !map.has("a"));
    expect([map.get("a"), map.get("kept"), map.get("short")]).toEqual([undefined, 2, undefined]);
    expect([...map.keys()]).toEqual(["kept"]);
    map.set("a", 4);
    expect(map.get("a")).toBe(4);
  });

  test("is waited for, in every thread", async () => {
    const { call } = pool();
    const map = new SharedMap<string, number>();
    const inWorker = call.invoke([map, "waitSync", "job"]);
    const here = map.wait("job", (value) => value > 1);
    await call.invoke([map, "set", "job", 1]);
    expect(await inWorker).toBe(1);
    map.set("job", 2);
    expect(await here).toBe(2);
    expect(await rejection(map.wait("never", undefined, { timeoutMs: 1 }))).toMatchObject({
      code: "HEDDLE_WAIT_TIMEOUT",
    });
    const stop = new AbortController();
    const stopped = rejection(map.wait("never", () => false, { signal: stop.signal }));
    stop.abort("enough");
    expect(await stopped).toBe("enough");
  });

  test("gives bytes in place", () => {
    const map = new SharedMap<string, unknown>();
    map.set("whole", new Uint8Array([1, 2, 3])).set("none", new Uint8Array(0)).set("text", "x");
    map.set("part", new Uint8Array([1, 2, 3, 4]).subarray(1, 3)).set("other", new Int8Array(3));
    const bytes = (key: string) => map.getView(key, (view) => [...view]);
    expect([bytes("whole"), bytes("part"), bytes("missing")]).toEqual([
      [1, 2, 3],
      [2, 3],
      undefined,
    ]);
    expect(() => bytes("text")).toThrow(/no Uint8Array/);
    expect(() => bytes("other")).toThrow(/no Uint8Array/);
    map.getView("whole", (view) => {
      for (let n = 0; n < 1000; n++) map.set("whole", new Uint8Array(3).fill(n));
      expect([...view]).toEqual([1, 2, 3]);
    });
  });
});

describe("a cache", () => {
  test("takes a value that fits alone, whatever it has", () => {
    const cache = new SharedCache<string, unknown>({ maxBytes: 2 ** 20 });
    const value = new Uint8Array(600_000).fill(1);
    cache.set("small", 1);
    for (let round = 0; round < 3; round++) {
      cache.set("large", value);
      expect(cache.get("large")).toEqual(value);
    }
    expect(() => cache.set("huge", new Uint8Array(1_100_000))).toThrow(/no room/);
    expect(cache.get("large")).toEqual(value);
  });

  test("keeps what was used of late, within its entries", () => {
    // Evicted entries are the oldest of five taken at random: of the youngest 50, one cache keeps 30 to 50 and 20 caches 47 on average, random evictions 39.
    const caches = 20;
    let young = 0;
    for (let count = 0; count < caches; count++) {
      const cache = new SharedCache<number, string>({ maxEntries: 100 });
      for (let key = 0; key < 1000; key++) {
        cache.set(key, `value ${key}`);
        expect(cache.get(0)).toBe("value 0"); // it is used all the time
      }
      expect(cache.size).toBe(100);
      for (let key = 950; key < 1000; key++) if (cache.has(key)) young++;
    }
    expect(young / caches).toBeGreaterThan(44);
  });

  test("is never full, and tears no value under load of several threads", async () => {
    const { call } = pool({ threads: 3 });
    const cache = new SharedCache<string, string>({ maxBytes: 2 ** 17 });
    const wrong = await Promise.all([1, 2, 3].map((seed) => call.churn([cache, seed, 20_000])));
    expect(wrong).toEqual([0, 0, 0]);
    for (const [key, value] of cache) expect(value.startsWith(`${key}:`)).toBe(true);
    expect(cache.bytes).toBeLessThanOrEqual(2 ** 17);
    expect([...cache.keys()]).toHaveLength(cache.size);
    expect(() => cache.set("large", "x".repeat(2 ** 18))).toThrow(/no room/);
  });
});

describe("a vector", () => {
  test("is filled by several threads, with atomic operations", async () => {
    const { call } = pool();
    const vector = new SharedVector("i32", { length: 1000 });
    await Promise.all([call.fill([vector, 1, 500]), call.fill([vector, 500, 1000])]);
    expect(vector.at(0)).toBe(2000);
    expect([...vector].slice(1)).toEqual(Array.from({ length: 999 }, (_, n) => 2 * (n + 1)));
    const view = vector.view(10, 12);
    view[0] = -5;
    expect([vector.at(10), vector.at(-1), vector.at(1000), view.length]).toEqual([
      -5,
      1998,
      undefined,
      2,
    ]);
    expect(vector.atomic.compareExchange(10, -5, 6)).toBe(-5);
    expect(() => vector.set(1000, 1)).toThrow(RangeError);
    expect(() => new SharedVector("f64", { length: 1 }).atomic).toThrow(/no atomic operations/);
  });

  test("grows, for all threads, up to its maximum", async () => {
    const { call } = pool();
    const vector = new SharedVector("f64", { maxLength: 20_001 });
    await Promise.all([call.pushTimes([vector, 5000]), call.pushTimes([vector, 5000])]);
    expect(vector.length).toBe(20_000);
    const sums = new Map<number, number>();
    for (const value of vector) sums.set(value, (sums.get(value) ?? 0) + 1);
    expect([sums.size, Math.min(...sums.values()), Math.max(...sums.values())]).toEqual([
      10_000,
      2,
      2,
    ]);
    expect(() => vector.push(1, 2)).toThrow(
      expect.objectContaining({ code: "HEDDLE_SHARED_FULL" }),
    );
    expect(vector.push(9)).toBe(20_000);
    const big = new SharedVector("u64", { maxLength: 4 });
    expect([big.push(2n ** 63n), big.grow(2), big.at(0), big.atomic.add(1, 5n), big.at(1)])
      .toEqual([0, 1, 2n ** 63n, 0n, 5n]);
    expect(() => big.push(1 as never)).toThrow(/takes a bigint/);
    expect(big.length).toBe(3);
  });
});

test("counters count for all threads", async () => {
  const { call } = pool();
  const counter = new AtomicCounter(5);
  await Promise.all(Array.from({ length: 20 }, () => call.invoke([counter, "add", 2])));
  expect(counter.value).toBe(45);
  counter.value = -1;
  expect(counter.add()).toBe(0);
  expect(() => counter.add(0.5)).toThrow(/whole numbers/);
});

test("a worker that is stopped rejects no call for that: those that it has not begun run elsewhere", async () => {
  // Between the moment when it may no longer touch shared data and its end, a worker may take further calls.
  const restore = lengthenStop(50);
  const { call } = pool({ threads: 1, hardTimeoutMs: 200 });
  const [map, counter] = [new SharedMap<string, number>(), new AtomicCounter()];
  map.set("key", 7);
  const stopped = rejection(call.readUntilStopped([map, counter]));
  const behind = Array.from({ length: 20 }, () => call.invoke([map, "get", "key"]));
  expect(await stopped).toMatchObject({ code: "HEDDLE_TIMEOUT" });
  restore();
  expect(await Promise.all(behind)).toEqual(behind.map(() => 7));
  expect(counter.value).toBeGreaterThan(0);
});

/** Threads that are started until `restore` go on for that long after they have lost their right to touch shared data. */
function lengthenStop(ms: number): () => void {
  const key = Symbol.for("heddle.threads");
  const hooks = (globalThis as { [key]?: { begin(): { onStop(): void } } })[key]!;
  const { begin } = hooks;
  hooks.begin = () => {
    const thread = begin.call(hooks);
    const onStop = thread.onStop.bind(thread);
    thread.onStop = () => {
      onStop();
      for (
        const endMs = performance.now() + ms;
        performance.now() < endMs;
      ) { /* the worker goes on */ }
    };
    return thread;
  };
  return () => hooks.begin = begin;
}
