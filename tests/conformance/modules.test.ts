/** What surrounds a program: other copies of the library, extended prototypes, output, processes that end. */
import { describe, expect, test } from "vitest";
import {
  createPool,
  type Pool,
  type PoolOptions,
  TaskNotFoundError,
  TimeoutError,
  transfer,
  UnknownTaskError,
  WorkerStartError,
} from "../../src/mod.ts";
import * as placed from "../fixtures/placed-tasks.ts";
import { closedAfterTest, release, sharedWords } from "../support/conformance.ts";
import { capabilities, runScript } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/module-tasks.ts");

const url = new URL("../fixtures/module-tasks.ts", import.meta.url);

const modulePool = (options: PoolOptions = { threads: 1 }): Pool<Tasks> =>
  closedAfterTest(createPool(options)<Tasks>(url));

/** Pools before and after their workers have described the tasks. */
const stages: readonly (readonly [string, (options?: PoolOptions) => Promise<Pool<Tasks>>])[] = [
  ["before the tasks are known", (options) => Promise.resolve(modulePool(options))],
  ["when the tasks are known", async (options) => {
    const pool = modulePool(options);
    await pool.ready;
    return pool;
  }],
];

describe("calls made before the tasks are known", () => {
  test("of one priority start in the order in which they are made, whoever has given it", async () => {
    const { call } = modulePool();
    const counts = [
      call.countUrgently(),
      call.countUrgently(),
      call.count.with({ priority: "high" })(),
    ];
    expect(await Promise.all(counts)).toEqual([1, 2, 3]);
  });

  test.each([{}, { maxQueue: 5, queuePolicy: "wait" }] as const)(
    "count as waiting while they get their tasks, with %o",
    async (options) => {
      const pool = modulePool({ threads: 1, ...options });
      const waiting: number[] = [];
      pool.addEventListener("drain", () => {
        waiting.push(pool.stats().queued);
        pool.sync.reverse("as the host may wait then");
      });
      const calls = Array.from({ length: 3000 }, (_, n) => pool.call.later(n));
      expect(pool.needsDrain).toBe(true);
      await pool.drained();
      expect(waiting[0]).toBeLessThan(1000);
      expect(await Promise.all(calls)).toHaveLength(3000);
    },
  );
});

test("a pool created by a tail call finds its module or throws", async () => {
  const { output } = await runScript("tail-call.ts");
  if (capabilities.hidesTailCalls) {
    expect(output).toMatch(/TaskNotFoundError: .*square.*tail call.*moduleUrl: import\.meta\.url/);
  } else expect(output).toBe("9\n");
});

describe.each(stages)("calls of a module pool %s", (_, create) => {
  test("functions, the default export and declared tasks are callable", async () => {
    const { call } = await create({ threads: 2 });
    const pair = { x: 3, y: 4 };
    const results = [
      call.reverse("abc"),
      call.default(4),
      call.later({ a: [1] }),
      call.mirror(pair),
      call.norm(pair),
      call.reverse(Promise.resolve("promise")),
    ];
    pair.x = NaN; // the arguments were taken when the calls were made
    expect(await Promise.all(results)).toEqual([
      "cba",
      8,
      { a: [1] },
      { x: 4, y: 3 },
      5,
      "esimorp",
    ]);
  });

  test("options of the task apply, and those of the call override them", async () => {
    const { call } = await create();
    const results = await Promise.all([
      call.patient.with({ runTimeoutMs: 60_000 })(1),
      call.patient(5000),
      call.refused().catch((error: unknown) => error),
      call.patient.with({ runTimeoutMs: 10, timeoutValue: "overridden" })(5000),
    ]);
    expect(results).toEqual(["in time", "too late", expect.any(TimeoutError), "overridden"]);
  });

  test("an unknown name rejects with the names that there are", async () => {
    const { call } = await create();
    const calls = call as unknown as Record<string, () => Promise<unknown>>;
    const error = await calls["revers"]!().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnknownTaskError);
    expect(String(error)).toMatch(
      /"revers".*did you mean "reverse"\?.*count, countUrgently, default, exit/,
    );
    await expect(calls["Point"]!()).rejects.toThrow(UnknownTaskError);
    await expect(calls["Point"]!()).rejects.toThrow('"Point" in this pool (classes are no tasks)');
    await expect(calls["version"]!()).rejects.toThrow(UnknownTaskError);
    expect(await call.reverse("ab")).toBe("ba");
  });

  test("values that do not fit declared shapes reject their own call", async () => {
    const { call } = await create();
    const bad = call.mirror({ x: 1 } as never);
    const good = call.mirror({ x: 1, y: 2 });
    await expect(bad).rejects.toMatchObject({ code: "HEDDLE_STRUCT_MISMATCH" });
    expect(await good).toEqual({ x: 2, y: 1 });
  });

  test("buffers move, beside declared shapes as well", async () => {
    const { call } = await create();
    const bytes = new Uint8Array(300_000);
    const result = call.sumWith(transfer(bytes), { x: 1, y: 2 });
    expect(bytes.length).toBe(0);
    expect(await result).toBe(300_003);
  });

  test("a call of a task with a signal can be aborted", async () => {
    const { call, stats } = await create();
    const early = new AbortController();
    const first = call.untilAborted.with({ signal: early.signal })();
    early.abort(new Error("at once"));
    await expect(first).rejects.toThrow("at once");
    const abort = new AbortController();
    const bySignal = call.untilAborted.with({ signal: abort.signal })();
    setTimeout(() => abort.abort(new Error("by the signal")), 20);
    await expect(bySignal).rejects.toThrow("by the signal");
    expect(stats().aborted).toBe(2);
  });

  test("calls of one worker start in the order in which they are made", async () => {
    const { call } = await create();
    const counts = Array.from({ length: 50 }, () => call.count());
    expect(await Promise.all(counts)).toEqual(counts.map((_, n) => n + 1));
  });

  test("calls that are made before a shutdown get their results", async () => {
    const { call, shutdown } = await create();
    const result = call.reverse("ab");
    await shutdown();
    expect(await result).toBe("ba");
    await expect(call.reverse("x")).rejects.toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
  });
});

