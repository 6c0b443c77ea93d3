/** Queues, events, cancellation, ends and crashes. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import workerpool, { type Task, type TaskQueue } from "@heddle/workerpool";
import { createPool, errorOf, until } from "./pools.ts";

const { CancellationError, TimeoutError } = workerpool.Promise;
/** A thread that loops cannot be stopped on Deno, nor can one that waits. */
const stopsLoops = !("Deno" in globalThis);

async function orderOf(queueStrategy: "fifo" | "lifo" | TaskQueue): Promise<number[]> {
  const pool = createPool("tasks.cjs", { maxWorkers: 1, queueStrategy });
  const order: number[] = [];
  const tasks = [1, 2, 3, 4].map((n) =>
    pool.exec("later", [1, n], { metadata: n }).then((value) => void order.push(value))
  );
  await workerpool.Promise.all(tasks);
  return order;
}

test("tasks run in the order of the queue", async () => {
  const tasks: Task[] = [];
  const biggestFirst: TaskQueue = {
    push: (task) => void tasks.push(task),
    pop: () => tasks.sort((a, b) => a.options!.metadata - b.options!.metadata).pop(),
    size: () => tasks.length,
    contains: (task) => tasks.includes(task),
    clear: () => void (tasks.length = 0),
  };
  expect(await orderOf("fifo")).toEqual([1, 2, 3, 4]);
  expect(await orderOf("lifo")).toEqual([1, 4, 3, 2]);
  expect(await orderOf(biggestFirst)).toEqual([1, 4, 3, 2]);
});

test("a full queue throws", async () => {
  const pool = createPool("tasks.cjs", { maxWorkers: 1, maxQueueSize: 1 });
  const tasks = [pool.exec("add", [1, 1]), pool.exec("add", [2, 2])];
  expect(() => pool.exec("add", [3, 3])).toThrow("Max queue size of 1 reached");
  expect(await workerpool.Promise.all(tasks)).toEqual([2, 4]);
});

test("workers start with tasks, or at once with minWorkers", async () => {
  const pool = createPool("tasks.cjs", { maxWorkers: 2 });
  expect(pool.stats().totalWorkers).toBe(0);
  const tasks = [1, 2, 3].map((n) => pool.exec("add", [n, n]));
  expect(pool.stats()).toMatchObject({ totalWorkers: 2, busyWorkers: 2, pendingTasks: 1 });
  await workerpool.Promise.all(tasks);
  const most = createPool(undefined, { minWorkers: "max", maxWorkers: 2 });
  expect(most.stats()).toMatchObject({ totalWorkers: 2, idleWorkers: 2 });
  expect(createPool(undefined, { minWorkers: 2, maxWorkers: 1 }).maxWorkers).toBe(2);
});

for (const workerType of ["thread", "process"] as const) {
  test(`events of a ${workerType} arrive before the result`, async () => {
    const pool = createPool("tasks.cjs", { workerType, maxWorkers: 1 });
    const events: unknown[] = [];
    const on = (event: unknown): void => void events.push(event);
    expect(await pool.exec("emit", [], { on })).toBe("done");
    expect(events).toEqual([{ step: 1 }, { step: 2 }]);
    await pool.exec("emitLater", [], { on });
    expect(events.at(-1)).toBe("later");
    expect(await pool.exec("emit")).toBe("done"); // without a listener
    expect(events.length).toBe(3);
  });

  test(`a cancelled task ends its ${workerType}, unless abort listeners stop it`, async () => {
    let created = 0;
    const pool = createPool("tasks.cjs", {
      workerType,
      maxWorkers: 1,
      workerTerminateTimeout: 60_000,
      onCreateWorker: () => void created++,
    });
    await pool.exec("count");
    const events: unknown[] = [];
    const on = (event: unknown): void => void events.push(event);
    const stopped = pool.exec("waitForever", ["stopped"], { on });
    await until(() => events.length > 0);
    expect(await errorOf(stopped.timeout(1))).toBeInstanceOf(TimeoutError);
    expect(await pool.exec("count")).toBe(2);
    expect(events).toEqual(["waits", "stopped"]);
    expect(created).toBe(1);
    const cancelled = pool.exec("later", [600_000, 0]);
    cancelled.cancel();
    expect(await errorOf(cancelled)).toBeInstanceOf(CancellationError);
    expect(await pool.exec("count")).toBe(1);
    expect(created).toBe(2);
  });

  test(`a ${workerType} that exits fails its task with a TerminateError`, async () => {
    const terminated: unknown[] = [];
    const pool = createPool("tasks.cjs", {
      workerType,
      maxWorkers: 1,
      onTerminateWorker: ({ script }) => void terminated.push(script),
    });
    const error = await errorOf(pool.exec("exit", [3]));
    expect(error).toBeInstanceOf(workerpool.TerminateError);
    expect(error.message).toContain("Workerpool Worker terminated Unexpectedly");
    expect(error.message).toMatch(/exitCode: `3`[^]*workerpool.script: `.*tasks\.cjs`/);
    expect(await pool.exec("count")).toBe(1);
    await until(() => terminated.length === 1);
    expect(terminated).toEqual([pool.script]);
  });

  test(`a ${workerType} that ends without a task is replaced`, async () => {
    let ended = 0;
    const onTerminateWorker = (): void => void ended++;
    const pool = createPool("tasks.cjs", { workerType, maxWorkers: 1, onTerminateWorker });
    await pool.exec("exitSoon");
    await until(() => pool.workers[0]!.terminated);
    expect(await pool.exec("count")).toBe(1);
    await until(() => ended === 1);
    await pool.terminate();
    expect(ended).toBe(2);
  });

  test(`an error that nothing handles ends its ${workerType}`, async () => {
    const pool = createPool("tasks.cjs", { workerType, maxWorkers: 1 });
    for (const [name, message] of [["reject", "not handled"], ["throwLater", "not caught"]]) {
      const error = await errorOf(pool.exec(name!));
      expect(error).toBeInstanceOf(workerpool.TerminateError);
      expect(error.message).toBe(`Workerpool Worker error: ${message}`);
      expect(error.cause).toMatchObject({ message });
    }
    expect(await pool.exec("reject", [true])).toBe("lives");
  });

  test(`onTerminate of a ${workerType} is awaited`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "workerpool-"));
    const file = join(folder, "ended");
    const pool = createPool("late.mjs", { workerType, maxWorkers: 1 });
    await pool.exec("onEndWrite", [file]);
    expect(existsSync(file)).toBe(false);
    await pool.terminate();
    expect(readFileSync(file, "utf8")).toBe("ended with 0");
    expect(pool.stats().totalWorkers).toBe(0);
    rmSync(folder, { recursive: true });
  });

  test(`a ${workerType} whose script cannot be loaded fails its task`, async () => {
    const pool = createPool("broken.cjs", { workerType, maxWorkers: 1 });
    const error = await errorOf(pool.exec("add", [1, 2]));
    expect(error).toBeInstanceOf(workerpool.TerminateError);
    expect(error.message).toContain("cannot start");
    await until(() => pool.stats().totalWorkers === 0);
  });
}

