/** `stallMs`: a limit that progress resets. */
import { expect, test } from "vitest";
import { callback, createPool, type Pool, TimeoutError } from "../../src/mod.ts";
import type { Way } from "../fixtures/stalling.ts";
import { closedAfterTest, rejection } from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";

type Module = typeof import("../fixtures/stalling.ts");

const url = new URL("../fixtures/stalling.ts", import.meta.url);
const stallingPool = (): Pool<Module> =>
  closedAfterTest(
    createPool({ threads: 1, host: { functions: { step: () => {} } } })<Module>(url),
  );

test("a task of which nothing is heard is given up", async () => {
  const pool = stallingPool();
  for (const events of [0, 3]) { // without a listener nothing is sent
    const error = await rejection(pool.call.hang.with({ stallMs: 30 })(events));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ kind: "stall", limitMs: 30 });
    expect(String(error)).toMatch(/Nothing was heard of the task for its stallMs of 30 ms/);
  }
  expect(await pool.call.hang.with({ stallMs: 30, timeoutValue: "late" })(0)).toBe("late");
  const stream = pool.call.items.with({ stallMs: 30 })(2, 60_000);
  expect((await stream.next()).value).toBe(0);
  expect(await rejection(stream.next())).toMatchObject({ kind: "stall" });
  const left = async (): Promise<void> => {
    for await (const _ of pool.call.hold.with({ stallMs: 30 })()) break;
  };
  expect(await rejection(left())).toMatchObject({ kind: "stall" }); // also while its end is waited for
  expect(() => pool.call.hang.with({ stallMs: 0 })).toThrow(/stallMs must be a number/);
  expect(pool.stats()).toMatchObject({ timedOut: 5, inFlight: 0 });
});

test("events, callbacks, calls and items are heard, and the wait for a worker does not count", async () => {
  const pool = stallingPool();
  const limit = { stallMs: 2000 };
  const ways: readonly Way[] = ["event", "callback", "host", "nested"];
  const events: unknown[] = [];
  const onEvent = (event: unknown): void => void events.push(event);
  const calls = ways.map((way) =>
    pool.call.steps.with({ ...limit, ...(way === "event" && { onEvent }) })(
      6,
      500,
      way,
      callback(() => {}),
    )
  );
  const items = pool.call.items.with(limit)(6, 500).toArray();
  expect(await Promise.all(calls)).toEqual(calls.map(() => "done"));
  expect(await items).toEqual([0, 1, 2, 3, 4, 5]);
  expect(events).toEqual([0, 1, 2, 3, 4, 5]);
});

test("a task that waits for the host, or for a task, has not stalled", async () => {
  const pool = closedAfterTest(
    createPool({ threads: 2, host: { functions: { step: () => pause(600) } } })<Module>(url),
  );
  await pool.ready;
  const calls = [
    pool.call.steps.with({ stallMs: 300 })(1, 1, "host"),
    pool.call.steps.with({ stallMs: 300 })(1, 1, "callback", callback(() => pause(600))),
    pool.call.waitFor.with({ stallMs: 300 })(600),
  ];
  expect(await Promise.all(calls)).toEqual(["done", "done", "waited"]);
});

test("a task whose stream nobody reads has not stalled", async () => {
  const pool = stallingPool();
  const stream = pool.call.items.with({ stallMs: 700 })(4, 1);
  expect((await stream.next()).value).toBe(0);
  await pause(1500);
  expect(await stream.toArray()).toEqual([1, 2, 3]);
});

test("may be declared by the task", async () => {
  expect(await rejection(stallingPool().call.never())).toMatchObject({ kind: "stall" });
});
