/** Backpressure: when producers pause and continue, and which calls are refused. */
import { describe, expect, test } from "vitest";
import { QueueFullError } from "../../../../../src/errors.ts";
import {
  Backpressure,
  type BackpressureOptions,
} from "../../../../../src/features/calls/queue/backpressure.ts";

/** Backpressure, and how often its drain event was sent. */
function createBackpressure(options: Partial<BackpressureOptions> = {}) {
  const drains = { count: 0 };
  const backpressure = new Backpressure({
    maxQueue: Infinity,
    policy: "reject",
    highWaterMark: 10,
    onDrain: () => void drains.count++,
    ...options,
  });
  return { backpressure, drains };
}

describe("the drain event", () => {
  test("comes once, when half of highWaterMark is left", () => {
    const { backpressure, drains } = createBackpressure();
    backpressure.onGrown(10);
    backpressure.onShrunk(6);
    expect([drains.count, backpressure.needsDrain]).toEqual([0, true]);
    backpressure.onShrunk(5);
    expect([drains.count, backpressure.needsDrain]).toEqual([1, false]);
    backpressure.onShrunk(0);
    expect(drains.count).toBe(1);
  });

  test("does not come if highWaterMark was not reached", () => {
    const { backpressure, drains } = createBackpressure();
    backpressure.onGrown(9);
    expect(backpressure.needsDrain).toBe(false);
    backpressure.onShrunk(0);
    expect(drains.count).toBe(0);
  });

  test("comes for a highWaterMark of one when no call waits", () => {
    const { backpressure, drains } = createBackpressure({ highWaterMark: 1 });
    backpressure.onGrown(2);
    backpressure.onShrunk(1);
    expect(drains.count).toBe(0);
    backpressure.onShrunk(0);
    expect(drains.count).toBe(1);
  });

  test("sees needsDrain cleared, so its listener may continue at once", () => {
    const seen: boolean[] = [];
    const { backpressure } = createBackpressure({
      onDrain: () => void seen.push(backpressure.needsDrain),
    });
    backpressure.onGrown(10);
    backpressure.onShrunk(5);
    expect(seen).toEqual([false]);
  });
});

describe("a call beyond maxQueue", () => {
  test("is refused and counted", () => {
    const { backpressure } = createBackpressure({ maxQueue: 3 });
    backpressure.admit(2);
    expect(backpressure.refused).toBe(0);
    for (const queued of [3, 4]) expect(() => backpressure.admit(queued)).toThrow(QueueFullError);
    expect(backpressure.refused).toBe(2);
  });

  test('waits with "wait"', () => {
    const { backpressure } = createBackpressure({ maxQueue: 3, policy: "wait" });
    backpressure.admit(3);
    expect([backpressure.isFull(3), backpressure.refused]).toEqual([true, 0]);
  });
});
