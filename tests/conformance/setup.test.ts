/** The option `worker`: a setup module, data, environment, arguments and names of workers. */
import { describe, expect, test } from "vitest";
import {
  createPool,
  InvalidArgumentError,
  type Pool,
  type PoolOptions,
  workerInfo,
  WorkerStartError,
} from "../../src/mod.ts";
import { closedAfterTest, rejection, until } from "../support/conformance.ts";
import { capabilities } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/setup-tasks.ts");

const url = new URL("../fixtures/setup-tasks.ts", import.meta.url);
const setup = new URL("../fixtures/setup.ts", import.meta.url);
const setupPool = (worker: NonNullable<PoolOptions["worker"]>, threads = 1): Pool<Tasks> =>
  closedAfterTest(createPool({ threads, worker })<Tasks>(url));

describe("worker.setup", () => {
  test("runs before the task modules, and its result is the context", async () => {
    const data = { prefix: "p", list: [1] };
    const { call } = setupPool({ setup, data, name: "mine" });
    data.list.push(2); // cloned when the pool was created
    expect(await call.info()).toEqual({
      id: 0,
      pool: "mine",
      data: { prefix: "p", list: [1] },
      context: { prefix: "p", idBefore: 0, contextBefore: undefined, count: 0 },
      atLoad: "p",
      thread: true,
    });
    expect([await call.next(), await call.next()]).toEqual(["p0", "p1"]);
  });

  test("runs in every worker, replacements included", async () => {
    const { broadcast } = setupPool({ setup, data: { prefix: "w" } }, 3);
    expect(await broadcast.next()).toEqual(["w0", "w0", "w0"]);
    const worker = { setup, data: { prefix: "r" } };
    const pool = closedAfterTest(createPool({ threads: 1, recycleAfter: 1, worker })<Tasks>(url));
    for (let n = 0; n < 3; n++) expect(await pool.call.next()).toBe("r0");
  });

  test("may be relative to the module that calls createPool", async () => {
    const { call } = setupPool({ setup: "../fixtures/setup.ts", data: { prefix: "r" } });
    expect(await call.next()).toBe("r0");
  });

  test("that throws fails the pool with its error", async () => {
    const { call, ready } = setupPool({ setup, data: { prefix: "refused" } });
    const error = await call.next().catch((reason: unknown) => reason) as Error;
    expect(error).toBeInstanceOf(WorkerStartError);
    expect(error.message).toMatch(/setup module .*setup\.ts failed: refused/);
    expect(error.cause).toEqual(new RangeError("refused"));
    await expect(ready).rejects.toBe(error);
  });

  test.each([
    ["./gone.ts", /setup module .*gone\.ts failed/],
    ["../fixtures/setup-bad.ts", /default export must be a function, got 5/],
  ])("%s fails the pool", async (path, message) => {
    const { ready } = setupPool({ setup: new URL(path, import.meta.url) });
    await expect(ready).rejects.toThrow(message);
  });
});

describe("workerInfo()", () => {
  test("works without a setup module, and is undefined on the host", async () => {
    const { call } = setupPool({});
    expect(await call.info()).toMatchObject({ id: 0, pool: "heddle" });
    expect(workerInfo()).toBeUndefined();
  });
});

describe("the thread of a worker", () => {
  test("gets environment and arguments", async () => {
    const { call } = setupPool({ env: { COLOR: "blue" }, argv: ["one", "two"] });
    expect(await call.environment("COLOR")).toBe("blue");
    expect(await call.environment("PATH")).toBeUndefined();
    expect(await call.argv()).toEqual(["one", "two"]);
    expect(await setupPool({}).call.environment("PATH")).toBeTypeOf("string");
  });

  test.runIf(capabilities.execArgv)("gets flags", async () => {
    expect(await setupPool({ execArgv: ["--no-warnings"] }).call.flags()).toEqual([
      "--no-warnings",
    ]);
  });

  test.runIf(capabilities.execArgv)(
    "refuses flags that a thread cannot have by a coded error",
    async () => {
      const refused =
        /worker\.execArgv has flags that a worker cannot have: --no-such-flag.*resourceLimits/;
      expect(() => setupPool({ execArgv: ["--no-such-flag"] })).toThrow(refused);
      expect(() => setupPool({ execArgv: ["--no-such-flag"] })).toThrow(InvalidArgumentError);
      const env = { NODE_OPTIONS: "--no-such-flag" };
      expect(() => setupPool({ env })).toThrow(/worker\.env\.NODE_OPTIONS has flags/);
      const worker = { execArgv: ["--no-such-flag"] };
      const lazy = closedAfterTest(createPool({ threads: 1, minThreads: 0, worker })<Tasks>(url));
      const error = await rejection(lazy.call.next());
      expect(error).toBeInstanceOf(InvalidArgumentError);
      expect(String(error)).toMatch(/worker\.execArgv has flags/);
    },
  );

  test.skipIf(capabilities.execArgv)("gets no flags: they are refused by name", () => {
    expect(() => setupPool({ execArgv: ["--x"] })).toThrow(/worker\.execArgv has no effect/);
  });
});

describe("bad options of workers", () => {
  const bad: readonly (readonly [unknown, RegExp])[] = [
    [5, /worker must be an object of options, got 5/],
    [{ setUp: 1 }, /no option "setUp"; did you mean "setup"\?/],
    [
      { setup: "setup.ts" },
      /No package and no file "setup\.ts" is found from .*A path begins with "\.\/"/,
    ],
    [{ setup: 5 }, /worker\.setup must be the URL, path or package name of a module, got 5/],
    [{ data: () => {} }, /worker\.data cannot be cloned/],
    [{ env: { A: 1 } }, /worker\.env\.A must be a string, got 1/],
    [{ env: 5 }, /worker\.env must be an object of strings/],
    [{ argv: "a" }, /worker\.argv must be a list of strings, got "a"/],
    [{ argv: [1] }, /worker\.argv\[0\] must be a string, got 1/],
    [{ name: "" }, /worker\.name must be a string that is not empty/],
  ];
  test.each(bad)("%j is refused", (worker, message) => {
    expect(() => createPool({ worker: worker as never })).toThrow(message);
  });

  test("environment and permission exclude each other", () => {
    expect(() => createPool({ permission: "strict", worker: { env: {} } })).toThrow(
      /cannot (be combined with permission|enforce)/,
    );
  });
});

test("slots of workers are from 1 on, and those of workers that ended are used again", async () => {
  type Module = typeof import("../fixtures/spawned.ts");
  const url = new URL("../fixtures/spawned.ts", import.meta.url);
  const pool = closedAfterTest(createPool({ threads: 3 })<Module>(url));
  await pool.ready;
  expect((await pool.broadcast.slot()).sort()).toEqual([1, 2, 3]);
  await pool.call.crash().catch(() => {});
  await until(() => pool.stats().ready === 3);
  expect(pool.stats().workersStarted).toBe(4);
  expect((await pool.broadcast.slot()).sort()).toEqual([1, 2, 3]);
});
