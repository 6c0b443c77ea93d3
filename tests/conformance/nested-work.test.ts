/** Tasks that call tasks of their own pool. */
import { describe, expect, test } from "vitest";
import {
  callback,
  createPool,
  DeadlockError,
  type Pool,
  type PoolOptions,
  threadBudget,
  TimeoutError,
} from "../../src/mod.ts";
import { currentPool } from "../../src/mod-task.ts";
import { functions } from "../fixtures/host-functions.ts";
import { begun, closedAfterTest, rejection, sharedWords, until } from "../support/conformance.ts";

type Tasks = typeof import("../fixtures/nested-tasks.ts");

const url = new URL("../fixtures/nested-tasks.ts", import.meta.url);
/** The same tasks, in a module that says at its top level that they call each other. */
const trackedUrl = new URL("../fixtures/tracked-tasks.ts", import.meta.url);

async function nestingPool(
  options: PoolOptions = { threads: 1 },
  module = url,
): Promise<Pool<Tasks>> {
  const pool = closedAfterTest(createPool(options)<Tasks>(module));
  await pool.ready;
  return pool;
}

const range = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe.each(
  [
    ["1 thread, 1 task at once", { threads: 1, maxConcurrency: 1 }],
    ["1 thread", { threads: 1 }],
    ["2 threads, 1 task at once, bounded queue", {
      threads: 2,
      maxConcurrency: 1,
      maxQueue: 100_000,
    }],
    ["4 threads, by turns", { threads: 4, balancer: "roundRobin" }],
    ["2 threads, in order", { threads: 2, balancer: "fifo" }],
  ] as readonly (readonly [string, PoolOptions])[],
)("%s", (_, options) => {
  test("recursion ends", async () => {
    const { call } = await nestingPool(options);
    expect(await call.fib(12)).toBe(144);
    expect(await call.fibInTurn(8)).toBe(21);
    expect(await call.fibSync(15)).toBe(610);
    const numbers = range(3000).map((n) => (n * 7919) % 3001);
    expect(await call.quicksort(numbers)).toEqual(numbers.toSorted((one, other) => one - other));
  });

  test("2000 calls that await calls that await calls all end", async () => {
    const pool = await nestingPool(options);
    const results = await Promise.all(range(2000).map((n) => pool.call.parent(n)));
    expect(results).toEqual(range(2000).map((n) => n + 2));
    expect(pool.stats().inFlight).toBe(0);
  });
});

describe("values", () => {
  const twice = { of: [1, 2] };
  const values: readonly unknown[] = [
    undefined,
    -0,
    NaN,
    12n,
    "text".repeat(100_000),
    Object.assign(new Array(3), { 0: 1, 2: 3 }),
    new Map([[{ a: 1 }, new Set([1])]]),
    Object.assign(new RangeError("r", { cause: 1 }), { extra: true }),
    [twice, twice],
    new Uint8Array(3_000_000).fill(9),
    range(2000).map((n) => ({ n, text: `t${n}` })),
  ];

  test("pass through unchanged", async () => {
    const { call } = await nestingPool({ threads: 2 });
    for (const [index, value] of values.entries()) {
      expect([index, await call.echoNested(value)]).toEqual([index, value]);
      expect([index, await call.echoNestedSync(value)]).toEqual([index, value]);
    }
    const shared = new SharedArrayBuffer(8);
    const back = await call.echoNested(shared);
    new Int32Array(back)[0] = 3;
    expect(new Int32Array(shared)[0]).toBe(3);
  });

  test("move, through the host too", async () => {
    const { call } = await nestingPool({ threads: 2 });
    expect(await call.passPort()).toBe("back");
    expect(await call.passBytes(2_000_000)).toEqual([3, 4, 2_000_000]);
  });

  test("that are errors keep their class", async () => {
    const { call } = await nestingPool();
    const range = [true, "thrown", "a cause"];
    expect(await call.catchNested()).toEqual([range, [false, { kind: "value" }, undefined], range]);
  });

  test("are refused with a code", async () => {
    const { call } = await nestingPool();
    expect(await rejection(call.callNamed("echo", Symbol()))).toMatchObject({
      code: "HEDDLE_DATA_CLONE",
    });
    expect(await rejection(call.callNamed("grandchld", 1))).toMatchObject({
      code: "HEDDLE_UNKNOWN_TASK",
      message: expect.stringContaining('did you mean "grandchild"?') as string,
    });
    expect(await rejection(call.syncNamed("ad", 1, 2))).toMatchObject({
      code: "HEDDLE_UNKNOWN_TASK",
    });
    expect(await rejection(call.callNamed("generate", 2))).toMatchObject({
      code: "HEDDLE_INVALID_ARGUMENT",
    });
    expect(await rejection(currentPool().call["add"]!(1, 2))).toMatchObject({
      code: "HEDDLE_INVALID_ARGUMENT",
    });
    expect(() => currentPool().call["add"]!.with({ timeout: 1 } as object)).toThrow(
      'did you mean "timeoutMs"?',
    );
  });
});

