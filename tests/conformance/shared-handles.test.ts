/** Handles of shared objects: as arguments, results and `worker.data`, by name, and where they are refused. */
import { describe, expect, test } from "vitest";
import {
  AtomicCounter,
  AtomicFlag,
  Barrier,
  channel,
  Condition,
  Event,
  Mutex,
  Once,
  RwLock,
  Semaphore,
  shared,
  SharedCache,
  SharedMap,
  SharedVector,
  WaitGroup,
} from "../../src/mod-shared.ts";
import { createNamedPool } from "../fixtures/named-below-tasks.ts";
import { createSharedPool, type SharedPool } from "../fixtures/shared-tasks.ts";
import { closedAfterTest, rejection } from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";

const pool = (...args: Parameters<typeof createSharedPool>): SharedPool =>
  closedAfterTest(createSharedPool(...args));

describe("a handle arrives as a handle", () => {
  test("of every kind", async () => {
    const [sender, receiver] = channel();
    const handles = [
      new SharedMap(),
      new SharedCache(),
      new SharedVector("i32", { length: 4 }),
      new AtomicCounter(),
      new AtomicFlag(),
      new Mutex(),
      new RwLock(),
      new Semaphore(3),
      new Condition(),
      new Barrier(2),
      new WaitGroup(),
      new Once(),
      new Event(),
      sender,
      receiver,
    ];
    const names = handles.map((handle) => handle.constructor.name);
    expect(await pool().call.describeParts(handles)).toEqual(names);
    sender.close();
    receiver.close();
  });

  test("at any depth, twice in one argument, and back again", async () => {
    const { call } = pool();
    const map = new SharedMap<string, number>();
    expect(await call.isSame([map, map])).toBe(true);
    const result = await call.giveBack(map) as SharedMap<string, number>;
    result.set("a", 1);
    expect(map.get("a")).toBe(1);
    const nested = { deep: [new Map([["here", map]])] };
    await call.invoke([nested.deep[0]!.get("here")!, "set", "b", 2]);
    expect(map.get("b")).toBe(2);
  });

  test("made in a worker, it outlives that", async () => {
    const first = createSharedPool({ threads: 1 });
    const map = await first.call.makeMap() as SharedMap<string, string>;
    await first.shutdown();
    expect(map.get("from")).toBe("worker");
    map.set("from", "host");
    const other = pool();
    expect(await other.call.invoke([map, "get", "from"])).toBe("host");
  });

  test("in worker.data", async () => {
    const map = new SharedMap<string, number>();
    map.set("start", 41);
    const { call } = pool({
      threads: 1,
      worker: { data: { map, other: [1, new Map([["x", new Set([map])]])] } },
    });
    expect(await call.fromData()).toBe(41);
    expect(map.get("read")).toBe(42);
  });
});

describe("a name is one object", () => {
  test("in every thread of several pools, whoever comes first", async () => {
    const [first, second] = [pool({ threads: 1 }), pool({ threads: 1 })];
    expect(await first.call.byName(["by worker", 1])).toBeUndefined();
    expect(await second.call.byName(["by worker", 2])).toBe(1);
    const map = await shared.map<string, number>("by worker");
    expect(map.get("last")).toBe(2);
    expect(await shared.map("by worker")).toBe(map);
    (await shared.map<string, number>("by host")).set("last", 7);
    expect(await second.call.byName(["by host", 8])).toBe(7);
  });

  test("all threads at once get the same", async () => {
    const { call } = pool();
    const firsts = Array.from({ length: 8 }, (_, n) => call.firstByName(["at once", n]));
    expect(new Set(await Promise.all(firsts)).size).toBe(1);
  });

  test("other options, another kind and no name are refused", async () => {
    await shared.map("options", { maxBytes: 2 ** 20 });
    for (
      const wanted of [
        shared.map("options"),
        shared.map("options", { maxBytes: 2 ** 21 }),
        shared.cache("options", { maxBytes: 2 ** 20 }),
        shared.mutex("options"),
        shared.mutex(""),
        shared.mutex(undefined as never),
      ]
    ) {
      expect(await rejection(wanted)).toMatchObject({ code: "HEDDLE_INVALID_ARGUMENT" });
    }
    const error = await rejection(shared.map("options", { maxBytes: 2 ** 21 }));
    expect((error as Error).message).toMatch(
      /"options" was made with maxBytes 1048576, ttlMs Infinity, and/,
    );
  });
});

describe("a name reaches a worker", () => {
  const named = (...args: Parameters<typeof createNamedPool>): ReturnType<typeof createNamedPool> =>
    closedAfterTest(createNamedPool(...args));

  test("below some that wait with their threads", async () => {
    const { call, sync } = named();
    expect(await call.countBelow("new", 2)).toBe(1);
    (await shared.map<string, number>("known")).set("count", 5);
    expect(sync.countBelow("known", 2)).toBe(6); // the first thread waits as well
    expect(sync.countBelow("new below", 1)).toBe(1);
  });

  test("while the answer for the one above it is under way", async () => {
    expect(await named().call.countBoth("both")).toEqual([1, 2]);
  });

  test("below one that waits with its thread in its setup", async () => {
    const setup = new URL("../fixtures/setup-named.ts", import.meta.url);
    const { call } = named({ worker: { setup } });
    expect(await call.contextOf()).toBe(1);
  });

  test("that waits with its thread for a function of its host", async () => {
    const functions = { pause: () => pause(20).then(() => "paused") };
    const { call } = named({ host: { functions } });
    expect(await call.countAround(["around", "about"])).toEqual(["paused", 1, 1]);
    expect(await call.count("around")).toBe(2);
  });
});

test("what cannot be shared is refused by its name", () => {
  const map = new SharedMap<string, unknown>();
  for (
    const [value, text] of [
      [() => {}, /The value of "k"/],
      [new SharedArrayBuffer(8), /The value of "k" cannot be cloned: it contains something/],
      [{ inner: new SharedMap() }, /The value of "k"/],
      [new MessageChannel().port1, /The value of "k"/],
    ] as const
  ) {
    expect(() => map.set("k", value)).toThrow(text);
  }
  expect(map.size).toBe(0);
  expect(() => map.get([] as never)).toThrow(
    "A key of a shared map must be a string, a number or a bigint, got [object Array].",
  );
  expect(() => new SharedMap({ maxBytes: 5 })).toThrow(/maxBytes must be .*, got 5\./);
  expect(() => new SharedVector("f16" as never)).toThrow(/got "f16"/);
  expect(() => new Semaphore(0)).toThrow(/permits must be .*, got 0\./);
  expect(() => new Barrier(1.5)).toThrow(/threads at a barrier must be .*, got 1.5\./);
  expect(() => channel({ capacity: 0 })).toThrow(/capacity must be .*, got 0\./);
});
