/** Maps whose threads die between any two stores: readers see old or new, and all memory can be used again. */
import { describe, expect, test } from "vitest";
import { SharedMemoryFullError } from "../../../src/shared-errors.ts";
import { memoryOf } from "../../../src/shared/handles.ts";
import type { SharedCacheOptions } from "../../../src/shared/map/options.ts";
import { SharedCache } from "../../../src/shared/map/shared-cache.ts";
import { SharedMap } from "../../../src/shared/map/shared-map.ts";
import { ObjectMemory } from "../../../src/shared/memory.ts";
import { checkMapMemory } from "../../support/map-memory.ts";
import {
  forEachDeath,
  type SimulatedThread,
  SimulatedThreads,
} from "../../support/shared-threads.ts";

type Numbers = SharedMap<string | number, unknown>;

const OPTIONS = { maxBytes: 2 ** 16 };
/** Entries of one block that a map of that size holds. */
const MAX_COUNT = 2 ** 16 / 64;

/** A map or cache: handles whose writes are steps, and fast ones. */
function createBench(options: SharedCacheOptions = OPTIONS, isCache = false) {
  const threads = new SimulatedThreads();
  const made = threads.main.run((): Numbers =>
    isCache ? new SharedCache(options) : new SharedMap(options)
  );
  const memory = memoryOf(made);
  const wrap = (adopted: ObjectMemory): Numbers =>
    isCache ? new SharedCache(adopted) : new SharedMap(adopted);
  const mapOf = (thread: SimulatedThread) => wrap(thread.adopt("map", memory.buffer));
  const fastOf = ({ thread }: SimulatedThread) =>
    wrap(ObjectMemory.adopt("map", memory.buffer, thread));
  const [first, second] = threads.workers(2) as [SimulatedThread, SimulatedThread];
  return {
    threads,
    memory,
    first,
    second,
    mapOf,
    fastOf,
    map: mapOf(first),
    other: fastOf(second),
  };
}

/** Sets entries of one block until there is no room: how many. */
function fill(map: Numbers, isEmpty = true): number {
  if (isEmpty) map.clear();
  let count = 0;
  try {
    for (; count <= MAX_COUNT; count++) map.set(count, count);
  } catch (error) {
    if (!(error instanceof SharedMemoryFullError)) throw error;
  }
  return count;
}

/** A fill takes long, so not every check has one. */
const CHECKS_PER_FILL = 4;
let checks = 0;

function expectWhole(map: Numbers, memory: ObjectMemory): void {
  map.set("probe", 0);
  map.delete("probe");
  checkMapMemory(memory);
  expect(map.size).toBe([...map.keys()].length);
  if (++checks % CHECKS_PER_FILL !== 0) return;
  expect(fill(map)).toBe(MAX_COUNT);
  checkMapMemory(memory);
}

const bytesOf = (length: number, value: number) => new Uint8Array(length).fill(value);
/** Few buckets have several entries, so some keys share one. */
const KEYS = Array.from({ length: 40 }, (_, index) => `key ${index}`);

interface Change {
  readonly name: string;
  readonly prepare?: (map: Numbers) => void;
  readonly change: (map: Numbers) => void;
  readonly stride?: number;
}

const CHANGES: readonly Change[] = [
  { name: "the first set", change: (map) => map.set("new", 1) },
  {
    name: "a set",
    prepare: (map) => KEYS.forEach((key, index) => map.set(key, index)),
    change: (map) => map.set("new", bytesOf(300, 1)),
    stride: 2,
  },
  {
    name: "a replacement",
    prepare: (map) => KEYS.forEach((key, index) => map.set(key, index)),
    change: (map) => map.set("key 7", "another"),
  },
  {
    name: "an increment",
    prepare: (map) => KEYS.forEach((key, index) => map.set(key, index)),
    change: (map) => (map as SharedMap<string | number, number>).increment("key 7", 5),
  },
  {
    name: "an insertion by replace",
    prepare: (map) => KEYS.forEach((key, index) => map.set(key, index)),
    change: (map) => map.replace("new", undefined, [1]),
  },
  {
    name: "a removal by an update",
    prepare: (map) => KEYS.forEach((key, index) => map.set(key, index)),
    change: (map) => map.updateSync("key 7", () => SharedMap.DELETE),
  },
  {
    name: "a set of a value that is written outside the latch",
    prepare: (map) => KEYS.forEach((key, index) => map.set(key, index)),
    change: (map) => map.set("key 7", bytesOf(20_000, 1)),
  },
  {
    name: "a removal",
    prepare: (map) => KEYS.forEach((key, index) => map.set(key, bytesOf(30 * index, 1))),
    change: (map) => map.delete("key 7"),
  },
  {
    name: "a removal and a set that end a grace period",
    prepare: (map) => {
      for (let count = 0; count < 200; count++) map.set(count % 70, bytesOf(count, 1));
    },
    change: (map) => {
      map.set("new", 1);
    },
    stride: 3,
  },
  {
    name: "a set that makes the map larger, or finds it full",
    prepare: (map) => {
      fill(map);
      for (let count = 0; count < 70; count++) map.delete(count);
    },
    change: (map) => map.set("new", bytesOf(10, 1)),
    stride: 37,
  },
];

