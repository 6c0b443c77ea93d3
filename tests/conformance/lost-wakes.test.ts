/**
 * Wake-ups that a runtime loses or delays, put in by force: the safety check saves the call, and its counters say
 * which it was.
 */
import { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import type { PoolStatistics } from "../../src/mod.ts";
import { Waker } from "../../src/park/wake-word.ts";
import { createFaultyPool } from "../fixtures/faulty-wakes.ts";
import { pause } from "../support/runtime.ts";

/** A pool whose worker waits in its event loop, closed at the end. */
async function restingPool(): Promise<ReturnType<typeof createFaultyPool>> {
  const pool = createFaultyPool();
  onTestFinished(() => pool.shutdown());
  expect(await pool.call.echo("awake")).toBe("awake");
  await pause(50);
  return pool;
}

const countsOf = ({ safetyHits, lateWakes }: PoolStatistics) => ({
  isLost: safetyHits > 0,
  isLate: lateWakes > 0,
});

describe("of the worker", () => {
  test.each([["lost", Infinity], ["slow", 400]])("a wake message that is %s", async (_what, ms) => {
    const pool = await restingPool();
    const { postMessage } = Worker.prototype;
    let dropped = 0;
    Worker.prototype.postMessage = function (message: unknown, ...rest: []) {
      if (message !== 0 || dropped++ > 0) postMessage.call(this, message, ...rest);
      else if (ms !== Infinity) setTimeout(() => postMessage.call(this, message, ...rest), ms);
    };
    onTestFinished(() => void (Worker.prototype.postMessage = postMessage));
    expect(await pool.call.echo("saved")).toBe("saved");
    expect(dropped).toBeGreaterThan(0);
    expect(countsOf(pool.stats())).toEqual({ isLost: false, isLate: true });
    await pause(ms === Infinity ? 0 : ms);
    expect(await pool.call.echo("goes on")).toBe("goes on");
  });

  test("a wake that never was", async () => {
    const pool = await restingPool();
    const { wake } = Waker.prototype;
    let skipped = 0;
    Waker.prototype.wake = function () {
      if (skipped++ > 0) wake.call(this);
    };
    onTestFinished(() => void (Waker.prototype.wake = wake));
    expect(await pool.call.echo("saved")).toBe("saved");
    expect(countsOf(pool.stats())).toEqual({ isLost: true, isLate: false });
  });
});

describe("of the host", () => {
  test.each([["lost", Infinity], ["slow", 400]])("a wake message that is %s", async (_what, ms) => {
    const pool = await restingPool();
    await pool.call.loseMessages(1, ms);
    await pause(50);
    expect(await pool.call.later(50)).toBe("answered");
    expect(countsOf(pool.stats())).toEqual({ isLost: false, isLate: true });
    await pause(ms === Infinity ? 0 : ms);
    expect(await pool.call.later(5)).toBe("answered");
  });

  test("a wake that never was", async () => {
    const pool = await restingPool();
    await pool.call.forgetToWake(1);
    await pause(50);
    expect(await pool.call.later(50)).toBe("answered");
    expect(countsOf(pool.stats())).toEqual({ isLost: true, isLate: false });
  });
});
