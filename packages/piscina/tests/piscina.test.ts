/** `@heddle/piscina`: the programs of Piscina's documentation, and what its options, events and errors are. */
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import Piscina, {
  ArrayTaskQueue,
  FixedQueue,
  isWorkerThread,
  move,
  queueOptionsSymbol,
  type Task,
  transferableSymbol,
  valueSymbol,
  version,
  workerData,
} from "@heddle/piscina";
import { piscinaFile, piscinaPool as pool } from "./pools.ts";
import { capabilities } from "../../../tests/support/runtime.ts";
import { rejection } from "../../../tests/support/conformance.ts";

const words = (): Int32Array<SharedArrayBuffer> => new Int32Array(new SharedArrayBuffer(8));

describe("programs", () => {
  test.each(["add.mjs", "common.cjs", "async-export.mjs"])(
    "the default export of %s",
    async (name) => {
      expect(await pool({ filename: piscinaFile(name) }).run({ a: 4, b: 6 })).toBe(10);
    },
  );

  test("a file URL, another export, and another file", async () => {
    const { href } = new URL("./fixtures/add.mjs", import.meta.url);
    const piscina = pool({ filename: href, name: "multiply" });
    expect(await piscina.run({ a: 4, b: 6 })).toBe(24);
    expect(await piscina.run({ a: 4, b: 6 }, { name: "default" })).toBe(10);
    const filename = piscinaFile("common.cjs");
    expect(await piscina.run({ a: 4, b: 6 }, { filename, name: "subtract" })).toBe(-2);
  });

  test("many tasks over several workers", async () => {
    const piscina = pool({ minThreads: 2, maxThreads: 4, filename: piscinaFile("add.mjs") });
    const results = await Promise.all(
      Array.from({ length: 500 }, (_, a) => piscina.run({ a, b: 1 })),
    );
    expect(results).toEqual(Array.from({ length: 500 }, (_, a) => a + 1));
    expect([piscina.completed, piscina.queueSize]).toEqual([500, 0]);
  });

  test("a worker knows that it is one, and its data", async () => {
    const piscina = pool({
      workerData: { name: "data" },
      env: { PISCINA_TEST: "yes" },
      argv: ["one", "two"],
    });
    const data = { name: "data" };
    const [isWorker, isWorkerOfClass, own, fromThreads, ofClass] = await piscina
      .run("place") as unknown[];
    expect([isWorker, isWorkerOfClass, own, ofClass]).toEqual([true, true, data, data]);
    expect(fromThreads).toEqual(data);
    expect(await piscina.run("env")).toBe("yes");
    expect(await piscina.run("argv")).toEqual(["one", "two"]);
    expect([isWorkerThread, Piscina.isWorkerThread, workerData]).toEqual([false, false, undefined]);
  });

  test("what tasks post is an event", async () => {
    const piscina = pool();
    const message = once(piscina, "message");
    await piscina.run("hello", { name: "say" });
    expect(await message).toEqual([{ text: "hello" }]);
  });
});

describe("moving", () => {
  test("transferList and move() move arguments", async () => {
    const piscina = pool({ name: "isMoved" });
    const [one, other, third] = [new Uint8Array(10), new Uint8Array(20), new Uint8Array(30)];
    expect(await piscina.run(one, { transferList: [one.buffer] })).toBe(10);
    expect(await piscina.run(move(other))).toBe(20);
    const holder = {
      get [transferableSymbol]() {
        return [third.buffer];
      },
      get [valueSymbol]() {
        return third;
      },
    };
    expect(await piscina.run(move(holder))).toBe(30);
    expect([one.length, other.length, third.length]).toEqual([0, 0, 0]);
  });

  test("results move", async () => {
    const result = await pool({ name: "bytes" }).run(1000) as ArrayBuffer;
    expect(result.byteLength).toBe(1000);
  });

  test("other values come back as they are", () => {
    expect([move(1), move("a"), move(null)]).toEqual([1, "a", null]);
  });
});

