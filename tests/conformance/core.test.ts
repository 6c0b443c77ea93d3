/** Pools of `heddle/core`: without features, with each of them, with several, and beside pools of `heddle`. */
import { afterEach, describe, expect, test } from "vitest";
import { createPool as createWhole, DataCloneError, isHeddleError } from "../../src/mod.ts";
import { createPool, isMain } from "../../src/mod-core.ts";
import { keys } from "../../src/features/calls/keys/use.ts";
import { limits } from "../../src/features/calls/limits/use.ts";
import { map } from "../../src/features/calls/map/use.ts";
import { queue } from "../../src/features/calls/queue/use.ts";
import { callback, requests } from "../../src/features/calls/requests/use.ts";
import { scopes } from "../../src/features/calls/scopes/use.ts";
import { streams } from "../../src/features/calls/streams/use.ts";
import { sync } from "../../src/features/calls/sync/use.ts";
import { structs } from "../../src/features/values/structs/use.ts";
import { values } from "../../src/features/values/rare/use.ts";
import { observe } from "../../src/features/watching/observe/use.ts";
import { profile } from "../../src/features/watching/profile/use.ts";
import { balancers } from "../../src/features/workers/balancers/use.ts";
import { inline } from "../../src/features/workers/inline/use.ts";
import { scaling, threadBudget } from "../../src/features/workers/scaling/use.ts";
import { stealing } from "../../src/features/workers/stealing/use.ts";
import type { Feature, FeatureName } from "../../src/api/pool/uses.ts";
import type { CorePool, CorePoolOptions } from "../../src/core/types.ts";
import { rejection, sharedWords, until } from "../support/conformance.ts";
import { runScript } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/core-tasks.ts");
const url = new URL("../fixtures/core-tasks.ts", import.meta.url);
const declaredUrl = new URL("../fixtures/module-tasks.ts", import.meta.url);

const open = new Set<{ shutdown(ms: number): Promise<void> }>();
afterEach(async () => {
  for (const pool of open) await pool.shutdown(100);
  open.clear();
});
function closed<P extends { shutdown(ms: number): Promise<void> }>(pool: P): P {
  open.add(pool);
  return pool;
}
const poolOf = <Name extends FeatureName = never>(
  options?: CorePoolOptions<Name>,
): CorePool<Tasks, Name> =>
  closed(createPool<Name>({ threads: 1, ...options } as CorePoolOptions<Name>)<Tasks>(url));

async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** As if it had no types. */
// deno-lint-ignore no-explicit-any -- what types forbid
type Untyped = any;
const refusal = (what: () => unknown): unknown => {
  try {
    return what();
  } catch (error) {
    return [isHeddleError(error) && error.code, String((error as Error).message).split(":")[0]];
  }
};
const needs = (what: string, feature: string): unknown => [
  "HEDDLE_INVALID_ARGUMENT",
  `${what} needs ${feature}()`,
];

