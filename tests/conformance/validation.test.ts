/** Tasks whose argument or result is checked by a schema (`input`, `output`). */
import { describe, expect, test } from "vitest";
import {
  createPool,
  InvalidArgumentError,
  isHeddleError,
  task,
  ValidationError,
} from "../../src/mod.ts";
import { z } from "zod";
import * as tasks from "../fixtures/validated-tasks.ts";
import { closedAfterTest, rejection } from "../support/conformance.ts";

type Tasks = typeof tasks;
const url = new URL("../fixtures/validated-tasks.ts", import.meta.url);

/** The host has loaded the tasks, or only the workers have. */
const pools = {
  "of tasks": () => {
    const { greet, yearOf, yearChecked, even, evenChecked, left, positive } = tasks;
    const { positiveLater, countTo, countChecked, waits, odd, failing } = tasks;
    return closedAfterTest(
      createPool({ threads: 1, moduleUrl: url.href })({
        greet,
        yearOf,
        yearChecked,
        even,
        evenChecked,
        left,
        positive,
        positiveLater,
        countTo,
        countChecked,
        waits,
        odd,
        failing,
        runsOf: tasks.runsOf,
      }),
    );
  },
  "of a module": () => closedAfterTest(createPool({ threads: 1 })<Tasks>(url)),
};

async function invalid(call: Promise<unknown>): Promise<ValidationError> {
  const error = await rejection(call);
  expect(error).toBeInstanceOf(ValidationError);
  return error as ValidationError;
}

describe.each(Object.entries(pools))("schemas in a pool %s", (_, create) => {
  test("the task gets what its schema makes of the argument, callers what it makes of the result", async () => {
    const { call } = create();
    expect(await call.greet({ name: "Ada", age: "36" })).toEqual({ text: "Ada is 36" });
    expect(await call.yearOf("2026-01-01")).toBe(2026);
    expect(await call.yearOf(Promise.resolve("2027-01-01"))).toBe(2027);
    expect(await call.even(4)).toBe(2);
    expect(await call.left({ left: 3 })).toBe(3);
    expect(await call.positive(2, 3)).toBe(6);
    expect(await call.positiveLater(2)).toBe(2);
  });

  test("an invalid argument rejects the call with all issues, and the task does not run", async () => {
    const { call } = create();
    const error = await invalid(call.greet({ name: "", age: "x" }));
    expect(error.code).toBe("HEDDLE_VALIDATION");
    expect(isHeddleError(error)).toBe(true);
    expect(error.part).toBe("input");
    expect(error.issues.map(({ path }) => path)).toEqual([["name"], ["age"]]);
    expect(error.message).toMatch(
      /^The input of task "greet" is not valid: name: .+ \(and 1 more\)$/,
    );
    expect(await call.runsOf()).toBe(0);
    expect((await invalid(call.even(3))).issues).toEqual([{ message: "must be even", path: [] }]);
    expect((await invalid(call.left({ left: "3" } as never))).issues[0]!.path).toEqual(["left"]);
    expect(await call.greet({ name: "Ada", age: 1 })).toEqual({ text: "Ada is 1" });
  });

  test("an invalid result rejects the call", async () => {
    const { call } = create();
    for (const made of [call.positive(-1, 3), call.positiveLater(-1)]) {
      const error = await invalid(made);
      expect(error.part).toBe("output");
      expect(error.message).toMatch(/^The output of task "positive/);
    }
  });

  test('validateOn: "host" checks once, and rejects likewise', async () => {
    const { call } = create();
    expect(await call.yearChecked("2026-01-01")).toBe(2026);
    expect(await call.yearChecked(Promise.resolve("2027-01-01"))).toBe(2027);
    expect(await call.yearChecked.with({ timeoutMs: 10_000 })("2028-01-01")).toBe(2028);
    expect((await invalid(call.yearChecked(1 as never))).part).toBe("input");
    expect(await call.evenChecked(4)).toBe(2);
    expect((await invalid(call.evenChecked(3))).part).toBe("input");
    expect(await rejection(call.yearChecked(Promise.reject(new Error("mine"))))).toEqual(
      new Error("mine"),
    );
  });

  test("a generator's items are checked one by one, and its return value passes", async () => {
    const { call } = create();
    const stream = call.countTo(3);
    expect(await stream.toArray()).toEqual([1, 2, 3]);
    expect(await stream.returned).toBe("done");
    const seen: number[] = [];
    const error = await invalid((async () => {
      for await (const item of call.countTo(9)) seen.push(item);
    })());
    expect(seen).toEqual([1, 2, 3]);
    expect(error.part).toBe("output");
    expect((await invalid(call.countTo(1.5).toArray())).part).toBe("input");
    expect(await call.countChecked(2).toArray()).toEqual([1, 2]);
    expect((await invalid(call.countChecked(1.5).toArray())).part).toBe("input");
  });

  test("a task with a signal gets it after its argument", async () => {
    const { call } = create();
    expect(await call.waits(0)).toBe("at once");
    expect((await invalid(call.waits("1" as never))).part).toBe("input");
    const stop = new AbortController();
    const waiting = call.waits.with({ signal: stop.signal })(1);
    stop.abort(new Error("stop"));
    expect(await rejection(waiting)).toEqual(new Error("stop"));
  });

  test("map and broadcast check each argument", async () => {
    const { call, map, broadcast } = create();
    for (const name of ["yearOf", "yearChecked"] as const) {
      expect(await map(call[name], ["2026-01-01", "2027-01-01"]).toArray()).toEqual([2026, 2027]);
      await invalid(map(call[name], ["2026-01-01", 1 as never]).toArray());
      expect(await broadcast[name]("2026-01-01")).toEqual([2026]);
      expect(await rejection(broadcast[name](1 as never))).toBeDefined();
    }
  });

  test("issues hold what can be sent, and a validator's own error is that of the call", async () => {
    const { call } = create();
    const error = await invalid(call.odd(1));
    expect(error.issues).toEqual([{ message: "never fits", path: ["Symbol(key)", "a", 0] }]);
    expect(error.message).toBe('The input of task "odd" is not valid: Symbol(key).a.0: never fits');
    const failure = await rejection(call.failing(1));
    expect(failure).toBeInstanceOf(RangeError);
    expect((failure as Error).message).toBe("the validator failed");
  });
});

test("a call that is refused otherwise leaves no rejected check behind", async () => {
  const pool = pools["of tasks"]();
  await pool.shutdown();
  const error = await rejection(pool.call.evenChecked(3));
  expect(error).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
});

test("schemas that are none, and those beside key lists, are refused", () => {
  const wrong = (definition: object, message: RegExp): void => {
    expect(() => task({ f: () => 1, ...definition } as never)).toThrow(InvalidArgumentError);
    expect(() => task({ f: () => 1, ...definition } as never)).toThrow(message);
  };
  wrong({ input: 1 }, /^input must be a Standard Schema \(Zod, .* got 1 \(number\)\.$/);
  wrong({ output: {} }, /^output must be a Standard Schema/);
  wrong({ input: z.number(), args: [] }, /shapes .* or schemas .*, not both/);
  wrong({ input: z.number(), validateOn: "client" }, /^validateOn must be "worker" or "host"/);
  wrong({ output: z.number(), validateOn: "host" }, /validateOn tells where `input` is checked/);
});
