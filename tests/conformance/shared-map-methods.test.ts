/** What maps and caches do in one step, with several threads at once, and what caches count. */
import { describe, expect, expectTypeOf, test } from "vitest";
import { SharedCache, SharedMap } from "../../src/mod-shared.ts";
import { createSharedPool, type SharedPool } from "../fixtures/shared-tasks.ts";
import { closedAfterTest, rejection } from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";

const pool = (...args: Parameters<typeof createSharedPool>): SharedPool =>
  closedAfterTest(createSharedPool(...args));

const invalid = expect.objectContaining({ code: "HEDDLE_INVALID_ARGUMENT" });

test("getMany reads in the order of the keys, forEach calls for each entry", async () => {
  const map = new SharedMap<string | number, unknown>().set("a", [1]).set(2, "two");
  map.set("none", undefined);
  expect(map.getMany(["a", 2, "missing", "none", "a"])).toEqual([
    [1],
    "two",
    undefined,
    undefined,
    [1],
  ]);
  expect(map.getMany(new Set<string | number>([2]))).toEqual(["two"]);
  expect(map.getMany([])).toEqual([]);
  expect(() => map.getMany([{} as never])).toThrow(invalid);
  const seen = new Map<unknown, unknown>();
  map.forEach((value, key, same) => {
    expect(same).toBe(map);
    map.delete(key); // changes what is there, not what is visited
    seen.set(key, value);
  });
  expect(seen).toEqual(new Map<unknown, unknown>([["a", [1]], [2, "two"], ["none", undefined]]));
  expect(map.size).toBe(0);
  map.set("a", 1);
  const { call } = pool({ threads: 1 });
  expect(await call.invoke([map, "getMany", ["a", "b"]])).toEqual([1, undefined]);
});

describe("increment", () => {
  test("loses no step of several threads, beside updates and replacements", async () => {
    const { call } = pool({ threads: 3 });
    const map = new SharedMap<string, number>({ maxBytes: 2 ** 18 });
    const workers = [
      call.incrementTimes([map, "n", 3000]),
      call.incrementTimes([map, "n", 3000]),
      call.updateTimes([map, "n", 1000]),
      call.replaceTimes([map, "n", 1000]),
    ];
    for (let time = 0; time < 1000; time++) map.increment("n");
    const [first = [], second = []] = await Promise.all(workers);
    expect(map.get("n")).toBe(9000);
    // Each step has its own sum, and those of a thread rise.
    for (const sums of [first, second]) expect(sums).toEqual(sums.toSorted((a, b) => a - b));
    expect(new Set([...first, ...second]).size).toBe(6000);
  });

  test("begins at 0, takes any finite number, and refuses what is none", async () => {
    const map = new SharedMap<string, number>();
    expect([map.increment("n"), map.increment("n", 1.5), map.increment("n", -3)])
      .toEqual([1, 2.5, -0.5]);
    for (const by of [NaN, Infinity, "1", 1n, null]) {
      expect(() => map.increment("n", by as never)).toThrow(/by must be a finite number, got/);
    }
    const any = map as unknown as SharedMap<string, unknown>;
    for (const value of ["1", 1n, null, undefined, [1], true, "x".repeat(1000)]) {
      any.set("other", value);
      expect(() => map.increment("other")).toThrow(
        /^The value of "other" is no number: increment\(\) is for numbers\.$/,
      );
      expect(any.get("other")).toEqual(value);
    }
    expect(map.set("n", 5, { ttlMs: 1e6 }).increment("n")).toBe(6);
    const waits = map.wait("n", (n) => n === 7);
    map.increment("n");
    expect(await waits).toBe(7);
    expectTypeOf(map.increment).returns.toBeNumber();
    // @ts-expect-error -- the values of that map are no numbers
    expect(() => any.increment("other")).toThrow(invalid);
  });
});

