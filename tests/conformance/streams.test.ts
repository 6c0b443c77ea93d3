/** Results and arguments that are streams. */
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import {
  createPool,
  DataCloneError,
  InvalidArgumentError,
  type Pool,
  PoolClosedError,
  type PoolOptions,
  ResultStream,
  StreamClosedError,
  TimeoutError,
  WorkerLostError,
} from "../../src/mod.ts";
import { begun, closedAfterTest, release, sharedWords } from "../support/conformance.ts";
import { runScript } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/stream-tasks.ts");

const url = new URL("../fixtures/stream-tasks.ts", import.meta.url);

/** A pool whose tasks are known. */
async function streamPool(options: PoolOptions = { threads: 1 }): Promise<Pool<Tasks>> {
  const pool = closedAfterTest(createPool(options)<Tasks>(url));
  await pool.ready;
  return pool;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const numbers = (to: number): number[] => Array.from({ length: to }, (_, n) => n);

/** Waits until `hold` does: for what happens in another thread. */
async function until(hold: () => boolean | Promise<boolean>): Promise<void> {
  while (!await hold()) await sleep(5);
}

describe("results", () => {
  test("of generators arrive in order, with what they return", async () => {
    const { call } = await streamPool();
    const stream = call.count(0, 5000);
    expect(stream).toBeInstanceOf(ResultStream);
    const items: number[] = [];
    for await (const n of stream) items.push(n);
    expect(items).toEqual(numbers(5000));
    expect(await stream.returned).toBe("done");
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    const [first, second] = [call.count(0, 1), call.count(0, 0)];
    expect(await first.next()).toEqual({ done: false, value: 0 });
    expect(await first.next()).toEqual({ done: true, value: "done" });
    expect(await second.next()).toEqual({ done: true, value: "done" });
  });

  test("of async generators, prompt and with pauses", async () => {
    const { call } = await streamPool();
    expect(await call.asyncCount(3000).toArray()).toEqual(numbers(3000));
    const slow = call.slowCount(5, 5);
    expect(await slow.toArray()).toEqual(numbers(5));
    expect(await slow.returned).toBe("slow");
  });

  test("an item is sent although the next one takes long", async () => {
    const { call } = await streamPool();
    const stream = call.slowCount(2, 60_000);
    expect(await stream.next()).toEqual({ done: false, value: 0 });
  });

  test("several next() at once get the items in order", async () => {
    const { call } = await streamPool();
    const stream = call.count(0, 3);
    const results = await Promise.all(Array.from({ length: 5 }, () => stream.next()));
    expect(results.map(({ done, value }) => [done, value])).toEqual([
      [false, 0],
      [false, 1],
      [false, 2],
      [true, "done"],
      [true, undefined],
    ]);
  });

  test("items are of any kind, and taken as they are when they are yielded", async () => {
    const { call } = await streamPool();
    const items = await call.mixed().toArray();
    expect(items.slice(0, 5)).toEqual([
      1,
      "text",
      new Map([["a", new Date(5)]]),
      undefined,
      Uint8Array.of(1, 2, 3),
    ]);
    const [, , , , , large, moved, later] = items as [
      ...unknown[],
      Uint8Array,
      ArrayBuffer,
      string,
    ];
    expect([(large as Uint8Array).length, (large as Uint8Array).at(-1)]).toEqual([3145728, 7]);
    expect((moved as ArrayBuffer).byteLength).toBe(16);
    expect(later).toBe("later");
    const objects = await call.reused(700).toArray();
    expect(objects).toEqual(numbers(700).map((n) => ({ n, list: [n] })));
  });

  test("an error arrives after the items before it", async () => {
    const { call } = await streamPool();
    for (const after of [0, 3, 1500]) {
      const stream = call.failing(after);
      const items: number[] = [];
      await expect((async () => {
        for await (const n of stream) items.push(n);
      })()).rejects.toThrow(new RangeError(`after ${after}`));
      expect(items).toEqual(numbers(after));
      await expect(stream.returned).rejects.toThrow(RangeError);
      expect(await stream.next()).toEqual({ done: true, value: undefined });
    }
  });

  test("an item that cannot be cloned ends the stream at its place", async () => {
    const { call } = await streamPool();
    for (const after of [0, 600]) {
      const stream = call.uncloneable(after);
      for (let n = 0; n < after; n++) expect((await stream.next()).value).toBe(n);
      await expect(stream.next()).rejects.toThrow(DataCloneError);
    }
    expect(await call.takeEnded()).toEqual(["uncloneable", "uncloneable"]);
  });

  test.each(["break", "return", "dispose", "throw"])("%s ends the generator", async (how) => {
    const { call } = await streamPool();
    const stream = call.count(0, 1e9);
    if (how === "break") { for await (const n of stream) if (n === 10) break; }
    else {
      expect((await stream.next()).value).toBe(0);
      if (how === "return") expect(await stream.return()).toEqual({ done: true, value: undefined });
      else if (how === "dispose") await stream[Symbol.asyncDispose]();
      else await expect(stream.throw(new Error("mine"))).rejects.toThrow("mine");
    }
    expect(await call.takeEnded()).toEqual(["count"]);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect(await stream.returned).toBe(undefined);
  });

  test("return() rejects with what a finally block throws", async () => {
    const { call } = await streamPool();
    const stream = call.failingEnd();
    await stream.next();
    await expect(stream.return()).rejects.toThrow("finally failed");
  });

  test("a call that has not begun is not run if its stream is cancelled", async () => {
    const pool = await streamPool({ threads: 1, maxConcurrency: 1 });
    const running = pool.call.slowCount(3, 20);
    const first = running.next();
    const waiting = pool.call.count(0, 10);
    await waiting.return();
    await first;
    expect(await running.toArray()).toEqual([1, 2]);
    expect(await pool.call.takeEnded()).toEqual(["slowCount"]);
  });

  test("the worker runs ahead by highWaterMark items at most, and by 1 MiB", async () => {
    const { call } = await streamPool({ threads: 1 });
    const narrow = call.narrow();
    for (let n = 0; n < 10; n++) expect((await narrow.next()).value).toBe(n);
    await sleep(30);
    expect(await call.produced()).toBeLessThanOrEqual(10 + 4);
    await narrow.return();
    const big = call.big(1000, 64 * 1024);
    await big.next();
    await sleep(30);
    expect(await call.produced()).toBeLessThanOrEqual(1 + 17 + 1);
    let count = 1;
    for await (const bytes of big) expect(bytes[0]).toBe(count++ % 256);
    expect(count).toBe(1000);
  });

  test("a stream that waits for its reader does not take the place of a call", async () => {
    const { call } = await streamPool({ threads: 1, maxConcurrency: 1 });
    let n = 0;
    for await (const item of call.count(0, 12_000)) {
      if (n++ % 2000 === 0) expect(await call.plain(item)).toBe(item + 1);
    }
    expect(n).toBe(12_000);
  });

  test("calls run while a stream is being read", async () => {
    const { call } = await streamPool();
    const stream = call.count(0, 1e9);
    await stream.next();
    expect(await Promise.all(numbers(50).map((n) => call.plain(n)))).toHaveLength(50);
    await stream.return();
  });

  test("an abort, or a timeout, ends the stream at once and the generator", async () => {
    const { call } = await streamPool();
    const controller = new AbortController();
    const stream = call.count.with({ signal: controller.signal })(0, 1e9);
    await stream.next();
    controller.abort(new Error("enough"));
    await expect(stream.next()).rejects.toThrow("enough");
    await until(async () => (await call.takeEnded()).includes("count"));
    // On a busy machine the limit may expire before the generator has begun.
    await until(async () => {
      const timed = call.slowCount.with({ runTimeoutMs: 30 })(1000, 20);
      await expect(timed.toArray()).rejects.toThrow(TimeoutError);
      return (await call.takeEnded()).includes("slowCount");
    });
    // Items that are missing must not look like the end.
    const cut = call.slowCount.with({ runTimeoutMs: 30, timeoutValue: "late" })(1000, 20);
    await expect(cut.toArray()).rejects.toThrow(TimeoutError);
  });

  test("a task with a signal sees the abort of its stream", async () => {
    const { call } = await streamPool();
    const controller = new AbortController();
    const stream = call.abortable.with({ signal: controller.signal })();
    for (let n = 0; n < 3; n++) await stream.next();
    setTimeout(() => controller.abort(), 10);
    await expect(stream.next()).rejects.toThrow(/abort/i);
    await until(async () => (await call.takeEnded()).includes("abortable true"));
  });

  test("a lost worker ends the stream after the items that have arrived", async () => {
    const pool = await streamPool();
    pool.addEventListener("workerExit", (event) => event.preventDefault());
    const stream = pool.call.crashing(3);
    const items: number[] = [];
    await expect((async () => {
      for await (const n of stream) items.push(n);
    })()).rejects.toThrow(WorkerLostError);
    expect(items.length).toBeLessThanOrEqual(3);
    expect(await pool.call.plain(1)).toBe(2);
  });

  test("shutdown() waits for a stream that is read, and ends one that is not", async () => {
    const reading = await streamPool();
    const read = reading.call.slowCount(5, 5).toArray();
    await reading.shutdown(Infinity);
    expect(await read).toEqual(numbers(5));
    const pool = await streamPool();
    const unread = pool.call.count(0, 1e9);
    await unread.next();
    await pool.shutdown(50);
    await expect(unread.toArray()).rejects.toThrow(PoolClosedError);
    await expect(pool.call.count(0, 1).next()).rejects.toThrow(PoolClosedError);
  });

  test("a ReadableStream, and a generator of an async function, are streams", async () => {
    const { call } = await streamPool();
    const stream = await call.readable(2000);
    expect(stream).toBeInstanceOf(ReadableStream);
    const items: number[] = [];
    for await (const n of stream) items.push(n);
    expect(items).toEqual(numbers(2000));
    const reader = (await call.laterReadable(1e9)).getReader();
    expect(await reader.read()).toEqual({ done: false, value: 0 });
    await reader.cancel();
    await until(async () => (await call.takeEnded()).includes("readable"));
    const generator = await call.laterGenerator(3);
    expect(await generator.toArray()).toEqual([0, 1, 2]);
    await expect(call.undeclared()).rejects.toThrow(InvalidArgumentError);
  });

  test("a stream that was opened for an aborted call is ended", async () => {
    const { call } = await streamPool();
    const controller = new AbortController();
    const words = sharedWords();
    const promise = call.slowReadable.with({ signal: controller.signal })(words);
    await begun(words);
    controller.abort();
    await expect(promise).rejects.toThrow(/abort/i);
    release(words);
    await until(async () => (await call.takeEnded()).includes("readable"));
  });

  test("many streams at once", async () => {
    const { call } = await streamPool({ threads: 2 });
    const all = await Promise.all(
      numbers(40).map((n) =>
        (n % 2 === 0 ? call.count(n, n + 3000) : call.asyncCount(n)).toArray()
      ),
    );
    for (const [n, items] of all.entries()) {
      expect(items).toEqual(n % 2 === 0 ? numbers(3000).map((k) => k + n) : numbers(n));
    }
  });

  test("broadcasts of generators give a stream of each worker", async () => {
    const pool = await streamPool({ threads: 2 });
    const streams = await pool.broadcast.count(0, 3);
    expect(await Promise.all(streams.map((stream) => stream.toArray()))).toEqual([
      [0, 1, 2],
      [0, 1, 2],
    ]);
  });
});

describe("results of calls made before the tasks are known", () => {
  const earlyPool = (): Pool<Tasks> => closedAfterTest(createPool({ threads: 1 })<Tasks>(url));

  test("streams are read, plain results awaited", async () => {
    const { call } = earlyPool();
    const stream = call.count(0, 3);
    const plain = call.plain(1);
    const readable = call.readable(2);
    const reader = (await readable).getReader();
    expect(await reader.read()).toEqual({ done: false, value: 0 });
    expect(await stream.toArray()).toEqual([0, 1, 2]);
    expect(await plain).toBe(2);
  });

  test("the wrong use is a coded error", async () => {
    const { call } = earlyPool();
    await expect(call.count(0, 3) as unknown as Promise<unknown>).rejects.toThrow(
      /"count" is a generator: read the call by for await/,
    );
  });

  test("iterating a call that returns no stream is a coded error", async () => {
    const { call } = earlyPool();
    const stream = call.plain(1) as unknown as AsyncIterable<unknown>;
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow(
      /"plain" is not a generator: await the call/,
    );
  });

  test("errors reach the one who reads, and the one who awaits", async () => {
    const { call } = earlyPool();
    const [stream, promise] = [call.failing(2), call.rejects()];
    await expect(promise).rejects.toThrow("rejected");
    expect((await stream.next()).value).toBe(0);
    expect((await stream.next()).value).toBe(1);
    await expect(stream.next()).rejects.toThrow("after 2");
  });

  test("an awaited call keeps the process running", async () => {
    expect(await runScript("early-call.ts")).toEqual({ code: 0, output: "slept\n" });
  });

  test("can be asked for as streams when they have begun, and when they are over", async () => {
    const { call } = earlyPool();
    const stream = call.count(0, 3);
    const [plain, rejected] = [call.plain(1), call.rejects()] as unknown as ReturnType<
      typeof call.count
    >[];
    expect(await plain).toBe(2);
    await expect(rejected).rejects.toThrow("rejected");
    expect(await stream.toArray()).toEqual([0, 1, 2]);
    // The calls that have their slots meanwhile are not theirs.
    const others = [call.plain(1), call.plain(2), call.plain(3)];
    expect(await plain!.return()).toEqual({ done: true, value: undefined });
    await expect(rejected!.next()).rejects.toThrow("rejected");
    expect(await rejected!.return()).toEqual({ done: true, value: undefined });
    expect(await Promise.all(others)).toEqual([2, 3, 4]);
    expect(await stream.returned).toBe("done");
  });

  test("that a function returned can be read by the call as well", async () => {
    const { call } = earlyPool();
    const made = call.laterGenerator(2);
    const stream = await made;
    expect(await (made as unknown as typeof stream).toArray()).toEqual([0, 1]);
  });

  test("a stream can be cancelled before there is a worker", async () => {
    const { call } = earlyPool();
    await call.count(0, 1e9).return();
    expect(await call.takeEnded()).toEqual([]);
  });
});

describe("pools of a task map", () => {
  test("known generators return streams, imported ones a promise of a stream", async () => {
    const { count, plain } = await import("../fixtures/stream-tasks.ts");
    const { importTask } = await import("../../src/mod.ts");
    const moduleUrl = url.href;
    const pool = closedAfterTest(
      createPool({ threads: 1, moduleUrl })({
        count,
        plain,
        imported: importTask<(to: number) => Promise<AsyncGenerator<number>>>({
          href: moduleUrl,
          name: "asyncCount",
        }),
      }),
    );
    expect(await pool.call.count(0, 3).toArray()).toEqual([0, 1, 2]);
    expect(await pool.call.plain(3)).toBe(4);
    expect(await (await pool.call.imported(2)).toArray()).toEqual([0, 1]);
  });
});

describe("arguments", () => {
  /** Says in `log` that it was asked for items, and that it has ended. */
  async function* source(to: number, log: string[] = []): AsyncGenerator<number> {
    log.push("begun");
    try {
      for (let n = 0; n < to; n++) yield n;
    } finally {
      log.push("ended");
    }
  }

  test("async iterables, generators, ReadableStreams and Readables are streams", async () => {
    const { call } = await streamPool();
    const total = 4999 * 2500;
    expect(await call.sum(source(5000))).toBe(total);
    const iterable = { [Symbol.asyncIterator]: () => source(5000) };
    expect(await call.sum(iterable)).toBe(total);
    class Custom {
      readonly name = "custom";
      [Symbol.asyncIterator](): AsyncGenerator<number> {
        return source(5000);
      }
    }
    expect(await call.sum(new Custom())).toBe(total);
    function* generator(): Generator<number> {
      yield* numbers(5000);
    }
    expect(await call.sum(generator() as unknown as AsyncIterable<number>)).toBe(total);
    expect(await call.sum(Readable.from(numbers(5000)) as AsyncIterable<number>)).toBe(total);
    const readable = (): ReadableStream<number> =>
      new ReadableStream({
        start(controller) {
          for (const n of numbers(100)) controller.enqueue(n);
          controller.close();
        },
      });
    expect(await call.sum(readable() as AsyncIterable<number>)).toBe(4950);
    expect(await call.sumReadable(readable())).toEqual([true, 4950]);
  });

  test("items are of any kind and copied when they are yielded", async () => {
    const { call } = await streamPool();
    async function* items(): AsyncGenerator<unknown> {
      const object = { n: 0 };
      for (let n = 0; n < 5; n++) {
        object.n = n;
        yield object;
      }
      yield new Map([[1, { deep: [new Date(3)] }]]);
      yield new Uint8Array(2 * 1024 * 1024).fill(9);
      await sleep(1);
      yield "late";
    }
    const all = await call.collect(items());
    expect(all.slice(0, 6)).toEqual([
      ...numbers(5).map((n) => ({ n })),
      new Map([[1, { deep: [new Date(3)] }]]),
    ]);
    expect((all[6] as Uint8Array).length).toBe(2 * 1024 * 1024);
    expect(all[7]).toBe("late");
  });

  test("two streams of one call, and other arguments", async () => {
    const { call } = await streamPool();
    async function* letters(): AsyncGenerator<string> {
      yield* ["a", "b", "c"];
    }
    expect(await call.zip(source(3), letters())).toEqual([[0, "a"], [1, "b"], [2, "c"]]);
    expect(await call.takeSome(Promise.resolve(source(9)) as never, 2).catch((e: Error) => e.name))
      .toBe("DataCloneError");
  });

  test("break in the task ends the source, and so does the end of the call", async () => {
    const { call } = await streamPool();
    const log: string[] = [];
    expect(await call.takeSome(source(1e9, log), 3)).toEqual([0, 1, 2]);
    await until(() => log.length === 2);
    // It was never asked, so there is nothing to end.
    expect(await call.takeSome(source(1e9, log), 0)).toEqual([]);
    await sleep(10);
    expect(log).toEqual(["begun", "ended"]);
    const error = new Error("given up");
    const controller = new AbortController();
    const hanging = call.hangReading.with({ signal: controller.signal })(source(1e9, log));
    await until(() => log.length === 3); // a call that has not begun asks for nothing
    controller.abort(error);
    await expect(hanging).rejects.toBe(error);
    await until(() => log.length === 4);
  });

  test("a source that throws rejects in the worker, after its items", async () => {
    const { call } = await streamPool();
    async function* bad(): AsyncGenerator<number> {
      yield* numbers(700);
      throw new RangeError("bad source");
    }
    expect(await call.failureOf(bad())).toEqual([numbers(700), "RangeError: bad source"]);
    async function* worse(): AsyncGenerator<unknown> {
      yield 1;
      yield () => {};
    }
    const [items, message] = await call.failureOf(worse());
    expect(items).toEqual([1]);
    expect(message).toMatch(/^DataCloneError: /);
  });

  test("the host runs ahead by 4096 items at most", async () => {
    const { call } = await streamPool();
    let asked = 0;
    async function* endless(): AsyncGenerator<number> {
      for (;;) yield asked++;
    }
    const controller = new AbortController();
    const hanging = call.hangReading.with({ signal: controller.signal })(endless());
    await until(() => asked > 4000);
    await sleep(30);
    expect(asked).toBeLessThanOrEqual(4098);
    controller.abort();
    await hanging.catch(() => {});
  });

  test("a stream cannot be read after its call", async () => {
    const { call } = await streamPool();
    await call.keep(source(10));
    const [items, message] = await call.useKept();
    expect(items).toEqual([]);
    expect(message).toMatch(/^StreamClosedError/);
    expect(new StreamClosedError().code).toBe("HEDDLE_STREAM_CLOSED");
  });

  test("a stream goes in and another comes out, also from one worker to another", async () => {
    const { call } = await streamPool({ threads: 2 });
    expect(await call.doubled(source(3000)).toArray()).toEqual(numbers(3000).map((n) => 2 * n));
    const chained = call.doubled(call.doubled(call.count(0, 2500)));
    expect(await chained.toArray()).toEqual(numbers(2500).map((n) => 4 * n));
  });

  test("a lost worker ends the source", async () => {
    const pool = await streamPool();
    pool.addEventListener("workerExit", (event) => event.preventDefault());
    const log: string[] = [];
    const hanging = pool.call.hangReading(source(1e9, log));
    await until(() => log.length === 1);
    await pool.call.crashing(0).toArray().catch(() => {});
    await expect(hanging).rejects.toThrow(WorkerLostError);
    await until(() => log.length === 2);
  });

  test("before the tasks are known", async () => {
    const pool = closedAfterTest(createPool({ threads: 1 })<Tasks>(url));
    expect(await pool.call.sum(source(2000))).toBe(1999 * 1000);
  });
});

describe("streams that nobody reads", () => {
  test("do not keep the process running", async () => {
    expect(await runScript("unread-stream.ts")).toEqual({ code: 0, output: "0\n" });
  });

  test("are cancelled when they are collected, but not while somebody has them", async () => {
    const { code, output } = await runScript("collected-stream.ts", ["--expose-gc"]);
    expect({ code, output }).toEqual({ code: 0, output: "collected 1\n" });
  });

  test("are ended by shutdown(), however long it may wait, with their tasks", async () => {
    const pool = await streamPool();
    const words = sharedWords();
    const stream = pool.call.notesEnd(words);
    expect((await stream.next()).value).toBe(0);
    await pool.shutdown(Infinity);
    expect(Atomics.load(words, 1)).toBe(1);
    await expect(stream.toArray()).rejects.toThrow(PoolClosedError);
  });

  test("are counted", async () => {
    const pool = await streamPool();
    const stream = pool.call.count(0, 1e9);
    await stream.next();
    const { openStreams, streamItems } = pool.stats();
    expect(openStreams).toBe(1);
    expect(streamItems).toBeGreaterThan(0);
    await stream.return();
    expect(pool.stats().openStreams).toBe(0);
  });
});
