/** The first calls of fresh workers, which have loaded no more than they need, and modules that import `heddle/task`. */
import { describe, expect, test } from "vitest";
import { borrow, createPool, Envelope, importTask, type Pool, transfer } from "../../src/mod.ts";
import * as light from "../fixtures/light-tasks.ts";
import { closedAfterTest, sharedWords } from "../support/conformance.ts";
import { runScript } from "../support/runtime.ts";

const { echo, mirror, sumOf, wrap, isEnvelope, give, total, fail, countTeardown } = light;
const tasks = { echo, mirror, sumOf, wrap, isEnvelope, give, total, fail, countTeardown };
const moduleUrl = new URL("../fixtures/light-tasks.ts", import.meta.url).href;
const pool = (threads = 1): Pool<typeof tasks> =>
  closedAfterTest(createPool({ threads, moduleUrl, teardownTimeoutMs: 60_000 })(tasks));

const point = { x: 1, y: 2, name: "a" };
const mirrored = { x: 2, y: 1, name: "a" };
const cycle: unknown[] = [1];
cycle.push(cycle);

/** A value of each kind, and one for each that has many. */
const values: Readonly<Record<string, unknown>> = {
  "a number": 1.5,
  "a string": "ä中",
  "a long string": "x".repeat(100_000),
  "undefined": undefined,
  "a bigint": 2n ** 100n,
  "a symbol": Symbol.for("heddle.test"),
  "an object": { a: 1, b: [true, null], c: { d: "e" } },
  "an array with holes": Object.assign([1], { 2: 3 }),
  "an array of objects": Array.from({ length: 50 }, (_, id) => ({ id, name: `n${id}` })),
  "a cycle": cycle,
  "a Map": new Map<unknown, unknown>([["a", new Set([1])]]),
  "a Date": new Date(5),
  "a RegExp": /a+/gi,
  "a boxed number": Object(5),
  "bytes": new Uint8Array([1, 2, 3]),
  "a view": new Float64Array([1, 2]).subarray(1),
  "large bytes": new Uint8Array(300_000).fill(3),
  "an error": new TypeError("no", { cause: new Error("why") }),
  "an object without prototype": Object.assign(Object.create(null), { a: 1 }),
};

describe.each(Object.keys(values))("%s", (name) => {
  test("arrives as the first value before and after the worker is ready", async () => {
    const value = values[name];
    expect(await pool().call.echo(value)).toEqual(value);
    const ready = pool();
    await ready.ready;
    expect(await ready.call.echo(value)).toEqual(value);
  });
});

describe("the first call of a worker", () => {
  test("may take a struct, take a view, or be refused", async () => {
    expect(await pool().call.mirror(point)).toEqual(mirrored);
    expect(await pool().call.sumOf({ points: [point, point] })).toBe(2);
    await expect(pool().call.mirror({ x: 1 } as never)).rejects.toMatchObject({
      code: "HEDDLE_STRUCT_MISMATCH",
    });
  });

  test("may take an envelope, transferred bytes or borrowed bytes", async () => {
    const wrapped = await pool().call.wrap(new Uint8Array(3)) as Envelope;
    expect(wrapped).toBeInstanceOf(Envelope);
    expect(wrapped.header).toEqual({ length: 3 });
    expect(await pool().call.isEnvelope(new Envelope(1, 2))).toBe(true);
    expect((await pool().call.give(10) as Uint8Array)[9]).toBe(7);
    expect(await pool().call.echo(transfer(new Uint8Array([5])))).toEqual(new Uint8Array([5]));
    expect(await pool().call.total(borrow(new Uint8Array([1, 2])))).toBe(3);
  });

  test("may throw", async () => {
    const error = await pool().call.fail("first").catch((error: unknown) => error);
    expect(error).toBeInstanceOf(RangeError);
    expect((error as Error).message).toBe("first");
  });

  test("may load a module that registers a teardown", async () => {
    const words = sharedWords();
    const made = pool();
    await made.call.countTeardown(words);
    await made.shutdown();
    expect(words[0]).toBe(1);
  });
});

test("many concurrent calls of all kinds settle if made before a worker is ready", async () => {
  const { call } = pool(2);
  const kinds = Object.values(values);
  const calls: Promise<unknown>[] = [];
  for (let round = 0; round < 5; round++) {
    for (const value of kinds) calls.push(call.echo(value), call.mirror(point));
  }
  const answers = await Promise.all(calls);
  for (const [index, answer] of answers.entries()) {
    expect(answer).toEqual(index % 2 === 1 ? mirrored : kinds[(index >> 1) % kinds.length]);
  }
});

test("objects of one key list arrive before and after the key list is compiled", async () => {
  const { call } = pool();
  for (let id = 0; id < 400; id++) {
    const object = { id, text: "x".repeat(id % 40), is: id % 2 === 0, none: null, half: id / 2 };
    expect(await call.echo(object)).toEqual(object);
  }
});

test("a pool closed immediately after creation ends its thread", async () => {
  const made = pool(2);
  await made.shutdown(0);
  expect(made.stats().ready).toBe(0);
  await expect(made.ready).rejects.toThrow();
});

test("a module that cannot be loaded rejects earlier calls", async () => {
  const href = new URL("../fixtures/broken-module.ts", import.meta.url);
  const made = closedAfterTest(createPool({ threads: 1 })({ f: importTask({ href, name: "f" }) }));
  await expect(made.call.f()).rejects.toMatchObject({ code: "HEDDLE_WORKER_START" });
});

test("a pool that fails to start leaves no thread", async () => {
  expect(await runScript("start-fails.ts")).toEqual({ code: 0, output: "no memory\n" });
});
