/**
 * Set-up of every conformance file: a pool per test that is closed afterwards with its invariants
 * checked, and fake timers where the run asks for them (`HEDDLE_TEST_FAKE_TIMERS=1`).
 */
import { afterEach, beforeEach, expect, vi } from "vitest";
import type { Pool } from "../../src/mod.ts";
import { createTestPool, GIVEN_UP, type TestPool } from "../fixtures/tasks.ts";
import { pause, realNow, realSetTimeout } from "./runtime.ts";

type Options = Parameters<typeof createTestPool>[0];
// deno-lint-ignore no-explicit-any -- whatever its tasks are
type AnyPool = Pick<Pool<any>, "shutdown" | "stats">;

const open = new Set<AnyPool>();

/** A pool that the end of the test closes. */
export function testPool(options: Options = {}): TestPool {
  return closedAfterTest(createTestPool(options));
}

/** The pool, which the end of the test closes. */
export function closedAfterTest<P extends AnyPool>(pool: P): P {
  open.add(pool);
  return pool;
}

/** Shorter than the time limit of a test, so that the failure names the condition. */
const WATCHDOG_MS = 30_000;

/** Repeats `load` until the condition holds. Throws if it never does. */
export async function until(
  condition: () => boolean,
  load: () => Promise<unknown> = () => pause(1),
): Promise<void> {
  const end = realNow() + WATCHDOG_MS;
  while (!condition()) {
    if (realNow() > end) throw new Error(`Still not true: ${condition}`);
    await load();
  }
}

/** Shared with tasks: [0] go on (`release`), [1] have begun, [2] runs counted, then whatever a task puts there. */
export function sharedWords(): Int32Array<SharedArrayBuffer> {
  const words = new Int32Array(new SharedArrayBuffer(4 * 64));
  inUse.push(words);
  return words;
}
const inUse: Int32Array[] = [];

/**
 * Lets the tasks go on that wait for `words[0]`. Fails if one of them has given up: something that the test awaited
 * before this has waited for that task.
 */
export function release(words: Int32Array): void {
  const before = Atomics.exchange(words, 0, 1);
  Atomics.notify(words, 0);
  expect(before).not.toBe(GIVEN_UP);
}

/** So many calls with these words have begun. */
export const begun = (words: Int32Array, count = 1): Promise<void> =>
  until(() => Atomics.load(words, 1) >= count);

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
  // Deno cannot stop a loop: it would take a core from the tests that follow.
  for (const words of inUse.splice(0)) Atomics.store(words, 0, 1);
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
