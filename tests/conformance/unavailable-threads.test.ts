/** Pools where no thread can start. */
import { threads } from "../support/threads.ts"; // first
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createPool, WorkerStartError } from "../../src/mod.ts";
import { createHostPool, type HostPool } from "../fixtures/host-tasks.ts";
import { functions } from "../fixtures/host-functions.ts";
import {
  begun,
  closedAfterTest,
  rejection,
  sharedWords,
  testPool,
  until,
} from "../support/conformance.ts";
import { launch } from "../support/processes.ts";
import { capabilities, pause, runtimeName } from "../support/runtime.ts";

afterEach(() => {
  threads.mayStart = () => true;
  vi.restoreAllMocks();
});

/** A pool without threads whose warning is not printed. */
function hostPool(options: Parameters<typeof createHostPool>[0] = {}): HostPool {
  threads.mayStart = () => false;
  const pool = closedAfterTest(createHostPool(options));
  pool.addEventListener("unavailable", (event) => event.preventDefault());
  return pool;
}

describe('onUnavailable: "error"', () => {
  test("is the default: createPool throws, or calls reject", async () => {
    threads.mayStart = () => false;
    expect(() => testPool()).toThrow(WorkerStartError);
    const pool = testPool({ minThreads: 0 });
    expect(await rejection(pool.call.echo(1))).toMatchObject({
      code: "HEDDLE_WORKER_START",
      message: "A worker cannot be started: no threads here",
    });
  });
});

