/** `@heddle/piscina` at its edges: workers that fail, pools that close twice, listeners that throw. Each of these once differed. */
import { once } from "node:events";
import process from "node:process";
import { describe, expect, test } from "vitest";
import Piscina, { type PiscinaOptions } from "@heddle/piscina";
import { piscinaFile, piscinaPool } from "./pools.ts";
import { rejection } from "../../../tests/support/conformance.ts";
import { runFile } from "../../../tests/support/runtime.ts";

const pool = (options: PiscinaOptions = {}): Piscina =>
  piscinaPool({ name: "argument", ...options });

const messageOf = async (promise: Promise<unknown>): Promise<string> =>
  (await rejection(promise) as Error).message;

function abortable(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

describe("workers that fail", () => {
  test("thread.terminate() fails its tasks, and another worker follows", async () => {
    const piscina = pool();
    await piscina.run(1);
    const destroyed = once(piscina, "workerDestroy");
    const running = messageOf(piscina.run(60_000, { name: "sleep" }));
    await piscina.threads[0]!.terminate();
    expect(await running).toBe("worker exited with code: 1");
    await destroyed;
    expect(await Promise.all([1, 2, 3].map((n) => piscina.run(n)))).toEqual([1, 2, 3]);
    expect(piscina.threads.length).toBe(1);
  });

  test("a module that cannot be loaded rejects every task, and nothing else", async () => {
    const piscina = pool({ filename: piscinaFile("broken.mjs"), maxThreads: 3 });
    const errors: unknown[] = [];
    piscina.on("error", (error) => errors.push(error));
    const messages = await Promise.all([1, 2, 3, 4, 5].map((n) => messageOf(piscina.run(n))));
    expect(new Set(messages)).toEqual(new Set(["this module cannot be loaded"]));
  });

  test("a module that exits rejects with the exit code", async () => {
    const piscina = pool({ filename: piscinaFile("exits.mjs") });
    expect(await messageOf(piscina.run(1))).toBe("worker exited with code: 3");
  });
});

describe("bursts", () => {
  test("tasks that wait go to the workers that start for them", async () => {
    const piscina = pool({ maxThreads: 8 });
    let created = 0;
    piscina.on("workerCreate", () => created++);
    const times = [300, 300, 300, 300];
    expect(await Promise.all(times.map((ms) => piscina.run(ms, { name: "sleep" })))).toEqual(times);
    expect(created).toBe(4);
  });

  test("drain follows while a task runs that may be aborted", async () => {
    const piscina = pool({ minThreads: 2, maxThreads: 2 });
    const short = [1, 2].map(() => piscina.run(50, { name: "sleep" }));
    await once(piscina, "needsDrain");
    const { signal, abort } = abortable();
    const long = messageOf(piscina.run(60_000, { name: "sleep", signal }));
    if (piscina.needsDrain) await once(piscina, "drain");
    await Promise.all(short);
    abort();
    expect(await long).toBe("The task has been aborted");
  });
});

describe("closing", () => {
  test("close() waits for tasks whose workers start", async () => {
    const piscina = pool({ maxThreads: 8 });
    const times = [10, 20, 30, 40, 50];
    const all = Promise.all(times.map((ms) => piscina.run(ms, { name: "sleep" })));
    await piscina.close();
    expect(await all).toEqual(times);
  });

  test("two calls of close() both wait for the tasks", async () => {
    const piscina = pool();
    const task = piscina.run(20, { name: "sleep" });
    await Promise.all([piscina.close(), piscina.close()]);
    expect(await task).toBe(20);
  });

  test("a close() that takes too long rejects without a listener of errors, and the pool goes on", async () => {
    const piscina = pool({ closeTimeout: 10 });
    await piscina.run(1);
    const task = messageOf(piscina.run(60_000, { name: "sleep" }));
    expect(await messageOf(piscina.close())).toBe("Close operation timed out");
    expect(await task).toBe("Terminating worker thread");
    expect(piscina.threads).toEqual([]);
    expect(await piscina.run(2)).toBe(2);
  });
});

describe("values", () => {
  test("a task that throws heddle's error of a lost worker rejects with it, and the worker goes on", async () => {
    const piscina = pool({ minThreads: 1 });
    const error = await rejection(piscina.run(null, { name: "loseAnother" })) as Error;
    expect(error.name).toBe("WorkerLostError");
    expect(error.message).toContain("another pool's worker ended");
    expect(await piscina.run(2)).toBe(2);
  });

  test("workerData that cannot be cloned is a DataCloneError of the constructor", () => {
    expect(() => pool({ workerData: { f() {} } })).toThrow(/^workerData cannot be cloned/);
    expect(() => pool({ workerData: { f() {} } })).toThrow(DOMException);
  });

  test("a path may lack what `require` adds: a folder is its index.js", async () => {
    const piscina = pool({ filename: piscinaFile("folder"), name: "default" });
    expect(await piscina.run(1)).toBe(2);
  });

  test("variables may be undefined, as those of process.env", async () => {
    const env = { ...process.env, HEDDLE_TEST_PISCINA: "1" };
    expect(await pool({ name: "variable", env }).run("HEDDLE_TEST_PISCINA")).toBe("1");
  });

  test("what cannot be cloned or moved rejects with a DataCloneError, and the worker goes on", async () => {
    const piscina = pool();
    for (const task of [piscina.run(() => 1), piscina.run(1, { transferList: [5] })]) {
      const error = await rejection(task) as DOMException;
      expect(error).toBeInstanceOf(DOMException);
      expect([error.name, error.code]).toEqual(["DataCloneError", 25]);
      expect(error.message).not.toContain("args[");
    }
    expect(await piscina.run(2)).toBe(2);
  });

  test("a thenable settles as a promise does", async () => {
    expect(await pool().run(0, { name: "thenable" })).toBe(7);
  });

  test("functions of all functions are no exports", async () => {
    const piscina = pool({ filename: piscinaFile("common.cjs") });
    for (const name of ["call", "__proto__", "constructor"]) {
      expect(await messageOf(piscina.run(1, { name }))).toMatch(/^No handler function exported/);
    }
  });

  test("options are not taken from the prototype of all objects", async () => {
    const prototype = Object.prototype as { env?: object; eval?: boolean };
    // `eval` is an option of `new Worker` that heddle does not set.
    Object.assign(prototype, { env: { POLLUTED: "yes" }, eval: true });
    try {
      expect(await pool({ name: "variable" }).run("POLLUTED")).toBe(undefined);
    } finally {
      delete prototype.env;
      delete prototype.eval;
    }
  });

  test("variables, arguments and limits are what Node makes of them", async () => {
    const piscina = pool({
      name: "variable",
      env: { PORT: 3000 } as never,
      resourceLimits: { unknown: 1 } as never,
    });
    expect(await piscina.run("PORT")).toBe("3000");
    const plain = pool({ env: null as never });
    expect(await plain.run(1)).toBe(1);
  });
});

describe("listeners and balancers", () => {
  test("an error without a listener is an uncaught exception", async () => {
    const { code, output } = await runFile(piscinaFile("piscina-error.ts"));
    expect(output).toContain("uncaught: after its task");
    expect(code).toBe(3);
  });

  test("a balancer may return a copy of a worker", async () => {
    const piscina = pool({
      maxThreads: 2,
      loadBalancer: (_task, workers) =>
        workers.map((worker) => ({ ...worker, score: worker.currentUsage }))
          .sort((one, other) => one.score - other.score)[0],
    });
    expect(await piscina.run(5)).toBe(5);
  });

  test("the class has its name", () => {
    expect([Piscina.name, Piscina.Piscina]).toEqual(["Piscina", Piscina]);
  });
});

test("a pool goes on while the program does not keep it", async () => {
  const ended = await runFile(piscinaFile("piscina-forgotten.ts"), ["--expose-gc"], 50_000);
  expect(ended).toEqual({ code: 0, output: "goes on\n" });
});