test("a task that is cancelled while it waits never runs, and its time counts from its start", async () => {
  const pool = createPool("tasks.cjs", { maxWorkers: 1 });
  const first = pool.exec("later", [100, "first"]);
  const cancelled = pool.exec("count").cancel();
  const second = pool.exec("count").timeout(60_000);
  expect(await errorOf(cancelled)).toBeInstanceOf(CancellationError);
  expect(await first).toBe("first");
  expect(await second).toBe(1);
  const late = errorOf(pool.exec("later", [600_000, 0]).timeout(5));
  const waits = pool.exec("count").timeout(60_000);
  expect((await late).message).toBe("Promise timed out after 5 ms");
  expect(await waits).toBe(1);
});

test("terminate waits for running tasks and rejects those that wait", async () => {
  const pool = createPool("tasks.cjs", { maxWorkers: 1 });
  const running = pool.exec("later", [20, "finished"]);
  const waiting = errorOf(pool.exec("count"));
  await pool.terminate();
  expect(await running).toBe("finished");
  expect((await waiting).message).toBe("Pool terminated");
  expect(pool.stats().totalWorkers).toBe(0);
  expect(await pool.exec("count")).toBe(1); // a worker starts again, as with workerpool
});

test("terminate by force rejects running tasks", async () => {
  const pool = createPool("tasks.cjs", { maxWorkers: 1 });
  const running = errorOf(pool.exec("later", [600_000, ""]));
  await pool.terminate(true);
  expect((await running).message).toBe("Worker terminated");
});

test("terminate does not wait longer than its timeout", async () => {
  const pool = createPool("tasks.cjs", { maxWorkers: 1 });
  const running = errorOf(pool.exec("later", [600_000, ""]));
  await pool.terminate(false, 5);
  expect(pool.stats().busyWorkers).toBe(1);
  await pool.terminate(true);
  await running;
});

test.runIf(stopsLoops)("events of a blocked thread arrive, and it is stopped", async () => {
  const pool = createPool("tasks.cjs", { maxWorkers: 1, workerTerminateTimeout: 50 });
  const shared = new SharedArrayBuffer(4);
  const blocks = Promise.withResolvers<void>();
  const task = pool.exec("blockUntil", [shared], { on: () => blocks.resolve() });
  await blocks.promise;
  task.cancel();
  expect(await errorOf(task)).toBeInstanceOf(CancellationError);
  expect(await pool.exec("count")).toBe(1); // in another worker
});

test("the promises settle their reactions at once, and act on their first one", async () => {
  const { promise, resolve } = workerpool.Promise.defer<number>();
  const seen: unknown[] = [];
  promise.then((value) => void seen.push(value)).always(() => void seen.push("always"));
  expect([promise.pending, promise.resolved]).toEqual([true, false]);
  resolve(1);
  expect(seen).toEqual([1, "always"]);
  expect([promise.pending, promise.resolved]).toEqual([false, true]);
  expect(await promise.finally(() => "ignored")).toBe(1);
  const chain = workerpool.Promise.defer();
  const last = chain.promise.then(() => 2).catch((error) => error);
  last.cancel();
  expect(await last).toBeInstanceOf(CancellationError);
  expect(chain.promise.rejected).toBe(true);
  expect(() => new workerpool.Promise(undefined as never)).toThrow(SyntaxError);
  expect(await workerpool.Promise.all([])).toEqual([]);
});
