/** Calls that wait: `maxQueue`, `needsDrain`. */
import { describe, expect, test } from "vitest";
import { rejection, release, sharedWords, testPool, until } from "../support/conformance.ts";

/** The order in which calls settle. */
function recorder() {
  const order: string[] = [];
  return { order, note: (name: string) => () => void order.push(name) };
}

describe("backpressure", () => {
  test('maxQueue with "reject" refuses further calls, which do not run', async () => {
    const pool = testPool({ threads: 1, maxQueue: 10 });
    await pool.ready;
    const counters = new Int32Array(new SharedArrayBuffer(4 * 5000));
    for (let n = 0; n < 20; n++) await pool.call.burn(1);
    const settled = await Promise.allSettled(
      Array.from({ length: 5000 }, (_, n) => pool.call.mark(counters, n, 0, undefined)),
    );
    const refused = settled.filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThan(0);
    for (const { reason } of refused as PromiseRejectedResult[]) {
      expect(reason).toMatchObject({ code: "HEDDLE_QUEUE_FULL", maxQueue: 10 });
    }
    for (const [n, { status }] of settled.entries()) {
      expect(counters[n]).toBe(status === "fulfilled" ? 1 : 0);
    }
    expect(await pool.call.echo(1)).toBe(1);
  });

  test.each([1, 3])(
    "maxQueue calls wait beyond %d for each worker, also if they are async",
    async (maxConcurrency) => {
      for (const threads of [1, 2]) {
        const pool = testPool({ threads, maxConcurrency, maxQueue: 8 });
        await pool.ready;
        const words = sharedWords();
        release(words);
        for (let n = 0; n < 20; n++) await pool.call.answerWhen(words);
        Atomics.store(words, 0, 0);
        const calls = Array.from({ length: 100 }, () => pool.call.answerWhen(words));
        const settled = Promise.allSettled(calls);
        await until(() =>
          pool.stats().completed + pool.stats().failed >= 20 + 100 - 8 - threads * maxConcurrency
        );
        release(words);
        const accepted = (await settled).filter(({ status }) => status === "fulfilled");
        expect(accepted).toHaveLength(threads * maxConcurrency + 8);
      }
    },
  );

  test("a call is accepted if a worker is free, idempotent or not", async () => {
    const pool = testPool({ threads: 1, maxQueue: 1 });
    await pool.ready;
    const { promise, resolve } = Promise.withResolvers<number>();
    const waiting = pool.call.echo(promise); // on the host
    expect(await pool.call.echo(1)).toBe(1);
    expect(await pool.call.echo.with({ retries: 3 })(2)).toBe(2);
    resolve(3);
    expect(await waiting).toBe(3);
  });

  test("needsDrain and drained() bound the queue of a producer", async () => {
    for (const options of [{ maxQueue: 50, queuePolicy: "wait" as const }, { maxQueue: 50 }, {}]) {
      const pool = testPool({ threads: 1, ...options });
      await pool.ready;
      let most = 0;
      let mostInFlight = 0;
      let pauses = 0;
      const calls: Promise<unknown>[] = [];
      for (let n = 0; n < 6_000; n++) {
        calls.push(pool.call.echo(n));
        const { queued, inFlight } = pool.stats();
        most = Math.max(most, queued);
        mostInFlight = Math.max(mostInFlight, inFlight);
        if (!pool.needsDrain) continue;
        pauses++;
        await pool.drained();
        expect(pool.needsDrain).toBe(false);
      }
      expect(await Promise.all(calls)).toEqual(calls.map((_, n) => n));
      expect(pauses).toBeGreaterThan(0);
      expect(most).toBeLessThanOrEqual(options.maxQueue ?? 1024);
      expect(mostInFlight).toBeLessThanOrEqual(1024 + (options.maxQueue ?? 1024));
    }
  });

  test('queuePolicy "wait" refuses no calls', async () => {
    const pool = testPool({ threads: 1, maxQueue: 1, queuePolicy: "wait" });
    const calls = Array.from({ length: 5000 }, (_, n) => pool.call.echo(n));
    expect(pool.needsDrain).toBe(true);
    expect(await Promise.all(calls)).toEqual(calls.map((_, n) => n));
    expect(pool.needsDrain).toBe(false);
  });

  test("closing the pool resolves drained()", async () => {
    const pool = testPool({ threads: 1, maxQueue: 1, queuePolicy: "wait" });
    const { order, note } = recorder();
    const calls = [pool.call.hang(), pool.call.echo(2)].map((call) => rejection(call));
    expect(pool.needsDrain).toBe(true);
    void pool.drained().then(note("drained"));
    await pool.shutdown(0).then(note("closed"));
    expect(order).toEqual(["drained", "closed"]);
    expect(pool.needsDrain).toBe(false);
    for (const error of await Promise.all(calls)) {
      expect(error).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
    }
  });

  test("invalid values are refused", () => {
    for (const maxQueue of [-1, 1.5, "many", NaN]) {
      expect(() => testPool({ maxQueue: maxQueue as number })).toThrow(/maxQueue must be/);
    }
    expect(() => testPool({ queuePolicy: "drop" as "wait" })).toThrow(/queuePolicy must be/);
  });
});

test("calls rejected by a full queue share one error without a stack", async () => {
  const pool = testPool({ threads: 1, maxQueue: 1 });
  const calls = Array.from({ length: 5 }, () => pool.call.sleep(20, 1));
  const outcomes = await Promise.allSettled(calls);
  const reasons = outcomes.flatMap((one) => one.status === "rejected" ? [one.reason as Error] : []);
  expect(reasons.length).toBeGreaterThan(1);
  expect(new Set(reasons).size).toBe(1);
  expect(reasons[0]).toMatchObject({ code: "HEDDLE_QUEUE_FULL", maxQueue: 1 });
  expect(reasons[0]!.stack).toBe("QueueFullError: 1 calls are waiting already (maxQueue).");
  expect(Object.keys(reasons[0]!).sort()).toEqual(["code", "maxQueue"]);
});
