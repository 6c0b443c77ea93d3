import { EventEmitter, once } from "node:events";
import { fileURLToPath } from "node:url";
import { MessageChannel } from "node:worker_threads";
import { expect, test } from "vitest";
import Tinypool, { isMovable, isTransferable, markMovable } from "@heddle/tinypool";
import { fixture, isBun, isDeno, isNode, poolOf, tasks, until } from "./pools.ts";

test("runs the default export, and others by name", async () => {
  const pool = poolOf();
  expect(await pool.run(21)).toBe(42);
  expect(await pool.run(21, { name: "echo" })).toBe(21);
  expect(await poolOf({ name: "echo" }).run("a")).toBe("a");
  expect(pool.completed).toBe(2);
  expect(pool.duration).toBeGreaterThan(0);
});

test("takes paths, texts of URLs and URLs", async () => {
  const path = fileURLToPath(tasks);
  for (const filename of [path, tasks, new URL(tasks)]) {
    expect(await poolOf({ filename }).run(1)).toBe(2);
    expect(await poolOf({ filename: null }).run(2, { filename })).toBe(4);
  }
});

test("finds functions of CommonJS and of objects", async () => {
  const pool = poolOf({ filename: null });
  const run = (name: string, filename: string) =>
    pool.run(1, { name, filename: fixture(filename) });
  expect(await run("default", "function.cjs")).toBe(2);
  expect(await run("inc", "object.cjs")).toBe(2);
  expect(await run("later", "object.cjs")).toBe(3);
  expect(await run("inc", "object.mjs")).toBe(2);
  expect(await run("dec", "object.mjs")).toBe(0);
});

test("rejects what cannot be found", async () => {
  await expect(poolOf({ filename: null }).run(1)).rejects.toThrow(
    "filename must be provided to run() or in options object",
  );
  const path = fileURLToPath(tasks);
  await expect(poolOf().run(1, { name: "none" })).rejects.toThrow(
    `No handler function "none" exported from "${path}"`,
  );
});

test("a module that throws fails its tasks, and is not loaded again and again", async () => {
  const pool = poolOf({ filename: fixture("broken.mjs"), minThreads: 0 });
  pool.on("error", () => {});
  await expect(pool.run(1)).rejects.toThrow("broken module");
  expect(pool.threads).toEqual([]);
  await expect(pool.run(1, { filename: tasks })).rejects.toThrow("broken module");
});

test("first workers that cannot start fail a task each, and are not started again", async () => {
  const pool = poolOf({ filename: fixture("broken.mjs") });
  const errors: Error[] = [];
  pool.on("error", (error) => errors.push(error));
  const runs = await Promise.allSettled([pool.run(1), pool.run(2)]);
  for (const run of runs) expect(run).toMatchObject({ reason: { message: "broken module" } });
  expect([pool.threads, errors]).toEqual([[], []]);
});

test("errors keep their class and code", async () => {
  const error = await poolOf().run(0, { name: "fail" }).catch((reason) => reason);
  expect(error).toBeInstanceOf(TypeError);
  expect(error).toMatchObject({ message: "no", code: "E_NO" });
  await expect(poolOf().run(0, { name: "throwText" })).rejects.toBe("text");
});

test("what cannot be cloned is a DataCloneError", async () => {
  const error = await poolOf().run({ f: () => {} }, { name: "echo" }).catch((reason) => reason);
  expect(error.name).toBe("DataCloneError");
});

test("objects move by transferList and by move, in both directions", async () => {
  const pool = poolOf();
  const bytes = new Uint8Array(10);
  expect(await pool.run(bytes, { name: "lengthOf", transferList: [bytes.buffer] })).toBe(10);
  expect(bytes.byteLength).toBe(0);
  const buffer = new ArrayBuffer(20);
  expect(await pool.run(Tinypool.move(buffer), { name: "lengthOf" })).toBe(20);
  expect(buffer.byteLength).toBe(0);
  const result = await pool.run(30, { name: "moved" });
  expect([result instanceof Uint8Array, result.byteLength]).toEqual([true, 30]);
});

test("marks of values that move", () => {
  const value = { [Tinypool.transferableSymbol]: {}, [Tinypool.valueSymbol]: {} };
  expect([isTransferable(value), isMovable(value)]).toEqual([true, false]);
  markMovable(value);
  expect(isMovable(value)).toBe(true);
  expect(isMovable(Tinypool.move(new ArrayBuffer(1)))).toBe(true);
  expect(Tinypool.move(1)).toBe(1);
});

