/** Calls, errors and ends of workers, as processes and as threads. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import {
  type JestWorkerFarm,
  messageParent,
  type PromiseWithCustomMessage,
  Worker,
  type WorkerFarmOptions,
} from "@heddle/jest-worker";
import { launch } from "../../../tests/support/processes.ts";
import { capabilities, runtimeName } from "../../../tests/support/runtime.ts";

// deno-lint-ignore no-explicit-any -- methods of the fixtures
type Methods = Record<string, (...args: any[]) => any>;
type Farm = JestWorkerFarm<Methods>;

const fixture = (name: string): string =>
  fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

const open: Worker[] = [];

/** A farm that ends with the test. */
function farm(options: WorkerFarmOptions = {}, name = "module.cjs"): Farm {
  const worker = new Worker(fixture(name), { numWorkers: 2, ...options }) as Farm;
  open.push(worker);
  return worker;
}

const ended = (worker: Worker): ReturnType<Worker["end"]> => {
  open.splice(open.indexOf(worker), 1);
  return worker.end();
};

const failureOf = (call: Promise<unknown>): Promise<Error & Record<string, unknown>> =>
  call.then((value) => {
    throw new Error(`resolved with ${value}`);
  }, (error) => error);

/** What each of the parts of a test may write to. */
function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "heddle-jest-worker-"));
  return use(folder).finally(() => rmSync(folder, { recursive: true }));
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((worker) => worker.end()));
});

/** What differs, in plain sight. */
const can = {
  /** Threads have an environment of their own; Deno's share that of the process. */
  ownEnvironment: runtimeName !== "deno",
  /** What a module leaves open keeps its worker from ending: Bun does not tell what that is. */
  seesResources: runtimeName !== "bun",
};