describe("errors", () => {
  test("of tasks keep their class, code and cause", async () => {
    const error = await rejection(pool({ name: "fail" }).run(null));
    expect(error).toBeInstanceOf(RangeError);
    expect(error).toMatchObject({ message: "no", code: "E_NO", cause: 7 });
  });

  test("a missing function, file, and name of a file", async () => {
    const filename = piscinaFile("add.mjs");
    const missing = await rejection(pool({ filename, name: "nothing" }).run(null));
    expect((missing as Error).message).toBe(`No handler function exported from ${filename}`);
    const unnamed = await rejection(pool({ filename: null }).run(null));
    expect((unnamed as Error).message)
      .toBe("filename must be provided to run() or in options object");
    const absent = pool({ filename: null }).run(null, { filename: piscinaFile("absent.mjs") });
    expect(await rejection(absent)).toBeInstanceOf(Error);
  });

  test("an uncaught exception fails the worker's tasks, and another worker follows", async () => {
    const piscina = pool({ concurrentTasksPerWorker: 2 });
    const neighbour = rejection(piscina.run(60_000, { name: "sleep" }));
    const error = await rejection(piscina.run(null, { name: "throwLater" }));
    expect(error).toBeInstanceOf(EvalError);
    expect(await neighbour).toBe(error);
    expect(await piscina.run(5, { name: "argument" })).toBe(5);
  });

  test("a worker that exits", async () => {
    const piscina = pool();
    const error = await rejection(piscina.run(null, { name: "exit" }));
    expect((error as Error).message).toBe("worker exited with code: 7");
    expect(await piscina.run(5, { name: "argument" })).toBe(5);
  });

  test.each([
    [{ filename: 12 }, TypeError, "options.filename must be a string or null"],
    [{ minThreads: -1 }, TypeError, "options.minThreads must be a non-negative integer"],
    [{ maxThreads: 0 }, TypeError, "options.maxThreads must be a positive integer"],
    [{ minThreads: 3, maxThreads: 2 }, RangeError, "must not conflict"],
    [{ maxQueue: "all" }, TypeError, "options.maxQueue must be a non-negative integer"],
    [{ taskQueue: {} }, TypeError, "options.taskQueue must be a TaskQueue object"],
    [{ atomics: "no" }, TypeError, "options.atomics should be"],
    [{ loadBalancer: 1 }, TypeError, "options.loadBalancer must be a function"],
  ])("options %j are refused", (options, kind, message) => {
    expect(() => new Piscina(options as never)).toThrow(kind);
    expect(() => new Piscina(options as never)).toThrow(message);
  });

  test("options of run are refused", async () => {
    const piscina = pool();
    for (
      const [options, message] of [
        [{ transferList: 1 }, "transferList argument must be an Array"],
        [{ filename: 1 }, "filename argument must be a string"],
        [{ signal: 1 }, "signal argument must be an object"],
        [null, "options must be an object"],
      ]
    ) {
      const error = await rejection(piscina.run(1, options as never));
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).toBe(message);
    }
  });
});

