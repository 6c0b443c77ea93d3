/** Items of `pool.map` that fail: what their errors tell, and what becomes of the other items. And the progress of a run. */
import { describe, expect, test } from "vitest";
import {
  createPool,
  type MapProgress,
  type Pool,
  type PoolOptions,
  WorkerLostError,
} from "../../src/mod.ts";
import { closedAfterTest, rejection } from "../support/conformance.ts";

type Tasks = typeof import("../fixtures/item-tasks.ts");

const url = new URL("../fixtures/item-tasks.ts", import.meta.url);

async function readyPool(options: PoolOptions = { threads: 2 }): Promise<Pool<Tasks>> {
  const pool = closedAfterTest(createPool(options)<Tasks>(url));
  await pool.ready;
  return pool;
}

const numbers = (to: number): number[] => Array.from({ length: to }, (_, n) => n);
const jobs = (to: number, ...failing: number[]): { id: number; fails: boolean }[] =>
  numbers(to).map((id) => ({ id, fails: failing.includes(id) }));

/** The results before the error of a run, and that error. */
async function read<Result>(results: AsyncIterable<Result>): Promise<[Result[], unknown]> {
  const before: Result[] = [];
  try {
    for await (const result of results) before.push(result);
  } catch (error) {
    return [before, error];
  }
  return [before, undefined];
}

describe("the error of an item", () => {
  test("tells task, index and item, and keeps its class and message", async () => {
    const pool = await readyPool();
    for (const call of [pool.call.check, pool.call.checkLater]) {
      for (const chunk of [undefined, 1, 7]) {
        const items = jobs(200, 150);
        const [before, error] = await read(
          pool.map(call, items, chunk === undefined ? {} : { chunk }),
        );
        expect(before).toEqual(numbers(150));
        expect(error).toBeInstanceOf(RangeError);
        expect(error).toMatchObject({ message: "bad job 150", index: 150 });
        const { item, stack } = error as { item: unknown; stack: string };
        expect(item).toBe(items[150]);
        expect(error).toEqual(new RangeError("bad job 150"));
        const task = call === pool.call.check ? "check" : "checkLater";
        expect(stack.split("\n").at(-1)).toBe(
          `    [item 150 of pool.map(pool.call.${task}): { id: 150 (number), fails: true (boolean) }]`,
        );
      }
    }
  });

  test("the same of forEach(), of results in any order, and in a scope", async () => {
    const pool = await readyPool();
    const items = jobs(200, 150);
    expect(await rejection(pool.forEach(pool.call.check, items))).toMatchObject({ index: 150 });
    const any = pool.map(pool.call.check, items, { ordered: false, chunk: 3 });
    expect(await rejection(any.toArray())).toMatchObject({ index: 150, item: items[150] });
    await pool.scope(async ({ call, map }) => {
      const error = await rejection(map(call.check, items).toArray()) as Error;
      expect(error).toMatchObject({ index: 150 });
      expect(error.stack).toContain("[item 150 of scope.map(scope.call.check): ");
    });
  });

  test("what is no error, an error of all items and the reason of a signal stay as they are", async () => {
    const pool = await readyPool();
    expect(await read(pool.map(pool.call.throwText, numbers(99)))).toEqual([numbers(50), "text"]);
    const reason = new Error("enough");
    const stopped = pool.call.check.with({ signal: AbortSignal.abort(reason) });
    expect(await rejection(pool.map(stopped, jobs(9)).toArray())).toBe(reason);
    expect("index" in reason).toBe(false);
    await pool.shutdown();
    const closed = await rejection(pool.map(pool.call.check, jobs(9)).toArray());
    expect(closed).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
    expect("index" in (closed as object)).toBe(false);
  });

  test("an item, or a result, that cannot be cloned: results before it come first", async () => {
    const pool = await readyPool();
    const [results, error] = await read(pool.map(pool.call.uncloneable, numbers(99)));
    expect(results).toEqual(numbers(50));
    expect(error).toMatchObject({ code: "HEDDLE_DATA_CLONE", index: 50, item: 50 });
    expect((error as Error).message).toMatch(/^result cannot be cloned: functions/);
    const items = jobs(99).map((job) => job.id === 50 ? { ...job, f: () => {} } : job);
    const [before, refused] = await read(pool.map(pool.call.check, items as never));
    expect(before).toEqual(numbers(50));
    expect(refused).toMatchObject({ code: "HEDDLE_DATA_CLONE", index: 50, item: items[50] });
  });
});

describe("an item that ends its worker", () => {
  test("its error tells the items of its chunk", async () => {
    const pool = await readyPool({ threads: 1 });
    const [before, error] = await read(pool.map(pool.call.endAt, numbers(200), { chunk: 20 }));
    expect(before).toEqual(numbers(140));
    expect(error).toBeInstanceOf(WorkerLostError);
    expect(error).toMatchObject({ exitCode: 7, index: 140, task: "endAt" });
    expect((error as Error).stack).toContain("[items 140 to 159 of pool.map(pool.call.endAt): ");
    const [single, exact] = await read(pool.map(pool.call.endAt, numbers(200), { chunk: 1 }));
    expect(single).toEqual(numbers(150));
    expect(exact).toMatchObject({ index: 150, item: 150 });
  });

  test("with retries the items of its chunk are called one by one", async () => {
    const pool = await readyPool({ threads: 1 });
    const call = pool.call.endAt.with({ retries: 1 });
    const [before, error] = await read(pool.map(call, numbers(200), { chunk: 20 }));
    expect(before).toEqual(numbers(150));
    expect(error).toMatchObject({ code: "HEDDLE_WORKER_LOST", index: 150, item: 150 });
    const settled = await pool.map(call, numbers(200), { settled: true });
    expect(settled.filter(({ status }) => status === "rejected")).toMatchObject([{ index: 150 }]);
    expect(await rejection(pool.reduce(pool.call.add.with({ retries: 1 }), []))).toBeDefined();
  });
});