describe.each([["processes", false], ["threads", true]])("%s", (_name, enableWorkerThreads) => {
  const start = (options: WorkerFarmOptions = {}, name?: string): Farm =>
    farm({ enableWorkerThreads, ...options }, name);

  test("methods are those that the module exports", async () => {
    const worker = start();
    expect(await worker.add!(1, 2)).toBe(3);
    expect(await worker.later!("x", 1)).toBe("x");
    expect(worker).not.toHaveProperty("_hidden");
    expect(worker).not.toHaveProperty("notAFunction");
  });

  test.runIf(capabilities.setsRequireMain)("modules see a main module", async () => {
    expect(await start().mainFile!()).toMatch(/worker\.js$/);
  });

  test("ES modules and modules that are a function", async () => {
    const module = start({}, "module.mjs");
    expect([await module.double!(2), await module.default!(2)]).toEqual([4, 6]);
    expect(await start({}, "function.cjs").default!(2)).toBe(3);
  });

  test("values arrive as by a structured clone, without what cannot be cloned", async () => {
    const worker = start({ numWorkers: 1 });
    const value = {
      date: new Date(5),
      map: new Map([[1, { a: 1n }]]),
      pattern: /x/g,
      bytes: new Uint8Array([1, 2]),
      nothing: undefined,
    };
    expect(await worker.echo!(value)).toEqual(value);
    expect(await worker.echo!({ kept: 1, f() {}, list: [() => {}, Symbol("s"), 2] }))
      .toEqual({ kept: 1, list: [null, null, 2] });
    expect(await worker.withFunctions!())
      .toEqual({ kept: 1, list: [null, 2], map: new Map([["a", 1]]) });
  });

  test("an error has its class, its stack and its properties", async () => {
    const error = await failureOf(start().fail!());
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({
      message: "wrong",
      type: "TypeError",
      code: "E_WRONG",
      detail: { list: [1] },
    });
    expect(error.stack).toContain("module.cjs");
    expect(error).not.toHaveProperty("f");
  });

  test("values that are thrown arrive, nothing as an error", async () => {
    const worker = start();
    expect(await failureOf(worker.throwValue!(5))).toBe(5);
    expect(await failureOf(worker.throwValue!(0))).toBe(0);
    expect((await failureOf(worker.throwValue!(null))).message)
      .toBe('"null" or "undefined" thrown');
  });

  test("a module that cannot be loaded, a method that is missing", async () => {
    const worker = start({ exposedMethods: ["f"] }, "throws.cjs");
    const error = await failureOf(worker.f!());
    expect(error).toMatchObject({
      type: "SyntaxError",
      message: "this module cannot be loaded",
    });
    const missing = await failureOf(start({ exposedMethods: ["nope"] }).nope!());
    expect(missing.message).toContain("has no method nope");
  });

  test("setup gets its arguments, once, and its failure is told", async () => {
    const worker = start({ setupArgs: [{ a: 1 }, "b"] });
    expect(await worker.setupArgsOf!()).toEqual([{ a: 1 }, "b"]);
    const failing = start({ numWorkers: 1 }, "failing-setup.cjs");
    const error = await failureOf(failing.add!(1, 2));
    expect(error).toMatchObject({
      message: "Error when calling setup: no setup",
      type: "RangeError",
    });
    expect(await failing.add!(1, 2)).toBe(3);
    await expect(start({}, "failing-setup.cjs").start()).rejects.toThrow(
      "Error when calling setup",
    );
    await start().start();
  });

  test("messages of a call arrive before its result, in order", async () => {
    const worker = start();
    const call = worker.messages!() as PromiseWithCustomMessage<unknown>;
    const messages: unknown[] = [];
    call.UNSTABLE_onCustomMessage!((message) => messages.push(message));
    const stop = call.UNSTABLE_onCustomMessage!(() => messages.push("removed"));
    stop();
    expect(await call).toBe("done");
    expect(messages).toEqual([{ n: 1 }, { n: 2 }, [3]]);
  });

  test("a call whose worker crashes is made again, as often as maxRetries says", () =>
    withFolder(async (folder) => {
      const worker = start({ numWorkers: 1 });
      expect(await worker.exitTimes!(join(folder, "log"), 3)).toBe("survived");
      const limited = start({ numWorkers: 1, maxRetries: 1 });
      const error = await failureOf(limited.exitTimes!(join(folder, "other"), 3));
      expect(error.type).toBe("WorkerError");
      expect(error.message).toBe(
        enableWorkerThreads
          ? "Call retries were exceeded"
          : "Jest worker encountered 2 child process exceptions, exceeding retry limit",
      );
      expect(await limited.add!(1, 2)).toBe(3);
    }));

  test("a worker that exits with 0 fails its call", async () => {
    const worker = start({ numWorkers: 1 });
    const error = await failureOf(worker.exit!(0));
    expect(error.message).toMatch(
      enableWorkerThreads
        ? /^A Jest worker thread exited unexpectedly/
        : /^A jest worker process \(pid=\d+\) crashed for an unknown reason: exitCode=0$/,
    );
    expect(await worker.add!(1, 2)).toBe(3);
  });

  test("a rejection that nobody handles ends the worker", async () => {
    const worker = start({ numWorkers: 1, maxRetries: 0 });
    expect((await failureOf(worker.rejectUnhandled!())).type).toBe("WorkerError");
  });

  test("what workers print", async () => {
    const worker = start();
    const texts = { stdout: "", stderr: "" };
    worker.getStdout().on("data", (text) => texts.stdout += text);
    worker.getStderr().on("data", (text) => texts.stderr += text);
    const closed = new Promise((resolve) => worker.getStdout().on("end", resolve));
    await worker.print!();
    await ended(worker);
    await closed;
    expect(texts).toEqual({ stdout: "to stdout\n", stderr: "to stderr\n" });
  });

  test("end runs teardown and does not force workers that can end", () =>
    withFolder(async (folder) => {
      const log = join(folder, "log");
      const worker = start({ setupArgs: [{ log }] });
      await Promise.all([worker.later!(1, 50), worker.later!(2, 50)]);
      expect(await ended(worker)).toEqual({ forceExited: false });
      expect(readFileSync(log, "utf8")).toBe("teardown\nteardown\n");
      expect(() => worker.add!(1, 2)).toThrow("Farm is ended, no more calls can be done to it");
      await expect(worker.end()).rejects.toThrow("Farm is ended");
    }));

  test("workers without a call end at once, and their module is not loaded", async () => {
    const worker = start({ exposedMethods: ["f"] }, "throws.cjs");
    expect(await ended(worker)).toEqual({ forceExited: false });
  });

  test("end stops a worker that loops", async () => {
    if (enableWorkerThreads && !capabilities.stopsLoops) return;
    const worker = start({ numWorkers: 1, workerGracefulExitTimeout: 20 });
    await worker.add!(1, 2);
    void worker.loop!();
    expect(await ended(worker)).toEqual({ forceExited: true });
  });

  test("end forces workers whose module leaves something open", async () => {
    if (!can.seesResources) return;
    for (const method of ["keepOpen", "listen"]) {
      const worker = start({ numWorkers: 1, workerGracefulExitTimeout: 200 });
      await worker[method]!();
      expect(await ended(worker)).toEqual({ forceExited: true });
    }
  });

  test("calls that run when the farm is ended never settle", async () => {
    const worker = start({ numWorkers: 1 });
    let isSettled = false;
    worker.later!("x", 20).finally(() => isSettled = true);
    await ended(worker);
    expect(isSettled).toBe(false);
  });

  test("each worker has its number", async () => {
    const worker = start({ numWorkers: 3 });
    await worker.start();
    const ids = await Promise.all([1, 2, 3].map(() => worker.workerId!()));
    if (can.ownEnvironment || !enableWorkerThreads) expect(ids.sort()).toEqual(["1", "2", "3"]);
  });

  test("a worker whose heap is above the limit is replaced after a call", async () => {
    const worker = start({ numWorkers: 1, idleMemoryLimit: 1000 });
    expect([await worker.countCalls!(), await worker.countCalls!()]).toEqual([1, 1]);
    const kept = start({ numWorkers: 1, idleMemoryLimit: 2 ** 40 });
    expect([await kept.countCalls!(), await kept.countCalls!()]).toEqual([1, 2]);
  });
});