describe("replace", () => {
  const same: readonly (readonly [string, () => unknown])[] = [
    ["number", () => 1.5],
    ["NaN", () => NaN],
    ["text", () => "text \u{1f600}"],
    ["bigint", () => 2n ** 70n],
    ["null", () => null],
    ["nothing", () => undefined],
    ["object", () => ({ a: [1, -0, { b: "x", c: "долго" }], n: null, d: new Date(5) })],
    [
      "collection",
      () => new Map<unknown, unknown>([["k", new Set([1, "a longer text of 30 units"])]]),
    ],
    ["bytes", () => new Uint8Array(100_000).fill(7)],
    ["view", () => new Float64Array(8).subarray(2, 4)],
    ["cycle", () => {
      const cycle: Record<string, unknown> = { name: "c" };
      cycle["self"] = cycle;
      return cycle;
    }],
  ];
  test.each(same)("takes an equal %s for the same", (_name, make) => {
    const map = new SharedMap<string, unknown>();
    // Texts of other lengths before: what they leave in the memory of the encoder is no part of the value.
    for (const text of ["yyyyyyyyyyyyyyyyyyyy", { x: "z".repeat(900) }]) map.set("before", text);
    map.set("k", make());
    expect(map.replace("k", "something else", 1)).toBe(false);
    expect(map.get("k")).toEqual(make());
    expect(map.replace("k", make(), 1)).toBe(true);
    expect(map.get("k")).toBe(1);
    map.set("k", make());
    expect(map.replace("k", map.get("k"), 2)).toBe(true);
    expect(map.get("k")).toBe(2);
  });

  test("tells values apart as they arrive", () => {
    const map = new SharedMap<string, unknown>();
    for (
      const [value, other] of [
        [0, -0],
        [1, "1"],
        [1, 1n],
        [{ a: 1, b: 2 }, { b: 2, a: 1 }],
        [{ a: 1 }, { a: 1, b: undefined }],
        [[1, 2], [1, 2, 3]],
        [new Map([["a", 1]]), { a: 1 }],
        [new Uint8Array(2), new Int8Array(2)],
        ["a", "aa"],
        [{ t: "abc" }, { t: "abd" }],
        [{ n: 0 }, { n: -0 }],
        [null, undefined],
      ] as const
    ) {
      map.set("k", value);
      expect([value, other, map.replace("k", other, 9)]).toEqual([value, other, false]);
      map.set("k", other);
      expect(map.replace("k", value, 9)).toBe(false);
    }
  });

  test("of undefined sets an entry that is not there", () => {
    const map = new SharedMap<string, number | undefined>();
    expect(map.replace("k", 1, 2)).toBe(false);
    expect([map.has("k"), map.replace("k", undefined, 2), map.get("k")]).toEqual([false, true, 2]);
    map.set("k", undefined);
    expect([map.replace("k", undefined, 3), map.get("k")]).toEqual([true, 3]);
    expect(map.replace("k", undefined, 4)).toBe(false);
  });

  test("happens in one thread of several that want the same", async () => {
    const { call } = pool({ threads: 3 });
    const map = new SharedMap<string, unknown>({ maxBytes: 2 ** 18 });
    map.set("list", { owners: [] });
    const won = await Promise.all(
      [0, 1, 2].map((id) => call.appendByReplace([map, "list", id, 200])),
    );
    expect(won).toEqual([200, 200, 200]);
    const { owners } = map.get("list") as { owners: number[] };
    expect(owners.length).toBe(600);
    for (const id of [0, 1, 2]) expect(owners.filter((owner) => owner === id).length).toBe(200);
  });
});

