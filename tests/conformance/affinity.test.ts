/** Calls with a key: the same worker for all calls of it. */
import { describe, expect, onTestFinished, test } from "vitest";
import { createPool, importTask, type Pool, type PoolOptions } from "../../src/mod.ts";
import { closedAfterTest, until } from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

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