describe("a pool without features", () => {
  test("runs tasks, whose errors keep their class", async () => {
    const { call, ready } = poolOf();
    expect(isMain).toBe(true);
    expect(await Promise.all([call.add(1, 2), call.echo({ a: [1, "x"] })])).toEqual([3, {
      a: [1, "x"],
    }]);
    await ready;
    expect(await call.add.with({ priority: "high", retries: 1 })(1, 2)).toBe(3);
    const error = await rejection(call.fail() as unknown as Promise<unknown>);
    expect(error).toBeInstanceOf(RangeError);
  });

  test("takes tasks by name, and closes by shutdown and by disposal", async () => {
    const { importTask } = await import("../../src/mod.ts");
    const pool = createPool({ threads: 1 })({
      plus: importTask<Tasks["add"]>({ href: url, name: "add" }),
    });
    expect(await pool.call.plus(20, 1)).toBe(21);
    await pool[Symbol.asyncDispose]();
    const late = (await rejection(pool.call.plus(1, 1))) as { code: string };
    expect(late.code).toBe("HEDDLE_POOL_CLOSED");
  });

  test("has several workers", async () => {
    const { call } = poolOf({ threads: 2 });
    const words = sharedWords();
    const held = [call.hold(words), call.hold(words)];
    await until(() => Atomics.load(words, 0) === 2);
    Atomics.store(words, 1, 7);
    Atomics.notify(words, 1);
    expect(await Promise.all(held)).toEqual([7, 7]);
  });

  test.each<[string, string]>([
    ["map", "map"],
    ["reduce", "map"],
    ["scope", "scopes"],
    ["sync", "sync"],
    ["broadcast", "keys"],
    ["stats", "observe"],
    ["profile", "profile"],
    ["needsDrain", "queue"],
  ])("says what its member %s needs", (name, feature) => {
    const pool = poolOf() as Untyped;
    expect(refusal(() => pool[name])).toEqual(needs(`pool.${name}`, feature));
  });

  test.each<[string, unknown, string]>([
    ["hardTimeoutMs", 1, "limits"],
    ["maxQueue", 1, "queue"],
    ["minThreads", 1, "scaling"],
    ["budget", {}, "scaling"],
    ["balancer", "fifo", "balancers"],
    ["inliner", true, "inline"],
    ["metrics", true, "observe"],
    ["host", {}, "requests"],
    ["transport", "auto", "mirror"],
    ["workers", "processes", "processes"],
  ])("says what the option %s needs", (name, value, feature) => {
    expect(refusal(() => createPool({ [name]: value } as Untyped))).toEqual(needs(name, feature));
  });

  test("refuses for processes what only threads can be denied", async () => {
    const { output } = await runScript("core-permission.ts");
    expect(output).toBe("HEDDLE_INVALID_ARGUMENT\nHEDDLE_INVALID_ARGUMENT\n");
  });

  test("says what a pool without threads needs", async () => {
    const options = { threads: 0 } as const;
    expect(() => createPool(options)).toThrow(/^threads: 0 needs inline\(\): createPool/);
    const pool = poolOf({ ...options, use: [inline()] });
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  test("takes nothing but options", () => {
    for (const options of [null, 1, "x", [], { use: null }, { use: limits() }]) {
      const [code] = refusal(() => createPool(options as Untyped)) as unknown[];
      expect(code).toBe("HEDDLE_INVALID_ARGUMENT");
    }
  });

  test("says what options of calls, generators and values need", async () => {
    const { call } = poolOf() as Untyped;
    expect(refusal(() => call.add.with({ timeoutMs: 1 }))).toEqual(
      needs("timeoutMs of with()", "limits"),
    );
    expect(refusal(() => call.add.with({ affinity: 1 }))).toEqual(
      needs("affinity of with()", "keys"),
    );
    // Before its tasks are known, and afterwards.
    const early = await rejection(call.count(2)) as Error;
    expect(early.message).toContain("the generator task count needs streams()");
    await call.add(1, 1);
    expect(refusal(() => call.count(2))).toEqual(needs("the generator task count", "streams"));
    for (const value of [/a/, [1].values()]) {
      const error = await rejection(call.echo(value));
      expect(error).toBeInstanceOf(DataCloneError);
      expect(String(error)).toContain("no feature of its pool sends values of this kind");
    }
    expect(String(await rejection(call.echo(callback(() => {}))))).toContain(
      "to be called back: callback()",
    );
    // Results are refused by the worker.
    expect(String(await rejection(call.pattern()))).toContain("values() sends class instances");
  });

  test("says what the tasks of a module need", async () => {
    const without = closed(createPool({ threads: 1 })<object>(declaredUrl)) as Untyped;
    expect(String(await rejection(without.call.reverse("ab")))).toMatch(
      /needs structs\(\): createPool\(\{ use: \[structs\(\)\] \}\)/,
    );
    const { task } = await import("../../src/mod-task.ts");
    const limited = { add: task({ f: (n: number) => n, timeoutMs: 5 }) };
    expect(refusal(() => createPool()(limited))).toEqual(needs("timeoutMs of add", "limits"));
    const signalled = { add: task({ f: (n: number) => n, abortSignal: true }) };
    expect(refusal(() => createPool()(signalled))).toEqual(needs("abortSignal of add", "limits"));
  });
});

describe("a feature", () => {
  test("limits: time limits and signals", async () => {
    const { call } = poolOf({ use: [limits()], hardTimeoutMs: 60_000 });
    const late = await rejection(call.sleep.with({ timeoutMs: 5 })(60_000));
    expect(late).toMatchObject({ code: "HEDDLE_TIMEOUT" });
    const signal = AbortSignal.abort(new Error("enough"));
    expect(String(await rejection(call.add.with({ signal })(1, 2)))).toBe("Error: enough");
    expect(await call.sleep.with({ timeoutMs: 5, timeoutValue: "late" })(60_000)).toBe("late");
  });

  test("streams: results, arguments and events", async () => {
    const { call } = poolOf({ use: [streams()] });
    expect(await listOf(call.count(3))).toEqual([1, 2, 3]);
    const events: unknown[] = [];
    expect(await call.steps.with({ onEvent: (event) => events.push(event) })(2)).toBe(2);
    expect(events).toEqual([1, 2]);
    expect(await call.sum([1, 2, 3].values() as unknown as AsyncIterable<number>)).toBe(6);
  });

  test("values: rare ones, both ways", async () => {
    const { call } = poolOf({ use: [values()] });
    expect(await call.test(/b/, "abc")).toBe(true);
    expect(await call.pattern()).toEqual(/a/);
  });

  test("structs: tasks that declare shapes", async () => {
    const pool = closed(
      createPool({ threads: 1, use: [structs(), limits()] })<
        typeof import("../fixtures/module-tasks.ts")
      >(declaredUrl),
    );
    expect(await pool.call.mirror({ x: 1, y: 2 })).toEqual({ x: 2, y: 1 });
    expect(await rejection(pool.call.mirror({ x: 1 } as Untyped)))
      .toMatchObject({ code: "HEDDLE_STRUCT_MISMATCH" });
    expect(await pool.call.patient(60_000)).toBe("too late");
  });

  test("queue: bounds and the drain", async () => {
    const pool = poolOf({ use: [queue()], maxQueue: 1, maxConcurrency: 1 });
    await pool.ready;
    const words = sharedWords();
    const held = pool.call.hold(words);
    await until(() => Atomics.load(words, 0) === 1);
    const waiting = pool.call.add(1, 1);
    expect(pool.needsDrain).toBe(true);
    expect(await rejection(pool.call.add(1, 1))).toMatchObject({ code: "HEDDLE_QUEUE_FULL" });
    Atomics.store(words, 1, 1);
    Atomics.notify(words, 1);
    expect(await Promise.all([held, waiting])).toEqual([1, 2]);
    await pool.drained();
  });

  test("keys: affinity and broadcasts", async () => {
    const pool = poolOf({ use: [keys()], threads: 2 });
    await pool.ready;
    const call = pool.call.workerId.with({ affinity: "a" });
    const ids = await Promise.all([call(), call(), call()]);
    expect(new Set(ids).size).toBe(1);
    expect((await pool.broadcast.workerId()).toSorted()).toEqual([0, 1]);
  });

  test("requests: functions of the host, callbacks, calls of the pool", async () => {
    const functions = { double: (n: number) => 2 * n };
    const { call } = poolOf({ use: [requests()], threads: 2, host: { functions } });
    expect(await call.askHost(4)).toBe(8);
    expect(await call.callBack(callback((n: number) => n + 1))).toBe(21);
    expect(await call.askPool(4)).toBe(5);
  });

  test("map: chunks of calls", async () => {
    const pool = poolOf({ use: [map()] });
    expect(await listOf(pool.map(pool.call.echo, [1, 2, 3]))).toEqual([1, 2, 3]);
  });

  test("scopes: calls that end together", async () => {
    const pool = poolOf({ use: [scopes()] });
    const sum = await pool.scope(async ({ call }) => await call.add(1, 2) + await call.add(3, 4));
    expect(sum).toBe(10);
  });

  test("scaling: workers that follow the load", async () => {
    const budget = threadBudget({ max: 2 });
    const pool = poolOf({ use: [scaling()], minThreads: 0, maxThreads: 1, budget } as Untyped);
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  test("stealing, balancers, inline and observe work together", async () => {
    const pool = poolOf({
      use: [stealing(), balancers(), inline(), observe()],
      threads: 2,
      balancer: "leastLoaded",
      metrics: true,
    });
    const started = new Promise((resolve) => pool.addEventListener("workerStart", resolve));
    expect(await Promise.all(Array.from({ length: 20 }, (_, n) => pool.call.add(n, 1))))
      .toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    await started;
    const { safetyHits, tasks } = pool.stats();
    expect([safetyHits, tasks.find(({ name }) => name === "add")?.calls]).toEqual([0, 20]);
  });

  test("profile: a member that knows its workers", async () => {
    const pool = poolOf({ use: [profile()] });
    await pool.ready;
    expect(await rejection(pool.profile(99))).toBeInstanceOf(Error);
  });
});

test("sync: calls that block", async () => {
  const pool = poolOf({ use: [sync()] });
  expect(pool.sync.add(1, 2)).toBe(3);
  expect(pool.sync.add.with({ timeoutMs: 60_000 })(3, 4)).toBe(7);
  expect(refusal(() => (pool.sync.add as Untyped).with({ onEvent: () => {} })))
    .toEqual(needs("onEvent of with()", "streams"));
  await pool.ready;
});

test("pools with other features in one thread keep to theirs", async () => {
  const features: readonly Feature[] = [map(), values(), keys()];
  const bare = poolOf() as Untyped;
  const rich = poolOf({ use: features }) as Untyped;
  const whole = closed(createWhole({ threads: 1 })<Tasks>(url));
  expect(await Promise.all([bare, rich, whole].map((pool) => pool.call.add(1, 2))))
    .toEqual([3, 3, 3]);
  expect(await listOf(rich.map(rich.call.echo, [1]))).toEqual([1]);
  expect(await listOf(whole.call.count(2))).toEqual([1, 2]);
  expect(await rich.call.test(/a/, "a")).toBe(true);

  expect(refusal(() => bare.map)).toEqual(needs("pool.map", "map"));
  expect(refusal(() => bare.call.count(1))).toEqual(needs("the generator task count", "streams"));
  expect(refusal(() => bare.call.add.with({ timeoutMs: 1 })))
    .toEqual(needs("timeoutMs of with()", "limits"));
  expect(String(await rejection(bare.call.test(/a/, "a")))).toContain("no feature of its pool");
  expect(String(await rejection(bare.call.pattern()))).toContain("no feature of its pool");
  expect(refusal(() => rich.scope)).toEqual(needs("pool.scope", "scopes"));
  expect(refusal(() => createPool({ maxQueue: 1 } as Untyped))).toEqual(needs("maxQueue", "queue"));
  expect(whole.stats().safetyHits).toBe(0);
});

test("a pool where no thread starts runs on the host, with its features", async () => {
  const pool = poolOf({ use: [inline(), streams()], inliner: true });
  expect(await pool.call.add(1, 2)).toBe(3);
  expect(await listOf(pool.call.count(2))).toEqual([1, 2]);
});
