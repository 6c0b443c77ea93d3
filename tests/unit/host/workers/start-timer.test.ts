/** The limit for the start of a worker, by a clock of the test's own. */
import { expect, test } from "vitest";
import { limitStart } from "../../../../src/host/workers/start-timer.ts";

/** Runs the timer that is due at `atMs`, so many milliseconds late. */
function createClock() {
  let nowMs = 0;
  let due: { readonly atMs: number; readonly run: () => void } | undefined;
  return {
    runtime: {
      now: () => nowMs,
      setTimeout: (run: () => void, delayMs: number) => {
        const set = due = { atMs: nowMs + delayMs, run };
        return { ref: () => {}, unref: () => {}, clear: () => due = due === set ? undefined : due };
      },
    },
    next: (lateMs = 0): number => {
      const { atMs, run } = due!;
      due = undefined;
      nowMs = atMs + lateMs;
      run();
      return nowMs;
    },
    isIdle: () => due === undefined,
  };
}

test("is over after its time and a tenth of a second", () => {
  const { runtime, next } = createClock();
  let isLate = false;
  limitStart(runtime, 8000, () => isLate = true);
  let atMs = 0;
  while (!isLate) atMs = next();
  expect(atMs).toBe(8100);
});

test("does not count the time in which the machine was suspended", () => {
  const { runtime, next } = createClock();
  let isLate = false;
  const limit = limitStart(runtime, 8000, () => isLate = true);
  for (let part = 0; part < 7; part++) next(3_600_000);
  expect(isLate).toBe(false);
  limit.timer!.clear();
});

test("ends when it is cleared", () => {
  const { runtime, next, isIdle } = createClock();
  const limit = limitStart(runtime, 8000, () => {
    throw new Error("It goes on.");
  });
  next();
  limit.timer!.clear();
  expect(isIdle()).toBe(true);
});
