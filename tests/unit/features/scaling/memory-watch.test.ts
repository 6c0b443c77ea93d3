import { expect, test } from "vitest";
import { MemoryWatch } from "../../../../src/features/workers/scaling/worker/memory-watch.ts";

/** A watch of a worker that may hold 100 bytes and holds `usedBytes`; `at` checks at a time, and returns what was reported to the host. */
function createWatch(usedBytes: number) {
  const state = { usedBytes, nowMs: 0, checks: 0 };
  const reported: boolean[] = [];
  const watch = new MemoryWatch({
    maxBytes: 100,
    bytes: () => {
      state.checks++;
      return state.usedBytes;
    },
    now: () => state.nowMs,
    onFull: (isFarOver) => void reported.push(isFarOver),
  });
  const at = (nowMs: number, bytes = state.usedBytes): boolean[] => {
    state.nowMs = nowMs;
    state.usedBytes = bytes;
    watch.check();
    return reported.splice(0);
  };
  return { at, state };
}

test("reports full once, far over once, and again after a second", () => {
  const { at } = createWatch(10);
  expect(at(0, 100)).toEqual([]);
  expect(at(5, 101)).toEqual([false]);
  expect(at(10, 120)).toEqual([]);
  expect(at(15, 126)).toEqual([true]);
  expect(at(20, 300)).toEqual([]);
  expect(at(1015)).toEqual([true]);
});

test("checks every 5 ms", () => {
  const { at, state } = createWatch(10);
  const before = state.checks;
  for (const nowMs of [0, 1, 4.9, 5, 9, 10]) at(nowMs);
  expect(state.checks - before).toBe(3);
});

test("allows a second if the worker is full before its first call, and never reports far over", () => {
  const { at } = createWatch(1000);
  expect(at(999)).toEqual([]);
  expect(at(1000)).toEqual([false]);
});
