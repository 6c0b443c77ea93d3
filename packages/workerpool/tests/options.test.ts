/** Options of threads and processes, and those that are refused. */
import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import type { WorkerPoolOptions } from "@heddle/workerpool";
import { createPool } from "./pools.ts";

test("threads get argv, env and workerData", async () => {
  const workerThreadOpts = {
    argv: ["one", "2"],
    env: { OWN: "1", NUMBER: 2 } as never,
    workerData: { text: "data" },
    name: "named",
  };
  const pool = createPool("tasks.cjs", { maxWorkers: 1, workerThreadOpts });
  expect(await pool.exec("state")).toMatchObject({ argv: ["one", "2"] });
  expect(await pool.exec("env", ["NUMBER"])).toBe("2");
  expect(await pool.exec("workerData")).toEqual({ text: "data" });
});

test("processes get arguments, env and a working directory", async () => {
  const cwd = realpathSync(tmpdir());
  const pool = createPool("tasks.cjs", {
    workerType: "process",
    maxWorkers: 1,
    forkArgs: ["one"],
    forkOpts: { cwd, env: { ...process.env, OWN: 3, NONE: undefined } as never },
  });
  expect(await pool.exec("state")).toMatchObject({ argv: ["one"] });
  expect(await pool.exec("env", ["OWN"])).toBe("3");
  expect(await pool.exec(() => process.cwd())).toBe(cwd);
  expect(await pool.exec(() => process.pid)).toBe(pool.workers[0]!.worker!.pid);
});

test("onCreateWorker changes the options of one worker, onTerminateWorker gets them", async () => {
  let created = 0;
  const ended: unknown[] = [];
  const pool = createPool("tasks.cjs", {
    maxWorkers: 2,
    onCreateWorker: ({ workerThreadOpts, script }) => {
      expect(script).toContain("tasks.cjs");
      return { workerThreadOpts: { ...workerThreadOpts, env: { ID: String(created++) } } };
    },
    onTerminateWorker: ({ workerThreadOpts }) => {
      ended.push((workerThreadOpts!.env as { ID: string }).ID);
    },
  });
  const ids = [pool.exec("env", ["ID"]), pool.exec("env", ["ID"])];
  expect([await ids[0], await ids[1]].sort()).toEqual(["0", "1"]);
  await pool.terminate();
  expect(ended.sort()).toEqual(["0", "1"]);
});

for (const workerType of ["thread", "process"] as const) {
  test(`emitStdStreams makes events of what a ${workerType} prints`, async () => {
    const pool = createPool("tasks.cjs", { workerType, maxWorkers: 1, emitStdStreams: true });
    const events: unknown[] = [];
    const all = Promise.withResolvers<void>();
    const on = (event: unknown): void => {
      if (events.push(event) === 2) all.resolve();
    };
    const task = pool.exec(
      () => {
        console.log("to stdout");
        console.error("to stderr");
        return new Promise(() => {});
      },
      [],
      { on },
    );
    await all.promise;
    task.cancel();
    expect(events).toContainEqual({ stdout: "to stdout\n" });
    expect(events).toContainEqual({ stderr: "to stderr\n" });
  });
}

test("wrong options throw as in workerpool", () => {
  const wrong: [WorkerPoolOptions, string][] = [
    [{ maxWorkers: 0 }, "Option maxWorkers must be an integer number >= 1"],
    [{ maxWorkers: "2" as never }, "Option maxWorkers must be an integer number >= 1"],
    [{ minWorkers: 1.5 }, "Option minWorkers must be an integer number >= 0"],
    [{ queueStrategy: "other" as never }, "Unknown queue strategy: other"],
    [{ queueStrategy: {} as never }, "Queue strategy must implement method: push"],
    [{ workerType: "web" }, "Web Workers not supported"],
  ];
  for (const [options, message] of wrong) {
    expect(() => createPool(undefined, options)).toThrow(message);
  }
});

test("unknown and refused options of workers throw when the worker starts", () => {
  const start = (options: WorkerPoolOptions) => () => createPool(undefined, options).exec("run");
  const other = { other: 1 } as never;
  expect(start({ workerThreadOpts: other })).toThrow(
    'Object "workerThreadOpts" contains an unknown option "other"',
  );
  expect(start({ workerType: "process", forkOpts: other })).toThrow(
    'Object "forkOpts" contains an unknown option "other"',
  );
  expect(start({ workerThreadOpts: { eval: true } })).toThrow(
    'contains the option "eval", which @heddle/workerpool does not have',
  );
  expect(start({ workerType: "process", forkOpts: { detached: true } })).toThrow(
    'contains the option "detached", which @heddle/workerpool does not have',
  );
});