describe("an update that returns SharedMap.DELETE", () => {
  test("removes the entry", async () => {
    const map = new SharedMap<string, number>().set("a", 1).set("b", 5);
    const spend = (key: string) =>
      map.update(key, (left) => left === undefined || left <= 1 ? SharedMap.DELETE : left - 1);
    expect(await spend("a")).toBeUndefined();
    expect(await spend("b")).toBe(4);
    expect(await spend("none")).toBeUndefined();
    expect([...map]).toEqual([["b", 4]]);
    expect(await map.update("b", async () => await Promise.resolve(SharedMap.DELETE)))
      .toBeUndefined();
    expect(map.size).toBe(0);
    expectTypeOf(map.update("b", () => 1)).resolves.toBeNumber();
    expectTypeOf(spend("b")).resolves.toEqualTypeOf<number | undefined>();
  });

  test("removes nothing that was set meanwhile: its function runs again", async () => {
    const map = new SharedMap<string, number>();
    for (const before of [1, undefined]) {
      map.delete("k");
      if (before !== undefined) map.set("k", before);
      const seen: unknown[] = [];
      const result = await map.update("k", (value) => {
        seen.push(value);
        if (seen.length === 1) map.set("k", 2);
        return value === before ? SharedMap.DELETE : value!;
      });
      expect([seen, result, map.get("k")]).toEqual([[before, 2], 2, 2]);
    }
  });

  test("in several threads at once takes each thing once", async () => {
    const { call } = pool({ threads: 3 });
    const map = new SharedMap<number, number>({ maxBytes: 2 ** 20 });
    for (let key = 0; key < 300; key++) map.set(key, key);
    const taken = (await Promise.all([1, 2, 3].map(() => call.takeAll([map, 300])))).flat();
    expect(taken.length).toBe(300);
    expect(new Set(taken).size).toBe(300);
    expect(map.size).toBe(0);
  });

  test("wakes and is no value", async () => {
    const map = new SharedMap<string, number>().set("k", 1);
    const two = map.update("k", async (old) => {
      await map.update("k", () => SharedMap.DELETE);
      return old === undefined ? 7 : 8;
    });
    expect(await two).toBe(7);
    const many = map.update("k", () => {
      map.set("k", 1);
      return SharedMap.DELETE;
    });
    expect(await rejection(many)).toMatchObject({ code: "HEDDLE_DEADLOCK" });
  });
});

describe("a cache counts", () => {
  test("reads that hit and miss, and evictions", () => {
    const cache = new SharedCache<string, unknown>({ maxEntries: 3 });
    expect(cache.stats()).toEqual({ hits: 0, misses: 0, evictions: 0 });
    for (const key of ["a", "b", "c"]) cache.set(key, new Uint8Array(3));
    cache.get("a");
    cache.get("missing");
    cache.getMany(["a", "b", "missing"]);
    cache.getView("c", (bytes) => bytes.length);
    cache.getView("missing", () => 0);
    cache.getOrInsert("a", 1);
    expect(cache.stats()).toEqual({ hits: 5, misses: 3, evictions: 0 });
    cache.getOrInsertComputed("d", () => 1); // one of three goes
    expect(cache.stats()).toEqual({ hits: 5, misses: 4, evictions: 1 });
    // These are no reads of a cache's user.
    cache.has("a");
    cache.replace("d", 1, 2);
    cache.delete("d");
    expect([...cache].length).toBe(2);
    cache.clear();
    expect(cache.stats()).toEqual({ hits: 5, misses: 4, evictions: 1 });
    expect("stats" in new SharedMap()).toBe(false);
  });

  test("nothing for an update, which follows a get that has missed", async () => {
    const cache = new SharedCache<string, number>();
    const value = cache.get("k") ?? await cache.update("k", () => 1);
    expect([value, cache.stats()]).toEqual([1, { hits: 0, misses: 1, evictions: 0 }]);
  });

  test("what all threads read, exactly, and those that have ended", async () => {
    const first = pool({ threads: 2 });
    const cache = new SharedCache<string, number>().set("k", 1);
    await Promise.all([
      first.call.readTimes([cache, "k", 5000]),
      first.call.readTimes([cache, "no", 700]),
    ]);
    await first.shutdown();
    const second = pool({ threads: 2 });
    await Promise.all([1, 2].map(() => second.call.readTimes([cache, "k", 1000])));
    cache.get("k");
    expect(cache.stats()).toEqual({ hits: 7001, misses: 700, evictions: 0 });
    expect(await second.call.invoke([cache, "stats"])).toEqual(cache.stats());
  });

  test("evictions for lack of memory, but no entries that have expired", async () => {
    const cache = new SharedCache<number, Uint8Array>({ maxBytes: 2 ** 16 });
    for (let n = 0; n < 200; n++) cache.set(n, new Uint8Array(900));
    const { evictions } = cache.stats();
    expect(evictions).toBeGreaterThan(100);
    expect(evictions + cache.size).toBe(200);
    const brief = new SharedCache<number, number>({ maxEntries: 3, ttlMs: 20 });
    for (let n = 0; n < 3; n++) brief.set(n, n);
    await pause(100);
    for (let n = 3; n < 6; n++) brief.set(n, n);
    expect([brief.size, brief.stats().evictions]).toEqual([3, 0]);
  });
});
