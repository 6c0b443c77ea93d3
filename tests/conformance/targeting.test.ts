/** Calls for certain workers: those of a key, and broadcasts to all. */
import { describe, expect, onTestFinished, test } from "vitest";
import { createPool, importTask, type Pool, type PoolOptions } from "../../src/mod.ts";
import { closedAfterTest, until } from "../support/conformance.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { pause } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/module-tasks.ts");

const url = new URL("../fixtures/module-tasks.ts", import.meta.url);
const createIdle = (options: PoolOptions = { threads: 3 }): Pool<Tasks> =>
  closedAfterTest(createPool(options)<Tasks>(url));

async function createReady(options?: PoolOptions): Promise<Pool<Tasks>> {
  const pool = createIdle(options);
  await pool.ready;
  return pool;
}

describe("calls with a key", () => {
  test("run in the same worker, and keys are spread over the workers", async () => {
    const { call } = await createReady();
    const workers = new Set<number>();
    for (const key of ["a", "b", "c", 1, 2, 3]) {
      const keyed = call.workerOf.with({ affinity: key });
      const seen = new Set(await Promise.all(Array.from({ length: 200 }, () => keyed())));
      expect(seen.size).toBe(1);
      for (const worker of seen) workers.add(worker);
    }
    expect(workers.size).toBe(3);
  });

  test("are not stolen from a busy worker, and delay no other calls", async () => {
    const { call, stats } = await createReady({ threads: 2 });
    const keyed = call.block.with({ affinity: "k" });
    const first = await keyed(0);
    const calls = [keyed(200), keyed(1), call.workerOf.with({ affinity: "k" })()];
    const others = await Promise.all(Array.from({ length: 20 }, () => call.workerOf()));
    expect(others).toHaveLength(20);
    expect(new Set(await Promise.all(calls))).toEqual(new Set([first]));
    expect(stats().inFlight).toBe(0);
  });

  test("may be made before a worker is ready, with promises, timeouts and signals", async () => {
    const { call } = createIdle();
    const keyed = call.workerOf.with({ affinity: "x", runTimeoutMs: 5000 });
    const results = await Promise.all([keyed(), keyed(Promise.resolve(1)), keyed([1, 2])]);
    expect(new Set(results).size).toBe(1);
  });

  test("are spread over the workers, although one is ready first", async () => {
    const { call } = createIdle({ threads: 2 });
    const workers = await Promise.all(["a", "b", "c", "d"].map(async (affinity) => {
      const keyed = call.workerOf.with({ affinity });
      const first = await keyed();
      expect(await keyed()).toBe(first);
      return first;
    }));
    expect(new Set(workers).size).toBe(2);
  });

  test("run elsewhere if the worker of their key fails to start", async () => {
    process.env["HEDDLE_TEST_FOLDER"] = temporaryFolder();
    onTestFinished(() => void delete process.env["HEDDLE_TEST_FOLDER"]);
    const href = new URL("../fixtures/first-only.ts", import.meta.url).href;
    const pool = closedAfterTest(
      createPool({ threads: 2 })({
        wait: importTask<(ms: number) => number>({ href, name: "wait" }),
      }),
    );
    const keys = Array.from({ length: 10 }, (_, affinity) => affinity);
    const calls = keys.map((affinity) => pool.call.wait.with({ affinity })(affinity / 100));
    expect(await Promise.all(calls)).toEqual(keys.map((key) => key / 100));
    expect(pool.stats().ready).toBe(1);
  });

  test("get another worker when theirs is lost", async () => {
    const { call, stats } = await createReady({ threads: 2 });
    const keyed = call.workerOf.with({ affinity: 7 });
    const first = await keyed();
    await call.exit.with({ affinity: 7 })();
    await until(() => stats().workersLost === 1, () => pause(5));
    const second = await keyed();
    expect(second).not.toBe(first);
    expect(await keyed()).toBe(second);
  });

  test("start a worker if there is none", async () => {
    const options = { minThreads: 0, maxThreads: 2, idleTimeoutMs: 20 };
    const pool = createIdle(options);
    const keyed = pool.call.workerOf.with({ affinity: "a" });
    const first = await keyed();
    await until(() => pool.stats().ready === 0, () => pause(5));
    expect(await keyed()).not.toBe(first);
  });

  test("in a number beyond the ring's window all run", async () => {
    const { call } = await createReady({ threads: 2, ringBytes: 4096 });
    const keyed = call.workerOf.with({ affinity: "many" });
    const calls = Array.from({ length: 5000 }, () => keyed(new Uint8Array(100)));
    expect(new Set(await Promise.all(calls)).size).toBe(1);
    const abort = new AbortController();
    const aborted = Array.from(
      { length: 3000 },
      () =>
        call.workerOf.with({ affinity: "many", signal: abort.signal })("x".repeat(100))
          .catch(
            () => "aborted",
          ),
    );
    abort.abort();
    expect(new Set(await Promise.all(aborted))).toEqual(new Set(["aborted"]));
    expect(await keyed(1)).toBe((await Promise.all(calls))[0]);
  });

  test.each([[null], [{}], [NaN]])("the affinity %s is refused", async (key) => {
    const { call } = await createReady({ threads: 1 });
    expect(() => call.workerOf.with({ affinity: key as never })).toThrow(
      /affinity must be a string or a finite number/,
    );
  });
});

