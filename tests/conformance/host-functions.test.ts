/** Functions of the host that tasks call: `createPool({ host: { functions } })`. */
import { describe, expect, test } from "vitest";
import { createPool, InvalidArgumentError, type Pool, type PoolOptions } from "../../src/mod.ts";
import { host } from "../../src/mod-task.ts";
import { functions, takeKept } from "../fixtures/host-functions.ts";
import { begun, closedAfterTest, rejection, sharedWords, until } from "../support/conformance.ts";

type Tasks = typeof import("../fixtures/nested-tasks.ts");

const url = new URL("../fixtures/nested-tasks.ts", import.meta.url);

async function hostPool(options: PoolOptions = { threads: 1 }): Promise<Pool<Tasks>> {
  const pool = closedAfterTest(createPool({ host: { functions }, ...options })<Tasks>(url));
  await pool.ready;
  return pool;
}

describe("calls", () => {
  test("get results, by promise and with the thread", async () => {
    const { call } = await hostPool();
    expect(await call.ask("double", 4)).toBe(8);
    expect(await call.ask("later", "x", 5)).toBe("x");
    expect(await call.askSync("double", 4)).toBe(8);
    expect(await call.askSync("later", "x", 5)).toBe("x");
    expect(await call.askTyped(5)).toBe(21);
  });

  test("come from many tasks of many workers at once", async () => {
    const { call } = await hostPool({ threads: 3 });
    const sums = await Promise.all(
      Array.from({ length: 20 }, (_, n) => n % 2 === 0 ? call.askMany(200) : call.askManySync(20)),
    );
    expect(sums).toEqual(Array.from({ length: 20 }, (_, n) => n % 2 === 0 ? 39800 : 380));
  });

  const shared = new SharedArrayBuffer(8);
  const twice = { of: [1, 2] };
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const values: readonly unknown[] = [
    undefined,
    null,
    -0,
    12n,
    "text".repeat(100_000),
    Object.assign(new Array(3), { 0: 1, 2: 3 }),
    new Map([[{ a: 1 }, new Set([1])]]),
    new Date(5),
    /x/gi,
    new Uint16Array([1, 2, 3]),
    new Uint8Array(3_000_000).fill(9),
    Object.assign(new RangeError("r", { cause: 1 }), { extra: true }),
    [twice, twice],
    cycle,
    Array.from({ length: 2000 }, (_, n) => ({ n, text: `t${n}` })),
  ];

  test("take and return every kind of value", async () => {
    const { call } = await hostPool();
    for (const [index, value] of values.entries()) {
      expect([index, await call.ask("echo", value)]).toEqual([index, value]);
      expect([index, await call.askSync("echo", value)]).toEqual([index, value]);
    }
  });

  test("share SharedArrayBuffers, and move what is transferred", async () => {
    const { call } = await hostPool();
    new Int32Array(shared)[0] = 5;
    const back = await call.ask("echo", shared) as SharedArrayBuffer;
    new Int32Array(back)[1] = 6;
    expect([...new Int32Array(shared)]).toEqual([5, 6]);
    expect(await call.sendBytes(100_000)).toEqual([700_000, 0]);
    expect(await call.sendBytes(10)).toEqual([70, 0]);
    expect(await call.askPort()).toBe("answered");
  });

  test("made when a worker closes are answered, and calls of tasks are refused", async () => {
    const pool = await hostPool({ threads: 1, teardownTimeoutMs: 60_000 });
    takeKept();
    await pool.call.askAtTeardown(5);
    await pool.shutdown();
    expect(takeKept()).toEqual([5, "HEDDLE_POOL_CLOSED"]);
  });

  test("made after their call has ended are answered too", async () => {
    const { call } = await hostPool();
    takeKept();
    await call.askAfterwards(7);
    const kept: unknown[] = [];
    await until(() => kept.push(...takeKept()) > 0);
    expect(kept).toEqual([7]);
  });
});

