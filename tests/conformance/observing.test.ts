/** What an operator sees of a pool: statistics, events, the tracing channel and debug output. */
import { AsyncLocalStorage } from "node:async_hooks";
import { tracingChannel } from "node:diagnostics_channel";
import { describe, expect, test, vi } from "vitest";
import { InvalidArgumentError } from "../../src/mod.ts";
import {
  begun,
  closedAfterTest,
  rejection,
  release,
  sharedWords,
  testPool,
  until,
} from "../support/conformance.ts";
import { createPool } from "../../src/mod.ts";
import { pause, runScript, runtimeName } from "../support/runtime.ts";

const taskOf = (pool: ReturnType<typeof testPool>, name: string) =>
  pool.stats().tasks.find((task) => task.name === name)!;

describe("pool.stats()", () => {
  test("counts calls that resolved and rejected, in all and by task", async () => {
    const pool = testPool();
    for (let n = 0; n < 5; n++) await pool.call.add(n, 1);
    await rejection(pool.call.fail("Error"));
    await rejection(pool.call.echo(() => {})); // refused before there is a call
    expect(pool.stats()).toMatchObject({ completed: 5, failed: 2, retried: 0, running: 0 });
    expect(taskOf(pool, "add")).toMatchObject({ calls: 5, failures: 0, run: undefined });
    expect(taskOf(pool, "fail")).toMatchObject({ calls: 1, failures: 1 });
    expect(taskOf(pool, "echo")).toMatchObject({ calls: 1, failures: 1 });
    const waiting = pool.call.echo(new Promise((resolve) => setTimeout(resolve, 20)));
    expect(pool.stats()).toMatchObject({ inFlight: 1, queued: 1, running: 0 });
    await waiting;
  });

  test("counts variants of a task as calls of it", async () => {
    const pool = testPool();
    await pool.map(pool.call.asyncEcho, [1, 2, 3]).toArray();
    await pool.call.echo.with({ onEvent: () => {} })(1);
    expect(taskOf(pool, "asyncEcho").calls).toBeGreaterThan(0);
    expect(taskOf(pool, "echo").calls).toBe(1);
    const { completed, tasks } = pool.stats();
    expect(tasks.reduce((sum, { calls }) => sum + calls, 0)).toBe(completed);
  });

  test("tells calls that wait on the host from those that workers have", async () => {
    const pool = testPool({ threads: 1, balancer: "fifo" });
    const words = sharedWords();
    const first = pool.call.hold(0, words);
    await begun(words);
    const second = pool.call.add(1, 2);
    expect(pool.stats()).toMatchObject({ inFlight: 2, running: 1, queued: 1 });
    expect(pool.stats().workers).toMatchObject([{
      id: 0,
      name: "heddle-0",
      state: "busy",
      running: 1,
    }]);
    release(words);
    await Promise.all([first, second]);
    expect(pool.stats().workers).toMatchObject([{ state: "idle", running: 0, calls: 2 }]);
  });

  test("counts repetitions of calls whose worker was lost", async () => {
    const pool = testPool();
    await rejection(pool.call.exit.with({ retries: 2 })(1));
    expect(pool.stats()).toMatchObject({ retried: 2, failed: 1, workersLost: 3 });
  });

  test("says how much of the time workers work", async () => {
    const pool = testPool({ threads: 2 });
    await pool.ready;
    const words = sharedWords();
    const call = pool.call.hold(1100, words);
    await begun(words);
    const busy = pool.stats().workers.find(({ state }) => state === "busy")!;
    expect(busy.utilization.recent).toBe(1);
    const idleWorker = () => pool.stats().workers.find(({ state }) => state === "idle")!;
    await until(() => idleWorker().utilization.recent < 0.5);
    const idle = idleWorker();
    expect(busy.utilization.total).toBeGreaterThan(idle.utilization.total);
    release(words);
    await call;
  });

  test("says that a worker sleeps after an async call", async () => {
    const pool = testPool({ threads: 1 });
    await pool.ready;
    expect(await pool.call.sleep(20, 1)).toBe(1);
    await until(() => pool.stats().workers[0]!.utilization.recent < 0.5);
  });

  test("follows the states of a worker", async () => {
    const pool = testPool({ threads: 1 });
    expect(pool.stats().workers).toMatchObject([{ state: "starting", utilization: { total: 0 } }]);
    await pool.ready;
    expect(pool.stats().workers).toMatchObject([{ state: "idle" }]);
    await pool.shutdown();
    expect(pool.stats().workers).toEqual([]);
  });
});

