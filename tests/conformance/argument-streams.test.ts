/** Streams as arguments: what fails, what nobody reads, and whose context they run in. */
import { createReadStream, type ReadStream } from "node:fs";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPool, type Pool, type PoolOptions, WorkerLostError } from "../../src/mod.ts";
import { closedAfterTest, until } from "../support/conformance.ts";
import { pause, runScript } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/source-tasks.ts");

const url = new URL("../fixtures/source-tasks.ts", import.meta.url);

async function sourcePool(options: PoolOptions = { threads: 1 }): Promise<Pool<Tasks>> {
  const pool = closedAfterTest(createPool(options)<Tasks>(url));
  await pool.ready;
  return pool;
}

let folder: string;

let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "heddle-sources-"));
  file = join(folder, "lines.txt");
  await writeFile(file, "one\ntwo\nthree\n");
});

afterAll(() => rm(folder, { recursive: true }));

/** Kinds of streams, each with a function that says whether it has been ended. */
const kinds: Record<string, (first: () => AsyncGenerator<number>) => Promise<Kind> | Kind> = {
  Readable: () => {
    const source = new Readable({ read() {} });
    return { source, isEnded: () => source.destroyed };
  },
  "file that is open": async () => {
    const source: ReadStream = createReadStream(file);
    await new Promise((resolve) => source.once("open", resolve));
    return { source, isEnded: () => source.closed };
  },
  ReadableStream: () => {
    let isCancelled = false;
    const source = new ReadableStream({ cancel: () => void (isCancelled = true) });
    return { source, isEnded: () => isCancelled };
  },
  "generator that has begun": async () => {
    let isEnded = false;
    const source = (async function* () {
      try {
        yield* [1, 2];
      } finally {
        isEnded = true;
      }
    })();
    await source.next();
    return { source, isEnded: () => isEnded };
  },
  "iterable with return()": () => {
    let open = 0;
    const iterator = {
      next: () => Promise.resolve({ done: false, value: 1 }),
      return: () => Promise.resolve({ done: true, value: open-- }),
    };
    const source = { [Symbol.asyncIterator]: () => (open++, iterator) };
    return { source, isEnded: () => open === 0 };
  },
  "readline interface": () => {
    const source = createInterface({ input: new Readable({ read() {} }) });
    let isEnded = false;
    source.on("close", () => isEnded = true);
    return { source, isEnded: () => isEnded };
  },
  "result stream": async (first) => {
    const source = first();
    await source.next();
    let isEnded = false;
    void (source as unknown as { readonly returned: Promise<void> }).returned
      .finally(() => isEnded = true);
    return { source, isEnded: () => isEnded };
  },
};

interface Kind {
  readonly source: object;
  readonly isEnded: () => boolean;
}

/** Calls that do not read their stream. */
const calls: Record<string, (pool: Pool<Tasks>, source: never) => Promise<unknown>> = {
  "a task that returns": ({ call }, source) => call.ignore(source),
  "a task that throws": ({ call }, source) => call.refuse(source),
  "a task that ends it": ({ call }, source) => Promise.race([call.endUnread(source), pause(50)]),
  "a call that times out": ({ call }, source) =>
    call.ignoreFor.with({ runTimeoutMs: 5 })(source, 100),
  "a call that is aborted while it waits": ({ call }, source) => {
    const controller = new AbortController();
    void call.block(30);
    const waiting = call.size.with({ signal: controller.signal })(source);
    controller.abort();
    return waiting;
  },
  "a refused call": ({ call }, source) => call.size.with({ signal: AbortSignal.abort() })(source),
  "a call with another argument that cannot be cloned": ({ call }, source) =>
    call.ignore(source, () => {}),
  "a refused promise of it": ({ call }, source) => call.size(Promise.resolve(source) as never),
};

test("sources that fail end no process, whatever the call does with them", async () => {
  const { code, output } = await runScript("failing-sources.ts");
  expect(output.replaceAll("Z_DATA_ERROR", "damaged").trimEnd().split("\n")).toEqual([
    "read: rejected ENOENT",
    "ignored: resolved ignored",
    "ignored for long: resolved ignored",
    "refused: rejected refused",
    "aborted: rejected 20",
    "beside a function: rejected HEDDLE_DATA_CLONE",
    "of a closed pool: rejected HEDDLE_POOL_CLOSED",
    "of an unknown task: rejected HEDDLE_UNKNOWN_TASK",
    "timed out: rejected HEDDLE_TIMEOUT",
    "in a promise: rejected HEDDLE_DATA_CLONE",
    "beside a promise that rejects: rejected no value",
    "with a transfer list: rejected HEDDLE_INVALID_ARGUMENT",
    "of a broadcast: rejected HEDDLE_DATA_CLONE",
    "between two reads: rejected cut",
    "after the call: resolved ignored",
    "while it is ended: resolved ignored",
    "lines: rejected ENOENT",
    "lines ignored: resolved ignored",
    "a generator: rejected generator failed",
    "a ReadableStream: rejected errored",
    "a ReadableStream, ignored: resolved ignored",
    "damaged gzip: rejected damaged",
    expect.stringMatching(/^damaged gzip, decompressed: rejected ./),
    "a sink that fails: rejected disk full",
    "alive",
  ]);
  expect(code).toBe(0);
});

