/**
 * Set-up of every conformance file: a pool per test that is closed afterwards with its invariants
 * checked, and fake timers where the run asks for them (`HEDDLE_TEST_FAKE_TIMERS=1`).
 */
import { afterEach, beforeEach, expect, vi } from "vitest";
import { createTestPool, type TestPool } from "../fixtures/tasks.ts";
import { realSetTimeout } from "./runtime.ts";

type Options = Parameters<typeof createTestPool>[0];

const open = new Set<TestPool>();

/** A pool that the end of the test closes. */
export function testPool(options: Options = {}): TestPool {
  const pool = createTestPool(options);
  open.add(pool);
  return pool;
}

beforeEach(() => {
  if (process.env["HEDDLE_TEST_FAKE_TIMERS"] === "1") vi.useFakeTimers();
});

afterEach(async () => {
  vi.useRealTimers();
  const pools = [...open];
  open.clear();
  for (const pool of pools) {
    await pool.shutdown(100);
    const { safetyHits, inFlight, queued } = pool.stats();
    expect({ safetyHits, inFlight, queued }).toEqual({ safetyHits: 0, inFlight: 0, queued: 0 });
  }
});

/** The rejection of a promise; fails the test if it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("It resolved.");
}

/** Fails instead of hanging: resolves to "pending" if the promise has not settled in time. */
export function settledWithin(promise: Promise<unknown>, ms: number): Promise<unknown> {
  return Promise.race([
    promise.then(() => "settled", () => "settled"),
    new Promise((resolve) => realSetTimeout(resolve, ms, "pending")),
  ]);
}