describe.each(CHANGES)("$name", ({ prepare, change, stride = 1 }) => {
  test("of a thread that dies has happened or not", () => {
    forEachDeath(
      (dies) => {
        const { memory, first, map, other, threads, fastOf } = createBench();
        const model = fastOf(threads.main);
        prepare?.(other);
        const before = new Map(other);
        const isDone = dies(first, () => change(map));
        const read = new Map(model); // before anybody repairs it
        const copy = createBench().other;
        prepare?.(copy);
        change(copy);
        const after = new Map(copy);
        expect([before, after]).toContainEqual(read);
        if (isDone) expect(read).toEqual(after);
        expectWhole(other, memory);
      },
      1,
      stride,
    );
  });

  test("is repaired by a thread that dies, too", () => {
    forEachDeath(
      (dies) => {
        const { memory, first, second, map, other, threads, fastOf, mapOf } = createBench();
        prepare?.(other);
        // In the middle of its stores, by and large.
        const steps = 12;
        first.diesAt(steps, () => change(map));
        first.die();
        const read = new Map(other);
        const repairing = mapOf(second);
        dies(second, () => void repairing.delete("none"));
        const last = fastOf(threads.main);
        expect(new Map(last)).toEqual(read);
        expectWhole(last, memory);
      },
      1,
      61,
    );
  });
});

test("a clear of a thread that dies has removed some entries, and leaves the others", () => {
  forEachDeath(
    (dies) => {
      const { memory, first, map, other } = createBench();
      KEYS.forEach((key, index) => other.set(key, index));
      const isDone = dies(first, () => map.clear());
      const left = [...other];
      for (const [key, value] of left) expect(value).toBe(KEYS.indexOf(key as string));
      if (isDone) expect(left).toEqual([]);
      expectWhole(other, memory);
    },
    1,
    7,
  );
});

describe("a cache", () => {
  test("whose thread dies as it evicts is whole", () => {
    forEachDeath((dies) => {
      const { memory, first, map, other } = createBench({ ...OPTIONS, maxEntries: 20 }, true);
      for (const key of KEYS) other.set(key, key);
      expect(other.size).toBe(20);
      const isDone = dies(first, () => map.set("new", bytesOf(100, 1)));
      const evicted = (other as SharedCache).stats().evictions - (KEYS.length - 20);
      expect(isDone ? [1] : [0, 1]).toContain(evicted);
      for (const [key, value] of other) if (key !== "new") expect(value).toBe(key);
      other.set("probe", 0);
      expect(other.size).toBeLessThanOrEqual(20);
      checkMapMemory(memory);
      for (const key of KEYS) other.set(key, key);
      expect(other.size).toBe(20);
    });
  });

  test("whose thread dies as it makes room is whole", () => {
    forEachDeath(
      (dies) => {
        const { memory, first, map, other } = createBench(OPTIONS, true);
        for (let count = 0; count < MAX_COUNT + 10; count++) other.set(count, count);
        dies(first, () => map.set("new", bytesOf(100, 1)));
        for (let count = 0; count < 100; count++) other.set(`more ${count}`, count);
        checkMapMemory(memory);
        for (const [key, value] of other) if (typeof key === "number") expect(value).toBe(key);
        expect(other.get("more 99")).toBe(99);
      },
      1,
      29,
    );
  });
});

describe("a reader that dies", () => {
  test("inside leaves no memory taken", () => {
    forEachDeath((dies) => {
      const { memory, first, map, other } = createBench();
      expect(fill(other)).toBe(MAX_COUNT);
      dies(first, () => void map.get(5));
      other.clear();
      expectWhole(other, memory);
    });
  });

  test("and whose record another thread dies with as it begins a life leaves none either", () => {
    forEachDeath((dies) => {
      const { threads, memory, first, second, fastOf } = createBench();
      const map = fastOf(threads.main);
      first.thread.enter();
      first.die();
      dies(second, () => void second.root.begin(second.token));
      checks = CHECKS_PER_FILL - 1;
      expectWhole(map, memory);
    });
  });
});
