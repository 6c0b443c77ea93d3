/** The programs of Piscina's README and of the examples in its documentation, in our own words. */
import { EventEmitter } from "node:events";
import { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import Piscina, { type PiscinaOptions } from "@heddle/piscina";
import { piscinaFile, piscinaPool } from "./pools.ts";
import { rejection } from "../../../tests/support/conformance.ts";
import { capabilities } from "../../../tests/support/runtime.ts";

const pool = (options: PiscinaOptions = {}): Piscina =>
  piscinaPool({ filename: piscinaFile("examples.mjs"), maxThreads: 2, ...options });

/** What arrives at a port until it is closed. Deno tells of no closing, so the number that is expected ends it as well. */
function received(port: MessagePort, count: number): Promise<unknown[]> {
  return new Promise((resolve) => {
    const messages: unknown[] = [];
    port.onmessage = ({ data }) => {
      messages.push(data);
      if (messages.length < count) return;
      port.close();
      resolve(messages);
    };
  });
}

test("abort: a signal, an event emitter, a time limit", async () => {
  const piscina = pool({ maxThreads: 2 });
  const controller = new AbortController();
  const name = "untilDone";
  const first = rejection(piscina.run(null, { name, signal: controller.signal }));
  const emitter = new EventEmitter();
  const second = rejection(piscina.run(null, { name, signal: emitter }));
  controller.abort();
  emitter.emit("abort");
  expect(await first).toMatchObject({ name: "AbortError", message: "The task has been aborted" });
  expect(await second).toMatchObject({ name: "AbortError", cause: undefined });
  const limited = rejection(piscina.run(null, { name, signal: AbortSignal.timeout(5) }));
  expect(await limited).toMatchObject({ name: "AbortError", cause: { name: "TimeoutError" } });
  expect(await piscina.run({ action: "add", a: 4, b: 6 })).toBe(10);
});

test("named: one function that chooses, several exports, several files", async () => {
  const piscina = pool();
  const results = await Promise.all([
    piscina.run({ action: "add", a: 4, b: 6 }),
    piscina.run({ action: "multiply", a: 4, b: 6 }),
    piscina.run({ a: 4, b: 6 }, { filename: piscinaFile("add.mjs"), name: "multiply" }),
    piscina.run({ a: 4, b: 6 }, { filename: piscinaFile("add.mjs") }),
    piscina.run({ a: 4, b: 6 }, { filename: piscinaFile("common.cjs"), name: "subtract" }),
  ]);
  expect(results).toEqual([10, 24, 24, 10, -2]);
});

test("message port: a worker posts through a port of the task", async () => {
  const { port1, port2 } = new MessageChannel();
  const messages = received(port1, 1);
  await pool().run({ port: port2 }, { name: "greet", transferList: [port2] });
  expect(await messages).toEqual(["hello from the worker"]);
});

test("progress: a task tells how far it is", async () => {
  const { port1, port2 } = new MessageChannel();
  const messages = received(port1, 5);
  const result = pool().run({ count: 5, port: port2 }, { name: "steps", transferList: [port2] });
  expect(await messages).toEqual([1, 2, 3, 4, 5]);
  expect(await result).toBe("finished");
});

test("broadcast: two workers hear one message", async () => {
  const name = `piscina-${Math.random()}`;
  const channel = new BroadcastChannel(name);
  const ready = new Promise<void>((resolve) => {
    let count = 0;
    channel.onmessage = () => {
      if (++count === 2) resolve();
    };
  });
  const piscina = pool({ minThreads: 2, maxThreads: 2, atomics: "disabled" });
  const tasks = Promise.all([1, 2].map(() => piscina.run(name, { name: "listen" })));
  await ready;
  channel.postMessage("from the main thread");
  expect(await tasks).toEqual(["from the main thread", "from the main thread"]);
  channel.close();
});

test.runIf(capabilities.movesStreams)("web streams move to the worker", async () => {
  const { readable: numbers, writable: sink } = new TransformStream<number, number>();
  const { readable: doubled, writable } = new TransformStream<number, number>();
  const done = pool().run({ readable: numbers, writable }, {
    name: "copy",
    transferList: [numbers, writable],
  });
  const results: number[] = [];
  const reading = (async () => {
    for await (const value of doubled) results.push(value);
  })();
  const writer = sink.getWriter();
  for (const value of [1, 2, 3]) await writer.write(value);
  await writer.close();
  await Promise.all([done, reading]);
  expect(results).toEqual([2, 4, 6]);
});

test("stream in: a source pauses while the pool is full", async () => {
  const piscina = pool({ filename: piscinaFile("add.mjs"), maxQueue: "auto", maxThreads: 2 });
  const source = Readable.from(Array.from({ length: 300 }, (_, n) => ({ a: n, b: 1 })));
  let pauses = 0;
  piscina.on("drain", () => {
    if (source.isPaused()) source.resume();
  });
  const tasks: Promise<number>[] = [];
  source.on("data", (data) => {
    tasks.push(piscina.run(data));
    if (piscina.queueSize < piscina.options.maxQueue) return;
    pauses++;
    source.pause();
  });
  await new Promise((resolve) => source.on("end", resolve));
  expect(await Promise.all(tasks)).toEqual(Array.from({ length: 300 }, (_, n) => n + 1));
  expect(pauses).toBeGreaterThan(0);
});

test.runIf(capabilities.resourceLimits)(
  "resource limits: a worker that needs too much",
  async () => {
    const piscina = pool({ resourceLimits: { maxOldGenerationSizeMb: 24 }, maxThreads: 1 });
    const error = await rejection(piscina.run(null, { name: "grow" }));
    expect((error as { code?: string }).code).toBe("ERR_WORKER_OUT_OF_MEMORY");
    expect(await piscina.run({ action: "add", a: 4, b: 6 })).toBe(10);
  },
);

test("scrypt: hashes side by side in one worker", async () => {
  const piscina = pool({ maxThreads: 1, concurrentTasksPerWorker: 4, name: "hash" });
  const hashes = await Promise.all(["a", "b", "a"].map((salt) => piscina.run(salt)));
  expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(hashes[2]).toBe(hashes[0]);
  expect(hashes[1]).not.toBe(hashes[0]);
});

test("TypeScript: a worker file with types, and a pool with the types of its task", async () => {
  const piscina = new Piscina<{ a: number; b: number }, number>({
    filename: piscinaFile("typed.ts"),
  });
  onTestFinished(() => piscina.destroy());
  const sum: number = await piscina.run({ a: 4, b: 6 });
  expect(sum).toBe(10);
});

test("await using closes the pool after its tasks", async () => {
  const piscina = new Piscina({ filename: piscinaFile("add.mjs") });
  let closed = false;
  piscina.on("close", () => closed = true);
  const task = piscina.run({ a: 4, b: 6 });
  await piscina[Symbol.asyncDispose]();
  expect(await task).toBe(10);
  expect(closed).toBe(true);
  expect(piscina.threads).toEqual([]);
});
