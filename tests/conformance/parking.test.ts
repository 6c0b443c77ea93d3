/** Every way of waiting, with real threads: no call is lost. */
import { describe, expect, test } from "vitest";
import { release, sharedWords, testPool, until } from "../support/conformance.ts";
import { pause, realNow } from "../support/runtime.ts";

/** Blocks this thread, so that worker and host reach their phases independently. */
function busyWait(ms: number): void {
  const end = realNow() + ms;
  while (realNow() < end);
}

describe("phase changes", () => {
  // Gaps between calls: within the worker's spin, around its end, within its block, around its end,
  // in the event loop.
  const gapsMs = [0, 0.01, 0.03, 0.045, 0.05, 0.055, 0.06, 0.1, 0.5, 0.95, 1, 1.05, 1.1, 1.5, 3, 8];

  test.each(gapsMs)("worker: a call %f ms after the last response is served", async (gapMs) => {
    const pool = testPool();
    await pool.ready;
    const rounds = gapMs < 1 ? 300 : 100;
    for (let round = 0; round < rounds; round++) {
      expect(await pool.call.echo(round)).toBe(round);
      if (gapMs < 3) busyWait(gapMs * (0.8 + 0.4 * (round % 7) / 6));
      else await pause(gapMs);
    }
    expect(pool.stats().safetyHits).toBe(0);
  });

  // Durations of tasks: within the host's spin, around its end, parked.
  test.each([0.005, 0.015, 0.02, 0.025, 0.05, 0.2, 1, 5])(
    "host: a response after %f ms is received",
    async (durationMs) => {
      const pool = testPool();
      await pool.ready;
      for (let round = 0; round < 100; round++) {
        await pool.call.burn(durationMs * (0.8 + 0.4 * (round % 7) / 6));
      }
      expect(pool.stats().safetyHits).toBe(0);
    },
  );

  test("a host that blocked its own thread receives the responses afterwards", async () => {
    const { call } = testPool({ threads: 2 });
    for (let round = 0; round < 20; round++) {
      const answers = Array.from({ length: 50 }, (_, n) => call.echo(n));
      busyWait(3);
      expect(await Promise.all(answers)).toHaveLength(50);
    }
  });

  test("async tasks respond while the worker is parked, spins or is loaded", async () => {
    const { call } = testPool();
    for (const ms of [0, 1, 2, 5, 20]) {
      const sleeps = Array.from({ length: 20 }, (_, n) => call.sleep(ms, n));
      for (let n = 0; n < 50; n++) await call.echo(n);
      expect(await Promise.all(sleeps)).toHaveLength(20);
      expect(await call.sleep(ms, "alone")).toBe("alone");
    }
  });

  test("each park receives at most one wake message", async () => {
    const pool = testPool();
    await pool.ready;
    const before = pool.stats();
    for (let round = 0; round < 40; round++) {
      await Promise.all([pool.call.burn(2), pool.call.burn(0), pool.call.sleep(1)]);
    }
    const after = pool.stats();
    const parks = after.parks - before.parks;
    expect(parks).toBeGreaterThan(0);
    // What takes longer than the safety check's patience comes twice.
    const late = after.lateWakes - before.lateWakes;
    // The host may be parked already when it begins: it parks before it awaits.
    const most = 1 + parks + late;
    expect(after.wakeMessages - before.wakeMessages).toBeGreaterThan(0);
    expect(after.wakeMessages - before.wakeMessages).toBeLessThanOrEqual(most);
  });

  test("a response to a parked host posts exactly one message", async () => {
    const pool = testPool();
    await pool.ready;
    await pool.call.nothing();
    await pause(50);
    const before = pool.stats();
    const words = sharedWords();
    const call = pool.call.answerWhen(words);
    await until(() => pool.stats().parks > before.parks);
    expect(pool.stats().wakeMessages).toBe(before.wakeMessages);
    release(words);
    await call;
    const after = pool.stats();
    const late = after.lateWakes - before.lateWakes;
    expect(after.parks - before.parks).toBe(1);
    expect(after.wakeMessages - before.wakeMessages).toBeGreaterThanOrEqual(1);
    expect(after.wakeMessages - before.wakeMessages).toBeLessThanOrEqual(1 + late);
  });
});
