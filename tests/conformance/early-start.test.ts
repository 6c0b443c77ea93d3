/** The first call of a pool, which is sent before its worker is ready, for each kind of task. */
import { describe, expect, test } from "vitest";
import { createPool, type Pool, type PoolOptions, UnknownTaskError } from "../../src/mod.ts";
import { closedAfterTest, release, sharedWords, testPool } from "../support/conformance.ts";

type Tasks = typeof import("../fixtures/module-tasks.ts");

const url = new URL("../fixtures/module-tasks.ts", import.meta.url);
const modulePool = (options: PoolOptions = { threads: 1 }): Pool<Tasks> =>
  closedAfterTest(createPool(options)<Tasks>(url));

/** The pool has made its microtasks: what it can send is sent. */
const turn = (): Promise<void> => Promise.resolve().then(() => {});

test("the first call is sent before the worker is ready, and those behind it wait", async () => {
  for (const create of [modulePool, () => testPool({ threads: 1 })]) {
    // On a busy machine a worker may be ready within the turn.
    for (let isSeen = false; !isSeen;) {
      const pool = create();
      const echo = "echo" in pool.call ? pool.call.echo : pool.call.later;
      const calls = [echo(1), echo(2), echo(3)];
      await turn();
      const stats = pool.stats();
      isSeen = stats.ready === 0;
      if (isSeen) expect(stats).toMatchObject({ inFlight: 3, queued: 2 });
      expect(await Promise.all(calls)).toEqual([1, 2, 3]);
    }
  }
});

describe("the first call by name", () => {
  test.each<[string, unknown[], unknown]>([
    ["reverse", ["abc"], "cba"],
    ["default", [4], 8],
    ["later", [{ a: [1, "b"] }], { a: [1, "b"] }],
    ["later", [], undefined],
    ["lengths", [new Uint8Array(2), new Uint8Array(30_000)], [2, 30_000]],
    ["lengths", [new Uint8Array(2), new Uint8Array(3_000_000)], [2, 3_000_000]],
    ["mirror", [{ x: 1, y: 2 }], { x: 2, y: 1 }],
    ["norm", [{ x: 3, y: 4 }], 5],
    ["patient", [10_000], "too late"],
    ["unhurried", [], "in time"],
  ])("of %s with %o settles once, as its task wants it", async (name, args, result) => {
    const pool = modulePool();
    const call = pool.call as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const [first, second] = await Promise.all([call[name]!(...args), call["count"]!()]);
    expect(first).toEqual(result);
    expect(second).toBe(1);
    expect(pool.stats()).toMatchObject({ inFlight: 0, completed: 2 });
  });

  test("of a task that runs runs once, and counts for its task", async () => {
    const pool = modulePool();
    expect(await pool.call.count()).toBe(1);
    expect(await pool.call.count()).toBe(2);
    expect(pool.stats().tasks.find(({ name }) => name === "count")).toMatchObject({ calls: 2 });
  });

  test("of a task that is called again leaves no call in its worker", async () => {
    const pool = modulePool();
    expect(await pool.call.norm({ x: 3, y: 4 })).toBe(5);
    expect(pool.stats()).toMatchObject({ inFlight: 0, workers: [{ running: 0 }] });
  });

  test("may throw, abort its task, or be aborted", async () => {
    await expect(modulePool().call.configure("a", "refused")).rejects.toThrow(RangeError);
    const aborted = modulePool().call.untilAborted.with({ signal: AbortSignal.timeout(5) })();
    await expect(aborted).rejects.toMatchObject({ name: "TimeoutError" });
    const controller = new AbortController();
    const call = modulePool().call.count.with({ signal: controller.signal })();
    controller.abort();
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
  });

  test.each(["missing", "version", "Point"])(
    "of %s, which is no task, is rejected",
    async (name) => {
      const pool = modulePool();
      const call = pool.call as unknown as Record<string, () => Promise<unknown>>;
      await expect(call[name]!()).rejects.toThrow(UnknownTaskError);
      expect(await pool.call.count()).toBe(1);
    },
  );

  test("is refused at once if the module cannot be loaded", async () => {
    const broken = new URL("../fixtures/broken-module.ts", import.meta.url);
    const pool = closedAfterTest(createPool({ threads: 1 })<Tasks>(broken));
    await expect(pool.call.count()).rejects.toMatchObject({ code: "HEDDLE_WORKER_START" });
  });

  test("never runs in a pool that is closed at once", async () => {
    const pool = modulePool();
    const call = pool.call.count();
    await turn();
    const end = pool.shutdown(0);
    await expect(call).rejects.toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
    await end;
  });

  test("runs before a pool closes that waits for its calls", async () => {
    const pool = modulePool();
    const call = pool.call.count();
    await turn();
    await pool.shutdown();
    expect(await call).toBe(1);
  });
});

test("of the calls of one turn the most urgent one is the first", async () => {
  const { call } = modulePool();
  const counts = [
    call.count.with({ priority: "low" })(),
    call.count(),
    call.count.with({ priority: "high" })(),
  ];
  expect(await Promise.all(counts)).toEqual([3, 2, 1]);
});

test("a worker that does not get ready keeps no further worker from starting", async () => {
  const words = sharedWords();
  const slow = new URL("../fixtures/slow-first.ts", import.meta.url);
  for (const minThreads of [0, 1]) {
    const pool = closedAfterTest(
      createPool({ minThreads, maxThreads: 2, worker: { data: words } })<
        typeof import("../fixtures/slow-first.ts")
      >(slow),
    );
    expect(await Promise.all([pool.call.idOf(), pool.call.idOf()])).toEqual([1, 1]);
  }
  release(words);
});

test("another worker that is ready first takes the first call", async () => {
  const words = sharedWords();
  const slow = new URL("../fixtures/slow-first.ts", import.meta.url);
  const pool = closedAfterTest(
    createPool({ threads: 2, worker: { data: words } })<
      typeof import("../fixtures/slow-first.ts")
    >(slow),
  );
  const calls = [pool.call.idOf(), pool.call.idOf({ a: 1 })];
  await turn();
  expect(await Promise.all(calls)).toEqual([1, 1]);
  release(words);
  await pool.ready;
});

test("what prepares workers may be asked for when the first call is sent", async () => {
  const pool = modulePool();
  const first = pool.call.norm({ x: 3, y: 4 });
  await turn();
  const prepared = pool.broadcast.configure.with({ sticky: true })("a", 1);
  expect(await first).toBe(5);
  expect(await prepared).toEqual([1]);
});

test("what prepares workers runs before the first call", async () => {
  const pool = modulePool();
  const before = pool.broadcast.configure.with({ sticky: true })("a", 1);
  const configured = pool.call.configured("a");
  expect(await configured).toBe(1);
  await before;
  const other = modulePool();
  const first = other.call.configured("a");
  const after = other.broadcast.configure.with({ sticky: true })("a", 1);
  expect(await first).toBe(1);
  await after;
});