describe("with({ transfer })", () => {
  test("moves objects of all arguments", async () => {
    const { call } = await createReady({ threads: 1 });
    const [one, other] = [new Uint8Array(10), new Uint8Array(300_000)];
    const moving = call.lengths.with({ transfer: [one.buffer, other.buffer] });
    const result = moving(one, other);
    expect([one.length, other.length]).toEqual([0, 0]);
    expect(await result).toEqual([10, 300_000]);
  });

  test("moves nothing in a call that is refused", async () => {
    const { call } = await createReady({ threads: 1 });
    const bytes = new Uint8Array(10);
    await expect(
      call.workerOf.with({ transfer: [bytes.buffer] })({ bytes, f: () => 1 } as never),
    ).rejects.toMatchObject({ code: "HEDDLE_DATA_CLONE" });
    expect(bytes.length).toBe(10);
    expect(() => call.lengths.with({ transfer: bytes as never })).toThrow(
      /transfer must be an array/,
    );
  });
});

describe("a broadcast", () => {
  test("runs once in every worker and resolves with the results in order", async () => {
    const { call, broadcast } = await createReady();
    const first = await broadcast.workerOf();
    expect(new Set(first).size).toBe(3);
    expect(await broadcast.workerOf()).toEqual(first);
    expect(await broadcast.configure("rate", { a: [1] })).toEqual([1, 1, 1]);
    const values = await Promise.all(Array.from({ length: 30 }, () => call.configured("rate")));
    expect(values).toEqual(values.map(() => ({ a: [1] })));
  });

  test("made at once reaches workers that are starting", async () => {
    const { broadcast, call } = createIdle();
    const argument = { n: 1 };
    const results = broadcast.configure("early", argument);
    argument.n = 2; // taken when the call was made
    expect(await results).toEqual([1, 1, 1]);
    expect(await call.configured("early")).toEqual({ n: 1 });
    await expect(
      (broadcast as unknown as Record<string, () => Promise<unknown>>)["nope"]!(),
    ).rejects.toMatchObject({ code: "HEDDLE_UNKNOWN_TASK" });
  });

  test("waits for all and rejects with the errors by worker", async () => {
    const { broadcast } = await createReady();
    const [, second] = await broadcast.workerOf();
    const error = await broadcast.failIn(second!).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AggregateError);
    expect(error).toMatchObject({ errors: [new RangeError("this one")], workerIds: [1] });
    expect(String(error)).toMatch(/failed in 1 of 3 workers: 1/);
  });

  test("that is sticky runs first in workers that start later", async () => {
    const { broadcast, call, stats } = await createReady({ threads: 2, recycleAfter: 3 });
    expect(await broadcast.configure.with({ sticky: true })("rate", 5)).toEqual([1, 1]);
    for (let n = 0; n < 30; n++) expect(await call.configured("rate")).toBe(5);
    expect(stats().recycled).toBeGreaterThan(3);
  });

  test("that is sticky runs first in the replacement of a lost worker", async () => {
    const { broadcast, call, stats } = await createReady({ threads: 1 });
    await broadcast.configure.with({ sticky: true })("rate", 5);
    await call.exit();
    await until(() => stats().workersLost === 1, () => pause(5));
    expect(await call.configured("rate")).toBe(5);
  });

  test("that is sticky and fails in a new worker ends that worker", async () => {
    const { broadcast, call, stats } = await createReady({ threads: 2 });
    const [first] = await broadcast.workerOf();
    const isThere = new Int32Array(new SharedArrayBuffer(4));
    expect(await broadcast.failLater.with({ sticky: true })(isThere)).toEqual([0, 0]);
    Atomics.store(isThere, 0, 1);
    await call.exit();
    await until(() => stats().workersLost >= 2, () => pause(5)); // the one that ended and its replacement
    Atomics.store(isThere, 0, 0);
    await until(() => stats().ready === 2, () => pause(5));
    expect(first).toBeTypeOf("number");
  });

  test("that is sticky and made at once runs before any other call", async () => {
    const { broadcast, call } = createIdle({ minThreads: 1, maxThreads: 3 });
    const results = broadcast.configure.with({ sticky: true })("rate", 5);
    expect(await Promise.all(Array.from({ length: 6 }, () => call.configured("rate")))).toEqual(
      [5, 5, 5, 5, 5, 5],
    );
    expect(new Set(await results)).toEqual(new Set([1]));
    await Promise.all(Array.from({ length: 6 }, () => call.block(40)));
    const seen = await Promise.all(Array.from({ length: 50 }, () => call.configured("rate")));
    expect(new Set(seen)).toEqual(new Set([5]));
  });

  test("to no worker resolves with no results", async () => {
    const { broadcast, call } = createIdle({ minThreads: 0, maxThreads: 1 });
    expect(await broadcast.configure.with({ sticky: true })("rate", 1)).toEqual([]);
    expect(await call.configured("rate")).toBe(1);
  });

  test("rejects for a worker that is lost meanwhile", async () => {
    const { broadcast, call } = await createReady({ threads: 2 });
    const blocked = broadcast.block(100);
    await call.exit.with({ affinity: 1 })().catch(() => {});
    await blocked.catch(() => {});
    const results = await Promise.allSettled([broadcast.block(1)]);
    expect(results).toHaveLength(1);
  });

  test("transfers nothing", async () => {
    const { broadcast } = await createReady({ threads: 1 });
    expect(() => broadcast.lengths.with({ transfer: [] } as never)).toThrow(/no option "transfer"/);
    expect(() => broadcast.lengths.with({ sticky: 1 } as never)).toThrow(
      /sticky must be a boolean/,
    );
  });
});

describe("shutdown", () => {
  test("can reject the calls that no worker has begun", async () => {
    const { call, shutdown } = await createReady({ threads: 1 });
    const running = call.block(100);
    await call.workerOf.with({ priority: "high" })("x".repeat(10)).catch(() => {});
    const second = Promise.allSettled([call.block(50)]); // handles a rejection from its beginning
    const queued = Array.from({ length: 20 }, () => call.block(1));
    const closed = shutdown({ queued: "reject" });
    const states = await Promise.allSettled(queued);
    expect(states.filter(({ status }) => status === "rejected").length).toBeGreaterThan(0);
    await second;
    await closed;
    expect(await running).toBeTypeOf("number");
  });

  test("with bad options is refused", async () => {
    const { shutdown } = createIdle({ threads: 1 });
    await expect(shutdown({ queued: "drop" as never })).rejects.toThrow(/queued must be "run" or/);
  });
});