describe("aborts", () => {
  test.runIf(capabilities.stopsLoops)(
    "of a running task stop its worker and its neighbours",
    async () => {
      const piscina = pool({ concurrentTasksPerWorker: 1 });
      await piscina.run(1, { name: "argument" });
      const controller = new AbortController();
      const shared = words();
      const aborted = rejection(piscina.run(shared, { name: "block", signal: controller.signal }));
      while (Atomics.load(shared, 0) === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      controller.abort("enough");
      expect(await aborted).toMatchObject({
        name: "AbortError",
        message: "The task has been aborted",
        cause: "enough",
      });
      expect(await piscina.run(5, { name: "argument" })).toBe(5);
    },
  );

  test("of a waiting task remove it", async () => {
    const piscina = pool();
    const running = piscina.run(50, { name: "sleep" });
    const controller = new AbortController();
    const aborted = rejection(piscina.run(1, { name: "count", signal: controller.signal }));
    controller.abort();
    expect(await aborted).toMatchObject({ name: "AbortError" });
    expect(await running).toBe(50);
    expect(await piscina.run(1, { name: "count" })).toBe(1);
    const late = rejection(piscina.run(1, { signal: controller.signal }));
    expect(await late).toMatchObject({ name: "AbortError" });
  });
});

describe("queues", () => {
  test("maxQueue refuses more", async () => {
    const piscina = pool({ maxQueue: 2 });
    await piscina.run(1, { name: "argument" });
    const tasks = [30, 1, 1].map((ms) => piscina.run(ms, { name: "sleep" }));
    expect(piscina.queueSize).toBe(2);
    const error = await rejection(piscina.run(1, { name: "sleep" }));
    expect((error as Error).message).toBe("Task queue is at limit");
    await Promise.all(tasks);
    expect(pool({ maxQueue: "auto", maxThreads: 3 }).options.maxQueue).toBe(9);
  });

  test("a queue of the program orders the tasks", async () => {
    class Priority extends ArrayTaskQueue {
      override push(task: Task): void {
        super.push(task);
        const of = (each: Task): number =>
          (each[queueOptionsSymbol] as { priority?: number } | null)?.priority ?? 0;
        this.tasks.sort((one, other) => of(other) - of(one));
      }
    }
    const piscina = pool({ taskQueue: new Priority(), name: "argument" });
    await piscina.run(0);
    const order: unknown[] = [];
    const first = piscina.run(20, { name: "sleep" });
    const others = [1, 3, 2].map((priority) =>
      piscina.run({ priority, [queueOptionsSymbol]: { priority } }).then(() => order.push(priority))
    );
    await Promise.all([first, ...others]);
    expect(order).toEqual([3, 2, 1]);
  });

  test("a task that waits keeps its place until a worker takes it", async () => {
    let pushed = 0;
    class CountingQueue extends FixedQueue {
      override push(task: Task): void {
        pushed++;
        super.push(task);
      }
    }
    const piscina = pool({ taskQueue: new CountingQueue() });
    const begun: number[] = [];
    const values = [0, 1, 2, 3, 4, 5, 6, 7];
    await Promise.all(
      values.map((value) =>
        piscina.run(value, { name: "argument" }).then((result) => begun.push(result))
      ),
    );
    expect(begun).toEqual(values);
    expect(pushed).toBe(values.length - 1);
  });

  test.each([ArrayTaskQueue, FixedQueue])("%o keeps order and removes", (Queue) => {
    const queue = new Queue();
    const tasks = Array.from({ length: 5000 }, () => ({ [queueOptionsSymbol]: null }));
    for (const task of tasks) queue.push(task);
    for (const task of tasks.slice(0, 3000)) expect(queue.shift()).toBe(task);
    queue.remove(tasks[3001]!);
    queue.unshift(tasks[0]!);
    const rest = [tasks[0], tasks[3000], ...tasks.slice(3002)];
    expect(queue.size).toBe(rest.length);
    for (const task of rest) expect(queue.shift()).toBe(task);
    expect(queue.shift()).toBe(null);
  });
});

describe("life", () => {
  test("idle workers beyond minThreads end", async () => {
    const piscina = pool({ minThreads: 1, maxThreads: 3, idleTimeout: 10 });
    const destroyed: unknown[] = [];
    piscina.on("workerDestroy", (worker) => destroyed.push(worker));
    await Promise.all([1, 1, 1].map(() => piscina.run(30, { name: "sleep" })));
    while (piscina.threads.length > 1) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(destroyed.length).toBeGreaterThan(0);
  });

  test("drain and needsDrain", async () => {
    const piscina = pool();
    const needs = once(piscina, "needsDrain");
    const task = piscina.run(10, { name: "sleep" });
    await needs;
    expect(piscina.needsDrain).toBe(true);
    const drained = once(piscina, "drain");
    await task;
    await drained;
    expect(piscina.needsDrain).toBe(false);
  });

  test("close waits for tasks; with force only for running ones", async () => {
    const patient = pool();
    const tasks = [10, 1].map((ms) => patient.run(ms, { name: "sleep" }));
    await patient.close();
    expect(await Promise.all(tasks)).toEqual([10, 1]);
    const forced = pool();
    await forced.run(1, { name: "argument" });
    const running = forced.run(10, { name: "sleep" });
    const waiting = rejection(forced.run(1, { name: "sleep" }));
    const closed = once(forced, "close");
    await forced.close({ force: true });
    await closed;
    expect(await running).toBe(10);
    expect(await waiting).toMatchObject({ name: "AbortError" });
  });

  test("destroy rejects all tasks", async () => {
    const piscina = pool();
    await piscina.run(1, { name: "argument" });
    const tasks = [60_000, 1].map((ms) => rejection(piscina.run(ms, { name: "sleep" })));
    await piscina.destroy();
    for (const error of await Promise.all(tasks)) {
      expect((error as Error).message).toBe("Terminating worker thread");
    }
  });

  test("times, utilization and the other properties", async () => {
    const piscina = pool({ minThreads: 1, maxThreads: 2, workerHistogram: true });
    await piscina.run(20, { name: "sleep" });
    const { runTime, waitTime } = piscina.histogram;
    expect(runTime.mean).toBeGreaterThanOrEqual(19);
    expect(runTime.p50).toBeGreaterThanOrEqual(19);
    expect(waitTime.mean).toBeLessThan(10_000);
    expect(piscina.utilization).toBeGreaterThan(0);
    expect(piscina.duration).toBeGreaterThan(19);
    expect([piscina.minThreads, piscina.maxThreads, piscina.completed]).toEqual([1, 2, 1]);
    expect(pool({ recordTiming: false }).utilization).toBe(0);
    expect(version).toMatch(/^5\.3\./);
  });

  test("a balancer of the program chooses the workers", async () => {
    const chosen: number[] = [];
    const piscina = pool({
      minThreads: 2,
      maxThreads: 2,
      loadBalancer: (_task, workers) => {
        const worker = workers.at(-1);
        if (worker !== undefined) chosen.push(worker.id);
        return worker;
      },
    });
    await Promise.all([1, 2, 3].map((n) => piscina.run(n, { name: "argument" })));
    expect(new Set(chosen).size).toBe(1);
  });
});
