/** `pool.usage()`: what workers use, seen from outside. */
import process from "node:process";
import { expect, test } from "vitest";
import type { WorkerUsage } from "../../src/mod.ts";
import { createSupervisedPool } from "../fixtures/supervision-tasks.ts";
import { closedAfterTest, until } from "../support/conformance.ts";
import { capabilities } from "../support/runtime.ts";

const MIB = 2 ** 20;

test("tells of each worker, also of one that does not return to its event loop", async () => {
  const pool = closedAfterTest(createSupervisedPool({ threads: 2 }));
  await pool.ready;
  const before = await pool.usage();
  expect(before.map(({ id }) => id)).toEqual([0, 1]);
  expect(before[0]!.name).toMatch(/-0$/);
  if (!capabilities.readsThreads) {
    for (const reading of before) {
      const { heapBytes, residentBytes, processorMs } = reading;
      expect([heapBytes, residentBytes, processorMs]).toEqual([undefined, undefined, undefined]);
    }
    return;
  }
  const words = new Int32Array(new SharedArrayBuffer(4));
  const held = pool.call.hold(100, words);
  let after = before;
  const isBusy = ({ id, heapBytes = 0, processorMs = 0 }: WorkerUsage): boolean => {
    const first = before[id]!;
    return heapBytes > first.heapBytes! + 80 * MIB && processorMs > first.processorMs! + 100;
  };
  await until(() => after.some(isBusy), async () => after = await pool.usage());
  Atomics.store(words, 0, 1);
  await held;
  await pool.shutdown();
  expect(await pool.usage()).toEqual([]);
});

test("tells of processes on Linux", async () => {
  const pool = closedAfterTest(createSupervisedPool({ threads: 1, workers: "processes" }));
  await pool.ready;
  const [before] = await pool.usage();
  expect(before!.heapBytes).toBe(undefined);
  if (process.platform !== "linux") return;
  expect(before!.residentBytes).toBeGreaterThan(10 * MIB);
  await pool.call.leak(100);
  const [after] = await pool.usage();
  expect(after!.residentBytes).toBeGreaterThan(before!.residentBytes! + 80 * MIB);
  expect(after!.processorMs).toBeGreaterThanOrEqual(before!.processorMs!);
});