describe("settled: true", () => {
  test("goes on after an item whose task was wrong in calling heddle", async () => {
    const pool = await readyPool();
    const outcomes = await pool.map(pool.call.misuseAt, numbers(50), { settled: true });
    expect(outcomes.map(({ status }) => status)).toEqual(
      numbers(50).map((n) => n === 20 ? "rejected" : "fulfilled"),
    );
    expect(outcomes[20]).toMatchObject({ index: 20, reason: { code: "HEDDLE_INVALID_ARGUMENT" } });
  });

  test("gives the outcomes of all items in order, awaited or read", async () => {
    const pool = await readyPool();
    const items = jobs(300, 0, 100, 101, 299);
    for (
      const call of [
        pool.call.check,
        pool.call.checkLater,
        pool.call.check.with({ timeoutMs: 60_000 }),
      ]
    ) {
      for (const chunk of [undefined, 1, 7]) {
        const options = { settled: true, ...(chunk !== undefined && { chunk }) } as const;
        const outcomes = await pool.map(call, items, options);
        expect(outcomes.map(({ index }) => index)).toEqual(numbers(300));
        expect(outcomes[1]).toEqual({ status: "fulfilled", value: 1, index: 1 });
        const failed = outcomes.filter((each) => each.status === "rejected");
        expect(failed.map(({ index }) => index)).toEqual([0, 100, 101, 299]);
        for (const { index, item, reason } of failed) {
          expect(item).toBe(items[index]);
          expect(reason).toBeInstanceOf(RangeError);
          expect(reason).toMatchObject({ index, message: `bad job ${index}` });
        }
        const [streamed] = await read(pool.map(call, items, options));
        expect(streamed.map(({ status }) => status)).toEqual(outcomes.map(({ status }) => status));
      }
    }
  });

  test("items that cannot be cloned, and items lost with their worker, are outcomes", async () => {
    const pool = await readyPool({ threads: 1 });
    const results = await pool.map(pool.call.uncloneable, numbers(99), { settled: true });
    expect(results.filter(({ status }) => status === "rejected")).toMatchObject([{ index: 50 }]);
    const lost = await pool.map(pool.call.endAt, numbers(200), { settled: true, chunk: 20 });
    expect(lost.flatMap((each) => each.status === "rejected" ? [each.index] : [])).toEqual(
      numbers(160).slice(140),
    );
    expect(lost.length).toBe(200);
  });

  test("an error of all items ends the run", async () => {
    const pool = await readyPool();
    const controller = new AbortController();
    const call = pool.call.checkLater.with({ signal: controller.signal });
    function* endless(): Generator<{ id: number }> {
      for (let id = 0;; id++) yield { id };
    }
    const results = pool.map(call, endless(), { settled: true });
    expect((await results.next()).value).toEqual({ status: "fulfilled", value: 0, index: 0 });
    controller.abort("enough");
    expect((await read(results))[1]).toBe("enough");
    const later = pool.map(pool.call.check, endless(), { settled: true });
    await later.next();
    await pool.shutdown();
    expect((await read(later))[1]).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
    const early = closedAfterTest(createPool({ threads: 1 })(url));
    const unknown = early.map(early.call["nope"] as never, endless(), { settled: true });
    expect(await rejection(unknown.next())).toMatchObject({ code: "HEDDLE_UNKNOWN_TASK" });
  });
});

describe("onProgress", () => {
  test("tells how many items are done, and of how many", async () => {
    const pool = await readyPool();
    const items = jobs(500);
    for (const source of [items, new Set(items)]) {
      const seen: MapProgress[] = [];
      const onProgress = (progress: MapProgress): void => void seen.push(progress);
      expect(await pool.map(pool.call.check, source, { onProgress })).toEqual(numbers(500));
      expect(seen.at(-1)).toEqual({ done: 500, total: 500 });
      const done = seen.map((each) => each.done);
      expect(done).toEqual([...done].sort((a, b) => a - b));
    }
    const dones: MapProgress[] = [];
    await pool.forEach(pool.call.check, items.values(), {
      onProgress: (progress) => dones.push(progress),
    });
    expect(dones.at(-1)).toEqual({ done: 500, total: undefined });
  });

  test("counts failed items of a settled run", async () => {
    const pool = await readyPool();
    let last: MapProgress | undefined;
    const onProgress = (progress: MapProgress): void => void (last = progress);
    await pool.map(pool.call.check, jobs(50, 3, 4), { settled: true, onProgress });
    expect(last).toEqual({ done: 50, total: 50 });
  });
});

test("the options are checked", async () => {
  const pool = await readyPool();
  const wrong = (options: object): never => options as never;
  expect(() => pool.map(pool.call.check, [], wrong({ settled: 1 }))).toThrow("settled must be");
  expect(() => pool.map(pool.call.check, [], wrong({ onProgress: 1 }))).toThrow("onProgress must");
  await expect(pool.forEach(pool.call.check, [], wrong({ settled: true }))).rejects.toThrow(
    "forEach() takes no settled",
  );
  await expect(pool.reduce(pool.call.add, [], wrong({ onProgress() {} }))).rejects.toThrow(
    "reduce() takes no onProgress",
  );
});
