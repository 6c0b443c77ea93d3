/** The order of calls that wait on the host. */
import { describe, expect, test } from "vitest";
import { release, sharedWords, testPool } from "../support/conformance.ts";

describe("order of calls that wait on the host", () => {
  /** A pool of one worker that is kept busy by two calls until `letGo` while others are made. */
  async function busyPool() {
    const pool = testPool({ threads: 1 });
    await pool.ready;
    for (let n = 0; n < 20; n++) await pool.call.hold(1); // long, by all experience
    const words = sharedWords();
    const done = [pool.call.hold(1, words), pool.call.hold(1, words)];
    const letGo = async (): Promise<void> => {
      release(words);
      await Promise.all(done);
    };
    return { pool, letGo };
  }

  test("is high, normal, low, first in first out within each, and low calls age", async () => {
    const { pool, letGo } = await busyPool();
    const order: string[] = [];
    const call = (priority: "high" | "normal" | "low", n: number) =>
      pool.call.hold.with({ priority })(0.06).then(() => order.push(`${priority} ${n}`));
    const calls = [call("low", 0), call("normal", 0), call("low", 1), call("high", 0)];
    calls.push(call("normal", 1), call("high", 1));
    await letGo();
    await Promise.all(calls);
    expect(order).toEqual(["high 0", "high 1", "normal 0", "normal 1", "low 0", "low 1"]);
  });

  test("depends on the priority of the task, and invalid priorities are refused", async () => {
    const { pool, letGo } = await busyPool();
    const order: string[] = [];
    const calls = [
      pool.call.hold(0.06).then(() => order.push("hold")),
      pool.call.urgent(1).then(() => order.push("urgent")),
    ];
    await letGo();
    await Promise.all(calls);
    expect(order).toEqual(["urgent", "hold"]);
    const bad = [{ priority: "top" }, { priority: 1001 }, { priority: NaN }, { urgency: 1 }, null];
    for (const options of bad) {
      expect(() => pool.call.echo.with(options as never)).toThrow(
        /priority must be|no option|takes/,
      );
    }
  });

  test('is the order of creation with the balancer "fifo", regardless of priority', async () => {
    const size = 400;
    for (const threads of [1, 3]) {
      const pool = testPool({ threads, balancer: "fifo" });
      await pool.ready;
      const log = new Int32Array(new SharedArrayBuffer(4 * (size + 1)));
      const workers = await Promise.all(
        Array.from(
          { length: size },
          (_, n) => pool.call.logStart.with({ priority: n % 3 - 1 })(log, n, n % 7 === 0 ? 0.5 : 0),
        ),
      );
      // Which of two workers writes down its beginning first is the system's to say; each by itself
      // begins in order.
      for (const worker of new Set(workers)) {
        const begun = [...log.subarray(1)].filter((n) => workers[n] === worker);
        expect(begun).toEqual([...begun].sort((a, b) => a - b));
      }
    }
  });
});
