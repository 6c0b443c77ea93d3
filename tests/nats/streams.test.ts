/** Streams as arguments of calls to another machine, and what ends them. */
import { AsyncLocalStorage } from "node:async_hooks";
import { createReadStream, mkdtempSync, rmSync } from "node:fs";
import { Readable } from "node:stream";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  DataCloneError,
  PoolClosedError,
  TimeoutError,
  UnknownTaskError,
  WorkerLostError,
} from "../../src/mod.ts";
import { connectPool, type RemotePool, serve, type Server } from "../../src/mod-nats.ts";
import { rejection, until } from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";
import { raise } from "../fixtures/nats-tasks.ts";
import { noServer, startMachine, startServers } from "../support/nats.ts";

type Tasks = typeof import("../fixtures/nats-tasks.ts");
const tasks = new URL("../fixtures/nats-tasks.ts", import.meta.url);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** A source that tells how far it was asked, and whether it was ended. */
class Source implements AsyncIterable<number> {
  asked = 0;
  opened = 0;
  closed = 0;
  readonly #count: number;

  constructor(count = Infinity) {
    this.#count = count;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<number> {
    this.opened++;
    try {
      while (this.asked < this.#count) yield this.asked++;
    } finally {
      this.closed++;
    }
  }
}

describe.skipIf(noServer !== undefined)(`streams${noServer ? ` (${noServer})` : ""}`, () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let address: string;
  let server: Server;
  let pool: RemotePool<Tasks>;
  const folder = mkdtempSync(join(tmpdir(), "heddle-nats-streams-"));

  beforeAll(async () => {
    servers = await startServers(1);
    address = servers[0]!.address;
    const options = { servers: address, subject: "streams", pool: { threads: 2 } };
    server = serve({ ...options, terminates: false })<Tasks>(tasks);
    await server.ready;
    // Longer than this machine may be busy with other things.
    pool = connectPool({ servers: address, subject: "streams", lostAfterMs: 30_000 })<Tasks>();
  });
  afterAll(async () => {
    await pool?.shutdown();
    await server?.shutdown();
    await servers?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("async iterables, ReadableStreams and Readables arrive in order", async () => {
    const source = new Source(10_000);
    const { kind, items } = await pool.call.collect(source);
    expect(items).toEqual(upTo(10_000));
    expect(kind).not.toBe("[object ReadableStream]");
    expect(source).toMatchObject({ opened: 1, closed: 1 });
    const web = new ReadableStream<string>({
      start(controller) {
        for (const text of ["a", "b"]) controller.enqueue(text);
        controller.close();
      },
    });
    expect(await pool.call.collect(web)).toEqual({
      kind: "[object ReadableStream]",
      items: ["a", "b"],
    });
    expect((await pool.call.collect(Readable.from([1, "x", { y: 2 }]))).items)
      .toEqual([1, "x", { y: 2 }]);
    const generator = (function* (): Generator<number> {
      yield* [1, 2];
    })() as unknown as AsyncIterable<number>;
    expect((await pool.call.collect(generator)).items).toEqual([1, 2]);
  });

  test("items above max_payload arrive in their places", async () => {
    const blocks = async function* (): AsyncGenerator<Uint8Array> {
      for (let n = 0; n < 6; n++) yield new Uint8Array(n % 2 === 0 ? 2_500_000 : 10).fill(n);
    };
    const { items } = await pool.call.collect(blocks());
    expect(items.map((block) => [block.length, block[0], block.at(-1)])).toEqual(
      upTo(6).map((n) => [n % 2 === 0 ? 2_500_000 : 10, n, n]),
    );
  });

  test("the source is asked as far as the task reads, and ended when it reads no more", async () => {
    const endless = new Source();
    expect((await pool.call.collect(endless, 3)).items).toEqual([0, 1, 2]);
    await until(() => endless.closed === 1);
    // What the caller, the machine and the worker hold.
    expect(endless.asked).toBeLessThan(20_000);
    const unread = new Source();
    expect(await pool.call.add(1, unread as unknown as number)).toBe("1[object Object]");
    expect(unread.opened).toBe(0);
    await until(() => server.stats().inFlight === 0);
  });

  test("ending a stream throws what its finally blocks throw, and no error behind its last item", async () => {
    async function* source(kind: "item" | "end"): AsyncGenerator<number> {
      try {
        yield 0;
        await pause(20);
        if (kind === "item") throw new RangeError("item");
        for (let n = 1;; n++) yield n;
      } finally {
        if (kind === "end") raise("end");
      }
    }
    for (const ms of [0, 50, 300]) {
      for (const kind of ["item", "end"] as const) {
        const stream = pool.call.failsBehind(kind);
        await stream.next();
        await pause(ms);
        const expected = kind === "item" ? "nothing" : "RangeError: end";
        expect(await stream.return().then(() => "nothing", String)).toBe(expected);
        expect(await pool.call.endAfter(source(kind), ms)).toBe(expected);
      }
    }
  });

  test("ending a stream whose error is on its way from another process throws nothing", async () => {
    const options = { servers: [address], subject: "behind", pool: { threads: 1 } };
    const machine = await startMachine("behind", options);
    const caller = connectPool({ servers: address, subject: "behind" })<Tasks>();
    for (const kind of ["item", "end"] as const) {
      const stream = caller.call.failsBehind(kind);
      await stream.next();
      // The machine goes on, and what it sends is read after the end.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      const expected = kind === "item" ? "nothing" : "RangeError: end";
      expect(await stream.return().then(() => "nothing", String)).toBe(expected);
    }
    await caller.shutdown();
    await machine.kill();
  });

  test("streams go through several tasks, and several into one call", async () => {
    expect(await pool.call.double(pool.call.count(5000)).toArray()).toEqual(
      upTo(5000).map((n) => 2 * n),
    );
    const both = pool.call.zip(new Source(2000), pool.call.double(new Source(2000)));
    expect(await both.toArray()).toEqual(upTo(2000).map((n) => [n, 2 * n]));
    const promised = pool.call.stream(3) as unknown as AsyncIterable<number>;
    expect(await pool.call.double(promised).toArray()).toEqual([0, 2, 4]);
    const opened = pool.call.count(10);
    expect((await opened.next()).value).toBe(0);
    expect(await pool.call.double(opened).toArray()).toEqual(upTo(10).slice(1).map((n) => 2 * n));
    const failed = pool.call.double(pool.call.failAfter(2));
    expect((await failed.next()).value).toBe(0);
    expect((await failed.next()).value).toBe(2);
    expect(await rejection(failed.next())).toMatchObject({ message: "no more" });
    const unknown = pool as unknown as RemotePool<{ none(): AsyncGenerator<number> }>;
    expect(await rejection(pool.call.double(unknown.call.none()).toArray())).toBeInstanceOf(
      UnknownTaskError,
    );
  });

  test("a ReadableStream as a result is one", async () => {
    const stream = await pool.call.readable(5000);
    expect(Object.prototype.toString.call(stream)).toBe("[object ReadableStream]");
    const items: number[] = [];
    for await (const item of stream) items.push(item);
    expect(items).toEqual(upTo(5000));
    await (await pool.call.readable(1e9)).cancel();
    await until(() => server.stats().inFlight === 0);
  });

  test("results that wait for their readers leave room for the calls that read them", async () => {
    const options = { servers: address, subject: "narrow", maxInFlight: 2 };
    const narrow = serve({ ...options, pool: { threads: 1 }, terminates: false })<Tasks>(tasks);
    await narrow.ready;
    const caller = connectPool({ servers: address, subject: "narrow" })<Tasks>();
    const doubled = Array.from(
      { length: 5 },
      () => caller.call.double(caller.call.count(20_000)).toArray(),
    );
    for (const items of await Promise.all(doubled)) expect(items).toHaveLength(20_000);
    await caller.shutdown();
    await narrow.shutdown();
  });

  test("a call that cannot be made leaves no rejection of the calls among its arguments", async () => {
    const closed = connectPool({ servers: address, subject: "streams" })<Tasks>();
    const fail = (inner: AsyncIterable<number>): Promise<unknown> =>
      rejection(closed.call.double(inner).toArray());
    const outer = [fail(closed.call.count(1)), fail(closed.call.failAfter(0))];
    await closed.shutdown(0);
    outer.push(fail(closed.call.count(2)));
    class Odd extends Promise<number> {
      override catch(): never {
        throw new Error("not called");
      }
    }
    outer.push(rejection(closed.call.add(new Odd(() => {}) as unknown as number, 1)));
    for (const error of await Promise.all(outer)) expect(error).toBeInstanceOf(PoolClosedError);
  });

  test("sources that nobody reads are ended, and their errors are ignored", async () => {
    const { call } = pool;
    const missing = (): Readable => createReadStream("/no/such/file");
    expect(await call.ignore(missing())).toBe("ignored");
    expect(await rejection(call.collect(missing()))).toMatchObject({ code: "ENOENT" });
    const aborted = call.ignore.with({ signal: AbortSignal.abort() });
    const calls = [
      (source: unknown) => call.ignore(source),
      (source: unknown) => rejection(aborted(source)),
      (source: unknown) => rejection(call.zip(source as never, (() => {}) as never).toArray()),
      (source: unknown) => rejection(call.ignore(Promise.resolve(source))),
    ];
    for (const make of calls) {
      const readable = new Readable({ read() {} });
      const source = new Source();
      const generator = source[Symbol.asyncIterator]();
      await generator.next();
      await make(readable);
      await make(generator);
      await until(() => readable.destroyed && source.closed === 1);
    }
    await rejection(aborted(missing()));
    await rejection(call.ignore(Promise.resolve(missing())));
    await new Promise((resolve) => setTimeout(resolve, 20));
  });

  test("sources and listeners run in the context of their caller", async () => {
    const store = new AsyncLocalStorage<string>();
    const seen = await Promise.all(["A", "B"].map((name) =>
      store.run(name, async () => {
        const stores = new Set<string | undefined>();
        const source = async function* (): AsyncGenerator<number> {
          for (let n = 0; n < 20; n++) {
            stores.add(store.getStore());
            yield n;
          }
        };
        await pool.call.collect(source());
        await pool.call.progress.with({ onEvent: () => stores.add(store.getStore()) })(3);
        return [...stores];
      })
    ));
    expect(seen).toEqual([["A"], ["B"]]);
  });

  test("an error of the source arrives after its items", async () => {
    const failing = async function* (): AsyncGenerator<number> {
      yield* upTo(1000);
      throw new RangeError("no more");
    };
    const [count, error] = await pool.call.countUntilError(failing());
    expect(count).toBe(1000);
    expect(error).toBeInstanceOf(RangeError);
    const uncloneable = async function* (): AsyncGenerator<unknown> {
      yield* upTo(10);
      yield () => {};
    };
    const [before, refused] = await pool.call.countUntilError(uncloneable());
    expect(before).toBe(10);
    expect(refused).toBeInstanceOf(DataCloneError);
    const broken = {
      [Symbol.asyncIterator]: () => {
        throw new RangeError("cannot be opened");
      },
    } as unknown as AsyncIterable<unknown>;
    expect((await pool.call.countUntilError(broken))[1]).toBeInstanceOf(RangeError);
  });

  test("an abort and a timeout end the source", async () => {
    const controller = new AbortController();
    const aborted = new Source();
    const call = rejection(pool.call.readOne.with({ signal: controller.signal })(aborted));
    await until(() => aborted.opened === 1);
    controller.abort("stop");
    expect(await call).toBe("stop");
    await until(() => aborted.closed === 1);
    // A call that the system holds up can time out before it reads.
    for (let opened = 0; opened === 0;) {
      const late = new Source();
      const timedOut = await rejection(pool.call.readOne.with({ runTimeoutMs: 500 })(late));
      expect(timedOut).toBeInstanceOf(TimeoutError);
      opened = late.opened;
      await until(() => late.closed === opened);
    }
    await until(() => server.stats().inFlight === 0);
  });

  test("a generator that is ended before its machine knows that, ends", async () => {
    for (let round = 0; round < 5; round++) {
      const file = join(folder, `ended-${round}`);
      const rows = pool.call.endless(file);
      await rows.return();
      await until(() => server.stats().inFlight === 0);
    }
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  test("promises of streams are refused by name", async () => {
    const promised = Promise.resolve(new Source()) as unknown as AsyncIterable<number>;
    const error = await rejection(pool.call.collect(promised));
    expect(error).toBeInstanceOf(DataCloneError);
    expect((error as Error).message).toContain("args[0]");
  });

  test("the source ends with the machine that reads it; the call is not repeated", async () => {
    const options = { servers: [address], subject: "mortal", pool: { threads: 1 } };
    const machine = await startMachine("mortal", options);
    const caller = connectPool({ servers: address, subject: "mortal", lostAfterMs: 6000 })<Tasks>();
    await caller.call.pid(); // the caller asks for its name
    const source = new Source();
    const reading = rejection(caller.call.readOne.with({ retries: 3 })(source));
    await until(() => source.opened === 1);
    await machine.kill();
    const error = await reading;
    expect(error).toBeInstanceOf(WorkerLostError);
    expect(error).toMatchObject({ machine: "mortal" });
    await until(() => source.closed === 1);
    expect(source.opened).toBe(1);
    expect(caller.stats()).toMatchObject({ inFlight: 0, retried: 0 });
    await caller.shutdown();
  });

  test("shutdown of the machine ends the source", async () => {
    const leaving = serve({
      servers: address,
      subject: "leaving",
      pool: { threads: 1 },
      discovery: false,
      terminates: false,
    })<Tasks>(tasks);
    await leaving.ready;
    const caller = connectPool({ servers: address, subject: "leaving" })<Tasks>();
    const source = new Source();
    const reading = rejection(caller.call.readOne(source));
    await until(() => source.opened === 1);
    await leaving.shutdown(0);
    expect(await reading).toBeInstanceOf(WorkerLostError);
    await until(() => source.closed === 1);
    await caller.shutdown();
  });
});