describe("errors", () => {
  test("keep their class", async () => {
    const { call } = await hostPool();
    const range = [true, true, "RangeError", "The host fails.", undefined];
    expect(await call.caught("fail")).toEqual([range, range]);
    const type = [false, true, "TypeError", "The host fails later.", "E_HOST"];
    expect(await call.caught("failLater")).toEqual([type, type]);
  });

  test("of unknown names say what there is", async () => {
    const { call } = await hostPool();
    const error = await rejection(call.ask("dubble" as "double", 1));
    expect(error).toMatchObject({ name: "UnknownFunctionError", code: "HEDDLE_UNKNOWN_FUNCTION" });
    expect((error as Error).message).toContain('did you mean "double"?');
    expect(await rejection(call.askSync("toString" as "double"))).toMatchObject({
      code: "HEDDLE_UNKNOWN_FUNCTION",
    });
    const none = closedAfterTest(createPool({ threads: 1 })<Tasks>(url));
    expect(await rejection(none.call.ask("double", 1))).toMatchObject({
      code: "HEDDLE_UNKNOWN_FUNCTION",
    });
  });

  test("of values that cannot be cloned", async () => {
    const { call } = await hostPool();
    const code = "HEDDLE_DATA_CLONE";
    expect(await call.caught("returnsFunction")).toMatchObject([
      [false, true, "DataCloneError", expect.anything(), code],
      [false, true, "DataCloneError", expect.anything(), code],
    ]);
    expect(await call.ask("double", 1)).toBe(2);
  });

  test("outside workers, and of wrong options", async () => {
    expect(await rejection(host.call["double"]!(1))).toBeInstanceOf(InvalidArgumentError);
    expect(() => host.sync["double"]!(1)).toThrow(InvalidArgumentError);
    const create = (given: unknown): unknown => createPool({ host: given } as PoolOptions);
    expect(() => create({ functions: { f: 1 } })).toThrow("host.functions.f must be a function");
    expect(() => create({ function: {} })).toThrow('did you mean "functions"?');
    expect(() => create(1)).toThrow(InvalidArgumentError);
    expect(() => create({})).toThrow(InvalidArgumentError);
  });
});

describe("a worker that dies", () => {
  test.each(["askAndWait", "askSyncAndWait"] as const)(
    "in the middle of %s leaves nothing behind",
    async (name) => {
      const pool = await hostPool();
      const words = sharedWords();
      const lost = rejection(
        pool.call[name].with({ signal: AbortSignal.timeout(60_000) })(words, "never"),
      );
      await begun(words);
      if (name === "askAndWait") await pool.call.dieLater(1);
      else await pool.shutdown(10);
      expect(["HEDDLE_WORKER_LOST", "HEDDLE_POOL_CLOSED"]).toContain(
        (await lost as { code: string }).code,
      );
      if (name === "askAndWait") expect(await pool.call.ask("double", 3)).toBe(6);
      expect(pool.stats().inFlight).toBe(0);
    },
  );
});

test("a task that waits for the host does not count for maxConcurrency", async () => {
  const pool = await hostPool({ threads: 1, maxConcurrency: 1 });
  const words = sharedWords();
  const waiting = rejection(pool.call.askAndWait(words, "never"));
  await begun(words);
  expect(await pool.call.ask("double", 3)).toBe(6);
  await pool.shutdown(0);
  await waiting;
});

test("other calls run elsewhere while a worker waits with its thread", async () => {
  const pool = await hostPool({ threads: 2, balancer: "roundRobin" });
  const words = sharedWords();
  const waiting = rejection(pool.call.askSyncAndWait(words, "never"));
  await begun(words);
  const sums = await Promise.all(Array.from({ length: 20 }, (_, n) => pool.call.add(n, 1)));
  expect(sums).toHaveLength(20);
  await pool.shutdown(0);
  await waiting;
});