describe.each([["at the top level", trackedUrl], ["in tasks", url]] as const)(
  "currentPool() is called %s",
  (_, module) => {
    test.each(["parentOfEndless", "lateParentOfEndless"] as const)(
      "an abort of %s aborts its child",
      async (name) => {
        const pool = await nestingPool({ threads: 2 }, module);
        const words = sharedWords();
        const controller = new AbortController();
        const parent = rejection(pool.call[name].with({ signal: controller.signal })(words));
        await begun(words);
        controller.abort(new RangeError("enough"));
        expect(await parent).toMatchObject({ message: "enough" });
        await until(() => Atomics.load(words, 3) === 1);
        await until(() => pool.stats().inFlight === 0);
      },
    );

    test("a time limit of the parent ends its child", async () => {
      const pool = await nestingPool({ threads: 1 }, module);
      const words = sharedWords();
      const parent = rejection(pool.call.parentOfEndless.with({ timeoutMs: 300 })(words));
      expect(await parent).toBeInstanceOf(TimeoutError);
      await until(() => pool.stats().inFlight === 0);
      await until(() => Atomics.load(words, 3) === Atomics.load(words, 1));
    });

    test("an error of the parent ends its child", async () => {
      const pool = await nestingPool({ threads: 2 }, module);
      const words = sharedWords();
      expect(await rejection(pool.call.failBesideChild(words))).toBeInstanceOf(RangeError);
      await until(() => Atomics.load(words, 3) === 1);
    });
  },
);

test("options of a nested call", async () => {
  const { call } = await nestingPool({ threads: 2 });
  expect(await call.childWith(sharedWords(), 100)).toEqual(["TimeoutError", "AbortError"]);
});

test("a generator awaits nested calls", async () => {
  const { call } = await nestingPool({ threads: 1 });
  expect(await call.generate(5).toArray()).toEqual([1, 2, 3, 4, 5]);
});

test("a stream that begins after a nested call keeps nothing of it", async () => {
  const pool = await nestingPool({ threads: 2 }, trackedUrl);
  const stream = await pool.call.streamAfterChild(4);
  const items: number[] = [];
  for await (const item of stream) items.push(item);
  expect(items).toEqual([1, 2, 3, 4]);
  // In the same slot of the host.
  const words = sharedWords();
  const controller = new AbortController();
  const parent = rejection(pool.call.parentOfEndless.with({ signal: controller.signal })(words));
  await begun(words);
  controller.abort();
  await parent;
  await until(() => Atomics.load(words, 3) === 1);
});

test.each([1, 20])(
  "workers that are replaced after %s calls end nested calls",
  async (recycleAfter) => {
    const pool = await nestingPool({ threads: 1, recycleAfter });
    expect(await Promise.all(range(10).map((n) => pool.call.parent(n)))).toEqual(
      range(10).map((n) => n + 2),
    );
  },
);

test("a worker that is replaced ends nested calls though a broadcast has come before the first of them", async () => {
  const pool = await nestingPool({ threads: 1, recycleAfter: 1 });
  await pool.broadcast.here();
  expect(await pool.call.parent(1)).toBe(3);
  expect(await pool.call.fibInTurn(4)).toBe(3);
});

