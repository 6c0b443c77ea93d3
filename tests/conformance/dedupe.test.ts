/** Equal calls that share one run (`dedupe`). */
import { describe, expect, test } from "vitest";
import { createPool, dedupe, type Pool } from "../../src/mod.ts";
import { SharedCache } from "../../src/mod-shared.ts";
import { closedAfterTest, rejection } from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/counted-tasks.ts");

const module = new URL("../fixtures/counted-tasks.ts", import.meta.url);
const countedPool = (): Pool<Tasks> => closedAfterTest(createPool({ threads: 1 })<Tasks>(module));

describe("equal calls", () => {
  test("in flight share one run, and later ones start another", async () => {
    const { call } = countedPool();
    const count = dedupe(call.count);
    expect(await Promise.all([count("a"), count("a"), count("b")])).toEqual([1, 1, 2]);
    expect(await count("a")).toBe(3);
    expect(await Promise.all([count(Promise.resolve("c")), count("c")])).toEqual([4, 4]);
    // They get the same value.
    const echo = dedupe(call.echoLater, { key: ({ id }) => id });
    const [one, other] = await Promise.all([
      echo({ id: 1, text: "x" }),
      echo({ id: 1, text: "y" }),
    ]);
    expect(one).toBe(other);
    expect(one).toEqual({ id: 1, text: "x" });
  });

  test("get a result that is kept, until its time is over or others take its place", async () => {
    const { call } = countedPool();
    const count = dedupe(call.count, { ttlMs: 60_000, max: 2 });
    expect(await count("a")).toBe(1);
    expect([await count("a"), await count("b")]).toEqual([1, 2]);
    expect(await count("a")).toBe(1); // used again: `b` goes first
    expect(await count("c")).toBe(3);
    expect([await count("a"), await count("b")]).toEqual([1, 4]);
    count.clear();
    expect(await count("b")).toBe(5);
    const shortly = dedupe(call.count, { ttlMs: 1 });
    expect(await shortly("a")).toBe(6);
    await pause(5);
    expect(await shortly("a")).toBe(7);
    const nothing = dedupe(call.nothing, { ttlMs: 60_000 });
    await Promise.all([nothing(), nothing()]);
    await nothing();
    expect(await call.count("")).toBe(9); // it ran once
  });

  test("share an error, which is not kept", async () => {
    const { call } = countedPool();
    const fail = dedupe(call.failAfterCounting, { ttlMs: 60_000 });
    const [one, other] = await Promise.all([rejection(fail("a")), rejection(fail("a"))]);
    expect(one).toBe(other);
    expect((one as Error).message).toBe("failed 1");
    expect((await rejection(fail("a")) as Error).message).toBe("failed 2");
  });

  test("can have their results in a SharedCache, of which one is not kept that has no room", async () => {
    const { call } = countedPool();
    const cache = new SharedCache<string | number, unknown>({ maxBytes: 65_536 });
    const count = dedupe(call.count, { key: (name) => name, cache });
    expect([await count("a"), await count("a")]).toEqual([1, 1]);
    expect(cache.get("a")).toBe(1);
    const large = dedupe(call.large, { key: () => "large", cache });
    expect(await large()).toHaveLength(100_000);
    expect(cache.get("large")).toBeUndefined();
  });

  test("a run that began before clear() leaves nothing behind", async () => {
    const { call } = countedPool();
    const count = dedupe(call.countLater, { ttlMs: 60_000 });
    const early = count("a");
    count.clear();
    expect(await Promise.all([early, count("a")])).toEqual([1, 2]);
    expect(await count("a")).toBe(2);
  });
});

describe("dedupe()", () => {
  test("tells arguments apart by type and place", async () => {
    const { call } = countedPool();
    const count = dedupe(call.countAny);
    const lists: unknown[][] = [
      [],
      [undefined],
      [null],
      ["null"],
      [0],
      [-0],
      ["0"],
      [0n],
      [NaN],
      [true],
      ["a", "b"],
      ["a,string 1 b"],
    ];
    const all = await Promise.all(lists.map((args) => count(...args)));
    expect(new Set(all).size).toBe(lists.length);
  });

  test("refuses a cache that answers later", async () => {
    const cache = { get: () => Promise.resolve(1), set: () => {} };
    const count = dedupe(countedPool().call.count, { key: (name) => name, cache });
    expect(await rejection(count("a"))).toMatchObject({ code: "HEDDLE_INVALID_ARGUMENT" });
  });

  test("refuses what has no key, and generators", async () => {
    const { call, ready } = countedPool();
    await ready;
    const echo = dedupe(call.echoLater);
    expect(await rejection(echo({ id: 1, text: "" }))).toMatchObject({
      code: "HEDDLE_INVALID_ARGUMENT",
      message: expect.stringContaining("args[0]"),
    });
    const wrong = dedupe(call.echoLater, { key: () => ({}) as never });
    expect(await rejection(wrong({ id: 1, text: "" }))).toMatchObject({
      message: expect.stringContaining("a string or a number"),
    });
    const items = dedupe(call.items as never as () => Promise<unknown>);
    expect(await rejection(items())).toMatchObject({
      message: expect.stringContaining("not for generators"),
    });
  });

  test("checks its arguments", () => {
    const f = (): Promise<number> => Promise.resolve(1);
    for (
      const [call, options] of [
        [1, {}],
        [f, 1],
        [f, { key: "a" }],
        [f, { ttlMs: -1 }],
        [f, { max: 0 }],
        [f, { cache: {} }],
        [f, { cache: new Map() }],
        [f, { key: () => "", cache: new Map(), ttlMs: 1 }],
        [f, { other: 1 }],
      ]
    ) {
      expect(() => dedupe(call as never, options as never))
        .toThrow(expect.objectContaining({ code: "HEDDLE_INVALID_ARGUMENT" }));
    }
  });
});
