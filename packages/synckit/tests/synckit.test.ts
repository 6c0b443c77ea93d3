/** The behaviour of synckit, on every runtime. */
import {
  compareVersion,
  createSyncFn,
  encodeImportModule,
  extractProperties,
  generateGlobals,
  runAsWorker,
  setupTsRunner,
  startWorkerThread,
  type SynckitOptions,
  TsRunner,
} from "@heddle/synckit";
import { spawn } from "node:child_process";
import { MessageChannel, Worker } from "node:worker_threads";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { capabilities, runtimeName } from "../../../tests/support/runtime.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const url = (name: string): URL => new URL(`./fixtures/${name}`, import.meta.url);
/** A worker of its own; `createSyncFn` keeps one for each path. */
const start = (name: string, options?: SynckitOptions): (...args: Any[]) => Any =>
  startWorkerThread(fileURLToPath(url(name)), options);

const TIMED_OUT = "Internal error: Atomics.wait() failed: timed-out";

function caught(f: () => unknown): Any {
  try {
    f();
  } catch (error) {
    return error;
  }
  throw new Error("it did not throw");
}

const COMMANDS = { node: [], deno: ["run", "-A", "--node-modules-dir=manual"], bun: [] } as const;

/** What a program prints. */
async function outputOf(
  name: string,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly [stdout: string, stderr: string]> {
  const child = spawn(process.execPath, [...COMMANDS[runtimeName], fileURLToPath(url(name))], {
    env: { ...process.env, NODE_NO_WARNINGS: "1", NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const texts = ["", ""] as [string, string];
  child.stdout.on("data", (chunk) => texts[0] += chunk);
  child.stderr.on("data", (chunk) => texts[1] += chunk);
  await new Promise((resolve) => child.on("close", resolve));
  return texts;
}

describe("scripts", () => {
  test.each(["echo.mjs", "echo.cjs"])("%s", (name) => {
    const echo = createSyncFn<(value: unknown) => unknown>(url(name));
    const value = { list: [1, "a", undefined], map: new Map([[1, /x/g]]), at: new Date(0) };
    expect(echo(value)).toEqual(value);
    expect(echo(Buffer.from("bytes"))).toEqual(Buffer.from("bytes"));
  });

  test("TypeScript, also where the program names a .js beside it", () => {
    expect(start("typed.ts")(1)).toBe(2);
    expect(start("typed.js")(2)).toBe(3);
    expect(start("typed")(3)).toBe(4);
  });

  test("a script that registers its function late", () => {
    expect(start("late.mjs")()).toBe("late");
  });

  test("one function for each path; paths are absolute", () => {
    const path = fileURLToPath(url("echo.mjs"));
    expect(createSyncFn(path)).toBe(createSyncFn(url("echo.mjs"), 1000));
    expect(createSyncFn(path)).toBe(createSyncFn(url("echo.mjs").href));
    expect(startWorkerThread(path)).not.toBe(createSyncFn(path));
    expect(() => createSyncFn("./echo.mjs")).toThrow("`workerPath` must be absolute");
    expect(() => createSyncFn(new URL("https://example.com"))).toThrow(/file/);
  });

  test("a worker that calls another one", () => {
    expect(start("nested/outer.mjs")(5)).toBe("outer 5");
  });

  test("required by CommonJS; outside of a worker runAsWorker does nothing", async () => {
    expect(runAsWorker(() => 1)).toBe(undefined);
    expect(await outputOf("program.cjs")).toEqual(["required\n", ""]);
  });

  test("from a thread of the program", async () => {
    const worker = new Worker(url("thread.mjs"));
    const answer = await new Promise((resolve, reject) => {
      worker.on("message", resolve);
      worker.on("error", reject);
    });
    expect(answer).toBe("from a thread");
    await worker.terminate();
  });
});

describe("errors", () => {
  const call = start("errors.mjs");

  test("class, name, message, cause and own properties", () => {
    const error = caught(() => call("throws"));
    expect(error).toBeInstanceOf(SyntaxError);
    expect(error).toMatchObject({ name: "ParseError", message: "line 1", warnings: ["w"] });
    expect(error.cause).toBeInstanceOf(RangeError);
    expect(error.stack).toContain("errors.mjs");
    expect("hint" in error).toBe(false);
  });

  test("what is no error", () => {
    expect(caught(() => call("plain"))).toEqual({ not: "an error" });
    expect(caught(() => call("nothing"))).toBe(undefined);
  });

  test("what cannot be cloned", () => {
    expect(caught(() => call("uncloneable"))).toMatchObject({ name: "DataCloneError", code: 25 });
    expect(caught(() => call(() => {}))).toMatchObject({ name: "DataCloneError", code: 25 });
    expect(call("count")).toBe(1);
  });

  test("a script that cannot be loaded, for each call", () => {
    const broken = start("broken.mjs");
    for (let count = 0; count < 2; count++) {
      const error = caught(() => broken());
      expect(error).toBeInstanceOf(TypeError);
      expect(error).toMatchObject({ message: "cannot load", place: "line 1" });
    }
  });

  test("a script that is not there", () => {
    expect(caught(() => start("none.mjs")())).toBeInstanceOf(Error);
  });

  test("uncaught exceptions and rejections; the next call gets another worker", () => {
    const own = start("errors.mjs");
    expect(own("count")).toBe(1);
    expect(caught(() => own("uncaught"))).toMatchObject({ message: "in a timer", code: "TIMER" });
    expect(own("count")).toBe(1);
    expect(caught(() => own("rejects"))).toMatchObject({ message: "in a promise" });
    expect(own("count")).toBe(1);
  });

  test("an error after a call is that of the next one", async () => {
    const own = start("errors.mjs");
    expect(own("later")).toBe("begun");
    let error: Any;
    while ((error = await nextError(own)) === undefined);
    expect(error).toMatchObject({ message: "after the call" });
    expect(own("count")).toBe(1);
  });

  test("also after a call that the host has given up", async () => {
    const own = start("errors.mjs", { timeout: 400 });
    const messages = new Set<string>();
    // A call that no worker takes within its limit does not run: then it is made again.
    for (let round = 0; !messages.has("after its limit"); round++) {
      if (round % 100 === 0) messages.add(caught(() => own("slow")).message);
      else messages.add((await nextError(own))?.message);
    }
    const possible = [TIMED_OUT, "after its limit", undefined];
    expect(possible).toEqual(expect.arrayContaining([...messages]));
  });

  async function nextError(call: (name: string) => unknown): Promise<Any> {
    await new Promise((resolve) => setTimeout(resolve, 20));
    try {
      return void call("count");
    } catch (error) {
      return error;
    }
  }

  test("a worker that exits", () => {
    expect(caught(() => call("exit")).message).toBe("Worker exited with code 7");
    expect(call("count")).toBe(1);
  });
});

describe("limits", () => {
  test("a call that takes longer; later ones get their own results", () => {
    const echo = start("echo.mjs", { timeout: 500 });
    while (!isReady(echo)); // the first call may wait for the start
    expect(() => echo(1, 20_000)).toThrow(TIMED_OUT);
    expect(echo(2)).toBe(2);
    expect(() => start("echo.mjs", { timeout: 0 })(1, 20_000)).toThrow(TIMED_OUT);
  });

  function isReady(echo: (value: unknown) => unknown): boolean {
    try {
      return echo(0) === 0;
    } catch {
      return false;
    }
  }
});

describe("output of workers", () => {
  test("comes when the call returns or throws", async () => {
    const [stdout, stderr] = await outputOf("program.mjs");
    expect(stderr).toBe("to stderr\nto stderr\n");
    // Elsewhere threads write to the descriptors of the process, each at its time.
    if (runtimeName !== "node") return expect(stdout).toContain("to stdout\n");
    expect(stdout).toBe(
      "before\nto stdout\nunfinished,result\nto stdout\nunfinished,failed\nend\n",
    );
  });
});

describe("options and environment", () => {
  const SHIMS = [
    { moduleName: "node:path", globalName: "thePath", named: null },
    { moduleName: "node:path", globalName: "theJoin", named: "join" },
    { moduleName: "not-installed", globalName: "missing" },
  ];

  test.each(["globals.mjs", "globals.cjs"])("globalShims: %s", (name) => {
    const typeOf = start(name, { globalShims: SHIMS });
    expect(["thePath", "theJoin", "missing"].map((each) => typeOf(each)))
      .toEqual(["object", "function", "undefined"]);
  });

  test.runIf(capabilities.execArgv)("execArgv: those of the worker alone", () => {
    const flag = "--no-deprecation";
    expect(start("flags.mjs", { execArgv: [flag] })()).toEqual([flag]);
    expect(start("flags.mjs")()).toEqual([]);
  });

  test("SYNCKIT_*", async () => {
    const [stdout] = await outputOf("environment.mjs", {
      SYNCKIT_TIMEOUT: "300",
      SYNCKIT_GLOBAL_SHIMS: "1",
      SYNCKIT_EXEC_ARGV: "--no-warnings,--no-deprecation",
    });
    expect(stdout).toBe(
      "--no-warnings,--no-deprecation true\nInternal error: Atomics.wait() failed: timed-out\n",
    );
  });

  test("transferList detaches", () => {
    const { port1 } = new MessageChannel();
    const buffer = new ArrayBuffer(8);
    expect(start("echo.mjs", { transferList: [buffer, port1] as Any })(1)).toBe(1);
    expect(buffer.byteLength).toBe(0);
  });

  test("tsRunner: flags, and what runners cannot load", () => {
    const path = fileURLToPath(url("typed.ts"));
    const flags = (tsRunner: TsRunner): string =>
      setupTsRunner(path, { tsRunner, execArgv: [] }).execArgv.join(" ");
    expect(flags(TsRunner.TSX)).toBe("--import tsx");
    expect(flags(TsRunner.SWC)).toBe("--import @swc-node/register/esm-register");
    expect(flags(TsRunner.TsNode)).toBe("--loader ts-node/esm");
    expect(() => flags("other" as TsRunner)).toThrow("Unknown ts runner: other");
    expect(() => start("typed.mts", { tsRunner: TsRunner.TSX }))
      .toThrow("tsx is not supported for .mts files yet");
  });
});

test("other exports", () => {
  expect(compareVersion("1.2", "1.2.3")).toBe(-1);
  expect(extractProperties(Object.assign(new Error("m"), { code: "C" }))).toEqual({ code: "C" });
  expect(encodeImportModule({ moduleName: "m", globalName: "g", named: "n" }))
    .toBe('import {n} from "m";if(!globalThis.g)globalThis.g=n');
  expect(
    generateGlobals("/x.js", [{ moduleName: "m", globalName: "g", conditional: false }], "require"),
  )
    .toBe('const g=require("m");globalThis.g=g');
});