describe("a module pool", () => {
  test("stays callable through functions that were read before the tasks were known", async () => {
    const pool = modulePool();
    const { reverse } = pool.call;
    const limited = reverse.with({ runTimeoutMs: 5000 });
    const unknown = (pool.call as unknown as Record<string, () => Promise<unknown>>)["nope"]!;
    await pool.ready;
    expect(await reverse("ab")).toBe("ba");
    expect(await limited("cd")).toBe("dc");
    await expect(unknown()).rejects.toThrow(UnknownTaskError);
    expect(Object.keys(pool.call)).toEqual(
      expect.arrayContaining(["default", "mirror", "reverse"]),
    );
    expect(Object.keys(pool.call)).not.toContain("Point");
  });

  test("starts its first worker for a call", async () => {
    const pool = modulePool({ minThreads: 0, maxThreads: 1 });
    expect(await pool.call.reverse("ab")).toBe("ba");
  });

  test("counts early calls against maxQueue, and a deadline from the call", async () => {
    const words = sharedWords();
    const setup = new URL("../fixtures/setup-gate.ts", import.meta.url);
    const pool = modulePool({ threads: 1, maxQueue: 2, worker: { setup, data: words } });
    const late = pool.call.reverse.with({ timeoutMs: 1 })("ab");
    const good = pool.call.reverse("ab");
    await expect(pool.call.reverse("x")).rejects.toMatchObject({ code: "HEDDLE_QUEUE_FULL" });
    await expect(late).rejects.toMatchObject({ name: "TimeoutError" });
    release(words);
    expect(await good).toBe("ba");
  });

  test("replaced workers know the same tasks", async () => {
    const pool = modulePool({ threads: 1, recycleAfter: 1 });
    for (let n = 0; n < 4; n++) expect(await pool.call.count()).toBe(1);
  });

  test("rejects early calls if the module cannot be loaded", async () => {
    const pool = closedAfterTest(createPool({ threads: 1 })(new URL("./gone.ts", import.meta.url)));
    await expect(pool.call["x"]!()).rejects.toThrow(WorkerStartError);
    await expect(pool.ready).rejects.toThrow(WorkerStartError);
  });

  test("takes a path relative to the module that called createPool, also where that made no pool yet", async () => {
    const create = createPool({ threads: 1 });
    // No frame of this module is on the stack when the pool is made.
    const made: unknown = await Promise.resolve("../fixtures/module-tasks.ts").then(create);
    expect(await closedAfterTest(made as Pool<Tasks>).call.reverse("ab")).toBe("ba");
  });

  test("takes a path relative to the calling module", async () => {
    const pool = closedAfterTest(
      createPool({ threads: 1, moduleUrl: import.meta.url })<Tasks>(
        "../fixtures/module-tasks.ts",
      ),
    );
    expect(await pool.call.reverse("ab")).toBe("ba");
  });

  test("takes a CommonJS module", async () => {
    const common = new URL("../fixtures/common-tasks.cjs", import.meta.url);
    const pool = closedAfterTest(createPool({ threads: 1 })(common));
    expect(await pool.call["add"]!(1, 2)).toBe(3);
    expect(await pool.call["with-dash"]!()).toBe("dash");
  });
});

describe("methods of a pool", () => {
  test("survive destructuring", async () => {
    const pool = modulePool();
    const { call, stats, drained, shutdown, [Symbol.asyncDispose]: dispose } = pool;
    expect(await call.reverse("ab")).toBe("ba");
    await drained();
    expect(stats().inFlight).toBe(0);
    await shutdown();
    await dispose();
  });
});

describe("declared tasks", () => {
  test("are found by the place of their declaration", async () => {
    const { code, output } = await runScript("placed.ts");
    expect(code).toBe(0);
    expect(output).toMatch(
      /^2 10\nHEDDLE_TASK_NOT_FOUND .*"lost".*The declaration at .*placed\.ts:6:\d+/,
    );
  });

  test("are found by their export names if they share a place", async () => {
    const { call } = closedAfterTest(createPool({ threads: 1 })(placed.tasks));
    expect(await Promise.all([call.double(1), call.triple(1)])).toEqual([2, 3]);
  });

  test("that workers cannot find are refused", async () => {
    const { ready } = closedAfterTest(createPool({ threads: 1 })(placed.lost));
    const error = await ready.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TaskNotFoundError);
    expect(String(error)).toMatch(/"unexported" was not found.*does not export "unexported"/);
  });

  test("bare functions of another module are refused with both remedies", async () => {
    const moduleUrl = new URL("../fixtures/placed-tasks.ts", import.meta.url);
    const { ready } = closedAfterTest(createPool({ threads: 1, moduleUrl })(placed.bare));
    await expect(ready).rejects.toThrow(/"local" is a bare function.*new URL\(.*task\(\{ f \}\)/);
  });

  test("imported ones are relative to the module that imports them", async () => {
    const { call } = closedAfterTest(
      createPool({ threads: 1 })({ ...placed.relative, ...placed.byDefault }),
    );
    expect(await call.reverse("ab")).toBe("ba");
    expect(await call.twice(2)).toBe(4);
  });
});
