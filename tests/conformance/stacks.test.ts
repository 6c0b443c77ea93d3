/** Stacks of errors of heddle: the first frame is of the code that called heddle. */
import { expect, test } from "vitest";
import { createPool, HeddleError, importTask, task } from "../../src/mod.ts";
import { closedAfterTest, testPool } from "../support/conformance.ts";

const module = new URL("../fixtures/module-tasks.ts", import.meta.url);

const wrong = (value: unknown): never => value as never;

const modulePool = () => closedAfterTest(createPool({ threads: 1 })(module));

/** Functions by any name. */
const named = (table: object): Readonly<Record<string, () => unknown>> => table as never;

/** The first line of the stack that is a frame. */
function firstFrame(error: unknown): string {
  expect(error).toBeInstanceOf(HeddleError);
  const { name, message, stack = "" } = error as HeddleError;
  expect(stack.startsWith(`${name}: ${message}\n`)).toBe(true);
  return stack.slice(`${name}: ${message}\n`.length).split("\n")[0]!;
}

const mistakes: Readonly<Record<string, () => unknown>> = {
  "createPool with an unknown option": () => [createPool(wrong({ thread: 2 }))],
  "createPool with two arguments": () => [(createPool as (...args: object[]) => unknown)({}, {})],
  "a pool of nothing": () => [createPool({ threads: 1 })(wrong(undefined))],
  "a task that is none": () => [createPool({ threads: 1 })(wrong({ f: 5 }))],
  "task() without a function": () => [task(wrong({}))],
  "task() with a wrong option": () => [task(wrong({ f: () => {}, priority: "higher" }))],
  "importTask() without a module": () => [importTask(wrong({}))],
  "map() of no call": () => [testPool().map(wrong(5), [])],
  "wrong options of a call": () => [testPool().call.add.with({ runTimeoutMs: -1 })],
  "wrong options of a broadcast": () => [testPool().broadcast.add.with(wrong({ timeout: "x" }))],
  "wrong options of an early call": () => {
    return [modulePool().call["f"]!.with({ runTimeoutMs: -1 })];
  },
};

test.each(Object.keys(mistakes))("of %s", (name) => {
  let error: unknown;
  try {
    mistakes[name]!();
  } catch (reason) {
    error = reason;
  }
  expect(firstFrame(error)).toContain("stacks.test");
});

test.each([
  ["an argument that cannot be cloned", () => testPool().call.echo(wrong(() => {}))],
  [
    "an argument that is too large",
    () => testPool({ maxPayloadBytes: 2 ** 20 }).call.echo(new Uint8Array(2 ** 21)),
  ],
  ["an argument of an early call", () => {
    return modulePool().call["f"]!(wrong(() => {}));
  }],
  ["a call of an unknown task", () => named(testPool().call)["unknown"]!()],
  ["a broadcast of an unknown task", () => named(testPool().broadcast)["unknown"]!()],
  ["a blocking call of an unknown task", () => named(testPool().sync)["unknown"]!()],
  ["an early call of an unknown task", () => modulePool().call["unknown"]!()],
  ["an early broadcast of an unknown task", () => named(modulePool().broadcast)["unknown"]!()],
  ["a later call of an unknown task", async () => {
    const pool = modulePool();
    await pool.ready;
    return await pool.call["unknown"]!();
  }],
])("of a rejection: %s", async (_, call) => {
  const made = async (): Promise<unknown> => await call();
  expect(firstFrame(await made().catch((reason: unknown) => reason))).toContain("stacks.test");
});

test("of wrong arguments of shutdown()", async () => {
  const pool = testPool();
  const error = await pool.shutdown(-1).catch((reason: unknown) => reason);
  expect(firstFrame(error)).toContain("stacks.test");
});

test.each([
  ["a module that is missing", new URL("./missing.ts", module)],
  ["a module that throws", new URL("./broken-module.ts", module)],
])("of the start with %s: the creation of the pool", async (_, url) => {
  const pool = closedAfterTest(createPool({ threads: 1 })(url));
  const early = pool.call["f"]!().catch((reason: unknown) => reason);
  const error: unknown = await pool.ready.catch((reason: unknown) => reason);
  expect(firstFrame(error)).toContain("stacks.test");
  expect((error as Error).cause).toBeInstanceOf(Error);
  expect(await early).toBe(error);
  expect(Object.keys(error as object)).toEqual(["code"]);
});

test("of the start without a task's export: the creation of the pool", async () => {
  const tasks = { none: importTask<() => void>({ href: module, name: "none" }) };
  const pool = closedAfterTest(createPool({ threads: 1 })(tasks));
  const error: unknown = await pool.ready.catch((reason: unknown) => reason);
  expect(firstFrame(error)).toContain("stacks.test");
  expect((error as HeddleError).code).toBe("HEDDLE_TASK_NOT_FOUND");
});

test("of tasks, and of what they return: no frames of heddle, which has called them", async () => {
  const url = new URL("../fixtures/throwing-tasks.ts", import.meta.url);
  const { call } = closedAfterTest(
    createPool({ threads: 1 })<typeof import("../fixtures/throwing-tasks.ts")>(url),
  );
  const thrown = await call.throwNested().catch((error: Error) => error) as Error;
  const later = await call.throwLater().catch((error: Error) => error) as Error;
  const returned = await call.returnError();
  for (const { stack = "" } of [thrown, later, returned]) {
    const frames = stack.split("\n").filter((line) => /^\s*at |@/.test(line));
    expect(frames.length).toBeGreaterThan(0);
    expect(frames[0]).toMatch(/throwing-tasks\.ts/);
    for (const frame of frames) expect(frame).not.toMatch(/\/src\/|\/dist\/|node:|ext:/);
  }
});