describe.each(Object.keys(kinds))("a %s", (kind) => {
  test.each(Object.keys(calls))("is ended by %s", async (how) => {
    const pool = await sourcePool();
    const { source, isEnded } = await kinds[kind]!(() => pool.call.endless());
    await calls[how]!(pool, source as never).catch(() => {});
    await until(isEnded);
    if (how === "a task that ends it") await pool.shutdown(0);
  });
});

test("a source of an early call is ended with it", async () => {
  const pool = closedAfterTest(createPool({ threads: 1 })<Tasks>(url));
  const source = new Readable({ read() {} });
  expect(await pool.call.ignore(source)).toBe("ignored");
  await until(() => source.destroyed);
});

test("an early call with a source is not repeated when its worker is lost", async () => {
  const pool = closedAfterTest(createPool({ threads: 1 })<Tasks>(url));
  pool.addEventListener("workerExit", (event) => event.preventDefault());
  const source = Readable.from([1, 2, 3]);
  const call = pool.call.crashReading.with({ retries: 3 })(source);
  await expect(call).rejects.toThrow(WorkerLostError);
  await until(() => source.destroyed);
});

test("a Readable that waits for data is destroyed with its call", async () => {
  const { call } = await sourcePool();
  const controller = new AbortController();
  const source = new Readable({ read() {} });
  source.push("first");
  const reading = call.readOne.with({ signal: controller.signal })(source);
  await until(() => source.readableFlowing !== null || source.listenerCount("readable") > 0);
  controller.abort();
  await expect(reading).rejects.toThrow(/abort/i);
  await until(() => source.destroyed);
});

test("a Readable that waits for data is destroyed when its map() fails, or is not read on", async () => {
  const pool = await sourcePool();
  const waiting = (): Readable => {
    const source = new Readable({ read() {}, objectMode: true });
    source.push(1);
    return source;
  };
  const [failing, left] = [waiting(), waiting()];
  await expect(pool.forEach(pool.call.refuse, failing)).rejects.toThrow("refused");
  await until(() => failing.destroyed);
  for await (const n of pool.map(pool.call.twice, left as AsyncIterable<number>)) {
    expect(n).toBe(2);
    break;
  }
  await until(() => left.destroyed);
});

test("a Readable that a task returns is destroyed while it waits for data, and harms no worker", async () => {
  const pool = await sourcePool();
  const stream = await pool.call.waitingReadable() as AsyncGenerator<number>;
  expect(await stream.next()).toEqual({ done: false, value: 1 });
  expect(await stream.return(undefined)).toEqual({ done: true, value: undefined });
  expect(await pool.call.twice(1)).toBe(2);
  expect(pool.stats().workersLost).toBe(0);
});

describe("lines", () => {
  const sources: Record<string, () => Promise<AsyncIterable<string>> | AsyncIterable<string>> = {
    "of readline": () => createInterface({ input: createReadStream(file) }),
    "of FileHandle.readLines()": async () => (await open(file)).readLines(),
  };

  test.each(Object.keys(sources))("%s arrive although the worker is busy", async (kind) => {
    const { call } = await sourcePool();
    const busy = call.block(100);
    const source = await sources[kind]!();
    expect(await call.collect(source)).toEqual(["one", "two", "three"]);
    await busy;
  });

  test.each(Object.keys(sources))("%s arrive although the worker starts", async (kind) => {
    const pool = closedAfterTest(createPool({ minThreads: 0, maxThreads: 1 })<Tasks>(url));
    const source = await sources[kind]!();
    expect(await pool.call.collect(source)).toEqual(["one", "two", "three"]);
  });
});

test.each(["itself", "its lines"])(
  "an upload that is cut off ends the call that takes %s",
  async (what) => {
    const pool = await sourcePool();
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const server = createServer((request) => {
      void pool.call.block(100);
      const source = what === "itself" ? request : createInterface({ input: request });
      pool.call.size(source).then(resolve, (error: Error) => resolve(error));
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const { port } = server.address() as { port: number };
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n${"x".repeat(5000)}`);
    await until(() => pool.stats().inFlight > 0);
    socket.destroy();
    expect(await promise).toBeInstanceOf(Error);
    expect(pool.stats().inFlight).toBe(0);
    server.close();
  },
);
