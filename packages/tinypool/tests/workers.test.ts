import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import process from "node:process";
import { describe, expect, test } from "vitest";
import Tinypool, { type Task, type TaskQueue } from "@heddle/tinypool";
import { isDeno, poolOf, RUNTIMES, tasks, until } from "./pools.ts";

const counted = { name: "counted" };

describe.each(RUNTIMES)("%s", (runtime) => {
  test("isolateWorkers: each task has a worker of its own, also those that wait", async () => {
    const pool = poolOf({ runtime, isolateWorkers: true, maxThreads: 2 });
    const runs = Array.from({ length: 7 }, () => pool.run(0, counted));
    expect(await Promise.all(runs)).toEqual([1, 1, 1, 1, 1, 1, 1]);
    expect(pool.threads.length).toBe(1);
  });

  test("isolateWorkers: a task ends after its worker", async () => {
    const pool = poolOf({ runtime, isolateWorkers: true });
    for (let round = 1; round <= 3; round++) {
      let isClosed = false;
      await pool.run(0, { ...counted, channel: { onClose: () => isClosed = true } });
      expect(isClosed).toBe(true);
      expect(pool.threads.length).toBe(1);
    }
  });

  test("recycleWorkers replaces workers that are idle now, others after their tasks", async () => {
    const pool = poolOf({ runtime, minThreads: 2, maxThreads: 2 });
    const before = pool.threads;
    const file = join(mkdtempSync(join(tmpdir(), "heddle-tinypool-")), "go");
    const slow = pool.run(file, { name: "waitForFile" });
    await pool.recycleWorkers();
    expect(pool.threads.length).toBe(2);
    expect(pool.threads.filter((each) => before.includes(each)).length).toBe(1);
    writeFileSync(file, "");
    await slow;
    rmSync(dirname(file), { recursive: true });
    expect(pool.threads.length).toBe(2);
    expect(pool.threads.filter((each) => before.includes(each))).toEqual([]);
  });

  test("maxMemoryLimitBeforeRecycle", async () => {
    const small = poolOf({ runtime, maxMemoryLimitBeforeRecycle: 10 });
    expect([await small.run(0, counted), await small.run(0, counted)]).toEqual([1, 1]);
    const large = poolOf({ runtime, maxMemoryLimitBeforeRecycle: 2 ** 40 });
    expect([await large.run(0, counted), await large.run(0, counted)]).toEqual([1, 2]);
  });

  test("destroy rejects what runs and what waits", async () => {
    const pool = poolOf({ runtime });
    const runs = [pool.run(60_000, { name: "sleepFor" }), pool.run(1)];
    const settled = Promise.allSettled(runs);
    await pool.destroy();
    for (const result of await settled) {
      expect(result).toMatchObject({ reason: { message: "Terminating worker thread" } });
    }
    expect(pool.threads).toEqual([]);
  });

  test("idle workers do not keep the program running", () => {
    const program = fileURLToPath(new URL("./fixtures/program.mjs", import.meta.url));
    const flags = isDeno ? ["run", "-A"] : [];
    const { stdout, status } = spawnSync(process.execPath, [...flags, program, runtime], {
      encoding: "utf8",
    });
    expect([stdout.trim(), status]).toEqual(["42", 0]);
  });
});

test("recycleWorkers changes the runtime", async () => {
  const pool = poolOf();
  for (const runtime of [...RUNTIMES, "worker_threads"] as const) {
    await pool.recycleWorkers({ runtime });
    const { state } = await pool.run(0, { name: "where" });
    expect(state.isChildProcess ?? false).toBe(runtime === "child_process");
  }
  await expect(pool.recycleWorkers({ runtime: "vm" as never })).rejects.toThrow("got vm");
});

test("numbers of workers are from 1 to maxThreads, each once at a time", async () => {
  const pool = poolOf({ isolateWorkers: true, minThreads: 0, maxThreads: 3 });
  for (let round = 0; round < 3; round++) {
    const task = { gate: new Int32Array(new SharedArrayBuffer(4)), count: 3 };
    const ids = await Promise.all([1, 2, 3].map(() => pool.run(task, { name: "arrive" })));
    expect(ids.toSorted()).toEqual([1, 2, 3]);
  }
  expect(pool.threads).toEqual([]);
});

