/** Pools without threads: `threads: 0`, and the variable HEDDLE_THREADS. */
import { threads } from "../support/threads.ts"; // first
import { AsyncLocalStorage } from "node:async_hooks";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createPool, type PoolOptions, threadBudget } from "../../src/mod.ts";
import { createHostPool, type HostPool } from "../fixtures/host-tasks.ts";
import { functions } from "../fixtures/host-functions.ts";
import {
  begun,
  closedAfterTest,
  rejection,
  release,
  sharedWords,
  testPool,
  until,
} from "../support/conformance.ts";
import { runScript } from "../support/runtime.ts";

const module = (name: string): URL => new URL(`../fixtures/${name}.ts`, import.meta.url);

/** What `console.error` has printed. */
let warn: ReturnType<typeof vi.spyOn>;
/** Threads that were to start. */
let started = 0;

beforeEach(() => {
  started = 0;
  threads.mayStart = () => {
    started++;
    return true;
  };
  warn = vi.spyOn(console, "error").mockImplementation(() => {});
});

afterEach(() => {
  delete process.env["HEDDLE_THREADS"];
  threads.mayStart = () => true;
  vi.restoreAllMocks();
});

const hostPool = (options: PoolOptions = {}): HostPool =>
  closedAfterTest(createHostPool({ threads: 0, onUnavailable: "error", ...options }));

