/** Objects that live in workers (`pool.spawn`). */
import { AsyncLocalStorage } from "node:async_hooks";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import {
  createPool,
  ObjectLostError,
  type Pool,
  type PoolOptions,
  TaskNotFoundError,
  WorkerLostError,
} from "../../src/mod.ts";
import { createLeakPool } from "../fixtures/leak-tasks.ts";
import { closedAfterTest, rejection, until } from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";

type Module = typeof import("../fixtures/spawned.ts");

const module = new URL("../fixtures/spawned.ts", import.meta.url);

const modulePool = (options: PoolOptions = {}): Pool<Module> =>
  closedAfterTest(createPool({ threads: 2, ...options })<Module>(module));

const gone = async (call: Promise<unknown>): Promise<ObjectLostError> => {
  const error = await rejection(call);
  expect(error).toBeInstanceOf(ObjectLostError);
  return error as ObjectLostError;
};

describe("an object in a worker", () => {
  test("keeps its state, and its methods are calls", async () => {
    const pool = modulePool();
    const counter = await pool.spawn.Counter("a", 5);
    expect(await counter.add(2)).toBe(7);
    expect(await counter.add(3)).toBe(10);
    expect(await counter.$get("count")).toBe(10);
    expect(await counter.$get("name")).toBe("a");
    expect(await counter.length()).toBe(6);
    expect(Object.keys(counter)).toContain("add");
    expect(Object.keys(counter)).not.toContain("$get");
    const value = { list: [1, undefined], map: new Map([["a", new Date(5)]]), big: 2n ** 70n };
    expect(await counter.echo(value)).toEqual(value);
    const large = new Uint8Array(3_000_000).fill(7);
    expect(await counter.echo(large)).toEqual(large);
    expect(await counter.add(Promise.resolve(1))).toBe(11);
  });

  test("names its arguments in errors as its caller counts them", async () => {
    const pool = modulePool();
    const counter = await pool.spawn.Counter("a", 5);
    const unsent = await rejection(counter.echo({ user: { onClick: () => {} } }));
    expect(String(unsent)).toContain("args[0].user.onClick");
    expect((unsent as Error).stack).toContain("args[0].user.onClick");
    const unmade = await rejection(pool.spawn.Counter("a", Symbol("b") as never));
    expect(String(unmade)).toContain("args[1]");
  });

  test("can be printed", async () => {
    const counter = await modulePool().spawn.Counter("a", 5);
    for (const other of [new Proxy(counter, {}), Object.create(counter) as unknown]) {
      expect(inspect(other)).toBeTypeOf("string");
    }
    const printed = inspect(counter);
    expect(printed).toMatch(/^Counter \(in worker \d, 0 calls in flight; methods: .*addLater/);
  });

  test("is made before the pool is ready, and of a module that is not that of the pool", async () => {
    const early = modulePool();
    const [one, other] = await Promise.all([early.spawn.Counter("a"), early.spawn.Counter("b")]);
    expect(await Promise.all([one.add(1), other.add(2)])).toEqual([1, 2]);
    const pool = closedAfterTest(createLeakPool());
    for (const url of [module, module.href]) {
      const counter = await pool.spawn<Module>(url).Counter("c", 1);
      expect(await counter.add(1)).toBe(2);
    }
    expect(await pool.call.echo(3)).toBe(3);
  });

  test("streams what a generator yields, and ends it with its reader", async () => {
    const counter = await modulePool().spawn.Counter("a", 5);
    const stream = counter.upTo(8);
    expect(await stream.toArray()).toEqual([5, 6, 7]);
    expect(await stream.returned).toBe("a");
    for await (const n of counter.upTo(1e9)) if (n > 20) break;
    expect(await counter.add(0)).toBeGreaterThan(20);
  });

  test("has the methods that it inherits, and none that would make it a promise", async () => {
    const { Derived } = modulePool().spawn as unknown as {
      Derived(): Promise<Record<"inherited" | "overridden", () => Promise<string>>>;
    };
    const derived = await Derived();
    expect(await derived.inherited()).toBe("base");
    expect(await derived.overridden()).toBe("derived of base");
    expect("then" in derived).toBe(false);
  });

  test("throws its errors to the caller", async () => {
    const counter = await modulePool().spawn.Counter("a");
    const error = await rejection(counter.fail());
    expect(error).toMatchObject({ name: "RangeError", message: "a fails" });
    expect((error as Error).stack).toMatch(/spawned\.ts/);
    expect(await rejection(counter.$get("nothing" as never))).toMatchObject({
      code: "HEDDLE_INVALID_ARGUMENT",
      message: 'The object has no property "nothing".',
    });
    const call = counter.echo(() => 5 as never);
    expect(await rejection(call)).toMatchObject({ code: "HEDDLE_DATA_CLONE" });
    expect(await counter.add(1)).toBe(1);
  });

  test("is opened before the first call", async () => {
    const opened = await modulePool().spawn.Opened();
    expect(await opened.read()).toBe("open");
    expect("open" in opened).toBe(false);
  });

  test("may be of a module that has no tasks", async () => {
    const url = new URL("../fixtures/only-class.ts", import.meta.url);
    const pool = closedAfterTest(
      createPool({ threads: 1 })<typeof import("../fixtures/only-class.ts")>(url),
    );
    const only = await pool.spawn.Only();
    expect(await only.increment()).toBe(2);
    expect(await only.open("a")).toBe("open a"); // a method as any other, since it has a parameter
    expect(await only.later().toArray()).toEqual([1, 2]);
  });

  test("does not count as a call of a task", async () => {
    const pool = modulePool({ metrics: true });
    const counter = await pool.spawn.Counter("a");
    await counter.add(1);
    await pool.call.add(1, 2);
    const { tasks, completed } = pool.stats();
    expect(completed).toBe(3);
    expect(tasks.filter(({ calls }) => calls > 0).map(({ name }) => name)).toEqual(["add"]);
    expect(tasks.filter(({ run }) => run !== undefined && run.count > 1)).toEqual([]);
  });
});

describe("calls of an object", () => {
  test("begin in their order, and go on at awaits as in one thread", async () => {
    const counter = await modulePool().spawn.Counter("a");
    const calls = [counter.addLater(1, 400), counter.addLater(10, 200), counter.add(100)];
    expect(await Promise.all(calls)).toEqual([1, 10, 100]);
    const many = Array.from({ length: 500 }, () => counter.add(1));
    expect(await Promise.all(many)).toEqual(many.map((_, index) => 2 + index));
  });

  test("have the time limits of calls, which end no other", async () => {
    const counter = await modulePool({ threads: 1 }).spawn.Counter("a");
    const slow = counter.addLater(1, 200);
    const late = counter.addLater.with({ timeoutMs: 20 })(0, 60_000);
    const controller = new AbortController();
    const aborted = counter.addLater.with({ signal: controller.signal })(0, 60_000);
    setTimeout(() => controller.abort(new RangeError("enough")), 10);
    expect(await Promise.all([rejection(aborted), rejection(late)])).toMatchObject([
      { message: "enough" },
      { code: "HEDDLE_TIMEOUT" },
    ]);
    expect(await slow).toBe(1);
    expect(await counter.add(1)).toBe(2);
  });

  test("run each in the context of its caller", async () => {
    const url = new URL("../fixtures/context-of-objects.ts", import.meta.url);
    const als = new AsyncLocalStorage<string>();
    const pool = closedAfterTest(
      createPool({ threads: 1, context: { capture: () => als.getStore(), run: url } })<
        typeof import("../fixtures/context-of-objects.ts")
      >(url),
    );
    const teller = await pool.spawn.Teller();
    const calls = [
      als.run("A", () => teller.tellLater(20)),
      als.run("B", () => teller.tell()),
      als.run("C", () => teller.tellLater(1)),
    ];
    expect(await Promise.all(calls)).toEqual([
      "A Teller.tellLater",
      "B Teller.tell",
      "C Teller.tellLater",
    ]);
  });

  test("move what `transfer` lists", async () => {
    const counter = await modulePool().spawn.Counter("a");
    const bytes = new Uint8Array(100_000).fill(3);
    const echoed = await counter.echo.with({ transfer: [bytes.buffer] })(bytes);
    expect(bytes.length).toBe(0);
    expect(echoed).toEqual(new Uint8Array(100_000).fill(3));
  });

  test("refuse options that objects cannot have", async () => {
    const counter = await modulePool().spawn.Counter("a");
    for (const options of [{ affinity: "a" }, { retries: 1 }, { priority: 1 }, { onEvent() {} }]) {
      expect(() => counter.add.with(options as never)).toThrow(/is not for methods of objects/);
    }
    expect(() => counter.add.with({ nothing: 1 } as never)).toThrow(/nothing/);
  });
});

describe("an object that cannot be made", () => {
  test("rejects with what its class throws", async () => {
    const pool = modulePool({ threads: 1 });
    expect(await rejection(pool.spawn.Refusing())).toMatchObject({
      name: "TypeError",
      message: "not today",
    });
    expect(await rejection(pool.spawn.Broken())).toMatchObject({ message: "cannot open" });
    expect(await pool.call.takeLog()).toEqual(["dispose broken"]);
  });

  test("leaves nothing behind if its answer cannot be sent", async () => {
    const pool = modulePool({ threads: 1, maxPayloadBytes: 1000 });
    await pool.ready;
    expect(await rejection(pool.spawn.Wide())).toMatchObject({
      code: "HEDDLE_PAYLOAD_TOO_LARGE",
    });
    expect(await pool.call.takeLog()).toEqual(["dispose wide"]);
  });

  test("says how to export its class", async () => {
    const pool = modulePool();
    const spawn = pool.spawn<Record<string, new () => object>>(module.href);
    const error = await rejection(spawn["Count"]!());
    expect(error).toBeInstanceOf(TaskNotFoundError);
    expect((error as Error).message).toMatch(
      /has no class "Count"; did you mean "Counter"\?.*export class Count \{\}/,
    );
    for (const name of ["notAClass", "takeLog"]) { // a value, and a function that is no constructor
      expect(await rejection(spawn[name]!())).toBeInstanceOf(TaskNotFoundError);
    }
    const missing = pool.spawn<Record<string, new () => object>>("file:///no/module.js");
    expect(await rejection(missing["Counter"]!())).toBeInstanceOf(Error);
  });

  test("by options that do not fit", async () => {
    const pool = modulePool();
    const { spawn } = pool;
    const functions = closedAfterTest(createLeakPool());
    const inFunctions = functions.spawn as never as Record<string, () => Promise<unknown>>;
    for (
      const [call, message] of [
        [spawn.with({ placement: "near" as never }).Counter("a"), /placement must be/],
        [spawn.with({ size: 1 } as never).Counter("a"), /size/],
        [spawn.with(null as never).Counter("a"), /spawn\.with\(\) must be options, got null/],
        [spawn<Module>("./spawned.ts").Counter("a"), /relative/],
        [spawn<Module>(5 as never).Counter("a"), /a URL or a path/],
        [inFunctions["Engine"]!(), /give the module of the class/],
        [modulePool({ recycleAfter: 10 }).spawn.Counter("a"), /recycleAfter/],
      ] as const
    ) {
      expect(await rejection(call)).toMatchObject({
        code: "HEDDLE_INVALID_ARGUMENT",
        message: expect.stringMatching(message),
      });
    }
  });
});

describe("the end of an object", () => {
  test("comes after its calls, and disposes of it", async () => {
    const pool = modulePool({ threads: 1 });
    const counter = await pool.spawn.Counter("a");
    const calls = [counter.addLater(1, 300), counter.add(1), counter.echo(pause(20).then(() => 9))];
    const stream = counter.upTo(1_000_000);
    const released = counter.$release();
    expect((await gone(counter.add(1))).message).toMatch(
      /The object of the class "Counter" is gone: it was released\./,
    );
    expect(await Promise.all(calls)).toEqual([1, 1, 9]);
    expect(await pool.call.takeLog()).toEqual([]); // its stream has not been read
    for await (const n of stream) if (n > 10) break;
    await released;
    await counter.$release();
    expect(await pool.call.takeLog()).toEqual(["dispose a"]);
    {
      await using opened = await pool.spawn.Opened();
      await opened.read();
    }
    expect(await pool.call.takeLog()).toEqual(["dispose opened"]);
    const stuck = await pool.spawn.Stuck();
    expect(await rejection(stuck.$release())).toMatchObject({ message: "cannot end" });
    expect((await gone(stuck.$get("x" as never))).code).toBe("HEDDLE_OBJECT_LOST");
  });

  test("comes with that of the pool, whose calls in flight end first", async () => {
    const words = new Int32Array(new SharedArrayBuffer(8));
    const pool = createPool({ threads: 2 })<Module>(module);
    const objects = await Promise.all([0, 1, 2, 3].map(() => pool.spawn.Noting(words)));
    const calls = objects.map((each) => each.wait(10));
    await pool.shutdown();
    await Promise.all(calls);
    expect([...words]).toEqual([4, 4]);
    expect((await gone(objects[0]!.wait(1))).message).toMatch(/its worker ended: the pool/);
  });

  test("comes with the death of its worker, and says so", async () => {
    const pool = modulePool({ threads: 1 });
    const [one, other] = [await pool.spawn.Counter("a"), await pool.spawn.Counter("b")];
    const waiting = other.addLater(1, 60_000);
    const queued = other.addLater(1, 60_000);
    const error = await gone(one.exit(3));
    expect(error.message).toMatch(/"Counter" is gone: its worker ended: it exited/);
    expect(error.cause).toBeInstanceOf(WorkerLostError);
    for (const call of [waiting, queued]) {
      expect((await gone(call)).cause).toBeInstanceOf(WorkerLostError);
    }
    await gone(one.add(1));
    await gone(other.$get("count"));
    await one.$release(); // it is gone
    const next = await pool.spawn.Counter("c", 1);
    expect(await next.add(1)).toBe(2);
  });

  test("comes at the hard time limit of a call", async () => {
    const pool = modulePool({ threads: 1, hardTimeoutMs: 200 });
    const counter = await pool.spawn.Counter("a");
    expect(await rejection(counter.loop())).toMatchObject({ code: "HEDDLE_TIMEOUT" });
    await gone(counter.add(1));
    expect(await (await pool.spawn.Counter("b")).add(1)).toBe(1);
  });

  test("is told to a call that waited for a promise, and for its worker", async () => {
    const pool = modulePool({ threads: 1 });
    const counter = await pool.spawn.Counter("a");
    const later = pause(300).then(() => 1);
    const calls = [counter.add(later), pool.spawn.Counter(later.then(String))];
    await pause(20);
    await gone(counter.exit(1));
    for (const call of calls) await gone(call);
  });

  test("waits for a full queue, and is asked for again", async () => {
    const pool = modulePool({ threads: 1, maxQueue: 10, maxConcurrency: 4 });
    const counter = await pool.spawn.Counter("a");
    const busy = await pool.spawn.Counter("b");
    const calls = Array.from({ length: 14 }, () => busy.addLater(1, 5));
    await counter.$release();
    await Promise.all(calls);
    expect(await pool.call.takeLog()).toEqual(["dispose a"]);
  });

  test("during the shutdown of its pool is no error", async () => {
    const pool = createPool({ threads: 1 })<Module>(module);
    const counter = await pool.spawn.Counter("a");
    const call = counter.addLater(1, 100);
    const released = call.then(() => counter.$release());
    await pause(20);
    await pool.shutdown();
    expect(await call).toBe(1);
    await released;
  });

  test("is not that of an idle worker, nor of one whose pool grows and shrinks", async () => {
    const pool = modulePool({ threads: "auto", minThreads: 0, maxThreads: 2, idleTimeoutMs: 50 });
    const counter = await pool.spawn.Counter("a", 1);
    await Promise.all(Array.from({ length: 50 }, (_, n) => pool.call.add(n, n)));
    await until(() => pool.stats().workers.length === 1);
    await pause(200);
    expect(await counter.add(1)).toBe(2);
    await counter.$release();
    await until(() => pool.stats().workers.length === 0);
  });
});

test("workers with objects that are killed again and again: each call settles once", async () => {
  const pool = modulePool();
  await pool.ready;
  const counts = { value: 0, lost: 0, other: 0, twice: 0 };
  let made = 0;
  const watch = async (call: Promise<unknown>): Promise<void> => {
    made++;
    let isSettled = false;
    await call.then(() => counts.value++, (error) => {
      if (error instanceof ObjectLostError) counts.lost++;
      else counts.other++;
    }).then(() => {
      if (isSettled) counts.twice++;
      isSettled = true;
    });
  };
  for (let round = 0; round < 25; round++) {
    const objects = await Promise.all([0, 1, 2].map(() => pool.spawn.Counter("a")));
    const calls: Promise<void>[] = [];
    for (let n = 0; n < 60; n++) {
      const counter = objects[n % 3]!;
      calls.push(watch(n % 4 === 0 ? counter.addLater(1, 1) : counter.add(1)));
      if (n === 20 + round) calls.push(watch(counter.exit(1)));
      if (n % 20 === 19) await pause(0);
    }
    calls.push(...objects.map((counter) => watch(counter.$release())));
    await Promise.all(calls);
  }
  expect(counts).toMatchObject({ other: 0, twice: 0 });
  expect(counts.value + counts.lost).toBe(made);
  expect(counts.lost).toBeGreaterThan(25);
  expect(counts.value).toBeGreaterThan(500);
});

describe("the place of objects", () => {
  test("is the worker with the fewest, unless it is told", async () => {
    const pool = modulePool();
    await pool.ready;
    const spread = await Promise.all([..."abcd"].map((name) => pool.spawn.Counter(name)));
    const ids = await Promise.all(spread.map((each) => each.workerId()));
    expect(ids.filter((id) => id === ids[0])).toHaveLength(2);
    const beside = await pool.spawn.with({ placement: spread[1]! }).Counter("e");
    expect(await beside.workerId()).toBe(ids[1]);
    const packed = await pool.spawn.with({ placement: "pack" }).Counter("f");
    expect(await packed.workerId()).toBe(ids[1]);
    const elsewhere = await modulePool({ threads: 1 }).spawn.Counter("x");
    for (const placement of [{} as never, elsewhere]) {
      expect(await rejection(pool.spawn.with({ placement }).Counter("g")))
        .toMatchObject({ code: "HEDDLE_INVALID_ARGUMENT" });
    }
    await spread[0]!.$release();
    expect(await rejection(pool.spawn.with({ placement: spread[0]! }).Counter("h")))
      .toBeInstanceOf(ObjectLostError);
  });
});

test.each<PoolOptions>([{ transport: "messages" }, { workers: "processes" }])(
  "objects in workers of other kinds: %j",
  async (options) => {
    const pool = modulePool({ threads: 1, ...options });
    const counter = await pool.spawn.Counter("a", 1);
    const calls = [counter.addLater(1, 500), counter.add(10)];
    expect(await Promise.all(calls)).toEqual([2, 11]);
    expect(await counter.upTo(5).toArray()).toEqual([2, 3, 4]);
    expect((await counter.echo("x".repeat(200_000)) as string).length).toBe(200_000);
    const { cause } = await gone(counter.exit(3));
    expect(cause).toBeInstanceOf(WorkerLostError);
    if (options.workers === "processes") expect(cause).toMatchObject({ exitCode: 3 });
    await gone(counter.add(1));
  },
);