test("an idle worker ends beyond minThreads", async () => {
  const pool = poolOf({ minThreads: 1, maxThreads: 2 });
  const task = { gate: new Int32Array(new SharedArrayBuffer(4)), count: 2 };
  const runs = [1, 2].map(() => pool.run(task, { name: "arrive" }));
  expect(pool.threads.length).toBe(2);
  await Promise.all(runs);
  await until(() => pool.threads.length === 1);
});

test("a queue that is full refuses", async () => {
  const pool = poolOf({ minThreads: 0, maxQueue: 1 });
  const runs = [pool.run(1), pool.run(2)];
  expect(pool.queueSize).toBe(1);
  await expect(pool.run(3)).rejects.toThrow("Task queue is at limit");
  expect(await Promise.all(runs)).toEqual([2, 4]);
  const none = poolOf({ minThreads: 0, maxQueue: 0 });
  const only = none.run(1);
  await expect(none.run(2)).rejects.toThrow("No task queue available and all Workers are busy");
  expect(await only).toBe(2);
  expect(poolOf({ maxThreads: 3, maxQueue: "auto" }).options.maxQueue).toBe(9);
});

test("cancelPendingTasks rejects what waits", async () => {
  const pool = poolOf();
  const [first, second] = [pool.run(1), pool.run(2)];
  pool.cancelPendingTasks();
  await expect(second).rejects.toMatchObject({
    name: "CancelError",
    message: "The task has been cancelled",
  });
  expect(await first).toBe(2);
});

test("drain tells that no task waits", async () => {
  const pool = poolOf();
  const runs = [pool.run(1), pool.run(2), pool.run(3)];
  expect(pool.queueSize).toBe(2);
  await once(pool, "drain");
  expect(pool.queueSize).toBe(0);
  await Promise.all(runs);
});

test("a queue of the program orders tasks by what they tell", async () => {
  class Priorities implements TaskQueue {
    tasks: Task[] = [];
    get size(): number {
      return this.tasks.length;
    }
    shift(): Task | null {
      return this.tasks.shift() ?? null;
    }
    push(task: Task): void {
      this.tasks.push(task);
      const of = (each: Task) =>
        (each as unknown as Record<symbol, { priority: number }>)[Tinypool.queueOptionsSymbol]!
          .priority;
      this.tasks.sort((one, other) => of(other) - of(one));
    }
    remove(task: Task): void {
      this.tasks.splice(this.tasks.indexOf(task), 1);
    }
    cancel(): void {}
  }
  const pool = poolOf({ taskQueue: new Priorities(), name: "echo" });
  const order: number[] = [];
  await Promise.all([0, 1, 2, 3].map(async (priority) => {
    const task = { priority, [Tinypool.queueOptionsSymbol]: { priority } };
    order.push((await pool.run(task)).priority);
  }));
  expect(order).toEqual([0, 3, 2, 1]);
});

test("a worker that does not end in time is an error", async () => {
  const options = { filename: tasks, terminateTimeout: 10, isolateWorkers: true };
  const pool = new Tinypool({ ...options, minThreads: 1, maxThreads: 1 });
  const [worker] = pool.threads;
  const terminate = worker!.terminate.bind(worker);
  worker!.terminate = () => new Promise(() => {});
  await expect(pool.run(1)).rejects.toThrow("Failed to terminate worker");
  await terminate();
  expect(pool.threads.length).toBe(1); // another one
  await pool.destroy().catch(() => {}); // may take longer, too
});

test("options are checked, and shares of the cores become numbers", () => {
  expect(() => poolOf({ minThreads: 2, maxThreads: 1 })).toThrow(RangeError);
  expect(() => poolOf({ taskQueue: {} as never })).toThrow(TypeError);
  expect(() => poolOf({ runtime: "vm" as never })).toThrow("got vm");
  const { minThreads, maxThreads } = poolOf({ minThreads: 0.001, maxThreads: 0.001 }).options;
  expect([minThreads, maxThreads]).toEqual([1, 1]);
});
