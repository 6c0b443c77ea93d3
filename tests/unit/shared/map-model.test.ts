/** Maps of several threads against `Map`: random changes and deaths, readers that stay inside, updates and times to live. */
import { describe, expect, test } from "vitest";
import { memoryOf } from "../../../src/shared/handles.ts";
import type { SharedMapOptions } from "../../../src/shared/map/options.ts";
import { SharedMap } from "../../../src/shared/map/shared-map.ts";
import { ObjectMemory } from "../../../src/shared/memory.ts";
import { checkMapMemory } from "../../support/map-memory.ts";
import { createRandom, upTo } from "../../support/random.ts";
import {
  forEachDeath,
  type SimulatedThread,
  SimulatedThreads,
} from "../../support/shared-threads.ts";

type AnyMap = SharedMap<string | number, unknown>;

function createBench(options: SharedMapOptions = { maxBytes: 2 ** 16 }) {
  const threads = new SimulatedThreads();
  const memory = memoryOf(threads.main.run((): AnyMap => new SharedMap(options)));
  const mapOf = (thread: SimulatedThread): AnyMap =>
    new SharedMap(thread.adopt("map", memory.buffer));
  const fastOf = ({ thread }: SimulatedThread): AnyMap =>
    new SharedMap(ObjectMemory.adopt("map", memory.buffer, thread));
  const [first, second] = threads.workers(2) as [SimulatedThread, SimulatedThread];
  return { threads, memory, first, second, mapOf, fastOf };
}

const bytesOf = (length: number, value: number) => new Uint8Array(length).fill(value);

/** Applies a change to a map of either kind. */
type Change = (map: Map<string | number, unknown> | AnyMap) => void;

function changeOf(random: () => number, value: number): Change {
  const number = upTo(random, 60);
  const key = number % 2 === 0 ? number : `key ${number}`;
  const kind = random();
  if (kind < 0.35) return (map) => void map.delete(key);
  if (kind < 0.37) return (map) => map.clear();
  const size = upTo(random, random() < 0.1 ? 3000 : 200);
  return (map) => void map.set(key, bytesOf(size, value & 255));
}

const contentOf = (map: Iterable<[string | number, unknown]>) =>
  new Map([...map].map(([key, value]) => {
    const bytes = value as Uint8Array;
    return [key, `${bytes.length} of ${bytes[0]}`];
  }));

describe("a map", () => {
  test.each([1, 2, 3, 4])("is what a model is, with three threads and deaths (%d)", (seed) => {
    const random = createRandom(seed);
    const { threads, memory, fastOf, mapOf } = createBench({ maxBytes: 2 ** 18 });
    const living = threads.workers(3);
    const maps = living.map(fastOf);
    const model = new Map<string | number, unknown>();
    for (let step = 0; step < 1500; step++) {
      const index = upTo(random, 2);
      const change = changeOf(random, step);
      if (random() < 0.04) {
        const before = contentOf(model);
        const thread = living[index]!;
        const map = mapOf(thread);
        const isDone = thread.diesAt(1 + upTo(random, 80), () => change(map));
        thread.die();
        living[index] = threads.start();
        maps[index] = fastOf(living[index]);
        const seen = contentOf(maps[index]);
        change(model);
        const after = contentOf(model);
        // A clear of a thread that dies may have removed some.
        const isPart = after.size === 0 &&
          [...seen].every(([key, text]) => before.get(key) === text);
        if (!isPart) expect(isDone ? [after] : [before, after]).toContainEqual(seen);
        model.clear();
        for (const [key, value] of maps[index]) model.set(key, value);
      } else {
        change(model);
        change(maps[index]!);
      }
      if (step % 50 !== 0) continue;
      maps[0]!.delete("none"); // repairs it
      checkMapMemory(memory);
      expect(contentOf(maps[1]!)).toEqual(contentOf(model));
      expect([maps[2]!.size, model.size]).toEqual([model.size, model.size]);
    }
  });

  test("does not change what a reader sees that stays inside", () => {
    for (const change of ["delete", "set", "clear", "die"] as const) {
      const { memory, first, second, fastOf, mapOf } = createBench();
      const [map, reader] = [fastOf(first), fastOf(second)];
      map.set("key", bytesOf(500, 7));
      const fill = (name: string): number => {
        let count = 0;
        try {
          for (; count < 2000; count++) map.set(`${name} ${count}`, bytesOf(1 + count % 300, 9));
        } catch {
          // full
        }
        return count;
      };
      const seen = reader.getView("key", (bytes) => {
        if (change === "delete") map.delete("key");
        if (change === "set") map.set("key", bytesOf(500, 8));
        if (change === "clear") map.clear();
        if (change === "die") {
          const third = mapOf(first);
          first.diesAt(8, () => third.delete("key"));
          first.die();
          const last = fastOf(second);
          // It may find no room until the reader has left.
          try {
            for (let count = 0; count < 100; count++) last.set(count, bytesOf(500, 9));
          } catch {
            expect(last.size).toBeLessThan(100);
          }
        } else {
          for (let round = 0; round < 3; round++) {
            fill(`round ${round}`);
            for (let count = 0; count < 100; count++) map.delete(`round ${round} ${count}`);
          }
        }
        return new Set(bytes);
      });
      expect([change, seen]).toEqual([change, new Set([7])]);
      checkMapMemory(memory);
    }
  });

  test("has all its memory again when the reader has left", () => {
    const { memory, first, second, fastOf } = createBench();
    const [map, reader] = [fastOf(first), fastOf(second)];
    const fill = () => {
      for (let count = 0; count < 1024; count++) map.set(count, count);
    };
    fill();
    reader.getView("none", () => {});
    second.thread.enter();
    map.clear();
    expect(fill).toThrow();
    second.thread.leave();
    map.clear();
    fill();
    expect(map.size).toBe(1024);
    checkMapMemory(memory);
  });
});