test("nested calls are not counted by maxQueue", async () => {
  const { call } = await nestingPool({ threads: 1, maxConcurrency: 1, maxQueue: 0 });
  expect(await call.fib(8)).toBe(21);
});

describe("with the thread", () => {
  test("a synchronous task runs at once, in the same worker", async () => {
    const { call } = await nestingPool({ threads: 1, maxConcurrency: 1 });
    expect(await call.syncNamed("add", 1, 2)).toBe(3);
  });

  test("an async task runs in another worker", async () => {
    const { call } = await nestingPool({ threads: 2 });
    for (const n of range(10)) expect(await call.syncNamed("addLater", n, 1)).toBe(n + 1);
  });

  test("an async task gets a worker that is started for it", async () => {
    const { call, stats } = await nestingPool({ minThreads: 1, maxThreads: 2 });
    expect(await call.syncNamed("addLater", 1, 2)).toBe(3);
    expect(stats().workersStarted).toBe(2);
  });

  test("an async task throws DeadlockError if there is no other worker", async () => {
    const { call } = await nestingPool({ threads: 1 });
    const error = await rejection(call.syncOfAsync(1, 2));
    expect(error).toBeInstanceOf(DeadlockError);
    expect((error as Error).message).toContain("syncOfAsync → currentPool().sync.addLater()");
    expect(await call.add(1, 2)).toBe(3);
    expect(await rejection(call.syncOfPromise())).toBeInstanceOf(DeadlockError);
  });

  test("an async task gets a worker beyond the budget of threads", async () => {
    const options = { minThreads: 1, maxThreads: 2, budget: threadBudget({ max: 2 }) };
    const [one, other] = [await nestingPool(options), await nestingPool(options)];
    expect(await one.call.syncOfAsync(1, 2)).toBe(3);
    expect(await other.call.syncOfAsync(1, 2)).toBe(3);
  });

  test("one of several workers that wait for each other gets a DeadlockError", async () => {
    const pool = await nestingPool({ threads: 3, balancer: "firstIdle" });
    for (let round = 0; round < 5; round++) {
      const words = sharedWords();
      const outcomes = await Promise.all(range(3).map(() => pool.call.syncTogether(words, 3)));
      expect(outcomes.filter((outcome) => outcome === "HEDDLE_DEADLOCK")).not.toEqual([]);
      expect(new Set(outcomes).isSubsetOf(new Set([3, "HEDDLE_DEADLOCK"]))).toBe(true);
    }
    expect(pool.stats().inFlight).toBe(0);
  });
});

test("the pool closes when parents and children have ended", async () => {
  const pool = await nestingPool({ threads: 2 });
  const results = Promise.all(range(100).map((n) => pool.call.parent(n)));
  await pool.shutdown(Infinity);
  expect(await results).toEqual(range(100).map((n) => n + 2));
});

test("nothing is left when workers die in the middle", async () => {
  const pool = await nestingPool({ threads: 3 });
  for (let round = 0; round < 5; round++) {
    const calls = range(50).map((n) => pool.call.fibInTurn(5 + n % 3).catch(() => {}));
    await pool.call.dieLater(round * 3);
    await Promise.all(calls);
  }
  await until(() => pool.stats().inFlight === 0);
  expect(await pool.call.fib(5)).toBe(5);
  // Tasks whose callers were lost go on; of calls that a worker begins before its first nested one, the host does not know that.
  await until(() => pool.stats().inFlight === 0);
  expect(pool.stats()).toMatchObject({ inFlight: 0, queued: 0 });
});