describe("metrics: true", () => {
  test("measures wait and run times of tasks, and memory", async () => {
    const pool = testPool({ threads: 1, metrics: true });
    await pool.ready;
    for (let round = 0; round < 3; round++) {
      await Promise.all([pool.call.burn(20), pool.call.sleep(20), pool.call.add(1, 2)]);
    }
    await until(() => pool.stats().workers[0]!.memoryBytes !== undefined, () => pool.call.burn(6));
    expect(pool.stats().workers[0]!.memoryBytes).toBeGreaterThan(100_000);
    const { run, wait } = taskOf(pool, "sleep");
    // Timers may be a millisecond early; nothing bounds them from above.
    expect(run!.p50).toBeGreaterThan(18);
    // All but the calls since the last measured one.
    expect(run!.count).toBeGreaterThan(0);
    expect(run!.count).toBeLessThanOrEqual(3);
    expect(run!.max).toBeGreaterThanOrEqual(run!.p50 * 0.97);
    // It waited behind `burn`.
    expect(wait!.p50).toBeGreaterThan(18);
    expect(taskOf(pool, "burn").run!.p999).toBeGreaterThan(5);
    expect(taskOf(pool, "echo")).toMatchObject({ run: undefined, wait: undefined });
  });

  test("samples stand for all calls", async () => {
    const pool = testPool({ threads: 1, metrics: true });
    for (let n = 0; n < 2000; n++) await pool.call.add(n, 1);
    const { run, wait, calls } = taskOf(pool, "add");
    expect(calls).toBe(2000);
    for (const times of [run!, wait!]) {
      expect(times.count).toBeLessThanOrEqual(2000);
      expect(times.count).toBeGreaterThan(2000 - 65);
      expect(times.p50).toBeLessThanOrEqual(times.p999);
    }
  });
});

describe("events", () => {
  test("that a pool does not have, and listeners that are none, are refused", () => {
    const pool = testPool();
    expect(() => pool.addEventListener("drian" as "drain", () => {})).toThrow(
      /A pool has no event "drian" .*; did you mean "drain"\? It has: workerStart, workerExit/,
    );
    expect(() => pool.addEventListener("drain", 5 as never)).toThrow(/listener must be a function/);
    expect(() => pool.addEventListener("drain", undefined as never)).toThrow(/listener must be/);
  });

  test("a worker starts, ends and is replaced", async () => {
    const pool = testPool({ threads: 1 });
    const seen: unknown[] = [];
    pool.addEventListener("workerStart", ({ detail }) => seen.push(["start", detail]));
    pool.addEventListener("workerExit", ({ detail }) => seen.push(["exit", detail]));
    const calls = [pool.call.hang(), pool.call.exit(7)];
    await Promise.all(calls.map(rejection));
    await pool.call.add(1, 2);
    await pool.shutdown();
    expect(seen).toMatchObject([
      ["start", { workerId: 0, name: "heddle-0" }],
      ["exit", { workerId: 0, reason: "it exited", exitCode: 7, callsLost: 2, replacedBy: 1 }],
      ["start", { workerId: 1 }],
      ["exit", { workerId: 1, reason: "the pool was closed", callsLost: 0, replacedBy: undefined }],
    ]);
  });

  test("recycled workers say by whom they are replaced", async () => {
    const pool = testPool({ threads: 1, recycleAfter: 2 });
    const exits: unknown[] = [];
    pool.addEventListener("workerExit", ({ detail }) => exits.push(detail));
    await until(() => exits.length > 0, () => pool.call.add(1, 2));
    expect(exits[0]).toMatchObject({ reason: "it was recycled", replacedBy: 1, callsLost: 0 });
  });

  test("an exception that nothing caught is the cause of the error of its end", async () => {
    const pool = testPool({ threads: 1 });
    const heard = new Promise((resolve) => {
      pool.addEventListener("workerExit", (event) => {
        event.preventDefault();
        resolve(event.detail);
      });
    });
    await rejection(pool.call.crash());
    expect(await heard).toMatchObject({
      workerId: 0,
      error: { cause: expect.any(Error) as Error },
    });
  });

  test("a listener that throws disturbs nothing", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    try {
      const pool = testPool({ threads: 1 });
      let others = 0;
      const throwing = (): void => {
        throw new Error("thrown by a listener");
      };
      pool.addEventListener("workerStart", throwing);
      pool.addEventListener("workerStart", async () => await Promise.reject(new Error("later")));
      pool.addEventListener("workerStart", () => others++);
      pool.addEventListener("workerExit", throwing);
      pool.removeEventListener("workerExit", throwing);
      await rejection(pool.call.exit(1));
      expect(await pool.call.add(1, 2)).toBe(3);
      expect(others).toBe(2);
      await until(() => printed.mock.calls.length === 4);
      expect(printed.mock.calls.map(([text]) => text)).toEqual(
        Array(4).fill("heddle: a listener of a pool threw:"),
      );
    } finally {
      printed.mockRestore();
    }
  });
});

