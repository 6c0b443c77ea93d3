import { describe, expect, test } from "vitest";
import { begun, rejection, sharedWords, testPool } from "../support/conformance.ts";
import { capabilities, runScript } from "../support/runtime.ts";

describe("shutdown", () => {
  test("waits for calls in flight", async () => {
    const pool = testPool({ threads: 2 });
    const calls = Promise.all([pool.call.sleep(50, 1), pool.call.echo(2), pool.call.asyncEcho(3)]);
    await pool.shutdown();
    expect(await calls).toEqual([1, 2, 3]);
    expect(pool.stats()).toMatchObject({ ready: 0, inFlight: 0 });
  });

  test("rejects calls that do not finish in time and stops a stuck worker", async () => {
    const pool = testPool({ threads: 2 });
    await pool.ready;
    const calls = [pool.call.hang(), pool.call.spin(sharedWords()), pool.call.sleep(60_000)];
    const rejections = calls.map((call) => rejection(call));
    await pool.shutdown(20);
    for (const error of await Promise.all(rejections)) {
      expect(error).toMatchObject({ name: "PoolClosedError", code: "HEDDLE_POOL_CLOSED" });
    }
  });

  test("new calls reject immediately during and after shutdown", async () => {
    const pool = testPool();
    const running = pool.call.sleep(50, "done");
    const closing = pool.shutdown();
    expect(await rejection(pool.call.echo(1))).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
    expect(await running).toBe("done");
    await closing;
    expect(await rejection(pool.call.echo(1))).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
  });

  test("a further call may shorten the time, never lengthen it, and reject what waits", async () => {
    const pool = testPool({ threads: 1 });
    await pool.ready;
    const words = sharedWords();
    const running = rejection(pool.call.answerWhen(words));
    await begun(words);
    const closed = pool.shutdown(Infinity);
    const waits = testPool({ threads: 1, maxConcurrency: 1, maxQueue: 10 });
    await waits.ready;
    const others = sharedWords();
    const busy = rejection(waits.call.answerWhen(others));
    await begun(others);
    const queued = rejection(waits.call.echo(1));
    const waitsClosed = waits.shutdown(60_000);
    expect(waits.shutdown({ queued: "reject" })).toBe(waitsClosed);
    expect(await queued).toMatchObject({
      code: "HEDDLE_POOL_CLOSED",
      message: "The pool was closed before this call began.",
    });
    expect(waits.stats().inFlight).toBe(1);
    void waits.shutdown(90_000);
    void waits.shutdown(1);
    await waitsClosed;
    expect(await busy).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
    expect(pool.shutdown({ timeoutMs: 0 })).toBe(closed);
    await closed;
    expect(await running).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
  });

  test("a second call returns the same promise, and ready rejects if the pool never became ready", async () => {
    const pool = testPool();
    const first = pool.shutdown(0);
    expect(pool.shutdown()).toBe(first);
    await first;
    expect(await rejection(pool.ready)).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
  });

  test("works before the workers are ready, with calls waiting", async () => {
    const pool = testPool({ threads: 3 });
    const call = pool.call.echo("early");
    await pool.shutdown();
    expect(await call).toBe("early");
  });

  test("works through Symbol.dispose and Symbol.asyncDispose", async () => {
    const one = testPool();
    await one.ready;
    const call = rejection(one.call.hang());
    one[Symbol.dispose]();
    expect(await call).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
    const two = testPool();
    const slow = two.call.sleep(30, "slow");
    await two[Symbol.asyncDispose]();
    expect(await slow).toBe("slow");
  });

  test("works for twenty pools in a row", async () => {
    for (let round = 0; round < 20; round++) {
      const pool = testPool();
      if (round % 2 === 0) expect(await pool.call.add(round, 1)).toBe(round + 1);
      await pool.shutdown(round % 3 === 0 ? 0 : undefined);
    }
  });
});

describe("the process", () => {
  test("exits while an idle pool is open", async () => {
    const { code, output } = await runScript("idle-pool.ts");
    expect({ code, output }).toEqual({ code: 0, output: "3\n" });
  });

  test("exits after shutdown", async () => {
    const { code, output } = await runScript("shutdown.ts");
    expect({ code, output }).toEqual({ code: 0, output: "3\nclosed\n" });
  });

  test("keeps running while calls are in flight", async () => {
    const { code, output } = await runScript("in-flight.ts");
    expect({ code, output }).toEqual({ code: 0, output: "slow\n" });
  });

  test("keeps running while an argument is awaited, also if the host was parked before", async () => {
    const { code, output } = await runScript("pending-argument.ts");
    expect({ code, output }).toEqual({ code: 0, output: "42\n" });
  });

  test("keeps running until a pool is ready, even if a worker exits during its start", async () => {
    const { code, output } = await runScript("starting-again.ts");
    expect({ code, output }).toEqual({ code: 0, output: "1\n" });
  });

  test("keeps running with an idle pool and keepAlive", async () => {
    const { code, output } = await runScript("keep-alive.ts");
    expect({ code, output }).toEqual({ code: 0, output: "still here\n" });
  });

  test("a module that awaits its pool at top level does not deadlock its workers", async () => {
    const { code, output } = await runScript("top-level-await.ts");
    expect({ code, output }).toEqual({ code: 0, output: "49\n" });
  });

  test("a missing isMain guard is reported and starts no chain of pools", async () => {
    const { code, output } = await runScript("no-guard.ts");
    expect(output).toMatch(/HEDDLE_POOL_WHILE_LOADING.*isMain/s);
    expect(code).toBe(0);
  });

  test("a pool in a plain worker thread works", async () => {
    const { code, output } = await runScript("in-worker.ts");
    expect({ code, output }).toEqual({ code: 0, output: "5\n" });
  });

  test.runIf(capabilities.usingSyntax)("using and await using close the pool", async () => {
    const { code, output } = await runScript("using.ts");
    expect({ code, output }).toEqual({ code: 0, output: "4\nrejected PoolClosedError\n" });
  });

  test("loads only the modules it uses", async () => {
    // `fetch` and its like: 18 ms and 7 MiB in each thread. Only Node tells what is loaded.
    const { code, output } = await runScript("lazy.ts");
    expect({ code, output }).toEqual({ code: 0, output: "0 0\n" });
  });

  test("output of a task arrives before its result, in order", async () => {
    const { code, output } = await runScript("prompt-output.ts");
    const lines = output.trim().split("\n");
    expect(code).toBe(0);
    expect(lines.filter((line) => /one|two|five|settled/.test(line))).toEqual([
      "one",
      "two",
      "five",
      "settled",
    ]);
    expect(lines.filter((line) => /three|four/.test(line))).toEqual(["three", "four"]);
  });

  test.runIf(capabilities.capturesConsole)(
    "output goes through a stream whose write was replaced",
    async () => {
      const { code, output } = await runScript("captured-output.ts");
      const captured = "from the worker\ndecoded\nfrom the worker, written\n";
      expect({ code, output }).toEqual({ code: 0, output: `${JSON.stringify(captured)}\n` });
    },
  );

  test("output of a worker arrives while it is busy and while it is idle", async () => {
    const { code, output } = await runScript("console.ts");
    expect(code).toBe(0);
    expect(output.split("\n").filter((line) => line.startsWith("from the worker"))).toHaveLength(3);
  });
});
