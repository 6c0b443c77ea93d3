/** The option `context`: what a call carries to its worker. */
import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, test } from "vitest";
import { borrow, createPool, DataCloneError, type Pool } from "../../src/mod.ts";
import {
  begun,
  closedAfterTest,
  rejection,
  release,
  sharedWords,
  until,
} from "../support/conformance.ts";
import { runScript } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/context-tasks.ts");

const url = new URL("../fixtures/context-tasks.ts", import.meta.url);
const run = new URL("../fixtures/context-run.ts", import.meta.url);

const requests = new AsyncLocalStorage<unknown>();
const contextPool = (threads = 1): Pool<Tasks> =>
  closedAfterTest(
    createPool({ threads, context: { capture: () => requests.getStore(), run } })<Tasks>(url),
  );

describe("a context", () => {
  test("reaches tasks with any arguments, and the code after their awaits", async () => {
    const { call, ready } = contextPool();
    const ask = async () => [
      await call.now(),
      await call.withArgs(1),
      await call.withArgs({ a: 1 }, undefined),
      await call.later(1),
    ];
    const expected = (id: string) => [
      `${id}/now`,
      [1, `${id}/withArgs`],
      [{ a: 1 }, undefined, `${id}/withArgs`],
      `${id}/later`,
    ];
    // Before and after the tasks of the module are known.
    expect(await requests.run("early", ask)).toEqual(expected("early"));
    await ready;
    expect(await requests.run("late", ask)).toEqual(expected("late"));
  });

  test("reaches objects, whose calls are named by their class", async () => {
    const pool = contextPool();
    await requests.run("r", async () => {
      const recorder = await pool.spawn.Recorder();
      expect(await recorder.$get("madeFor")).toBe("r/new Recorder");
      expect(await recorder.now()).toBe("r/Recorder.now");
      expect(await Array.fromAsync(recorder.items())).toEqual(["r/Recorder.items"]);
      await recorder.$release();
    });
  });

  test("belongs to one call, in calls that run side by side", async () => {
    const { call } = contextPool(2);
    const ids = Array.from({ length: 60 }, (_, id) => `r${id}`);
    const found = await Promise.all(ids.map((id) => requests.run(id, () => call.later(2))));
    expect(found).toEqual(ids.map((id) => `${id}/later`));
  });

  test("is carried beside declared structs, signals and promises", async () => {
    const { call, ready } = contextPool();
    const ask = async (id: string) => {
      const one = await requests.run(id, () => call.declared({ x: 1 }, { x: 2 }));
      const signalled = await requests.run(id, () => call.signalled(5));
      const awaited = await requests.run(id, () => call.withArgs(Promise.resolve(7)));
      return [one, signalled, awaited];
    };
    const expected = (id: string) => [
      `1 2 ${id}/declared`,
      `5 false ${id}/signalled`,
      [7, `${id}/withArgs`],
    ];
    expect(await ask("early")).toEqual(expected("early"));
    await ready;
    expect(await ask("late")).toEqual(expected("late"));
  });

  test("is around a call beside its signal, its events and metrics", async () => {
    const context = { capture: () => requests.getStore(), run };
    const { call } = closedAfterTest(
      createPool({ threads: 1, context, metrics: true })<Tasks>(url),
    );
    const ask = async (id: string) => {
      const events: unknown[] = [];
      const onEvent = (event: unknown) => void events.push(event);
      const result = await requests.run(id, () => call.reports.with({ onEvent })(5));
      return [result, ...events];
    };
    const expected = (id: string) => [`5 false ${id}/reports`, `${id}/reports`, `${id}/reports`];
    const asked = [ask("early"), requests.run("plain", () => call.reports(6))] as const;
    expect(await Promise.all(asked)).toEqual([expected("early"), "6 false plain/reports"]);
    expect(await ask("late")).toEqual(expected("late"));
  });

  test("reaches the code of generators", async () => {
    const { call, ready } = contextPool();
    await ready;
    const items = await requests.run("g", () => call.items(3).toArray());
    expect(items).toEqual(Array(3).fill("g/items"));
    const later = await requests.run("h", () => call.asyncItems(3).toArray());
    expect(later).toEqual(Array(3).fill("h/asyncItems"));
  });

  test("passes to the calls that a task makes", async () => {
    const pool = closedAfterTest(
      createPool({ threads: 2, context: { capture: () => requests.getStore(), run } })<
        typeof import("../fixtures/nested-context-tasks.ts")
      >(new URL("../fixtures/nested-context-tasks.ts", import.meta.url)),
    );
    const found = await Promise.all(
      ["a", "b", "c"].map((id) => requests.run(id, () => pool.call.nested())),
    );
    expect(found).toEqual(
      ["a", "b", "c"].map((id) => [
        `${id}/nested`,
        `${id}/now`,
        `${id}/later`,
        `${id}/nested`,
        `1 2 ${id}/declared`,
      ]),
    );
  });

  test("is carried by map and broadcast", async () => {
    const pool = contextPool(2);
    await pool.ready;
    const mapped = await requests.run("m", () => pool.map(pool.call.withArgs, [1, 2, 3]).toArray());
    expect(mapped).toEqual([1, 2, 3].map((n) => [n, "m/withArgs"]));
    expect(await requests.run("b", () => pool.broadcast.now())).toEqual(["b/now", "b/now"]);
  });

  test("that cannot be captured or cloned, or that run refuses, rejects its call", async () => {
    const { call, ready } = contextPool();
    await ready;
    const error = await requests.run(() => {}, () => rejection(call.now()));
    expect(error).toBeInstanceOf(DataCloneError);
    expect(await requests.run("refused", () => rejection(call.now())))
      .toMatchObject({ name: "RangeError", message: "refused by run" });
    expect(await requests.run("fine", () => call.now())).toBe("fine/now");
    const throwing = (): never => {
      throw new RangeError("no context");
    };
    const other = closedAfterTest(
      createPool({ threads: 1, context: { capture: throwing, run } })<Tasks>(url),
    );
    expect(await rejection(other.call.now())).toMatchObject({ message: "no context" });
    const early = closedAfterTest(
      createPool({ threads: 1, context: { capture: throwing, run } })<Tasks>(url),
    );
    expect(await rejection(early.call.items(2).toArray())).toMatchObject({ message: "no context" });
  });

  test("may begin the task later: it has its signal, and bytes that it borrows", async () => {
    const later = new URL("../fixtures/context-run-later.ts", import.meta.url);
    const open = sharedWords();
    let gate = sharedWords();
    const pool = closedAfterTest(
      createPool({ threads: 1, context: { capture: () => gate, run: later } })<Tasks>(url),
    );
    await pool.ready;
    const sum = pool.call.sumOf(borrow(new Uint8Array([1, 2, 3])));
    await begun(gate);
    release(gate);
    expect(await sum).toBe(6);
    const closed = gate = sharedWords();
    const words = sharedWords();
    const controller = new AbortController();
    const call = rejection(pool.call.seesAbort.with({ signal: controller.signal })(words));
    await begun(closed);
    controller.abort("stop");
    expect(await call).toBe("stop");
    // Messages to a worker keep their order: after this abort it has handled the one before.
    gate = open;
    release(open);
    const next = sharedWords();
    const last = new AbortController();
    const other = pool.call.awaitsAbort.with({ signal: last.signal })(next);
    await begun(next);
    last.abort("stop too");
    expect(await rejection(other)).toBe("stop too");
    await until(() => next[2] === 1);
    release(closed);
    await until(() => words[0] !== 0);
    expect(words[0]).toBe(1);
  });

  test("puts the id of a request into what its tasks log", async () => {
    const { code, output } = await runScript("request-log.ts");
    expect(code).toBe(0);
    expect(output.trim().split("\n").sort()).toEqual(["[a/log] working", "[b/log] working"]);
  });

  test("needs a module that exports run", async () => {
    const wrong = new URL("../fixtures/light-tasks.ts", import.meta.url);
    const pool = closedAfterTest(
      createPool({ threads: 1, context: { capture: () => 1, run: wrong } })<Tasks>(url),
    );
    expect(await rejection(pool.ready)).toMatchObject({
      message: expect.stringContaining("must export a function run(context, task)") as string,
    });
  });
});
