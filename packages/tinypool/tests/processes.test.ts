import { once } from "node:events";
import { EventEmitter } from "node:events";
import process from "node:process";
import { expect, test } from "vitest";
import { isNode, poolOf, until } from "./pools.ts";
import type { Options, TinypoolChannel } from "@heddle/tinypool";

const processes = (options: Options = {}) => poolOf({ runtime: "child_process", ...options });

/** A channel, with what has come by it and a function that sends. */
function openChannel() {
  const received: unknown[] = [];
  const senders: ((message: unknown) => void)[] = [];
  const told = new EventEmitter();
  const channel: TinypoolChannel = {
    onMessage: (callback) => senders.push(callback),
    postMessage: (message) => {
      received.push(message);
      told.emit("message");
    },
  };
  return {
    received,
    channel,
    told,
    send: (message: unknown) => senders.forEach((each) => each(message)),
  };
}

test("runs functions in a process", async () => {
  const pool = processes({ workerData: 1 });
  const [worker] = pool.threads;
  expect(await pool.run(21)).toBe(42);
  const found = await pool.run(0, { name: "where" });
  expect(found).toMatchObject({
    state: { isTinypoolWorker: true, isChildProcess: true, workerData: null, workerId: 1 },
    workerId: 1,
    isWorkerThread: false,
    isMainThread: true,
  });
  expect(found.pid).not.toBe(process.pid);
  await until(() => worker!.threadId !== undefined);
  expect(worker!.threadId).toBe(found.pid);
});

test("values are those of JSON", async () => {
  const pool = processes({ name: "echo" });
  const value = { map: new Map([[1, 2]]), date: new Date(0), none: undefined, list: [undefined] };
  expect(await pool.run(value)).toStrictEqual(JSON.parse(JSON.stringify(value)));
  expect(await pool.run(undefined)).toBe(undefined);
  expect(await pool.run(1, { name: "kindOf" })).toBe("[object Number]");
  await expect(pool.run(1n)).rejects.toThrow(TypeError);
});

test("serialization: advanced", async () => {
  const pool = processes({ name: "echo", serialization: "advanced" });
  const value = {
    big: 1n,
    map: new Map([[1, new Set([2])]]),
    at: /x/g,
    error: new RangeError("a"),
  };
  expect(await pool.run(value)).toEqual(value);
});

test("errors are plain objects, and texts", async () => {
  const pool = processes();
  const error = await pool.run(0, { name: "fail" }).catch((reason) => reason);
  expect(error).not.toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: "TypeError", message: "no", code: "E_NO" });
  expect(error.stack).toContain("tasks.mjs");
  await expect(pool.run(0, { name: "throwText" })).rejects.toBe("text");
});

test("the channel carries messages in both directions", async () => {
  const { channel, received, told, send } = openChannel();
  const running = processes().run(0, { name: "talk", channel });
  await once(told, "message");
  send({ a: [1] });
  expect(await running).toEqual({ a: [1] });
  expect(received).toEqual(["begun", { got: { a: [1] } }]);
});

test("bytes on the channel stay bytes", async () => {
  const { channel, received, told, send } = openChannel();
  const running = processes().run(0, { name: "talkBytes", channel });
  await once(told, "message");
  expect(received).toEqual([Buffer.from([1, 2, 3])]);
  send(new Uint8Array([4, 5]));
  expect(await running).toEqual({ isBuffer: true, bytes: [4, 5] });
});

test("messages of any kind with advanced serialization", async () => {
  const { channel, received, told, send } = openChannel();
  const running = processes({ serialization: "advanced" }).run(0, { name: "talk", channel });
  await once(told, "message");
  const message = { big: 1n, set: new Set(["a"]) };
  send(message);
  expect(await running).toEqual(message);
  expect(received).toEqual(["begun", { got: message }]);
});

test("a message to a worker that ends is dropped", async () => {
  const pool = processes();
  const { channel, send } = openChannel();
  await pool.run(1, { channel });
  const destroyed = pool.destroy();
  send("late");
  await destroyed;
  expect(pool.threads).toEqual([]);
});

test("the environment is that of the options alone", async () => {
  const env = { ...process.env, TINYPOOL_TEST: "a" } as Record<string, string>;
  const pool = processes({ env, argv: ["b"] });
  expect(await pool.run(0, { name: "environment" })).toEqual({ own: "a", id: "1" });
  expect(await pool.run(0, { name: "argv" })).toEqual(["b"]);
});

test("a process that ends rejects its task", async () => {
  const pool = processes();
  const error = await pool.run(0, { name: "exit" }).catch((reason) => reason);
  expect(error).toMatchObject({ message: "Worker exited unexpectedly", cause: { exitCode: 3 } });
  expect(await pool.run(1)).toBe(2);
});

test.runIf(isNode)("flags of processes", async () => {
  const pool = processes({ execArgv: ["--no-warnings"], resourceLimits: { stackSizeMb: 4 } });
  expect(await pool.run(1)).toBe(2);
});
