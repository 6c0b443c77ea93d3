/** Streams that are used in unusual ways, or whose iterators misbehave. */
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { createPool, type Pool, type PoolOptions, transfer } from "../../src/mod.ts";
import { raise, unreadable } from "../fixtures/stream-edge-tasks.ts";
import { begun, closedAfterTest, rejection, release, sharedWords } from "../support/conformance.ts";
import { capabilities, runScript } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/stream-edge-tasks.ts");

const url = new URL("../fixtures/stream-edge-tasks.ts", import.meta.url);

async function edgePool(options: PoolOptions = { threads: 1 }): Promise<Pool<Tasks>> {
  const pool = closedAfterTest(createPool(options)<Tasks>(url));
  await pool.ready;
  return pool;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(hold: () => boolean | Promise<boolean>): Promise<void> {
  while (!await hold()) await sleep(5);
}

/** An async iterable whose iterator has these methods. */
function iterable(iterator: object): AsyncGenerator<number> {
  return { [Symbol.asyncIterator]: () => iterator } as AsyncGenerator<number>;
}

/** An error whose class cannot be asked for. */
function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe("moved items", () => {
  test.each([0, 1, 600])("of a result arrive after %i others", async (numbers) => {
    const { call } = await edgePool();
    const items = await call.movedAfter(numbers).toArray();
    expect(items.length).toBe(numbers + 2);
    expect((items[numbers] as ArrayBuffer).byteLength).toBe(16);
    expect(items.at(-1)).toBe("end");
  });

  test("of an argument arrive after others, and a refused one stays", async () => {
    const { call } = await edgePool();
    const kept = new ArrayBuffer(8);
    function* source(): Generator<unknown> {
      yield 1;
      yield transfer(new ArrayBuffer(16));
      yield 2;
    }
    function* refused(): Generator<unknown> {
      yield 1;
      yield [transfer(kept), () => {}];
    }
    expect(await call.sizes(source() as never)).toEqual([1, "16 bytes", 2]);
    expect(await call.failureOf(refused() as never)).toMatch(/^DataCloneError: /);
    expect(kept.byteLength).toBe(8);
  });
});

describe("argument streams", () => {
  test("are not started by a task that ends them unread", async () => {
    const { call } = await edgePool();
    let started = 0;
    async function* source(): AsyncGenerator<number> {
      started++;
      yield 1;
    }
    const readable = new ReadableStream({ pull: () => void started++ }, { highWaterMark: 0 });
    expect(await call.refuse(source())).toBe("refused");
    expect(await call.refuseReadable(readable)).toBe("refused");
    expect(started).toBe(0);
  });

  test.each(["prompt", "hanging"])("of an aborted call fail, their %s source ends", async (how) => {
    const { call } = await edgePool();
    const controller = new AbortController();
    let [asked, ended] = [0, 0];
    const source = iterable({
      next: () => {
        asked++;
        if (how === "hanging") return new Promise(() => {});
        return sleep(1).then(() => ({ done: false, value: 1 }));
      },
      return: () => {
        ended++;
        return new Promise(() => {});
      },
    });
    const reading = call.noteEnd.with({ signal: controller.signal })(source);
    const log: string[] = [];
    await until(async () => log.push(...await call.takeLog()) > 0);
    await until(() => asked > 0);
    controller.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    await until(async () => log.push(...await call.takeLog()) > 1);
    expect(log).toEqual(["reads", "StreamClosedError"]);
    expect(ended).toBe(1);
  });

  test("end if their call is aborted while they are opened", async () => {
    const { call } = await edgePool();
    const controller = new AbortController();
    let [asked, ended] = [0, 0];
    const source = {
      [Symbol.asyncIterator]: () => {
        controller.abort();
        return {
          next: () => Promise.resolve({ done: false, value: asked++ }),
          return: () => Promise.resolve({ done: true, value: ended++ }),
        };
      },
    } as unknown as AsyncGenerator<number>;
    const reading = call.noteEnd.with({ signal: controller.signal })(source);
    await expect(reading).rejects.toThrow(/abort/i);
    await until(() => ended > 0);
    expect([asked, ended]).toEqual([0, 1]);
  });

  test("an error of a source that cannot be looked at reaches the task", async () => {
    const { call } = await edgePool();
    const source = iterable({ next: () => Promise.reject(revokedProxy()) });
    expect(await call.failureOf(source)).toMatch(/Error/);
  });

  test("a result of return() that cannot be looked at reaches the task", async () => {
    const { call } = await edgePool();
    const source = iterable({
      next: () => Promise.resolve({ done: false, value: 1 }),
      return: () => unreadable({}, "then"),
    });
    await expect(call.breakOff(source)).rejects.toThrow("then getter");
  });

  test("are no place for a transfer list, which another argument takes", async () => {
    const { call } = await edgePool();
    async function* source(): AsyncGenerator<number> {
      yield* [1, 2];
    }
    const buffer = new ArrayBuffer(8);
    const read = call.readBoth.with({ transfer: [buffer] });
    expect(await read(source(), buffer)).toEqual([2, 8]);
    expect(buffer.byteLength).toBe(0);
    const only = call.readBoth.with({ transfer: [new ArrayBuffer(8)] });
    await expect(only(source(), Promise.resolve(buffer) as never)).rejects.toThrow(/neither/);
  });

  test("a ReadableStream in a transfer list is moved as a whole", async () => {
    const { call } = await edgePool();
    const source = new ReadableStream<number>({ start: (items) => items.close() });
    const moving = call.failureOf.with({ transfer: [source] })(source as never);
    const ending = await moving.catch((error: Error) => error.name);
    // Some runtimes cannot move it.
    expect(["none", "DataCloneError"]).toContain(ending);
  });

  test("a ReadableStream that waits for its next item is cancelled with the call", async () => {
    const { call } = await edgePool();
    const controller = new AbortController();
    let cancelled = 0;
    const source = new ReadableStream<number>({
      start: (items) => items.enqueue(1),
      cancel: () => void cancelled++,
    });
    const reading = call.noteEnd.with({ signal: controller.signal })(source as never);
    await until(async () => (await call.takeLog()).length > 0);
    await until(() => source.locked);
    controller.abort();
    await expect(reading).rejects.toThrow(/abort/i);
    await until(() => cancelled > 0);
    expect(source.locked).toBe(false);
  });
});

describe("result streams", () => {
  test("a ReadableStream that waits for its next item can be cancelled", async () => {
    const { call } = await edgePool();
    const reader = (await call.idleReadable()).getReader();
    expect(await reader.read()).toEqual({ done: false, value: 1 });
    await sleep(20);
    await reader.cancel();
    expect(await call.takeLog()).toEqual(["cancelled undefined"]);
  });

  test("a result of return() that cannot be looked at is an error of return()", async () => {
    const { call } = await edgePool();
    const stream = await call.badReturn() as AsyncGenerator<number>;
    expect(await stream.next()).toEqual({ done: false, value: 1 });
    await expect(stream.return(undefined)).rejects.toThrow(/^then getter/);
  });

  test("results that cannot be looked at are refused", async () => {
    const pool = await edgePool();
    const { call } = pool;
    await expect(call.returnsUnknowable()).rejects.toThrow(/cloned/);
    const tagless = await call.returnsTagless() as AsyncGenerator<number>;
    expect(await tagless.next()).toEqual({ done: true, value: "end" });
    const stream = call.endsByUnknowable();
    expect(await stream.next()).toEqual({ done: false, value: 1 });
    await expect(stream.next()).rejects.toThrow(/cloned/);
    expect(pool.stats().workersLost).toBe(0);
  });

  test("a promise that a generator returns is awaited, as by for await", async () => {
    const { call } = await edgePool();
    const stream = call.endsByPromise();
    expect(await stream.toArray()).toEqual([1]);
    expect(await stream.returned).toBe("later");
  });

  test("of the early calls of an aborted signal are no unhandled rejections", async () => {
    expect(await runScript("early-stream-aborted.ts")).toEqual({ code: 0, output: "mine\n" });
  });

  test("of early calls are cancelled when they are collected", async () => {
    const { code, output } = await runScript("collected-early-stream.ts", ["--expose-gc"]);
    expect({ code, output }).toEqual({ code: 0, output: "collected\n" });
  });

  test("onEvent gets one argument", async () => {
    const { call } = await edgePool();
    const seen: unknown[][] = [];
    await call.emitTwo.with({ onEvent: (...args: unknown[]) => void seen.push(args) })();
    expect(seen).toEqual([["a"], ["b"]]);
  });
});

describe("map", () => {
  test("a source that gives no iterator results fails the run", async () => {
    const pool = await edgePool();
    const source = iterable({ next: () => Promise.resolve(undefined) });
    await expect(pool.map(pool.call.square, source).toArray()).rejects.toThrow(TypeError);
  });

  test("a source whose next() throws is not asked to return()", async () => {
    const pool = await edgePool();
    let returns = 0;
    const source = {
      [Symbol.iterator]: () => ({
        next: () => {
          throw new Error("next failed");
        },
        return: () => ({ done: true, value: returns++ }),
      }),
    } as unknown as Iterable<number>;
    await expect(pool.map(pool.call.square, source).toArray()).rejects.toThrow("next failed");
    expect(returns).toBe(0);
  });

  test("results that are ended unread do not open their source", async () => {
    const pool = await edgePool();
    let opened = 0;
    const source = {
      [Symbol.iterator]: () => {
        opened++;
        return [1, 2][Symbol.iterator]();
      },
    };
    const results = pool.map(pool.call.square, source);
    expect(await results.return()).toEqual({ done: true, value: undefined });
    expect(await results.next()).toEqual({ done: true, value: undefined });
    expect(await results.toArray()).toEqual([]);
    await pool.map(pool.call.square, source)[Symbol.asyncDispose]();
    expect(opened).toBe(0);
  });
});

describe("events", () => {
  test("go on after one whose listener throws", async () => {
    const { code, output } = await runScript("throwing-listener.ts");
    expect({ code, output }).toEqual({ code: 0, output: "0,1,2,3 event 1\n" });
  });

  test("of a task that is stopped do not keep its thread waiting for room", async () => {
    const pool = await edgePool({ threads: 1, hardTimeoutMs: 100, ringBytes: 1024 });
    const ended = new Int32Array(new SharedArrayBuffer(4));
    let events = 0;
    const isToldOf = async (): Promise<boolean> => {
      const call = pool.call.emitForEver.with({ onEvent: () => events++ })(ended);
      await expect(call).rejects.toMatchObject({ code: "HEDDLE_TIMEOUT" });
      return events > 0; // unless its thread was held up
    };
    await until(isToldOf);
    // Other runtimes stop the thread themselves, and none of its code runs after that.
    if (!capabilities.stopsLoops) await until(() => Atomics.load(ended, 0) === 1);
    await until(() => pool.stats().abandonedThreads === 0);
  });
});

/** A reader that ends a stream gets what `return()` of its iterator throws, and nothing else. */
describe("ending a stream", () => {
  const kinds = ["throws", "yields", "returns"] as const;

  test.each(kinds)(
    "before or while its task %s behind the last item that was read",
    async (kind) => {
      const { call } = await edgePool();
      for (const when of ["before", "during"]) {
        const words = sharedWords();
        const stream = call.troubleBehind(words, kind);
        expect(await stream.next()).toEqual({ done: false, value: 0 });
        await begun(words);
        if (when === "before") {
          release(words);
          await rejection(stream.returned);
        }
        const ended = stream.return();
        if (when === "during") release(words);
        expect(await ended).toEqual({ done: true, value: undefined });
        expect(await rejection(stream.returned)).toMatchObject({
          name: kind === "throws" ? "RangeError" : "DataCloneError",
        });
        expect(await stream.next()).toEqual({ done: true, value: undefined });
      }
    },
  );

  test.each([true, false])("whose finally block throws, while it works: %s", async (isBusy) => {
    const { call } = await edgePool();
    const words = sharedWords();
    const stream = call.troubleAtEnd(words, isBusy);
    await stream.next();
    await begun(words);
    const ended = rejection(stream.return());
    release(words);
    expect(await ended).toMatchObject({ name: "RangeError", message: "at the end" });
    await expect((async () => {
      for await (const _ of call.troubleAtEndSync()) break;
    })()).rejects.toThrow("at the end");
  });

  test("of an argument, before or while its source throws behind", async () => {
    const { call } = await edgePool();
    for (const when of ["before", "during", "finally"]) {
      const words = sharedWords();
      const source = async function* (): AsyncGenerator<number> {
        try {
          yield 0;
          await begun(words);
          for (let n = 1; when === "finally"; n++) yield n;
          if (when === "during") {
            release(words);
            while (Atomics.load(words, 2) === 0);
          }
          throw new RangeError("behind");
        } finally {
          if (when === "finally") raise("at the end");
        }
      };
      const result = call.endWhen(source(), words);
      if (when !== "during") {
        await begun(words);
        await sleep(20); // the source goes on
        release(words);
      }
      expect(await result).toBe(when === "finally" ? "RangeError: at the end" : "nothing");
    }
  });
});

describe("a stream that a call has taken", () => {
  const streams: Readonly<Record<string, (call: Pool<Tasks>["call"]) => AsyncIterable<number>>> = {
    "a generator": () =>
      (function* () {
        for (let n = 0; n < 1000; n++) yield n;
      })() as unknown as AsyncIterable<number>,
    "an async generator": async function* () {
      for (let n = 0; n < 1000; n++) yield n;
    },
    "a Readable": () => Readable.from(Array.from({ length: 1000 }, (_, n) => n)),
    "a result stream": (call) => call.count(1000),
  };

  test.each(Object.keys(streams))(
    "is refused by the next, and the first goes on: %s",
    async (kind) => {
      const pool = await edgePool({ threads: 2 });
      const { call } = pool;
      const stream = streams[kind]!(call);
      const first = call.sizes(stream);
      const other = Readable.from([1]);
      const refusals = [
        () => call.sizes(stream),
        () => call.readBoth(other as AsyncIterable<number>, stream as never),
        async () => await pool.map(call.plain, stream),
        () => pool.forEach(call.plain, stream),
      ];
      for (const refused of refusals) {
        expect(await rejection(refused())).toMatchObject({
          code: "HEDDLE_INVALID_ARGUMENT",
          message: expect.stringContaining("another call has taken"),
        });
      }
      expect(other.destroyed).toBe(true);
      expect(await first).toEqual(Array.from({ length: 1000 }, (_, n) => n));
      const twice = streams[kind]!(call);
      expect(await rejection(call.readBoth(twice, twice as never))).toMatchObject({
        code: "HEDDLE_INVALID_ARGUMENT",
      });
    },
  );

  test("may be an iterable, which gives each call an iterator of its own", async () => {
    const { call } = await edgePool({ threads: 2 });
    const items = {
      async *[Symbol.asyncIterator]() {
        yield* [1, 2];
      },
    };
    expect(await Promise.all([call.sizes(items), call.sizes(items)])).toEqual([[1, 2], [1, 2]]);
  });
});
