/** Functions by their source and by their names, in threads and processes. */
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import workerpool, { type Any } from "@heddle/workerpool";
import * as exported from "@heddle/workerpool";
import { capabilities } from "../../../tests/support/runtime.ts";
import { createPool, errorOf } from "./pools.ts";

for (const workerType of ["thread", "process"] as const) {
  test(`a ${workerType} runs functions by their source`, async () => {
    const pool = createPool(undefined, { workerType, maxWorkers: 1 });
    expect(await pool.exec((a: number, b: number) => a + b, [2, 5])).toBe(7);
    expect(await pool.exec(() => Promise.resolve("done"))).toBe("done");
    expect(await pool.exec("methods")).toEqual(["run", "methods"]);
    expect(pool.stats()).toEqual({
      totalWorkers: 1,
      busyWorkers: 0,
      idleWorkers: 1,
      pendingTasks: 0,
      activeTasks: 0,
    });
    const worker = pool.workers[0]!.worker!;
    expect([worker.isWorkerThread, worker.isChildProcess]).toEqual(
      workerType === "thread" ? [true, false] : [false, true],
    );
  });

  test(`a ${workerType} runs functions of a script`, async () => {
    const pool = createPool("tasks.cjs", { workerType, maxWorkers: 1 });
    expect(await pool.exec("add", [1, 2])).toBe(3);
    expect(await pool.exec("count")).toBe(1);
    expect(await pool.exec("count", null)).toBe(2);
    expect(await pool.exec("workerpoolPromise")).toBe("resolved");
    expect(await pool.exec("state")).toMatchObject({ isMainThread: false });
    const { message } = await errorOf(pool.exec("other"));
    expect(message).toBe('Unknown method "other"');
  });

  test.runIf(capabilities.setsRequireMain)(
    `scripts of a ${workerType} see themselves as main`,
    async () => {
      const pool = createPool("tasks.cjs", { workerType, maxWorkers: 1 });
      expect(await pool.exec("mainFile")).toMatch(/tasks\.cjs$/);
    },
  );

  test(`a ${workerType} sends errors as an Error with their own properties`, async () => {
    const pool = createPool("tasks.cjs", { workerType, maxWorkers: 1 });
    const error = await errorOf(pool.exec("fail"));
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(RangeError);
    expect(error).toMatchObject({ message: "failed", code: "E_FAILED" });
    expect(error.cause).toMatchObject({ message: "deep" });
    expect(error.stack).toContain("tasks.cjs");
    const thrown = await errorOf(pool.exec(() => {
      throw { toJSON: () => ({ message: "own form", value: 1 }) };
    }));
    expect(thrown).toMatchObject({ message: "own form", value: 1 });
    const cyclic = await errorOf(pool.exec(() => {
      const error: Any = new Error("a cycle");
      error.self = error;
      throw error;
    }));
    expect(cyclic.message).toBe("a cycle");
  });

  test(`a ${workerType} runs a script that registers its functions later`, async () => {
    const pool = createPool("late.mjs", { workerType, maxWorkers: 1 });
    const proxy = await pool.proxy<{ add: (a: number, b: number) => number }>();
    expect(Object.keys(proxy)).toContain("add");
    expect(await proxy.add(3, 4)).toBe(7);
  });
}

test("threads clone values, processes get JSON unless serialization is advanced", async () => {
  const values = [new Date(0), new Map([[1, 2]]), new Uint8Array(1), undefined];
  const thread = createPool("tasks.cjs", { workerType: "thread", maxWorkers: 1 });
  const cloned = ["[object Date]", "[object Map]", "[object Uint8Array]", "[object Undefined]"];
  expect(await thread.exec("values", values)).toEqual(cloned);
  const json = createPool("tasks.cjs", { workerType: "process", maxWorkers: 1 });
  expect(await json.exec("values", values)).toEqual([
    "[object String]",
    "[object Object]",
    "[object Object]",
    "[object Null]",
  ]);
  const forkOpts = { serialization: "advanced" } as const;
  const advanced = createPool("tasks.cjs", { workerType: "process", maxWorkers: 1, forkOpts });
  expect(await advanced.exec("values", values)).toEqual(cloned);
});

test("what cannot be cloned rejects its task alone", async () => {
  const pool = createPool(undefined, { maxWorkers: 1 });
  const notSent = await errorOf(pool.exec((f: unknown) => f, [() => {}]));
  expect(notSent.name).toBe("DataCloneError");
  const notReturned = await errorOf(pool.exec(() => () => {}));
  expect(notReturned.name).toBe("DataCloneError");
  expect(await pool.exec(() => "still there")).toBe("still there");
  expect(pool.stats().totalWorkers).toBe(1);
});

test("buffers are moved in both directions", async () => {
  const pool = createPool("tasks.cjs", { maxWorkers: 1 });
  const bytes = new Uint8Array(16);
  expect(await pool.exec("length", [bytes], { transfer: [bytes.buffer] })).toBe(16);
  expect(bytes.byteLength).toBe(0);
  expect(await pool.exec("bytes", [4])).toEqual(new Uint8Array([7, 7, 7, 7]));
});

test("arguments of a wrong type throw", () => {
  const pool = createPool();
  expect(() => pool.exec(23 as never)).toThrow(TypeError);
  expect(() => pool.exec("add", {} as never)).toThrow('Array expected as argument "params"');
  expect(() => (pool.proxy as (x: number) => unknown)(1)).toThrow("No arguments expected");
});

test("require and import give the same functions", () => {
  const required = createRequire(import.meta.url)("@heddle/workerpool") as typeof workerpool;
  expect(required.pool).toBe(workerpool.pool);
  const { default: _, ...names } = exported;
  for (const name of Object.keys(workerpool)) expect(names).toHaveProperty(name);
  expect(workerpool.platform).toBe("node");
  expect(workerpool.cpus).toBeGreaterThan(0);
});

test("worker() says that it needs a worker", () => {
  expect(() => workerpool.worker({})).toThrow("Script must be executed as a worker");
});