test("a worker knows its number and data", async () => {
  const pool = poolOf({ workerData: { a: 1 } });
  expect(await pool.run(0, { name: "where" })).toMatchObject({
    state: { isTinypoolWorker: true, isWorkerThread: true, workerData: { a: 1 }, workerId: 1 },
    workerId: 1,
    workerData: { a: 1 },
    fromThreads: [{ workerId: 1 }, { a: 1 }],
    isWorkerThread: true,
    isMainThread: false,
    pid: process.pid,
  });
  expect([Tinypool.isWorkerThread, Tinypool.workerData]).toEqual([false, undefined]);
});

test("threadId is that of the thread", async () => {
  const pool = poolOf();
  const [worker] = pool.threads;
  // Bun tells it when the thread has started.
  if (!isBun) expect(worker!.threadId).toBeGreaterThan(0);
  const { threadId } = await pool.run(0, { name: "where" });
  await until(() => worker!.threadId !== undefined);
  expect(worker!.threadId).toBe(threadId);
});

test("env and argv", async () => {
  const pool = poolOf({ env: { TINYPOOL_TEST: "a" }, argv: ["b", "c"] });
  expect((await pool.run(0, { name: "environment" })).own).toBe("a");
  expect(await pool.run(0, { name: "argv" })).toEqual(["b", "c"]);
});

test("a signal ends a task that runs, and its worker", async () => {
  const pool = poolOf();
  const gate = new Int32Array(new SharedArrayBuffer(8));
  const controller = new AbortController();
  const [worker] = pool.threads;
  const running = pool.run(gate, { name: "block", signal: controller.signal });
  await until(() => Atomics.load(gate, 0) === 1);
  const exited = once(worker as unknown as EventEmitter, "exit");
  controller.abort();
  await expect(running).rejects.toMatchObject({
    name: "AbortError",
    message: "The task has been aborted",
  });
  // Deno cannot stop a thread that blocks.
  if (isDeno) Atomics.notify(gate, 1);
  await exited;
  expect(await pool.run(1)).toBe(2);
});

test("a signal ends a task that waits", async () => {
  const pool = poolOf();
  const signal = new EventEmitter();
  const first = pool.run(1);
  const second = pool.run(2, { signal });
  signal.emit("abort");
  await expect(second).rejects.toThrow("The task has been aborted");
  expect(await first).toBe(2);
  expect(signal.listenerCount("abort")).toBe(0);
  const aborted = AbortSignal.abort();
  await expect(pool.run(3, { signal: aborted })).rejects.toThrow("The task has been aborted");
});

test("tasks run at once in one worker with concurrentTasksPerWorker", async () => {
  const pool = poolOf({ concurrentTasksPerWorker: 3 });
  const task = { gate: new Int32Array(new SharedArrayBuffer(4)), count: 3 };
  const ids = await Promise.all([1, 2, 3].map(() => pool.run(task, { name: "arrive" })));
  expect(ids).toEqual([1, 1, 1]);
});

test("an uncaught exception rejects the task, or is an event", async () => {
  const pool = poolOf();
  await expect(pool.run(0, { name: "throwLater" })).rejects.toThrow("later");
  const failed = once(pool, "error");
  await pool.run(0, { name: "throwAfter" });
  expect((await failed)[0].message).toBe("after");
  expect(await pool.run(1)).toBe(2);
});

test("a message of parentPort is an error", async () => {
  await expect(poolOf().run(0, { name: "post" })).rejects.toThrow(
    "Unexpected message on Worker: 'hello'",
  );
});

test("process.exit rejects the task", async () => {
  const pool = poolOf();
  await expect(pool.run(0, { name: "exit" })).rejects.toThrow();
  expect(await pool.run(1)).toBe(2);
});

test("the channel of a thread only closes", async () => {
  const pool = poolOf();
  const closed: number[] = [];
  await pool.run(1, { channel: { onClose: () => closed.push(1) } });
  await pool.run(1, { channel: { onClose: () => closed.push(2) } });
  expect(closed).toEqual([1]);
  await pool.destroy();
  expect(closed).toEqual([1, 2]);
  await expect(pool.run(1, { channel: { onMessage: () => {} } })).rejects.toThrow(
    "doesn't support channel.onMessage",
  );
});

test("teardown runs before the worker ends", async () => {
  const pool = poolOf({ teardown: "tearDown" });
  const { port1, port2 } = new MessageChannel();
  expect(await pool.run(port1, { name: "keepPort", transferList: [port1] })).toBe(1);
  const told = once(port2, "message");
  await pool.destroy();
  expect((await told)[0]).toBe("torn down after 1");
  port2.close();
});

test.runIf(isNode)("flags and limits of threads", async () => {
  const pool = poolOf({
    execArgv: ["--no-warnings"],
    resourceLimits: { maxOldGenerationSizeMb: 64, stackSizeMb: undefined },
  });
  expect(await pool.run(1)).toBe(2);
});