describe("an update", () => {
  test("of a thread that dies is there or not, and holds up no other", () => {
    forEachDeath((dies) => {
      const { memory, first, second, mapOf, fastOf } = createBench();
      const [map, other] = [mapOf(first), fastOf(second)];
      other.set("key", 1);
      const isDone = dies(
        first,
        () => void map.updateSync("key", (value) => (value as number) + 1),
      );
      const before = other.get("key") as number;
      expect(isDone ? [2] : [1, 2]).toContain(before);
      expect(other.updateSync("key", (value) => (value as number) + 1)).toBe(before + 1);
      expect(other.get("key")).toBe(before + 1);
      checkMapMemory(memory);
    });
  });

  /** Each adds 1. */
  const additions: Readonly<Record<string, (map: AnyMap) => void>> = {
    updateSync: (map) => void map.updateSync("key", (value) => (value as number) + 1),
    increment: (map) => void (map as SharedMap<string | number, number>).increment("key"),
    replace: (map) => {
      for (let isDone = false; !isDone;) {
        const old = map.get("key") as number;
        isDone = map.replace("key", old, old + 1);
      }
    },
  };

  test.each(Object.entries(additions))(
    "by %s loses no change that comes between any two of its stores",
    (_, add) => {
      for (let step = 1, isDone = false; !isDone; step++) {
        const { first, second, mapOf, fastOf } = createBench();
        const [map, other] = [mapOf(first), fastOf(second)];
        const latch = new Int32Array(memoryOf(map).buffer);
        other.set("key", 1);
        isDone = true;
        let added = 0;
        first.atStep(step, () => {
          isDone = false;
          if (latch[32] !== 0) return; // the other one would wait for it
          other.set("key", (other.get("key") as number) + 10);
          added = 10;
        });
        add(map);
        expect([step, other.get("key")]).toEqual([step, 2 + added]);
      }
    },
  );

  test("that removes an entry removes nothing that was set meanwhile", () => {
    let kept = 0;
    for (let step = 1, isDone = false; !isDone; step++) {
      const { memory, first, second, mapOf, fastOf } = createBench();
      const [map, other] = [mapOf(first), fastOf(second)];
      const latch = new Int32Array(memory.buffer);
      other.set("key", 1);
      isDone = true;
      let expected: unknown = undefined;
      first.atStep(step, () => {
        isDone = false;
        if (latch[32] !== 0) return; // the other one would wait for it
        expected = other.has("key") ? 2 : 3;
        other.set("key", expected);
      });
      map.updateSync("key", (value) => value === 1 ? SharedMap.DELETE : value);
      expect([step, other.get("key")]).toEqual([step, expected]);
      if (expected === 2) kept++;
      checkMapMemory(memory);
    }
    expect(kept).toBeGreaterThan(0);
  });

  test("of an entry that has expired makes one that has not", () => {
    const { first, fastOf } = createBench({ maxBytes: 2 ** 16, ttlMs: 1000 });
    const map = fastOf(first);
    map.set("key", 1);
    first.wallMs += 2000;
    expect(map.get("key")).toBe(undefined);
    expect(map.updateSync("key", (value) => value === undefined ? "new" : "old")).toBe("new");
    expect(map.get("key")).toBe("new");
  });
});