test("a worker that a signal ends fails its call", async () => {
  const worker = farm({ numWorkers: 1 });
  const error = await failureOf(worker.kill!());
  expect(error.message).toMatch(
    /^A jest worker process \(pid=\d+\) was terminated by another process: signal=SIGKILL, exitCode=null\. /,
  );
  expect(await worker.add!(1, 2)).toBe(3);
});

test("idleMemoryLimit 0 replaces a process after each call", async () => {
  const worker = farm({ numWorkers: 1, idleMemoryLimit: 0 });
  expect(await worker.pid!()).not.toBe(await worker.pid!());
});

test("forkOptions of processes", () =>
  withFolder(async (cwd) => {
    const env = { ...process.env, OF_TEST: "1", NUMBER: 2, NONE: undefined } as unknown;
    const worker = farm({ forkOptions: { cwd, env: env as NodeJS.ProcessEnv }, numWorkers: 1 });
    expect(await worker.cwd!()).toContain("heddle-jest-worker-");
    expect([await worker.env!("OF_TEST"), await worker.env!("NUMBER"), await worker.env!("NONE")])
      .toEqual(["1", "2", null]);
    expect(await worker.workerId!()).not.toBe("1"); // the given environment is all of it
    expect(() => farm({ forkOptions: { uid: 5 } })).toThrow("forkOptions.uid cannot be had");
    expect(() => farm({ forkOptions: { stdio: ["pipe", 1, 2] } })).toThrow("forkOptions.stdio");
    const json = farm({ forkOptions: { serialization: "json", stdio: "pipe" }, numWorkers: 1 });
    expect(await json.echo!({ date: new Date(0), none: undefined, list: [undefined] }))
      .toEqual({ date: "1970-01-01T00:00:00.000Z", list: [null] });
    expect(await json.withFunctions!()).toEqual({ kept: 1, list: [null, 2], map: {} });
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    await expect(json.echo!(circle)).rejects.toThrow(TypeError);
    const call = json.messages!() as PromiseWithCustomMessage<unknown>;
    const messages: unknown[] = [];
    call.UNSTABLE_onCustomMessage!((message) => messages.push(message));
    await call;
    expect(messages).toEqual([{ n: 1 }, { n: 2 }, [3]]);
  }));

test("a process that needs more memory than it has fails its call", async () => {
  if (runtimeName !== "node") return; // Bun has no such limit, and Deno takes it in another flag
  const worker = farm({ numWorkers: 1, forkOptions: { execArgv: ["--max-old-space-size=24"] } });
  expect((await failureOf(worker.fillMemory!())).message)
    .toBe("Jest worker ran out of memory and crashed");
  expect(await worker.add!(1, 2)).toBe(3);
});

test("paths have to be absolute, and methods must not hide those of the farm", () => {
  expect(() => new Worker("./module.cjs")).toThrow(
    "'workerPath' must be absolute, got './module.cjs'",
  );
  for (const method of ["end", "start", "getStdout", "getStderr"]) {
    expect(() => farm({ exposedMethods: [method] })).toThrow(
      `Cannot define a method called ${method}`,
    );
  }
  const worker = new Worker(new URL("./fixtures/module.cjs", import.meta.url), { numWorkers: 1 });
  open.push(worker);
  expect(worker).toHaveProperty("add");
});

test("a process that cannot be started rejects its calls", async () => {
  const worker = farm({ numWorkers: 1, forkOptions: { execPath: "/no/such/program/node" } });
  for (let i = 0; i < 2; i++) {
    expect(await failureOf(worker.add!(1, 2))).toMatchObject({ code: "HEDDLE_WORKER_START" });
  }
});

test("an error of a listener of messages is an uncaught one", async () => {
  const flags = runtimeName === "deno" ? ["run", "-A"] : [];
  const program = launch([process.execPath, ...flags, fixture("failing-listener.mjs")]);
  expect((await program.exited).code).toBe(1);
  expect(program.output()).toContain("error of a listener");
});

test("a program that does not end its workers ends", async () => {
  const flags = runtimeName === "deno" ? ["run", "-A"] : [];
  const program = launch([process.execPath, ...flags, fixture("forgets-to-end.mjs")]);
  expect((await program.exited).code).toBe(0);
});

test("messageParent outside a worker", () => {
  const sent: unknown[] = [];
  messageParent("m", { send: (message: unknown) => sent.push(message) });
  expect(sent).toEqual([[3, "m"]]);
  expect(() => messageParent("m", { send: undefined })).toThrow(
    '"messageParent" can only be used inside a worker',
  );
});

test("CommonJS gets the same by require", () => {
  const required = createRequire(import.meta.url)("@heddle/jest-worker");
  expect(Object.keys(required).sort()).toEqual([
    "FifoQueue",
    "PriorityQueue",
    "Worker",
    "messageParent",
  ]);
});
