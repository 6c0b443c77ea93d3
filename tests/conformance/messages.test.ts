/** Threads that share no memory with their host (`transport: "messages"`). The suite runs with them by `tests/other-workers`. */
import { expect, test } from "vitest";
import { createPool, type Pool, WorkerLostError } from "../../src/mod.ts";
import { closedAfterTest, rejection, until } from "../support/conformance.ts";

type Tasks = typeof import("../fixtures/process-tasks.ts");

function messagePool(threads = 2, ringBytes = 65_536): Pool<Tasks> {
  const url = new URL("../fixtures/process-tasks.ts", import.meta.url);
  return closedAfterTest(
    createPool({ threads, ringBytes, transport: "messages" })<Tasks>(url),
  );
}

test.each([1024, 65_536])("calls of all sizes through rings of %i bytes", async (ringBytes) => {
  const pool = messagePool(2, ringBytes);
  const lengths = Array.from({ length: 300 }, (_, index) => (index * 7919) % 5000);
  const results = await Promise.all(lengths.map((length) => pool.call.echo("x".repeat(length))));
  expect(results.map((text) => (text as string).length)).toEqual(lengths);
  const sums = await Promise.all(lengths.map((length) => pool.call.add(length, 1)));
  expect(sums).toEqual(lengths.map((length) => length + 1));
  expect((await pool.call.bytes(2_000_001)).length).toBe(2_000_001);
  expect(pool.stats().transport).toBe("messages");
});

test("streams, errors and shared memory", async () => {
  const pool = messagePool();
  let count = 0;
  for await (const row of pool.call.rows(3000)) count += Number(row === count);
  expect(count).toBe(3000);
  expect(await rejection(pool.call.fail())).toBeInstanceOf(TypeError);
  expect(await pool.call.echo(new SharedArrayBuffer(8))).toBeInstanceOf(SharedArrayBuffer);
});

test("a worker that ends is replaced, and rejects what it was running", async () => {
  const pool = messagePool(1);
  const running = pool.call.sleep(60_000);
  await pool.call.exit(3).catch(() => {});
  expect(await rejection(running)).toBeInstanceOf(WorkerLostError);
  expect(await pool.call.add(1, 2)).toBe(3);
});

test("an idle worker counts as such", async () => {
  const pool = messagePool(1);
  await pool.call.add(1, 2);
  await until(() => pool.stats().workers[0]!.utilization.recent < 0.2);
});

test("calls that wait with their thread are refused", async () => {
  const pool = messagePool(1);
  expect(() => pool.sync).toThrow(/workers without shared memory/);
  await pool.ready;
});
