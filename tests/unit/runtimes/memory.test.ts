import { expect, test } from "vitest";
import { workerRuntime } from "../../../src/runtimes/worker.ts";
import { pause } from "../../support/runtime.ts";

const MIB = 2 ** 20;

test("the memory of a thread near its limit includes buffers that were just made", async () => {
  const limit = 4 * MIB; // any thread is near it
  await pause(20);
  const before = workerRuntime.memoryBytes(limit);
  const kept: Uint8Array[] = [];
  for (let size = 10; size <= 60; size += 10) {
    for (let count = 0; count < 10; count++) kept.push(new Uint8Array(MIB).fill(1));
    await pause(20);
    expect(workerRuntime.memoryBytes(limit) - before).toBeGreaterThan((size - 5) * MIB);
  }
  expect(kept.length).toBe(60);
});
