/** `pool.map`, `forEach` and `reduce`, and events of tasks. */
import { describe, expect, test } from "vitest";
import {
  createPool,
  DataCloneError,
  InvalidArgumentError,
  type Pool,
  type PoolOptions,
} from "../../src/mod.ts";
import { closedAfterTest } from "../support/conformance.ts";
import { runScript } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/stream-tasks.ts");

const url = new URL("../fixtures/stream-tasks.ts", import.meta.url);
const earlyPool = (options: PoolOptions = { threads: 2 }): Pool<Tasks> =>
  closedAfterTest(createPool(options)<Tasks>(url));

async function readyPool(options?: PoolOptions): Promise<Pool<Tasks>> {
  const pool = earlyPool(options);
  await pool.ready;
  return pool;
}

const numbers = (to: number): number[] => Array.from({ length: to }, (_, n) => n);
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const squares = numbers(20_000).map((n) => n * n);

async function* asyncNumbers(to: number, log: string[] = []): AsyncGenerator<number> {
  try {
    for (let n = 0; n < to; n++) yield n;
  } finally {
    log.push("ended");
  }
}

describe.each([["known", readyPool], ["not known yet", earlyPool]])("tasks %s", (_, create) => {
  test("map() keeps the order, for sync and async sources", async () => {
    const pool = await create();
    expect(await pool.map(pool.call.square, numbers(20_000)).toArray()).toEqual(squares);
    expect(await pool.map(pool.call.square, new Set(numbers(100))).toArray()).toEqual(
      squares.slice(0, 100),
    );
    expect(await pool.map(pool.call.square, asyncNumbers(20_000)).toArray()).toEqual(squares);
    expect(await pool.map(pool.call.later, numbers(200)).toArray()).toEqual(numbers(200));
    expect(await pool.map(pool.call.square, []).toArray()).toEqual([]);
  });

  test("awaiting map() gives the array of all results, again and again the same", async () => {
    const pool = await create();
    const results = pool.map(pool.call.square, numbers(20_000));
    expect(await results).toEqual(squares);
    expect(await results).toBe(await results);
    expect(await Promise.all([pool.map(pool.call.square, [2]), 1])).toEqual([[4], 1]);
    expect(await Promise.resolve().then(() => pool.map(pool.call.square, [3]))).toEqual([9]);
    expect(await pool.map(pool.call.square, [4]).then(([first]) => first)).toBe(16);
    const log: string[] = [];
    const failed = pool.map(pool.call.failAt, numbers(200));
    expect(await failed.finally(() => log.push("settled")).catch(String)).toBe(
      "RangeError: at 100",
    );
    expect([await failed.catch(String), log]).toEqual(["RangeError: at 100", ["settled"]]);
  });

  test("results are read one by one, or in any order", async () => {
    const pool = await create();
    const read: number[] = [];
    for await (const result of pool.map(pool.call.square, numbers(5000))) read.push(result);
    expect(read).toEqual(squares.slice(0, 5000));
    const any = await pool.map(pool.call.later, numbers(300), { ordered: false }).toArray();
    expect(any.sort((a, b) => a - b)).toEqual(numbers(300));
  });

  test("forEach() and reduce()", async () => {
    const pool = await create();
    await pool.forEach(pool.call.failAt, numbers(90));
    expect(await pool.reduce(pool.call.add, numbers(20_000))).toBe(19_999 * 10_000);
    const letters = "the quick brown fox".repeat(50);
    expect(await pool.reduce(pool.call.join, letters, { chunk: 3 })).toBe(letters);
    expect(await pool.reduce(pool.call.add, [7])).toBe(7);
    await expect(pool.reduce(pool.call.add, [])).rejects.toThrow(InvalidArgumentError);
  });
});