describe('the tracing channel "heddle:call"', () => {
  const channel = tracingChannel("heddle:call");

  /** Events while `f` runs, as name and message. */
  async function traced(f: () => Promise<unknown>) {
    const events: [string, Record<string, unknown>][] = [];
    const names = ["start", "end", "asyncStart", "asyncEnd", "error"] as const;
    const subscribers = Object.fromEntries(
      names.map((name) => [name, (message: unknown) => {
        events.push([name, message as Record<string, unknown>]);
      }]),
    ) as unknown as Parameters<typeof channel.subscribe>[0];
    channel.subscribe(subscribers);
    try {
      await f();
      await pause(1);
    } finally {
      channel.unsubscribe(subscribers);
    }
    return events;
  }

  test("follows a call with one message", async () => {
    const pool = testPool({ threads: 1, worker: { name: "traced" } });
    const order: string[] = [];
    const events = await traced(async () => {
      order.push(String(await pool.call.add(1, 2)));
    });
    expect(events.map(([name]) => name)).toEqual(["start", "end", "asyncStart", "asyncEnd"]);
    const [[, message]] = events as [[string, Record<string, unknown>]];
    expect(events.every(([, other]) => other === message)).toBe(true);
    expect(message).toMatchObject({ pool: "traced", task: "add", worker: 0, result: 3 });
    expect(message["waitMs"]).toBeUndefined();
    await pool.call.add(1, 2); // nobody subscribes any more
    expect(events).toHaveLength(4);
  });

  test("names the methods of objects by their class", async () => {
    const url = new URL("../fixtures/spawned.ts", import.meta.url);
    const pool = closedAfterTest(
      createPool({ threads: 1 })<typeof import("../fixtures/spawned.ts")>(url),
    );
    const events = await traced(async () => {
      const counter = await pool.spawn.Counter("a");
      await counter.add(1);
      await counter.$get("count");
      await counter.$release();
    });
    const starts = events.filter(([name]) => name === "start");
    expect(starts.map(([, { task }]) => task)).toEqual([
      "new Counter",
      "Counter.add",
      "Counter.$get",
      "Counter.$release",
    ]);
  });

  test("publishes errors, and calls that could not be made", async () => {
    const pool = testPool({ threads: 1 });
    const events = await traced(async () => {
      await rejection(pool.call.fail("Error"));
      await rejection(pool.call.echo(() => {}));
    });
    expect(events.map(([name]) => name)).toEqual([
      "start",
      "end",
      "error",
      "asyncStart",
      "asyncEnd",
      "start",
      "error",
      "end",
    ]);
    expect(events[2]![1]).toMatchObject({ task: "fail", error: expect.any(Error) as Error });
  });

  test.each([{}, { chunk: 1 }])("maps errors of items of map() with %o", async (options) => {
    const url = new URL("../fixtures/source-tasks.ts", import.meta.url);
    const mapError = (reason: unknown): unknown => ({ mapped: reason });
    const pool = closedAfterTest(
      createPool({ threads: 1, mapError })<typeof import("../fixtures/source-tasks.ts")>(url),
    );
    await pool.ready;
    expect(await rejection(pool.map(pool.call.fail, [1, 2], options).toArray())).toEqual({
      mapped: expect.any(Error) as Error,
    });
  });

  test.each([true, false])("follows calls of generators, made early: %s", async (isEarly) => {
    const url = new URL("../fixtures/stream-tasks.ts", import.meta.url);
    const mapError = (reason: unknown): unknown => ({ mapped: reason });
    const pool = closedAfterTest(
      createPool({ threads: 1, mapError })<typeof import("../fixtures/stream-tasks.ts")>(url),
    );
    if (!isEarly) await pool.ready;
    const events = await traced(async () => {
      expect(await pool.call.count(0, 3).toArray()).toEqual([0, 1, 2]);
      expect(await rejection(pool.call.failing(2).toArray())).toEqual({
        mapped: expect.any(Error) as Error,
      });
    });
    const named = events.map(([name, { task }]) => `${String(task)} ${name}`);
    const good = ["start", "end", "asyncStart", "asyncEnd"].map((name) => `count ${name}`);
    const bad = ["start", "end", "error", "asyncStart", "asyncEnd"].map((name) =>
      `failing ${name}`
    );
    expect(named).toEqual([...good, ...bad]);
  });

  test("a reason that has no text rejects its call", async () => {
    const pool = testPool({ threads: 1 });
    const reason = Object.create(null) as object;
    const controller = new AbortController();
    controller.abort(reason);
    const blocked = new AbortController();
    await traced(async () => {
      expect(await rejection(pool.call.echo.with({ signal: controller.signal })(1))).toBe(reason);
      const call = rejection(pool.call.sleep.with({ signal: blocked.signal })(10_000));
      blocked.abort(reason);
      expect(await call).toBe(reason);
    });
  });

  test("with metrics says how long each call waited and ran", async () => {
    const pool = testPool({ threads: 1, metrics: true });
    await pool.ready;
    const events = await traced(async () => {
      const words = sharedWords();
      const held = pool.call.hold(0, words);
      await begun(words);
      const sleeping = pool.call.sleep(30);
      await pause(30);
      release(words);
      await Promise.all([held, sleeping]);
    });
    const [slept] = events.filter(([name, { task }]) => name === "asyncEnd" && task === "sleep");
    const { waitMs, runMs } = slept![1] as { waitMs: number; runMs: number };
    expect(waitMs).toBeGreaterThan(25);
    expect(runMs).toBeGreaterThan(25);
  });

  test("a subscriber may call the pool", async () => {
    const pool = testPool({ threads: 1 });
    let inner: Promise<number> | undefined;
    const onEnd = ({ task }: { task?: string }): void => {
      if (task === "echo") inner = pool.call.add(1, 2);
    };
    const subscribers = { asyncEnd: onEnd } as unknown as Parameters<typeof channel.subscribe>[0];
    channel.subscribe(subscribers);
    try {
      await pool.call.echo(1);
      await until(() => inner !== undefined);
      expect(await inner).toBe(3);
    } finally {
      channel.unsubscribe(subscribers);
    }
  });
});