describe("callbacks", () => {
  test("are functions for the task, at any depth", async () => {
    const { call } = await nestingPool();
    const seen: number[] = [];
    const onCount = callback((n: number) => {
      seen.push(n);
      return { n };
    });
    expect(await call.count(3, onCount)).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
    expect(seen).toEqual([0, 1, 2]);
    const each = callback(async (n: number) => {
      await Promise.resolve();
      return n * n;
    });
    expect(await call.visit({ each, list: [1, 2, 3] })).toEqual([1, 4, 9]);
  });

  test("are made before the tasks are known, and by several calls at once", async () => {
    const pool = closedAfterTest(createPool({ threads: 2 })<Tasks>(url));
    const sums = await Promise.all(
      range(20).map((n) => pool.call.count(5, callback((m: number) => n * m))),
    );
    expect(sums).toEqual(range(20).map((n) => range(5).map((m) => n * m)));
  });

  test("reject with what they throw", async () => {
    const { call } = await nestingPool();
    const failing = callback(() => {
      throw new RangeError("no");
    });
    expect(await rejection(call.count(1, failing))).toBeInstanceOf(RangeError);
  });

  test("take as many arguments as a call does", async () => {
    const { call } = await nestingPool();
    const countAll = callback((...args: number[]) => args.length);
    expect(await call.passMany(80_000, countAll)).toBe(80_000);
  });

  test("end with their call", async () => {
    const { call } = await nestingPool();
    expect(await call.keepCallback(callback(() => "once"))).toBe("once");
    expect(await call.callKept()).toBe("HEDDLE_CALLBACK_ENDED");
  });

  test("cannot be in other values", async () => {
    const { call, broadcast } = await nestingPool();
    const f = callback(() => 1);
    const code = "HEDDLE_DATA_CLONE";
    expect(await rejection(broadcast.echo(f))).toMatchObject({ code });
    expect(await rejection(call.echo((() => 1) as unknown as number))).toMatchObject({ code });
    expect(() => callback(1 as unknown as () => void)).toThrow("callback() takes a function");
  });
});

describe("pool.sync", () => {
  const syncPool = async (options: PoolOptions): Promise<Pool<Tasks>> =>
    await nestingPool({ host: { functions }, ...options });
  const thrown = (f: () => unknown): unknown => {
    try {
      return f();
    } catch (error) {
      return error;
    }
  };

  test("of tasks that call tasks", async () => {
    for (const threads of [1, 3]) {
      const { sync } = await syncPool({ threads });
      expect(sync.fib(10)).toBe(55);
      expect(sync.parent(5)).toBe(7);
      expect(sync.fibSync(10)).toBe(55);
    }
  });

  test("of a task that waits for the host is a deadlock, at once", async () => {
    const { sync, call } = await syncPool({ threads: 2 });
    const chains = [
      [() => sync.ask("double", 1), "pool.sync.ask() → host.call.double()"],
      [() => sync.askSync("double", 1), "pool.sync.askSync() → host.sync.double()"],
      [
        () => sync.callNamed("ask", "double", 1),
        "pool.sync.callNamed() → ask → host.call.double()",
      ],
      [() => sync.count(1, callback((n: number) => n)), "pool.sync.count() → a callback"],
    ] as const;
    for (const [f, chain] of chains) {
      const error = thrown(f);
      expect(error).toBeInstanceOf(DeadlockError);
      expect((error as Error).message).toContain(chain);
    }
    expect(await call.ask("double", 1)).toBe(2);
  });

  test("while all workers wait for the host is a deadlock", async () => {
    const pool = await nestingPool({
      threads: 1,
      host: { functions: { ...functions, double: () => thrown(() => pool.sync.add(1, 2)) } },
    });
    expect(await pool.call.askSync("double")).toMatchObject({ code: "HEDDLE_DEADLOCK" });
    expect(await pool.call.ask("double")).toBe(3);
  });
});

test.each([[1, 3], [2, 3], [2, 16]])(
  "calls that wait with their thread end where workers are recycled: %i threads, %i calls each",
  async (threads, recycleAfter) => {
    const { call } = await nestingPool({ threads, recycleAfter });
    const calls = range(4 * recycleAfter).map((n) =>
      call.syncOfAsync(n, 1).catch((error: unknown) => error)
    );
    for (const [n, result] of (await Promise.all(calls)).entries()) {
      // Where all workers wait in this way, one of them is told so.
      if (result !== n + 1) expect(result).toBeInstanceOf(DeadlockError);
    }
  },
);