test("what awaiting map() gives after next(), return(), and of a source that cannot be opened", async () => {
  const pool = await readyPool();
  const begun = pool.map(pool.call.square, numbers(100));
  expect(await begun.next()).toEqual({ done: false, value: 0 });
  expect(await begun).toEqual(squares.slice(1, 100));
  const ended = pool.map(pool.call.square, numbers(100));
  await ended.return();
  expect(await ended).toEqual([]);
  const closed = {
    [Symbol.iterator](): Iterator<number> {
      throw new RangeError("closed");
    },
  };
  await expect(Promise.resolve(pool.map(pool.call.square, closed))).rejects.toThrow("closed");
  const read = pool.map(pool.call.square, closed);
  await expect(read.next()).rejects.toThrow("closed");
  expect(await read.next()).toEqual({ done: true, value: undefined });
  await expect(pool.forEach(pool.call.square, closed)).rejects.toThrow("closed");
});

test("a map() that nobody awaits or reads warns once when its pool closes", async () => {
  const { code, output } = await runScript("unread-map.ts");
  expect([code, output.match(/heddle:.*/g)]).toEqual([0, [
    expect.stringMatching(/^heddle: 2 results of pool\.map\(\) were neither awaited nor read/),
  ]]);
});

test("map() is lazy and runs ahead by `concurrency` chunks", async () => {
  const pool = await readyPool();
  let taken = 0;
  function* source(): Generator<number> {
    for (;;) yield taken++;
  }
  const results = pool.map(pool.call.square, source(), { concurrency: 3, chunk: 10 });
  await sleep(20);
  expect(taken).toBe(0);
  expect((await results.next()).value).toBe(0);
  await sleep(20);
  expect(taken).toBe(30);
  for (let n = 1; n < 10; n++) expect((await results.next()).value).toBe(n * n);
  await sleep(20);
  expect(taken).toBe(40);
  await results.return();
  expect(await results.next()).toEqual({ done: true, value: undefined });
});

test("an error comes after the results before it and stops the source", async () => {
  const pool = await readyPool();
  const log: string[] = [];
  const read: number[] = [];
  const results = pool.map(pool.call.failAt, asyncNumbers(1e9, log), { chunk: 7 });
  await expect((async () => {
    for await (const result of results) read.push(result);
  })()).rejects.toThrow(new RangeError("at 100"));
  expect(read).toEqual(numbers(100));
  expect(log).toEqual(["ended"]);
  expect(await pool.call.produced()).toBeLessThan(1000);
});

test("break stops the source and cancels what is queued", async () => {
  const pool = await readyPool({ threads: 1 });
  const log: string[] = [];
  for await (
    const result of pool.map(pool.call.later, asyncNumbers(1e9, log), { concurrency: 50 })
  ) {
    if (result === 5) break;
  }
  expect(log).toEqual(["ended"]);
  expect(pool.stats().queued).toBe(0);
});

test("a source that throws ends the run", async () => {
  const pool = await readyPool();
  function* bad(): Generator<number> {
    yield 1;
    throw new TypeError("bad source");
  }
  await expect(pool.map(pool.call.square, bad()).toArray()).rejects.toThrow("bad source");
});

test("options of the call apply: a signal, a timeout", async () => {
  const pool = await readyPool();
  const controller = new AbortController();
  const call = pool.call.later.with({ signal: controller.signal });
  const results = pool.map(call, asyncNumbers(1e9), { chunk: 1 });
  await results.next();
  controller.abort(new Error("enough"));
  await expect(results.toArray()).rejects.toThrow("enough");
  expect(await pool.map(pool.call.signalled, numbers(50)).toArray()).toEqual(
    numbers(50).map(() => false),
  );
});

test("tasks with declared structs are mapped too", async () => {
  const pool = await readyPool();
  const points = numbers(50).map((x) => ({ x }));
  expect(await pool.map(pool.call.declared, points).toArray()).toEqual(
    numbers(50).map((n) => n + 1),
  );
});