describe("tasks on the host", () => {
  test("are announced once, by an event and a warning unless it is prevented", async () => {
    const warn = vi.spyOn(console, "error").mockImplementation(() => {});
    threads.mayStart = () => false;
    const pool = closedAfterTest(createHostPool({ threads: 3 }));
    const events: unknown[] = [];
    pool.addEventListener("unavailable", ({ detail }) => void events.push(detail));
    await pool.ready;
    expect(await pool.call.echo(1)).toBe(1);
    expect(events).toMatchObject([{ threads: 0, error: { code: "HEDDLE_WORKER_START" } }]);
    expect(warn.mock.calls).toEqual([[
      "heddle: no further thread can start, so the tasks of a pool run on the host, which they may block: " +
      "A worker cannot be started: no threads here",
    ]]);
    expect(pool.stats()).toMatchObject({ ready: 1, isOnHost: true });
    expect(await hostPool().call.echo(2)).toBe(2);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  test("get copies, and give copies back", async () => {
    const pool = hostPool();
    const list = [0];
    expect(await pool.call.addTo(list)).toEqual([0, 1]);
    expect(list).toEqual([0]);
    const value = { map: new Map([["a", new Date(5)]]), big: 5n, text: "ü".repeat(1e6) };
    const copy = await pool.call.echo(value);
    expect(copy).toEqual(value);
    expect(copy).not.toBe(value);
    const memory = new SharedArrayBuffer(8);
    expect(await pool.call.echo(memory)).toBe(memory);
    const large = new Uint8Array(9_000_000).fill(3);
    expect(await pool.call.echo(large)).toEqual(large);
    const calls = Array.from({ length: 3000 }, (_, n) => pool.call.echo(n));
    expect((await Promise.all(calls)).at(-1)).toBe(2999);
  });

  test("throw as in a thread", async () => {
    const pool = hostPool();
    const error = await rejection(pool.call.fail());
    expect(error).toBeInstanceOf(RangeError);
    expect(error).toMatchObject({ message: "out of range", extra: 1, cause: { message: "why" } });
    expect(await rejection(pool.call.returnFunction())).toMatchObject({
      code: "HEDDLE_DATA_CLONE",
    });
    expect(await rejection(pool.call.echo(() => {}))).toMatchObject({ code: "HEDDLE_DATA_CLONE" });
  });

  test("take what is transferred", async () => {
    const pool = hostPool();
    const buffer = new ArrayBuffer(16);
    expect(await pool.call.byteLength.with({ transfer: [buffer] })(buffer)).toBe(16);
    expect(buffer.byteLength).toBe(0);
    const { port1, port2 } = new MessageChannel();
    const message = new Promise((resolve) => port1.onmessage = ({ data }) => resolve(data));
    await pool.call.answer.with({ transfer: [port2] })(port2);
    expect(await message).toBe("through the port");
    port1.close();
  });

  test("return and take streams", async () => {
    const pool = hostPool();
    const items: number[] = [];
    for await (const item of pool.call.count(1000)) items.push(item);
    expect(items).toHaveLength(1000);
    async function* source(): AsyncGenerator<number> {
      for (let n = 1; n <= 100; n++) yield n;
    }
    expect(await pool.call.sum(source())).toBe(5050);
  });

  test("end at their limits and by their signals", async () => {
    const pool = hostPool({ hardTimeoutMs: 200 });
    const words = sharedWords();
    const controller = new AbortController();
    const call = pool.call.untilAborted.with({ signal: controller.signal })(words);
    await begun(words);
    controller.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    await until(() => words[0] === 1);
    expect(await rejection(pool.call.hang())).toMatchObject({ code: "HEDDLE_TIMEOUT" });
    const limited = pool.call.hang.with({ timeoutMs: 20 });
    expect(await rejection(limited())).toMatchObject({ code: "HEDDLE_TIMEOUT" });
    expect(await pool.call.echo(1)).toBe(1);
    expect(pool.stats().safetyHits).toBe(0);
  });

  test("send events", async () => {
    const pool = hostPool();
    const events: unknown[] = [];
    const onEvent = (event: unknown): void => void events.push(event);
    expect(await pool.call.report.with({ onEvent })(3)).toBe("done");
    expect(events).toEqual([0, 1, 2]);
    await pool.call.flood.with({ onEvent })(50_000);
    await until(() => events.length === 50_003);
  });

  test("know their workers, also of several pools at once", async () => {
    const setup = new URL("../fixtures/setup.ts", import.meta.url);
    const pools = ["one", "other"].map((name) =>
      hostPool({ worker: { name, setup, data: { of: name } } })
    );
    const infos = await Promise.all(pools.map(({ call }) => call.whoAmI()));
    expect(infos).toMatchObject([
      { pool: "one", data: { of: "one" } },
      { pool: "other", data: { of: "other" } },
    ]);
    expect(await pools[0]!.call.main()).toBe(true);
  });

  test("are closed with their hooks, and started anew after idleTimeoutMs and recycleAfter", async () => {
    const words = sharedWords();
    const closed = hostPool();
    await closed.call.atTeardown(words, 7);
    await closed.shutdown();
    expect(words[0]).toBe(7);
    const idle = hostPool({ minThreads: 0, idleTimeoutMs: 20 });
    for (let round = 0; round < 2; round++) {
      expect(await idle.call.echo(round)).toBe(round);
      await until(() => idle.stats().workers.length === 0);
    }
    const recycled = hostPool({ recycleAfter: 2 });
    for (let n = 0; n < 7; n++) expect(await recycled.call.echo(n)).toBe(n);
    expect(recycled.stats().recycled).toBeGreaterThan(1);
  });

  test("may create pools, and be mapped and broadcast", async () => {
    const pool = hostPool();
    const options = { threads: 1, onUnavailable: "host" } as const;
    vi.spyOn(console, "error").mockImplementation(() => {});
    expect(await pool.call.nested(options)).toBe("nested");
    const results: unknown[] = [];
    for await (const result of pool.map(pool.call.echo, [1, 2, 3])) results.push(result);
    expect(results).toEqual([1, 2, 3]);
    expect(await pool.broadcast.echo("all")).toEqual(["all"]);
  });

  test("are imported on the host if only workers know their module, whose errors stay errors", async () => {
    threads.mayStart = () => false;
    type Module = typeof import("../fixtures/module-tasks.ts");
    const load = (name: string) => {
      const url = new URL(`../fixtures/${name}.ts`, import.meta.url);
      const pool = closedAfterTest(createPool({ threads: 1, onUnavailable: "host" })<Module>(url));
      pool.addEventListener("unavailable", (event) => event.preventDefault());
      return pool;
    };
    const pool = load("module-tasks");
    expect(await pool.call.reverse("abc")).toBe("cba");
    expect(await pool.call.mirror({ x: 1, y: 2 })).toEqual({ x: 2, y: 1 });
    expect(await rejection(load("broken-module").call.reverse("abc"))).toMatchObject({
      code: "HEDDLE_WORKER_START",
    });
  });
});

describe("a task module that fails", () => {
  test("is an error where threads can start", async () => {
    const url = new URL("../fixtures/broken-module.ts", import.meta.url);
    const pool = closedAfterTest(createPool({ threads: 1, onUnavailable: "host" })(url));
    let events = 0;
    pool.addEventListener("unavailable", () => events++);
    expect(await rejection(pool.ready)).toMatchObject({ code: "HEDDLE_WORKER_START" });
    await pause(10);
    expect(events).toBe(0);
  });
});

test("a pool whose second thread cannot start goes on with the first", async () => {
  let left = 1;
  threads.mayStart = () => left-- > 0;
  const pool = closedAfterTest(createHostPool({ threads: 3 }));
  const events: number[] = [];
  pool.addEventListener("unavailable", (event) => {
    event.preventDefault();
    events.push(event.detail.threads);
  });
  await pool.ready;
  expect(await pool.call.main()).toBe(false);
  expect(pool.stats()).toMatchObject({ ready: 1, isOnHost: false });
  expect(events).toEqual([1]);
});

test("cannot be combined with permission", () => {
  expect(() => createHostPool({ permission: {} })).toThrow(
    'onUnavailable: "host" cannot be combined with permission',
  );
  expect(() => createHostPool({ onUnavailable: "main" as never })).toThrow(
    'onUnavailable must be "error" or "host", got "main".',
  );
});

describe.runIf(runtimeName !== "bun")("a process without the permission", () => {
  const folder = fileURLToPath(new URL("../fixtures/scripts/", import.meta.url));
  /** Threads of Deno need the right to read their module, which fails only when they have started. */
  const flags = runtimeName === "deno"
    ? ["run", "--no-prompt", "--no-lock", "--quiet"]
    : ["--permission", "--allow-fs-read=*"];

  test.runIf(capabilities.permissions || runtimeName === "deno")(
    "runs its tasks on the host, and ends by itself",
    async () => {
      const child = launch([process.execPath, ...flags, join(folder, "no-threads.ts")]);
      const { code } = await child.exited;
      await child.closed;
      expect(child.output()).toContain("on the host 3");
      expect(code).toBe(0);
    },
  );
});

test("tasks on the host call the host, callbacks and tasks, but nothing waits for them with the thread", async () => {
  threads.mayStart = () => false;
  type Tasks = typeof import("../fixtures/nested-tasks.ts");
  const url = new URL("../fixtures/nested-tasks.ts", import.meta.url);
  const options = { threads: 1, host: { functions }, onUnavailable: "host" } as const;
  const pool = closedAfterTest(createPool(options)<Tasks>(url));
  pool.addEventListener("unavailable", (event) => event.preventDefault());
  const dead = { code: "HEDDLE_DEADLOCK" };
  expect(() => pool.sync.ask("double", 4)).toThrow(expect.objectContaining(dead));
  expect(await pool.call.ask("double", 4)).toBe(8);
  expect(await rejection(pool.call.askSync("double", 4))).toMatchObject(dead);
  expect(() => pool.sync.ask("double", 4)).toThrow(expect.objectContaining(dead));
  expect(await pool.call.fib(8)).toBe(21);
  expect(pool.stats()).toMatchObject({ isOnHost: true, inFlight: 0 });
});
