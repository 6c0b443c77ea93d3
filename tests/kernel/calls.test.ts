/** Calls of a pool that has no features: each settles once, with what its task gave. */
import { describe, expect, test } from "vitest";
import { kernelPool, rejection } from "./pools.ts";
import type { add } from "./tasks.ts";

describe("calls", () => {
  test("made before and after the worker is ready settle", async () => {
    const { call, ready } = kernelPool({ threads: 1 });
    const early = [call.add(1, 2), call.echo({ a: [1] }), call.sleep(1, "s"), call.nothing()];
    expect(await Promise.all(early)).toEqual([3, { a: [1] }, "s", undefined]);
    await ready;
    expect(await Promise.all([call.add(3, 4), call.echo("x"), call.sleep(1, null)]))
      .toEqual([7, "x", null]);
  });

  test("have no, one, several or many arguments", async () => {
    const { call } = kernelPool({ threads: 1 });
    expect(await call.count()).toBe(0);
    expect(await call.count(undefined)).toBe(1);
    expect(await call.count(...new Array(500).fill(1))).toBe(500);
    expect(await call.both(1, "a", null, undefined, true)).toEqual([1, "a", null, undefined, true]);
  });

  test("wait on the host when the rings are full", async () => {
    const { call } = kernelPool({ threads: 2 });
    const words = new Int32Array(new SharedArrayBuffer(8));
    const held = [call.hold(words), call.hold(words)];
    const text = "x".repeat(5000);
    const waiting = Array.from({ length: 5000 }, (_, n) => call.both(n, text));
    words[1] = 5;
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    expect(await Promise.all(held)).toEqual([5, 5]);
    for (const [n, result] of (await Promise.all(waiting)).entries()) {
      expect(result).toEqual([n, text]);
    }
  });

  test("of one worker begin in the order in which they were made", async () => {
    const { call } = kernelPool({ threads: 1 });
    const calls = Array.from({ length: 300 }, () => call.timesCalled());
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 300 }, (_, n) => n + 1));
  });

  test("follow each other, with pauses and without", async () => {
    const { call } = kernelPool({ threads: 1 });
    for (let n = 0; n < 300; n++) {
      expect(await call.add(n, 1)).toBe(n + 1);
      if (n % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 15));
    }
  });

  test("are shared by the workers", async () => {
    const { call } = kernelPool({ threads: 2 });
    const words = new Int32Array(new SharedArrayBuffer(8));
    const held = call.hold(words);
    // The worker that is free takes them, whatever the other does.
    for (let n = 0; n < 50; n++) expect(await call.add(n, 1)).toBe(n + 1);
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    expect(await held).toBe(0);
  });

  test("of tasks that are given by name", async () => {
    const { createPool, importTask } = await import("../../src/mod.ts");
    const { tasksUrl } = await import("./pools.ts");
    const pool = createPool({ threads: 1 })({
      sum: importTask<typeof add>({ href: tasksUrl, name: "add" }),
    });
    expect(await pool.call.sum(20, 1)).toBe(21);
    await pool.shutdown();
  });
});

describe("errors", () => {
  test("of tasks arrive with their class, text, cause and properties", async () => {
    const { call } = kernelPool({ threads: 1 });
    const range = await rejection(call.fail("range"));
    expect(range).toBeInstanceOf(RangeError);
    expect(range).toMatchObject({ message: "out of range", cause: { kind: "range" } });
    expect((range as Error).stack).toMatch(/tasks\.ts/);
    expect(await rejection(call.fail("other"))).toMatchObject({ code: "E_REFUSED" });
    expect(await rejection(call.failLater())).toBeInstanceOf(TypeError);
    expect(await call.add(1, 1)).toBe(2);
  });

  test("of values that cannot be sent disturb no other call", async () => {
    const { call } = kernelPool({ threads: 1 });
    const other = call.sleep(5, 1);
    expect(await rejection(call.echo(Symbol("s")))).toMatchObject({ name: "DataCloneError" });
    expect(await rejection(call.uncloneable())).toMatchObject({ name: "DataCloneError" });
    expect(await other).toBe(1);
  });

  test("tell of tasks that do not exist", async () => {
    const { call, ready } = kernelPool({ threads: 1 });
    const early = rejection((call as unknown as Record<string, () => Promise<void>>).ad!());
    expect(await early).toMatchObject({ code: "HEDDLE_UNKNOWN_TASK" });
    await ready;
    const late = rejection((call as unknown as Record<string, () => Promise<void>>).ad!());
    expect(await late).toMatchObject({ code: "HEDDLE_UNKNOWN_TASK" });
  });
});
