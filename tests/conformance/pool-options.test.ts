/** Options of pools: their limits, and what is refused. */
import { describe, expect, test } from "vitest";
import {
  createPool,
  InvalidArgumentError,
  type Pool,
  type PoolOptions,
  QueueFullError,
} from "../../src/mod.ts";
import {
  begun,
  closedAfterTest,
  rejection,
  release,
  sharedWords,
  testPool,
} from "../support/conformance.ts";

type Tasks = typeof import("../fixtures/stream-tasks.ts");

const url = new URL("../fixtures/stream-tasks.ts", import.meta.url);

const poolWith = (options: PoolOptions): Pool<Tasks> =>
  closedAfterTest(createPool({ threads: 1, ...options })<Tasks>(url));

test("spinMs accepts 0 and refuses invalid values", async () => {
  const pool = testPool({ threads: 1, spinMs: 0 });
  for (let n = 0; n < 50; n++) expect(await pool.call.echo(n)).toBe(n);
  for (const bad of [-0.1, 1.5, NaN, "0.1"]) {
    expect(() => testPool({ spinMs: bad as number })).toThrow(/spinMs must be/);
  }
});

describe("arguments of createPool", () => {
  const identity = (value: unknown): unknown => value;

  test("createPool throws for options and tasks of the wrong form or in the wrong order", () => {
    const create = createPool as (...args: unknown[]) => (tasks: unknown) => unknown;
    expect(() => create({ threads: 1 }, { identity })).toThrow(/createPool\(options\)\(tasks\)/);
    for (const tasks of [new Map([["identity", identity]]), [identity], Promise.resolve({})]) {
      expect(() => create()(tasks)).toThrow(InvalidArgumentError);
      expect(() => create()(tasks)).toThrow(
        /tasks as an object.*got \[object (Map|Array|Promise)\]/,
      );
    }
  });

  test("mistakes say the cure: the tasks as options, and options of workers and calls in the wrong place", () => {
    const create = createPool as (...args: unknown[]) => unknown;
    const mistakes: readonly (readonly [unknown, string])[] = [
      ["./tasks.ts", "its result takes the module of tasks: createPool()(url)."],
      [url, "its result takes the module of tasks: createPool()(url)."],
      [{ identity }, "and its result takes the tasks: createPool()({ identity })."],
      [{ data: 1 }, "which is one of workers: createPool({ worker: { data } })."],
      [{ setup: "./x" }, "which is one of workers: createPool({ worker: { setup } })."],
      [{ worker: { threads: 1 } }, "which is one of the pool: createPool({ threads })."],
      [
        { timeoutMs: 5 },
        "which is one of calls: pool.call.f.with({ timeoutMs }), or task({ timeoutMs, f }).",
      ],
    ];
    for (const [options, cure] of mistakes) expect(() => create(options)).toThrow(cure);
  });

  test("signal: null means no signal", async () => {
    const { call } = testPool();
    expect(await call.echo.with({ signal: null })(1)).toBe(1);
  });
});

test("maxQueue: 0 refuses calls that no worker takes at once", async () => {
  const pool = poolWith({ maxQueue: 0 });
  expect(await rejection(pool.call.square(1))).toBeInstanceOf(QueueFullError);
  await pool.ready;
  expect(await pool.call.square(2)).toBe(4);
  const words = sharedWords();
  const running = pool.call.block(words);
  await begun(words);
  const others = Array.from({ length: 3000 }, (_, n) => pool.call.square(n));
  const settled = Promise.allSettled(others);
  const error = await rejection(others.at(-1)!);
  expect(error).toMatchObject({ code: "HEDDLE_QUEUE_FULL", maxQueue: 0 });
  expect(String(error)).toContain("No worker takes the call at once");
  release(words);
  await Promise.all([running, settled]);
  expect(pool.needsDrain).toBe(false);
  expect(await pool.call.square(2)).toBe(4);
});

test("maxQueue: 0 takes a call for each idle worker, whatever it carries", async () => {
  const pool = poolWith({ threads: 2, maxQueue: 0, maxConcurrency: 1 });
  await pool.ready;
  const settle = (call: Promise<unknown>): Promise<string> =>
    call.then(() => "ok", (error: Error) => error.name);
  for (const value of [2, Promise.resolve(2)]) {
    expect(await settle(pool.call.square.with({ affinity: "a" })(value))).toBe("ok");
  }
  const calls = Array.from(
    { length: 9 },
    () => settle(pool.call.lengthOf(new Uint8Array(200_000))),
  );
  const outcomes = await Promise.all(calls);
  expect(outcomes).toEqual(["ok", "ok", ...Array.from({ length: 7 }, () => "QueueFullError")]);
});

test("calls with a worker key and large arguments wait in the worker's ring", async () => {
  const pool = poolWith({ threads: 2 });
  await pool.ready;
  const keyed = { affinity: "a" };
  await pool.call.square.with(keyed)(1);
  const words = sharedWords();
  const running = pool.call.block.with(keyed)(words);
  await begun(words);
  const calls = [1, 2].map(() => pool.call.lengthOf.with(keyed)(new Uint8Array(200_000)));
  expect(pool.stats().queued).toBe(0);
  release(words);
  await Promise.all([running, ...calls]);
});

test("Infinity is no limit where there may be none", async () => {
  const limits = {
    teardownTimeoutMs: Infinity,
    startTimeoutMs: Infinity,
    hardTimeoutMs: Infinity,
    idleTimeoutMs: Infinity,
    recycleAfter: Infinity,
    maxWorkerBytes: Infinity,
    maxQueue: Infinity,
    maxPayloadBytes: Infinity,
    maxAbandonedThreads: Infinity,
  };
  const pool = poolWith(limits);
  const words = sharedWords();
  await pool.call.closeIn(100, words);
  await pool.shutdown();
  expect(words[1]).toBe(1);
});
