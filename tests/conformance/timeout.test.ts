/** Calls that take longer than they may: `runTimeoutMs`, `timeoutMs`. */
import { describe, expect, test } from "vitest";
import { TimeoutError } from "../../src/mod.ts";
import { createLimitedPool } from "../fixtures/limited.ts";
import {
  begun,
  closedAfterTest,
  rejection,
  release,
  sharedWords,
  until,
} from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";

function limitedPool(
  options: Parameters<typeof createLimitedPool>[0] = {},
): ReturnType<typeof createLimitedPool> {
  return closedAfterTest(createLimitedPool(options));
}

describe("runTimeoutMs", () => {
  test("rejects an async call and drops its late response", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    const error = await rejection(pool.call.answerWhen.with({ runTimeoutMs: 20 })(words));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ code: "HEDDLE_TIMEOUT", kind: "run", limitMs: 20 });
    release(words);
    await until(() => pool.stats().lateResponses === 1);
    expect(pool.stats()).toMatchObject({ timedOut: 1, workersLost: 0, inFlight: 0 });
  });

  test("rejects a synchronous call while it runs and does not stop the worker", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    expect(await rejection(pool.call.untilSet.with({ runTimeoutMs: 20 })(words)))
      .toMatchObject({ kind: "run" });
    await begun(words); // and it runs still: nothing has set the other
    release(words);
    expect(await pool.call.echo(1)).toBe(1);
    expect(pool.stats()).toMatchObject({ workersLost: 0, lateResponses: 1 });
  });

  test("settles with timeoutValue, also after timeoutMs", async () => {
    const { call } = limitedPool();
    for (const limit of [{ runTimeoutMs: 10 }, { timeoutMs: 10 }]) {
      const late = call.hang.with(limit);
      for (const timeoutValue of ["instead", null, 0]) {
        expect(await late.with({ timeoutValue })()).toBe(timeoutValue);
      }
      expect(await rejection(late.with({ timeoutValue: undefined })())).toBeInstanceOf(
        TimeoutError,
      );
    }
    expect(await call.patient(2 ** 30)).toBe("too late");
    expect(await call.patient.with({ runTimeoutMs: Infinity })(60)).toBe(undefined);
  });

  test("does not start while a call waits for its worker", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    const long = pool.call.untilSet(words);
    await begun(words);
    const waiting = pool.call.hang.with({ runTimeoutMs: 30 })();
    const outcome = rejection(waiting);
    await pause(200);
    expect(pool.stats()).toMatchObject({ timedOut: 0, inFlight: 2 });
    release(words);
    expect(await long).toBe("set");
    expect(await outcome).toBeInstanceOf(TimeoutError);
  });

  test("does not affect calls that finish in time", async () => {
    const pool = limitedPool({ threads: 2 });
    const calls = Array.from(
      { length: 5000 },
      (_, n) => pool.call.echo.with({ runTimeoutMs: 20_000, timeoutMs: 20_000 })(n),
    );
    expect(await Promise.all(calls)).toEqual(calls.map((_, n) => n));
    expect(pool.stats()).toMatchObject({ timedOut: 0, inFlight: 0 });
  });

  test("does not reject calls whose response arrived while the host was busy", async () => {
    const { call } = limitedPool({ balancer: "roundRobin" }); // nothing is kept on the host
    const words = sharedWords();
    await call.mark(words);
    const answers = Array.from({ length: 50 }, () => call.mark.with({ runTimeoutMs: 5 })(words));
    const last = call.mark(words);
    const latest = performance.now() + 20_000; // a test that blocks its thread has no other limit
    while (Atomics.load(words, 2) < 52 && performance.now() < latest);
    const end = performance.now() + 60;
    while (performance.now() < end);
    expect(await Promise.all(answers)).toHaveLength(50);
    expect(await last).toBe(52);
  });
});

describe("timeoutMs", () => {
  test("includes the wait, and an expired call never begins", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    const long = pool.call.untilSet(words);
    await begun(words);
    const error = await rejection(pool.call.mark.with({ timeoutMs: 20 })(words));
    expect(error).toMatchObject({ kind: "call", limitMs: 20 });
    release(words);
    await long;
    await pool.call.echo(0);
    expect(Atomics.load(words, 2)).toBe(0);
    expect(pool.stats()).toMatchObject({ lateResponses: 0, timedOut: 1 });
  });

  test("applies to a call that waits for a promise argument", async () => {
    const { call } = limitedPool();
    const never = new Promise<string>(() => {});
    expect(await rejection(call.echo.with({ timeoutMs: 10 })(never))).toBeInstanceOf(TimeoutError);
  });
});