describe("threads: 0", () => {
  test("starts no thread, warns of nothing, and is open when the pool is ready", async () => {
    const pool = hostPool();
    let events = 0;
    pool.addEventListener("unavailable", () => events++);
    await pool.ready;
    expect(await pool.call.echo(1)).toBe(1);
    expect(pool.stats()).toMatchObject({ ready: 1, isOnHost: true, inFlight: 0 });
    expect(await pool.call.main()).toBe(true);
    await pool.shutdown();
    expect(await rejection(pool.call.echo(1))).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
    expect([started, events, warn.mock.calls]).toEqual([0, 0, []]);
  });

  test("copies arguments and results, and moves what is transferred", async () => {
    const { call } = hostPool();
    const list = [0];
    const returned = await call.addTo(list);
    expect([list, returned]).toEqual([[0], [0, 1]]);
    const value = { map: new Map([["a", new Date(5)]]), big: 5n, deep: [{ text: "ü" }] };
    const copy = await call.echo(value) as typeof value;
    expect(copy).toEqual(value);
    expect(copy.deep).not.toBe(value.deep);
    const buffer = new ArrayBuffer(16);
    expect(await call.byteLength.with({ transfer: [buffer] })(buffer)).toBe(16);
    expect(buffer.byteLength).toBe(0);
  });

  test("changes no error", async () => {
    const { call } = hostPool({ maxPayloadBytes: 1000 });
    const error = await rejection(call.fail());
    expect(error).toBeInstanceOf(RangeError);
    expect(error).toMatchObject({ message: "out of range", extra: 1, cause: { message: "why" } });
    const clone = { code: "HEDDLE_DATA_CLONE" };
    expect(await rejection(call.echo(() => {}))).toMatchObject(clone);
    expect(await rejection(call.returnFunction())).toMatchObject(clone);
    expect(await rejection(call.echo("x".repeat(2000)))).toMatchObject({
      code: "HEDDLE_PAYLOAD_TOO_LARGE",
    });
    const { other } = call as unknown as Record<string, () => Promise<unknown>>;
    expect(await rejection(other!())).toMatchObject({ code: "HEDDLE_UNKNOWN_TASK" });
  });

  test("maps, broadcasts, and takes and returns streams and events", async () => {
    const pool = hostPool();
    expect(await Array.fromAsync(pool.map(pool.call.echo, [1, 2, 3]))).toEqual([1, 2, 3]);
    expect(await pool.broadcast.echo("all")).toEqual(["all"]);
    expect(await Array.fromAsync(pool.call.count(500))).toHaveLength(500);
    async function* source(): AsyncGenerator<number> {
      for (let n = 1; n <= 100; n++) yield n;
    }
    expect(await pool.call.sum(source())).toBe(5050);
    const events: unknown[] = [];
    await pool.call.report.with({ onEvent: (event: unknown) => void events.push(event) })(3);
    expect(events).toEqual([0, 1, 2]);
  });

  test("aborts signals of tasks, and ends asynchronous tasks at their limits", async () => {
    const pool = hostPool({ hardTimeoutMs: 200 });
    const words = sharedWords();
    const controller = new AbortController();
    const call = pool.call.untilAborted.with({ signal: controller.signal })(words);
    await begun(words);
    controller.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    await until(() => words[0] === 1);
    expect(await rejection(pool.call.hang())).toMatchObject({ code: "HEDDLE_TIMEOUT" });
    expect(await pool.call.echo(1)).toBe(1); // by another worker on the host
    expect(started).toBe(0);
  });

  test("runs setup and teardown hooks, and starts a worker anew after recycleAfter", async () => {
    const words = sharedWords();
    const worker = { name: "one", setup: module("setup"), data: { of: "one" } };
    const pool = hostPool({ worker, recycleAfter: 3 });
    expect(await pool.call.whoAmI()).toMatchObject({ id: 0, pool: "one", data: { of: "one" } });
    await pool.call.atTeardown(words, 7);
    for (let n = 0; n < 8; n++) expect(await pool.call.echo(n)).toBe(n);
    await until(() => words[0] === 7);
    expect(pool.stats().recycled).toBeGreaterThan(1);
    expect(started).toBe(0);
  });

  test("carries a context", async () => {
    type Tasks = typeof import("../fixtures/context-tasks.ts");
    const requests = new AsyncLocalStorage<unknown>();
    const context = { capture: () => requests.getStore(), run: module("context-run") };
    const pool = createPool({ threads: 0, context })<Tasks>(module("context-tasks"));
    const { call } = closedAfterTest(pool);
    const ids = ["a", "b"].map((id) => requests.run(id, () => call.later(1)));
    expect(await Promise.all(ids)).toEqual(["a/later", "b/later"]);
  });

  test("keeps objects, and lets tasks call the host and each other", async () => {
    const objects = closedAfterTest(
      createPool({ threads: 0 })<typeof import("../fixtures/spawned.ts")>(module("spawned")),
    );
    const counter = await objects.spawn.Counter("a", 5);
    expect(await counter.add(2)).toBe(7);
    await counter.$release();
    type Nested = typeof import("../fixtures/nested-tasks.ts");
    const nested = closedAfterTest(
      createPool({ threads: 0, host: { functions } })<Nested>(module("nested-tasks")),
    );
    expect(await nested.call.ask("double", 4)).toBe(8);
    expect(await nested.call.fib(8)).toBe(21);
  });

  test("runs many tasks that await at once", async () => {
    const pool = testPool({ threads: 0 });
    const words = sharedWords();
    const waiting = Promise.all(Array.from({ length: 5 }, () => pool.call.answerWhen(words)));
    await begun(words, 5);
    release(words);
    await waiting;
  });

  test("refuses calls that would wait for their own thread", async () => {
    const pool = hostPool();
    const dead = { code: "HEDDLE_DEADLOCK" };
    expect(() => pool.sync.echo(1)).toThrow(expect.objectContaining(dead));
    await pool.ready;
    expect(() => pool.sync.echo(1)).toThrow("threads: 0");
    expect(await pool.call.echo(1)).toBe(1);
  });

  test.each<[string, PoolOptions]>([
    ["minThreads", { minThreads: 0 }],
    ["maxThreads", { maxThreads: 2 }],
    ["budget", { budget: threadBudget({ max: 2 }) }],
    ["resourceLimits", { resourceLimits: { stackSizeMb: 4 } }],
    ["maxWorkerBytes", { maxWorkerBytes: 1e9 }],
    ["output", { output: "ignore" }],
    ["workers, process", { workers: "processes", process: { cwd: "/" } }],
    ["worker.env, worker.argv", { worker: { env: { A: "1" }, argv: ["a"], name: "w" } }],
  ])("is refused with %s", (names, options) => {
    expect(() => hostPool(options)).toThrow(expect.objectContaining({
      code: "HEDDLE_INVALID_ARGUMENT",
      message:
        `threads: 0 cannot be combined with ${names}: the tasks run on the host, in no thread of their own.`,
    }));
  });

  test("is no thread of the budget that pools share", async () => {
    const before = closedAfterTest(createHostPool({ threads: 1 })).stats().budget.threads;
    const pool = hostPool();
    await pool.ready;
    expect(pool.stats().budget.threads).toBe(before);
  });

  test("checks onUnavailable, which it replaces", () => {
    expect(() => hostPool({ onUnavailable: "hosts" as never })).toThrow(/^onUnavailable must be /);
  });

  test("takes no options from an extended Object.prototype", () => {
    Object.assign(Object.prototype, { maxQueue: "many" });
    try {
      hostPool();
      process.env["HEDDLE_THREADS"] = "1";
      closedAfterTest(createHostPool({ threads: "auto" }));
    } finally {
      delete (Object.prototype as { maxQueue?: string }).maxQueue;
    }
  });

  test("is refused with permission, and takes what asks for nothing", async () => {
    expect(() => hostPool({ permission: "strict" })).toThrow(
      "threads: 0 cannot be combined with permission",
    );
    const nothing = { workers: "threads", maxWorkerBytes: Infinity, output: "inherit" } as const;
    expect(await hostPool({ ...nothing, permission: "off" }).call.echo(1)).toBe(1);
  });
});

