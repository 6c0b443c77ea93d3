/** Features that meet: one program uses several of them in one call. */
import { expect, test } from "vitest";
import {
  createPool,
  importTask,
  type Pool,
  type PoolOptions,
  ValidationError,
} from "../../src/mod.ts";
import { closedAfterTest, rejection, until } from "../support/conformance.ts";

type Tasks = typeof import("../fixtures/meeting-tasks.ts");

const url = new URL("../fixtures/meeting-tasks.ts", import.meta.url);
const context = {
  capture: () => 1,
  run: new URL("../fixtures/meeting-context.ts", import.meta.url),
};

function meetingPool(options: PoolOptions = {}): Pool<Tasks> {
  return closedAfterTest(createPool({ threads: 1, ...options })<Tasks>(url));
}

test("events and nested calls find their call in a context that leaves that of the call", async () => {
  const { call } = meetingPool({ maxConcurrency: 1, context });
  const events: unknown[] = [];
  const onEvent = (event: unknown): void => void events.push(event);
  expect(await call.progress.with({ onEvent })()).toBe("done");
  expect(events).toEqual([1, 2]);
  expect(await call.fib(6)).toBe(8);
});

test("a task module that gives all objects a property runs", async () => {
  const polluting = new URL("../fixtures/polluting-tasks.ts", import.meta.url);
  const { call } = closedAfterTest(
    createPool({ threads: 1 })<typeof import("../fixtures/polluting-tasks.ts")>(polluting),
  );
  expect(await call.add(1, 2)).toBe(3);
});

test("the module of a context is loaded before tasks that are given by name", async () => {
  const named = closedAfterTest(
    createPool({ threads: 1, context })({
      late: importTask<Tasks["wasContextLate"]>({ href: url, name: "wasContextLate" }),
    }),
  );
  expect(await named.call.late!()).toBe(false);
});

test("a generator hears why it is aborted before its iterator ends", async () => {
  const { call } = meetingPool();
  const controller = new AbortController();
  const items = call.count.with({ signal: controller.signal })()[Symbol.asyncIterator]();
  await items.next();
  controller.abort(new Error("by user"));
  await rejection((async () => {
    for (;;) await items.next();
  })());
  const heard: string[] = [];
  await until(
    () => heard.length >= 2,
    async () => void heard.splice(0, Infinity, ...await call.whatWasHeard()),
  );
  expect(heard).toEqual(["event: by user", "end: by user"]);
});

test("a schema that a class has is asked as one of an object is", async () => {
  const { call } = meetingPool();
  expect(await call.checked("text")).toBe("got text");
  expect(await rejection(call.checked(5 as never))).toBeInstanceOf(ValidationError);
});

test("members of a pool can be replaced, as tests do", async () => {
  const pool = meetingPool();
  const { map, stats } = pool;
  const replaced = { completed: -1 };
  Object.assign(pool, { stats: () => replaced });
  expect(pool.stats()).toBe(replaced);
  expect([stats().completed, pool.map]).toEqual([0, map]);
  expect(Reflect.deleteProperty(pool, "stats")).toBe(true);
  expect(pool.stats().completed).toBe(0);
  await pool.ready;
});