test("the AsyncLocalStorage of a caller is intact after the await", async () => {
  const pool = testPool({ threads: 2 });
  const storage = new AsyncLocalStorage<number>();
  const ask = (id: number): Promise<unknown> =>
    storage.run(id, async () => {
      await pool.call.asyncEcho(id);
      const between = storage.getStore();
      await Promise.all([pool.call.echo({ id }), pool.call.sleep(1)]);
      await rejection(pool.call.fail("Error"));
      return [between, storage.getStore()];
    });
  const ids = Array.from({ length: 50 }, (_, id) => id);
  expect(await Promise.all(ids.map(ask))).toEqual(ids.map((id) => [id, id]));
});

test.runIf(runtimeName === "node")("the inspector shows workers by their names", async () => {
  const pool = testPool({ threads: 1, worker: { name: "images" } });
  await pool.ready;
  const { Session } = await import("node:inspector");
  const session = new Session();
  session.connect();
  const titles: string[] = [];
  session.on("NodeWorker.attachedToWorker", ({ params }) => titles.push(params.workerInfo.title));
  session.post("NodeWorker.enable", { waitForDebuggerOnStart: false });
  await until(() => titles.length > 0);
  session.post("NodeWorker.disable");
  session.disconnect();
  expect(titles.join()).toContain("images-0");
});

