/** Calls that `pool.map`, `forEach` and `reduce` make: they behave as single calls do, before and after the tasks are known. */
import { describe, expect, test } from "vitest";
import {
  createPool,
  DataCloneError,
  importTask,
  InvalidArgumentError,
  type Pool,
  type PoolOptions,
  TimeoutError,
  transfer,
} from "../../src/mod.ts";
import {
  begun,
  closedAfterTest,
  rejection,
  release,
  sharedWords,
  until,
} from "../support/conformance.ts";

type Tasks = typeof import("../fixtures/stream-tasks.ts");

const url = new URL("../fixtures/stream-tasks.ts", import.meta.url);
const earlyPool = (options: PoolOptions = { threads: 1 }): Pool<Tasks> =>
  closedAfterTest(createPool(options)<Tasks>(url));

async function readyPool(options?: PoolOptions): Promise<Pool<Tasks>> {
  const pool = earlyPool(options);
  await pool.ready;
  return pool;
}

function* numbers(): Generator<number> {
  yield 1;
}

describe.each([["known", readyPool], ["not known yet", earlyPool]])("tasks %s", (_, create) => {
  test("chunks of a given size, and reductions of several items, settle", async () => {
    const reducing = await create();
    expect(await reducing.reduce(reducing.call.add, [1, 2, 3])).toBe(6);
    const mapping = await create();
    const squares = mapping.map(mapping.call.square, [1, 2, 3, 4], { chunk: 2 });
    expect(await squares.toArray()).toEqual([1, 4, 9, 16]);
    const each = await create();
    await each.forEach(each.call.square, [1, 2, 3, 4], { chunk: 2 });
    expect(each.stats().completed).toBeGreaterThan(0);
  });

  test("functions that with() returned are taken, also by a later run", async () => {
    const pool = await create();
    const square = pool.call.square.with({ priority: "high" });
    const add = pool.call.add.with({ priority: 2 });
    expect(await pool.map(square, [1, 2, 3]).toArray()).toEqual([1, 4, 9]);
    await pool.ready;
    expect(await pool.map(square, [1, 2, 3]).toArray()).toEqual([1, 4, 9]);
    await pool.forEach(square, [1, 2, 3]);
    expect(await pool.reduce(add, [1, 2, 3])).toBe(6);
  });

  test("tasks that the module does not have, and generator tasks, are refused", async () => {
    const pool = await create();
    const { nothing } = pool.call as unknown as { nothing: typeof pool.call.square };
    for (const call of [nothing, nothing.with({ priority: 1 })]) {
      const error = await rejection(pool.map(call, [1, 2]).toArray());
      expect(error).toMatchObject({ code: "HEDDLE_UNKNOWN_TASK" });
    }
    for (const call of [pool.call.count, pool.call.count.with({ priority: 1 })]) {
      const error = await rejection(pool.map(call as never, [1, 2]).toArray());
      expect(error).toBeInstanceOf(InvalidArgumentError);
    }
  });

  test("an error after the only result of the last chunk is not lost", async () => {
    const pool = await create();
    for (const chunk of [1, 2, 3]) {
      const read: number[] = [];
      const reading = (async () => {
        for await (const n of pool.map(pool.call.failAt, [5, 100], { chunk })) read.push(n);
      })();
      expect(await rejection(reading)).toBeInstanceOf(RangeError);
      expect(read).toEqual([5]);
    }
  });

  test("items that cannot be sent fail alone, and those that only fit alone are sent so", async () => {
    const pool = await create({ threads: 1, maxPayloadBytes: 64 * 1024 });
    const read: unknown[] = [];
    const reading = (async () => {
      for await (
        const n of pool.map(pool.call.square, [1, 2, () => {}] as number[], { chunk: 3 })
      ) {
        read.push(n);
      }
    })();
    expect(await rejection(reading)).toBeInstanceOf(DataCloneError);
    expect(read).toEqual([1, 4]);
    const texts = Array.from({ length: 50 }, (_, n) => `${n}`.repeat(20_000));
    const lengths = texts.map(({ length }) => length);
    for (const options of [{ chunk: 20 }, {}]) {
      expect(await pool.map(pool.call.lengthOf, texts, options).toArray()).toEqual(lengths);
    }
    const promises = [1, 2, 3].map((n) => Promise.resolve(n));
    expect(await pool.map(pool.call.square, promises as never, { chunk: 3 }).toArray()).toEqual(
      [1, 4, 9],
    );
    const buffers = [1, 2, 3].map((n) => new Uint8Array(n));
    const moved = buffers.map((bytes) => transfer(bytes));
    expect(await pool.map(pool.call.lengthOf, moved, { chunk: 3 }).toArray()).toEqual([1, 2, 3]);
    expect(buffers.map(({ length }) => length)).toEqual([0, 0, 0]);
  });

  test.each([1, 3, undefined])(
    "the outcome of a time limit is that of its item, chunk %s",
    async (chunk) => {
      const pool = await create();
      const options = chunk === undefined ? {} : { chunk };
      for (const value of [[], "late", null]) {
        const late = pool.call.lateIfOdd.with({ runTimeoutMs: 200, timeoutValue: value });
        expect(await pool.map(late, [0, 2, 1, 4], options).toArray()).toEqual([0, 2, value, 4]);
      }
      const failing = pool.call.lateIfOdd.with({ runTimeoutMs: 200 });
      const read: unknown[] = [];
      const reading = (async () => {
        for await (const result of pool.map(failing, [0, 2, 1, 4], options)) read.push(result);
      })();
      expect(await rejection(reading)).toBeInstanceOf(TimeoutError);
      expect(read).toEqual([0, 2]);
      const longer = await pool.reduce(
        pool.call.addLater.with({ runTimeoutMs: 200, timeoutValue: 100 }),
        [0, 0, 1],
        options,
      );
      expect(longer).toBe(100);
    },
  );

  test("the hard limit of a pool counts for each item, not for its chunk", async () => {
    const pool = await create({ threads: 1, hardTimeoutMs: 2000 });
    const times = Array.from({ length: 10 }, () => 300);
    const slept = await pool.map(pool.call.sleepFor, times, { chunk: 10, concurrency: 1 })
      .toArray();
    expect(slept).toEqual(times.map(() => "slept"));
    const joined = await pool.reduce(pool.call.joinSlowly, [..."abcdefghij"], { chunk: 10 });
    expect(joined).toBe("abcdefghij");
    const error = await rejection(pool.map(pool.call.sleepFor, [1, 1e6], { chunk: 2 }).toArray());
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ kind: "hard", limitMs: 2000 });
  });

  test("further arguments", async () => {
    const pool = await create();
    for (const options of [{}, { chunk: 3 }]) {
      const sums = pool.map(pool.call.add, [1, 2, 3], { ...options, args: [10] });
      expect(await sums.toArray()).toEqual([11, 12, 13]);
      const scaled = pool.map(pool.call.scaled, [1, 2, 3], { ...options, args: [{ by: 2 }] });
      expect(await scaled.toArray()).toEqual([2, 4, 6]);
      const limited = pool.call.add.with({ runTimeoutMs: 10_000 });
      const later = Promise.resolve(1) as never;
      const limits = pool.map(limited, [1, 2, 3], { ...options, args: [later] });
      expect(await limits.toArray()).toEqual([2, 3, 4]);
      const letters = ["a", "b", "c", "d"];
      const joined = await pool.reduce(pool.call.joinWith, letters, { ...options, args: ["-"] });
      expect(joined).toBe("a-b-c-d");
      await pool.forEach(pool.call.add, [1, 2], { ...options, args: [1] });
    }
  });

  test("a signal ends a run, also one that waits for its source", async () => {
    const pool = await create();
    const controller = new AbortController();
    const log: string[] = [];
    async function* source(): AsyncGenerator<number> {
      try {
        yield 1;
        yield 2;
        await new Promise((resolve) => controller.signal.addEventListener("abort", resolve));
      } finally {
        log.push("closed");
      }
    }
    const { signal } = controller;
    const read: number[] = [];
    const reading = (async () => {
      for await (const n of pool.map(pool.call.square, source(), { signal })) {
        read.push(n);
        if (n === 4) controller.abort(new RangeError("enough"));
      }
    })();
    expect(await rejection(reading)).toEqual(new RangeError("enough"));
    expect(read).toEqual([1, 4]);
    await until(() => log.length > 0);
    for (const aborted of [signal, AbortSignal.abort(new RangeError("enough"))]) {
      const options = { signal: aborted };
      const runs = [
        pool.map(pool.call.square, [1, 2], options).toArray(),
        pool.forEach(pool.call.square, [1, 2], options),
        pool.reduce(pool.call.add, [1, 2], options),
      ];
      for (const run of runs) expect(await rejection(run)).toEqual(new RangeError("enough"));
    }
    const unused = { signal: null, chunk: 1 };
    expect(await pool.map(pool.call.square, [1, 2], unused).toArray()).toEqual([1, 4]);
  });

  test.each(["module", "tasks"])(
    "an aborted chunk of a pool of a %s calls its task for no further items",
    async (kind) => {
      const pool = kind === "module" ? await create() : closedAfterTest(
        createPool({ threads: 1 })({
          block: importTask<Tasks["block"]>({ href: url, name: "block" }),
          square: importTask<Tasks["square"]>({ href: url, name: "square" }),
        }),
      );
      await pool.ready;
      const controller = new AbortController();
      const words = sharedWords();
      const run = pool.forEach(pool.call.block, [0, 1, 2].map(() => words), {
        chunk: 3,
        signal: controller.signal,
      });
      await begun(words);
      controller.abort();
      release(words);
      expect(await rejection(run)).toHaveProperty("name", "AbortError");
      expect(await pool.call.square(3)).toBe(9);
      expect(Atomics.load(words, 1)).toBe(1);
    },
  );

  test("what cannot be mapped is refused with the cure", async () => {
    const pool = await create();
    const call = (n: number): Promise<number> => pool.call.add(n, 3);
    expect(() => pool.map(call, [1])).toThrow("pool.map(pool.call.f, items, { args: [3] })");
    await expect(pool.forEach(call, [1])).rejects.toThrow("pool.forEach(pool.call.f, items, {");
    const other = await create();
    expect(() => pool.map(other.call.square, [1])).toThrow("one of another pool");
    expect(() => pool.map(5 as never, [1])).toThrow("pool.map(pool.call.f, items)");
    const map = pool.map as (...args: unknown[]) => unknown;
    for (const args of [5, [transfer(new ArrayBuffer(8))], [numbers()]]) {
      expect(() => map(pool.call.add, [1], { args })).toThrow(/args/);
    }
    expect(() => map(pool.call.add, [1], { signal: 5 })).toThrow(/signal must be/);
    const moving = pool.call.square.with({ transfer: [new ArrayBuffer(8)] });
    await pool.ready;
    await expect(pool.map(moving, [1, 2]).toArray()).rejects.toThrow("wrap the items that move");
  });

  test("a time limit counts for each item, not for its chunk", async () => {
    const pool = await create();
    const times = Array.from({ length: 8 }, () => 200);
    for (const limit of [{ runTimeoutMs: 1000 }, { timeoutMs: 1000 }]) {
      const call = pool.call.sleepFor.with(limit);
      expect(await pool.map(call, times, { chunk: 8, concurrency: 1 }).toArray()).toHaveLength(8);
    }
    const error = await rejection(
      pool.map(pool.call.sleepFor.with({ runTimeoutMs: 200 }), [0, 60_000], { chunk: 2 }).toArray(),
    );
    expect(error).toBeInstanceOf(TimeoutError);
  });
});