test("wrong arguments are coded errors", async () => {
  const pool = await readyPool();
  const other = await readyPool();
  const map = pool.map as (...args: unknown[]) => unknown;
  for (
    const args of [
      [() => 1, [1]],
      [other.call.square, [1]],
      [pool.call.square, 5],
      [pool.call.square, [1], { chunk: 0 }],
      [pool.call.square, [1], { chunks: 1 }],
      [pool.call.square, [1], { ordered: 1 }],
      [pool.call.square, [1], { concurrency: 1.5 }],
    ]
  ) expect(() => map(...args)).toThrow(InvalidArgumentError);
  const stream = pool.map(pool.call.count as never, [1]);
  await expect(stream.toArray()).rejects.toThrow(InvalidArgumentError);
  await expect(pool.map(pool.call.square, [() => {}] as never).toArray()).rejects.toThrow(
    DataCloneError,
  );
});

describe("events", () => {
  test("arrive in order and before the result", async () => {
    const pool = await readyPool();
    const events: unknown[] = [];
    const onEvent = (event: unknown): void => void events.push(event);
    const result = await pool.call.progress.with({ onEvent })(35);
    expect(result).toBe("finished");
    expect(events).toEqual(numbers(35).map((n) => ({ n })));
    const values: unknown[] = [];
    const declared = pool.call.declaredProgress.with({ onEvent: (event) => values.push(event) });
    expect(await declared({ x: 4 })).toBe(4);
    expect(values).toEqual([4]);
  });

  test("belong to their own call", async () => {
    const pool = await readyPool({ threads: 1 });
    const of = async (tag: string): Promise<unknown[]> => {
      const events: unknown[] = [];
      await pool.call.tagged.with({ onEvent: (event) => events.push(event) })(tag);
      return events;
    };
    const all = await Promise.all(["a", "b", "c"].map(of));
    for (const [n, tag] of ["a", "b", "c"].entries()) {
      expect(all[n]).toEqual(numbers(5).map((k) => `${tag}${k}`));
    }
  });

  test("without a listener, and after the result, nothing happens", async () => {
    const pool = await readyPool();
    expect(await pool.call.progress(3)).toBe("finished");
    const events: unknown[] = [];
    await pool.call.afterwards.with({ onEvent: (event) => events.push(event) })();
    await sleep(20);
    expect(events).toEqual([]);
  });

  test("of a call made before its task is known", async () => {
    const pool = earlyPool();
    const events: unknown[] = [];
    await pool.call.progress.with({ onEvent: (event) => events.push(event) })(3);
    expect(events).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
    const early = earlyPool().call.count.with({ onEvent: () => {} } as never)(0, 1);
    await expect(early.next()).rejects.toThrow(InvalidArgumentError);
  });

  test("a flood of them is complete, and one that cannot be cloned throws in the task", async () => {
    const pool = await readyPool({ threads: 1, ringBytes: 64 * 1024 });
    let count = 0;
    let sum = 0;
    const onEvent = (n: unknown): void => {
      count++;
      sum += n as number;
    };
    await pool.call.flood.with({ onEvent })(50_000);
    expect([count, sum]).toEqual([50_000, 49_999 * 25_000]);
    expect(await pool.call.badEvent.with({ onEvent })()).toBe("DataCloneError");
  });

  test("options are checked", async () => {
    const pool = await readyPool();
    expect(() => pool.call.progress.with({ onEvent: 5 as never })).toThrow(
      /onEvent must be a function/,
    );
    expect(() => pool.call.count.with({ onEvent: () => {} })).toThrow(InvalidArgumentError);
  });
});

test("methods of a pool survive destructuring, also if the pool is closed when they are used first", async () => {
  const pool = await readyPool();
  const { map, forEach, reduce } = pool;
  expect([pool.map, pool.forEach, pool.reduce]).toEqual([map, forEach, reduce]);
  const running = pool.call.sleepFor(50);
  expect(await map(pool.call.square, [2, 3])).toEqual([4, 9]);
  expect(await pool.broadcast.plain(3)).toEqual([4, 4]);
  await running;
  const closed = await readyPool();
  await closed.shutdown();
  const late = closed.map(closed.call.square, [1]);
  await expect(late.toArray()).rejects.toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
});