describe("debug", () => {
  /** What a program with two calls prints. */
  async function run(topics: string): Promise<string> {
    const before = process.env["HEDDLE_DEBUG"];
    process.env["HEDDLE_DEBUG"] = topics;
    try {
      const { code, output } = await runScript("debug.ts");
      expect(code).toBe(0);
      return output;
    } finally {
      if (before === undefined) delete process.env["HEDDLE_DEBUG"];
      else process.env["HEDDLE_DEBUG"] = before;
    }
  }

  test("prints decisions about calls, workers and waits", async () => {
    const output = await run("1");
    expect(output).toMatch(/^mine +\d+\.\d{3} ms {2}worker 0 is ready$/m);
    expect(output).toMatch(/call 0 echo waits on the host: no worker is ready/);
    expect(output).toMatch(/call 1 echo sent to worker 0, which has 0 others/);
    expect(output).toMatch(/call 1 echo resolved by worker 0/);
    expect(output).toMatch(/the host parked, \d calls are in flight/);
    expect(output).toMatch(/worker 0 ended: the pool was closed \(exit code 0, 0 calls lost/);
  });

  test("prints the topics asked for, and nothing by default", async () => {
    const workers = await run("workers");
    expect(workers).toContain("worker 0 is ready");
    expect(workers).not.toContain("echo");
    expect(await run("calls,waits")).not.toContain("worker 0 is ready");
    expect(await run("")).toBe("");
  });

  test("shows the frames of the worker, then those of the caller", async () => {
    const pool = testPool({ threads: 1, debug: ["workers"] });
    const print = vi.spyOn(process.stderr, "write").mockImplementation(() => true);
    try {
      const callerOfTheTask = async (): Promise<unknown> =>
        await rejection(pool.call.fail("Error"));
      const { stack } = await callerOfTheTask() as Error;
      const [theirs, ours] = stack!.split(/--- called as fail\(\) ---/);
      expect(theirs).toMatch(/fixtures\/tasks\.ts/);
      expect(ours).toMatch(/callerOfTheTask|observing\.test/);
      expect(ours).not.toMatch(/src\/host|src\/api/);
      await pool.shutdown();
      expect(print.mock.calls.flat().join("")).toContain("worker 0 ended");
    } finally {
      print.mockRestore();
    }
  });

  test("shows callers without output", async () => {
    const pool = testPool({ threads: 1, debug: ["callers"] });
    const print = vi.spyOn(process.stderr, "write").mockImplementation(() => true);
    try {
      const callerOfTheTask = async (): Promise<unknown> =>
        await rejection(pool.call.fail("Error"));
      const { stack } = await callerOfTheTask() as Error;
      await pool.shutdown();
      const [theirs, ours] = stack!.split(/--- called as fail\(\) ---/);
      expect(theirs).toMatch(/fixtures\/tasks\.ts/);
      expect(ours).toMatch(/callerOfTheTask|observing\.test/);
      expect(print.mock.calls).toEqual([]);
    } finally {
      print.mockRestore();
    }
  });

  test("shows the caller of a call that was made before the tasks of a module were known", async () => {
    const url = new URL("../fixtures/tasks.ts", import.meta.url);
    const pool = closedAfterTest(createPool({ threads: 1, debug: ["workers"] })(url));
    const print = vi.spyOn(process.stderr, "write").mockImplementation(() => true);
    try {
      const callerOfTheTask = async (): Promise<unknown> =>
        await rejection(pool.call["fail"]!("Error"));
      const { stack } = await callerOfTheTask() as Error;
      const [, ours] = stack!.split(/--- called as fail\(\) ---/);
      expect(ours).toMatch(/callerOfTheTask|observing\.test/);
      expect(ours!.trim().split("\n")[0]).toMatch(/callerOfTheTask|observing\.test/);
      await pool.shutdown();
    } finally {
      print.mockRestore();
    }
  });

  test("reasons that cannot be looked at reject their calls", async () => {
    const pool = testPool({ threads: 1, debug: ["workers"] });
    const reason = {
      get stack(): string {
        throw new Error("no stack");
      },
    };
    const controller = new AbortController();
    const call = rejection(pool.call.sleep.with({ signal: controller.signal })(10_000));
    controller.abort(reason);
    expect(await call).toBe(reason);
  });

  test("wrong options are refused", () => {
    const refused = (options: object): unknown => {
      try {
        closedAfterTest(createPool(options)({}));
      } catch (error) {
        return error;
      }
      return undefined;
    };
    for (const debug of ["calls", ["wait"], 1]) {
      expect(refused({ debug })).toBeInstanceOf(InvalidArgumentError);
    }
    expect(refused({ metrics: 1 })).toBeInstanceOf(InvalidArgumentError);
    const capture = (): void => {};
    for (
      const context of [1, {}, { capture }, { capture, run: "a.ts" }, { capture, run: capture }]
    ) {
      expect(refused({ context })).toBeInstanceOf(InvalidArgumentError);
    }
    const run = new URL("../fixtures/context-run.ts", import.meta.url);
    expect(refused({ context: { capture, run }, inliner: true })).toBeInstanceOf(
      InvalidArgumentError,
    );
  });
});
