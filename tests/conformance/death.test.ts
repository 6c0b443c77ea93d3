import { describe, expect, test, vi } from "vitest";
import { begun, rejection, release, sharedWords, testPool, until } from "../support/conformance.ts";

describe("a worker that ends", () => {
  test("process.exit in a task rejects the worker's calls, and a replacement takes the next call", async () => {
    const pool = testPool();
    const running = pool.call.hang();
    const exiting = pool.call.exit(7);
    const error = await rejection(exiting);
    expect(error).toMatchObject({
      name: "WorkerLostError",
      code: "HEDDLE_WORKER_LOST",
      workerId: 0,
      exitCode: 7,
    });
    expect(await rejection(running)).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    expect(await rejection(running)).not.toBe(error);
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(pool.stats()).toMatchObject({ workersStarted: 2, workersLost: 1, ready: 1 });
  });

  test("the rejection has the uncaught exception as its cause", async () => {
    const pool = testPool();
    const error = await rejection(pool.call.crash()) as Error;
    expect(error).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    expect(error.message).toMatch(/crashed/);
    expect((error.cause as Error).message).toMatch(/crashed/);
    expect(await pool.call.echo("again")).toBe("again");
  });

  test("responses sent before the exit are delivered", async () => {
    const { call } = testPool();
    for (let round = 0; round < 5; round++) {
      await call.echo("warm");
      const answered = Array.from({ length: 200 }, (_, n) => call.echo(n));
      const large = [call.large(3_000_000), call.echo({ an: "object" })];
      const exit = rejection(call.exit(0));
      const behind = Array.from({ length: 20 }, (_, n) => call.echo(n));
      expect(await Promise.all(answered)).toEqual(Array.from({ length: 200 }, (_, n) => n));
      expect((await large[0] as Uint8Array).length).toBe(3_000_000);
      expect(await large[1]).toEqual({ an: "object" });
      expect(await exit).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
      // What the worker had not begun runs elsewhere.
      expect(await Promise.all(behind)).toEqual(behind.map((_, n) => n));
    }
  });

  test("other workers and their calls continue", async () => {
    // By turns: else all three may go to one worker, which is free while its tasks wait.
    const pool = testPool({ threads: 2, balancer: "roundRobin" });
    await pool.ready;
    const words = sharedWords();
    const [shared, other] = [rejection(pool.call.answerWhen(words)), pool.call.answerWhen(words)];
    await begun(words, 2);
    expect(await rejection(pool.call.exit(1))).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    expect(await shared).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    release(words);
    expect(await other).toBe(undefined);
    expect(await Promise.all(Array.from({ length: 100 }, (_, n) => pool.call.echo(n))))
      .toEqual(Array.from({ length: 100 }, (_, n) => n));
  });

  test("the pool replaces a worker six times in a row", async () => {
    const pool = testPool();
    for (let round = 0; round < 6; round++) {
      await rejection(round % 2 === 0 ? pool.call.exit(round) : pool.call.crash());
    }
    expect(await pool.call.add(2, 2)).toBe(4);
    expect(pool.stats()).toMatchObject({ workersLost: 6, inFlight: 0 });
  });

  test("the event of its end has the error", async () => {
    const pool = testPool();
    const lost = new Promise((resolve) => {
      pool.addEventListener("workerExit", (event) => resolve(event.detail.error));
    });
    await rejection(pool.call.exit(3));
    expect(await lost).toMatchObject({ exitCode: 3 });
  });

  test("the pool replaces an idle worker that exits", async () => {
    const pool = testPool();
    const codes: unknown[] = [];
    pool.addEventListener("workerExit", ({ detail }) => codes.push(detail.error?.exitCode));
    expect(await pool.call.exitLater(5)).toBe(undefined);
    await until(() => codes.length > 0);
    // No call is made that would need a worker.
    await until(() => pool.stats().ready === 1);
    expect(pool.stats()).toMatchObject({ workersStarted: 2, workersLost: 1 });
    expect(codes).toEqual([5]);
    expect(await pool.call.add(1, 2)).toBe(3);
  });
});

describe("unhandled rejections in a worker", () => {
  test("are reported and the worker continues", async () => {
    const pool = testPool();
    const reported = new Promise<{ workerId: number; error: Error }>((resolve) => {
      pool.addEventListener("unhandledRejection", (event) => {
        event.preventDefault();
        resolve(event.detail);
      });
    });
    expect(await pool.call.rejectUnhandled()).toBe("returned");
    const { workerId, error } = await reported;
    expect(workerId).toBe(0);
    expect(error).toBeInstanceOf(RangeError);
    expect(error.message).toBe("nobody handles this");
    expect(await pool.call.add(1, 1)).toBe(2);
    expect(pool.stats().workersLost).toBe(0);
  });

  test("that the worker's own code handles are not reported", async () => {
    const counts = new Int32Array(new SharedArrayBuffer(4));
    const setup = new URL("../fixtures/setup-rejections.ts", import.meta.url);
    const pool = testPool({ threads: 1, worker: { setup, data: counts } });
    const reported: unknown[] = [];
    pool.addEventListener("unhandledRejection", (event) => {
      event.preventDefault();
      reported.push(event.detail);
    });
    await pool.call.rejectUnhandled();
    await until(() => counts[0] === 1);
    await pool.shutdown(); // what the worker has posted arrives before it ends
    expect(reported).toEqual([]);
  });

  test("are printed unless a listener prevents it", async () => {
    const pool = testPool();
    const print = vi.spyOn(console, "error").mockImplementation(() => {});
    try {
      await pool.call.rejectUnhandled();
      await until(() => print.mock.calls.length > 0);
      expect(String(print.mock.calls[0]?.[0])).toMatch(/unhandled rejection in worker 0/);
    } finally {
      print.mockRestore();
    }
  });
});