describe("HEDDLE_THREADS", () => {
  /** The number of threads that a pool of these options starts. */
  function threadsOf(options: PoolOptions): number {
    const before = started;
    const pool = closedAfterTest(createHostPool({ threads: "auto", ...options }));
    expect(pool.stats().isOnHost).toBe(started === before);
    void pool.shutdown(0);
    return started - before;
  }

  test("is the number of threads of pools that are given none", async () => {
    process.env["HEDDLE_THREADS"] = "3";
    expect(threadsOf({})).toBe(3);
    expect(threadsOf({ threads: 1 })).toBe(1);
    expect(threadsOf({ minThreads: 2, maxThreads: 4 })).toBe(2);
    expect(threadsOf({ budget: threadBudget({ max: 4 }) })).toBe(1);
    const onHost = hostPool();
    expect(await onHost.call.main()).toBe(true);
    process.env["HEDDLE_THREADS"] = "";
    expect(threadsOf({ threads: 2 })).toBe(2);
  });

  test("is the most threads of pools with minFreeMemory, which need one below it", () => {
    process.env["HEDDLE_THREADS"] = "3";
    expect(threadsOf({ minFreeMemory: 1 })).toBe(1);
    process.env["HEDDLE_THREADS"] = "1";
    expect(threadsOf({ minFreeMemory: 1 })).toBe(1);
  });

  test("0 overrides the numbers of all pools", () => {
    process.env["HEDDLE_THREADS"] = "0";
    expect(threadsOf({})).toBe(0);
    expect(threadsOf({ threads: 3 })).toBe(0);
    expect(threadsOf({ minThreads: 2, maxThreads: 4 })).toBe(0);
    expect(threadsOf({ budget: threadBudget({ max: 4 }) })).toBe(0);
    expect([started, warn.mock.calls]).toEqual([0, []]);
  });

  test("0 leaves out what a thread or process of its own has, with one warning", async () => {
    process.env["HEDDLE_THREADS"] = "0";
    const options = {
      threads: 2,
      workers: "processes",
      process: { orphans: "kill" },
      maxWorkerBytes: 1e6,
      worker: { name: "kept", env: { A: "1" } },
    } as const;
    const pool = hostPool(options);
    expect(await pool.call.whoAmI()).toMatchObject({ pool: "kept" });
    hostPool(options);
    expect(started).toBe(0);
    expect(warn.mock.calls).toEqual([[
      "heddle: HEDDLE_THREADS=0: the tasks of a pool run on the host, without workers, process, maxWorkerBytes, worker.env",
    ]]);
    expect(() => hostPool({ permission: "strict" })).toThrow(
      "HEDDLE_THREADS=0 cannot be combined with permission",
    );
  });

  test.each(["-1", "two", "1.5", "5000"])("is refused if it is %s", (text) => {
    process.env["HEDDLE_THREADS"] = text;
    expect(() => createHostPool()).toThrow(expect.objectContaining({
      code: "HEDDLE_INVALID_ARGUMENT",
      message: expect.stringContaining("HEDDLE_THREADS must be an integer from 0 to 1024"),
    }));
  });
});

test("a program without threads ends by itself, and prints what its tasks print", async () => {
  const { code, output } = await runScript("on-host.ts");
  expect(output).toContain("task prints\n3 true");
  expect(code).toBe(0);
});
