import { format, inspect } from "node:util";
import { describe, expect, test } from "vitest";
import {
  DataCloneError,
  HeddleError,
  isHeddleError,
  TimeoutError,
  WorkerLostError,
} from "../../src/mod.ts";
import { createBrokenPool, createTestPool, notExported } from "../fixtures/tasks.ts";
import { rejection, testPool } from "../support/conformance.ts";
import { runScript } from "../support/runtime.ts";

describe("errors thrown by tasks", () => {
  for (const task of ["fail", "failLater"] as const) {
    test(`${task}: class, message, stack and cause arrive`, async () => {
      const { call } = testPool();
      const error = await rejection(call[task]("type")) as TypeError;
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toBe("wrong type");
      expect(error.stack).toMatch(/tasks\.ts/);
      expect(error.cause).toBeInstanceOf(RangeError);
      expect((error.cause as Error).message).toBe("inner");
    });

    test(`${task}: own properties, AggregateError and DOMException arrive`, async () => {
      const { call } = testPool();
      expect(await rejection(call[task]("fields"))).toMatchObject({
        message: "with fields",
        code: "E_FIELDS",
        extra: [1, { two: 2 }],
      });
      const aggregate = await rejection(call[task]("aggregate")) as AggregateError;
      expect(aggregate).toBeInstanceOf(AggregateError);
      expect(aggregate.errors[0]).toBeInstanceOf(SyntaxError);
      expect(aggregate.errors[1]).toBe(2);
      const abort = await rejection(call[task]("abort")) as DOMException;
      expect([abort instanceof DOMException, abort.name]).toEqual([true, "AbortError"]);
    });

    test(`${task}: thrown values other than errors arrive unchanged`, async () => {
      const { call } = testPool();
      expect(await rejection(call[task]("string"))).toBe("just a string");
      expect(await rejection(call[task]("undefined"))).toBeUndefined();
      expect(await rejection(call[task]("object"))).toEqual({ reason: new Map([["a", 1n]]) });
      expect(await rejection(call[task]("function"))).toBeInstanceOf(Error);
    });
  }

  test("heddle's errors keep their class, and other errors do not acquire it", async () => {
    const { call } = testPool();
    const refused = await rejection(call.returnFunction());
    expect(refused).toBeInstanceOf(DataCloneError);
    expect(refused).toBeInstanceOf(HeddleError);
    expect(refused).toMatchObject({ name: "DataCloneError", code: "HEDDLE_DATA_CLONE" });
    expect(Object.keys(refused as object)).toEqual(["code"]);
    const sent = new WorkerLostError({ workerId: 3, exitCode: 1, reason: "why" }, { cause: 5 });
    const arrived = await call.echo(sent);
    expect(arrived).toBeInstanceOf(WorkerLostError);
    expect(arrived).toMatchObject({ workerId: 3, exitCode: 1, reason: "why", cause: 5 });
    expect([(arrived as Error).message, (arrived as Error).stack]).toEqual([
      sent.message,
      sent.stack,
    ]);
    const named = Object.assign(new Error("mine"), { name: "DataCloneError" });
    expect(await call.echo(named)).not.toBeInstanceOf(HeddleError);
    class Derived extends TimeoutError {}
    const derived = await call.echo(new Derived("run", 5));
    expect(derived).toBeInstanceOf(TimeoutError);
    expect([derived, named, null, "text"].map(isHeddleError)).toEqual([true, false, false, false]);
  });

  test("errors do not affect neighbouring calls", async () => {
    const { call } = testPool();
    const results = await Promise.allSettled(
      Array.from({ length: 1000 }, (_, n) => n % 3 === 0 ? call.fail(String(n)) : call.echo(n)),
    );
    for (const [n, result] of results.entries()) {
      if (n % 3 !== 0) expect(result).toEqual({ status: "fulfilled", value: n });
      else expect((result as PromiseRejectedResult).reason.message).toBe(String(n));
    }
  });
});

describe("invalid input", () => {
  test("a call of an unknown task name rejects", async () => {
    const { call } = testPool();
    const calls = call as unknown as Record<string, () => Promise<unknown>>;
    await expect(calls["nope"]!()).rejects.toThrow(/No task is named "nope" in this pool/);
    for (const key of ["toString", "__proto__", "hasOwnProperty"]) {
      await expect(calls[key]!()).rejects.toThrow(/No task is named/);
    }
    expect(await call).toBe(call); // not a thenable
    expect(Object.keys(call)).toContain("echo");
  });

  test("a pool and its calls can be printed", () => {
    const pool = testPool();
    for (const value of [pool, pool.call, { pool }]) {
      expect(inspect(value, { depth: 5 })).toBeTypeOf("string");
      expect(format("%o %O", value, value)).toBeTypeOf("string");
    }
    for (const other of [new Proxy(pool, {}), Object.create(pool) as unknown]) {
      expect(inspect(other)).toBeTypeOf("string");
    }
    expect(inspect(pool)).toMatch(
      /^Pool "heddle" \(\d of 1 workers, 0 calls in flight; tasks: .*echo/,
    );
  });

  test("rejected promises among the arguments of a refused call are handled", async () => {
    const { code, output } = await runScript("refused-arguments.ts");
    expect({ code, output }).toEqual({
      code: 0,
      output: "QUEUE_FULL AbortError DATA_CLONE POOL_CLOSED\n",
    });
  });

  test.each([[{ threads: -1 }], [{ threads: 1.5 }], [{ threads: "2" as never }], [
    { nope: 1 } as never,
  ]])(
    "createPool throws for options %j",
    (options) => {
      expect(() => createTestPool(options)).toThrow(
        expect.objectContaining({ code: "HEDDLE_INVALID_ARGUMENT" }),
      );
    },
  );

  test.each(Object.keys(notExported))(
    "ready rejects for a %s that the module does not export",
    async (kind) => {
      const pool = notExported[kind]!();
      expect(await rejection(pool.ready)).toMatchObject({
        code: "HEDDLE_TASK_NOT_FOUND",
        message: expect.stringMatching(/hidden|missing|gone/),
      });
      await pool.shutdown();
    },
  );

  test("a module that throws while loading rejects ready and every call, with its error", async () => {
    const pool = createBrokenPool(2);
    const early = pool.call.anything(1);
    const error = await rejection(early) as Error;
    expect(error).toMatchObject({ code: "HEDDLE_WORKER_START" });
    expect(error.cause).toBeInstanceOf(SyntaxError);
    expect((error.cause as Error).message).toBe("this module is broken");
    expect(await rejection(pool.ready)).toBe(error);
    expect(await rejection(pool.call.anything(2))).toBe(error);
    await pool.shutdown();
    expect(pool.stats()).toMatchObject({ ready: 0, inFlight: 0 });
  });

  test("a call rejects if its module does not exist", async () => {
    const pool = testPool({ moduleUrl: new URL("./no-such-module.ts", import.meta.url) });
    expect(await rejection(pool.call.echo(1))).toMatchObject({ code: "HEDDLE_WORKER_START" });
  });

  test("shutdown rejects an invalid timeout", async () => {
    const pool = testPool();
    for (const bad of [-1, NaN, "1" as never]) {
      expect(await rejection(pool.shutdown(bad))).toMatchObject({
        code: "HEDDLE_INVALID_ARGUMENT",
      });
    }
    expect(await pool.call.add(1, 1)).toBe(2);
  });
});
