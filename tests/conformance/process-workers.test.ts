/** Workers that are child processes (option `workers`). */
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { existsSync, realpathSync } from "node:fs";
import process from "node:process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import {
  createPool,
  type Pool,
  type PoolOptions,
  threadBudget,
  WorkerLostError,
} from "../../src/mod.ts";
import { closedAfterTest, rejection, until } from "../support/conformance.ts";
import { launch } from "../support/processes.ts";
import { commandOf, runtimeName } from "../support/runtime.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

type Tasks = typeof import("../fixtures/process-tasks.ts");

const module = new URL("../fixtures/process-tasks.ts", import.meta.url);

function processPool(options: PoolOptions = {}): Pool<Tasks> {
  return closedAfterTest(
    createPool({ threads: 1, workers: "processes", ...options })<Tasks>(module),
  );
}

const lost = async (call: Promise<unknown>): Promise<WorkerLostError> => {
  const error = await rejection(call);
  expect(error).toBeInstanceOf(WorkerLostError);
  return error as WorkerLostError;
};

/** The program of a runtime, a development dependency of this folder or of one above. */
function programOf(name: string): string {
  for (let up = "../../"; up.length < 30; up += "../") {
    const url = new URL(`${up}node_modules/.bin/${name}`, import.meta.url);
    if (existsSync(url)) return realpathSync(url);
  }
  throw new Error(`There is no ${name}.`);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("calls of processes", () => {
  test("bring many large values at once, more than the file holds, and larger ones", async () => {
    const pool = processPool();
    const sizes = [...Array<number>(40).fill(1_000_000), 70_000, 20_000_000, 65_536, 5];
    const echoes = await Promise.all(
      sizes.map((size, index) => pool.call.echo(new Uint8Array(size).fill(index))),
    );
    for (const [index, size] of sizes.entries()) {
      const bytes = echoes[index] as Uint8Array;
      expect(bytes.length).toBe(size);
      expect(bytes.every((byte) => byte === index)).toBe(true);
    }
  });

  test("run in another process, with values of all sizes", async () => {
    const pool = processPool({ threads: 2 });
    expect(await pool.call.pid()).not.toBe(process.pid);
    const value = {
      list: [1, undefined, 3],
      map: new Map([[{ a: 1 }, new Date(5)]]),
      big: 2n ** 70n,
    };
    expect(await pool.call.echo(value)).toEqual(value);
    for (const length of [0, 1, 1000, 70_000, 3_000_001]) {
      const bytes = await pool.call.echo(new Uint8Array(length).fill(9));
      expect((bytes as Uint8Array).length).toBe(length);
      expect((bytes as Uint8Array).every((byte) => byte === 9)).toBe(true);
      expect(await pool.call.echo("ä".repeat(length))).toBe("ä".repeat(length));
      expect((await pool.call.bytes(length)).length).toBe(length);
    }
    const results = await Promise.all(
      Array.from({ length: 5000 }, (_, index) => pool.call.add(index, 1)),
    );
    expect(results.every((result, index) => result === index + 1)).toBe(true);
    expect(await pool.call.asyncEcho(Promise.resolve("later"))).toBe("later");
  });

  test("throw errors of their class, with what caused them", async () => {
    const error = await rejection(processPool().call.fail()) as Error;
    expect(error).toBeInstanceOf(TypeError);
    expect(error.cause).toBeInstanceOf(RangeError);
  });

  test("have streams as results and as arguments", async () => {
    const pool = processPool();
    const rows: number[] = [];
    for await (const row of pool.call.rows(2000)) rows.push(row);
    expect(rows).toEqual([...rows.keys()]);
    expect(rows).toHaveLength(2000);
    const numbers = async function* (): AsyncGenerator<number> {
      for (let number = 0; number < 1000; number++) yield number;
    };
    expect(await pool.call.sum(numbers())).toBe(499_500);
  });

  test("refuse what only a thread can get, and nothing else in flight", async () => {
    const pool = processPool();
    const { port1, port2 } = new MessageChannel();
    const values = [
      new SharedArrayBuffer(8),
      new Int32Array(new SharedArrayBuffer(8)),
      port1,
      new Blob([]),
    ];
    const others = Promise.all([1, 2, 3].map((value) => pool.call.echo(value)));
    for (const value of values) {
      expect(await rejection(pool.call.echo({ in: [value] }))).toMatchObject({
        code: "HEDDLE_DATA_CLONE",
      });
    }
    expect(await rejection(pool.call.echo({ in: [values[0]] }))).toMatchObject({
      message: expect.stringMatching(
        /^args\[0\]\.in\[0\] cannot be cloned: a worker that is a process gets copies/,
      ),
    });
    expect(await rejection(pool.call.echo(values[1]))).toMatchObject({
      message: expect.stringMatching(/^args\[0\] cannot be cloned/),
    });
    const shared = new SharedArrayBuffer(8);
    for (
      const [value, path] of [[{ a: [1, new Uint8Array(shared)] }, "a[1]"], [{
        d: new DataView(shared),
      }, "d"]] as const
    ) {
      const { message } = await rejection(pool.call.echo(value)) as Error;
      expect(message.startsWith(`args[0].${path} cannot be cloned`)).toBe(true);
    }
    expect(await others).toEqual([1, 2, 3]);
    port1.close();
    port2.close();
  });

  test("copy what is transferred", async () => {
    const buffer = new ArrayBuffer(16);
    expect(await processPool().call.echo.with({ transfer: [buffer] })(buffer)).toEqual(buffer);
    expect(buffer.byteLength).toBe(16);
  });
});

describe("a process", () => {
  test("has its own folder, environment and arguments", async () => {
    const folder = realpathSync(tmpdir());
    const pool = processPool({
      process: { cwd: folder },
      worker: {
        env: { ...process.env as Record<string, string>, HEDDLE_TEST: "yes" },
        argv: ["--one", "2"],
      },
    });
    expect(realpathSync(await pool.call.cwd())).toBe(folder);
    expect(await pool.call.variable("HEDDLE_TEST")).toBe("yes");
    expect(await pool.call.variable("HEDDLE_CHILD")).toBe(undefined);
    expect(await pool.call.args()).toEqual(["--one", "2"]);
  });

  test.each(["node", "deno", "bun"])("may run on another runtime: %s", async (name) => {
    const pool = processPool({ process: { execPath: programOf(name) } });
    expect(await pool.call.runtime()).toBe(name);
    const value = {
      text: "ä€😀",
      list: [1.5, -0, NaN],
      date: new Date(0),
      bytes: new Uint8Array([1, 2]),
    };
    expect(await pool.call.echo(value)).toEqual(value);
    expect(await rejection(pool.call.fail())).toBeInstanceOf(TypeError);
    expect((await pool.call.bytes(200_000)).length).toBe(200_000);
  });

  test("ends with its pool", async () => {
    const pool = processPool({ threads: 2 });
    const pids = await Promise.all([1, 2, 3, 4].map(() => pool.call.burn(30)));
    await pool.shutdown();
    await until(() => pids.every((pid) => !isAlive(pid)));
  });

  test("that has not begun to load anything ends at once with its pool", async () => {
    const file = join(temporaryFolder(), "begun");
    const setup = new URL("../fixtures/begun-setup.ts", import.meta.url);
    await processPool({ worker: { setup, data: file } }).shutdown();
    expect(existsSync(file)).toBe(false);
    const pool = processPool({ worker: { setup, data: file } });
    expect(await pool.call.echo(1)).toBe(1);
    expect(existsSync(file)).toBe(true);
  });

  test("that has begun ends in order, also if its host has been too busy to hear of it", async () => {
    const file = join(temporaryFolder(), "begun");
    const setup = new URL("../fixtures/begun-setup.ts", import.meta.url);
    const pool = processPool({ worker: { setup, data: file } });
    while (!existsSync(file)) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const end = performance.now() + 500;
      while (!existsSync(file) && performance.now() < end);
    }
    await pool.shutdown();
    expect(existsSync(`${file}-over`)).toBe(true);
  });

  test("does not keep its host running", async () => {
    const script = fileURLToPath(new URL("../fixtures/process-host.ts", import.meta.url));
    const flags = runtimeName === "deno" ? ["run", "-A"] : [];
    const host = launch([process.execPath, ...flags, script, "idle"]);
    expect(await host.exited).toEqual({ code: 0, signal: null });
    expect(host.output()).toMatch(/pid \d+/);
  });

  test("that has left another process behind does not keep its host running", async () => {
    const script = fileURLToPath(new URL("../fixtures/process-host.ts", import.meta.url));
    const flags = runtimeName === "deno" ? ["run", "-A"] : [];
    const host = launch([process.execPath, ...flags, script, "left-behind"]);
    expect(await host.exited).toEqual({ code: 0, signal: null });
    const left = Number(/left (\d+)/.exec(host.output())![1]);
    expect(isRunning(left)).toBe(true);
    process.kill(left, "SIGKILL");
  });

  test("writes all lines before it ends", async () => {
    const script = fileURLToPath(new URL("../fixtures/process-host.ts", import.meta.url));
    const flags = runtimeName === "deno" ? ["run", "-A"] : [];
    const host = launch([process.execPath, ...flags, script, "shout"]);
    await host.closed;
    expect(host.output().match(/^line \d+$/gm)).toHaveLength(3000);
  });

  test.each([["idle", "end"], ["loop", "kill"]])(
    "that is left with %s ends when its host is killed: %s",
    async (state, orphans) => {
      const script = fileURLToPath(new URL("../fixtures/process-host.ts", import.meta.url));
      const flags = runtimeName === "deno" ? ["run", "-A"] : [];
      const host = launch([process.execPath, ...flags, script, `${state}-kept`, orphans]);
      await until(() => /pid \d+ ready/.test(host.output()));
      const pid = Number(/pid (\d+)/.exec(host.output())![1]);
      await host.kill();
      await until(() => !isRunning(pid));
    },
  );
});

/** Nobody may reap it when its parent is gone. */
function isRunning(pid: number): boolean {
  if (!isAlive(pid)) return false;
  const { readFileSync } = process.getBuiltinModule("node:fs");
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return process.platform !== "linux" && isAlive(pid);
  }
}

describe("the death of a process", () => {
  test("explains itself: exit code, signal, and its last lines", async () => {
    const pool = processPool();
    expect(await lost(pool.call.shout(7))).toMatchObject({
      exitCode: 7,
      outOfMemory: false,
      stderr: "last words",
      task: "shout",
      message: 'Worker 0 ended before it responded to "shout": it exited (exit code 7).',
    });
    const processId = await pool.call.pid();
    const killed = await lost(pool.call.kill("SIGKILL"));
    expect(killed).toMatchObject({ processId, signal: "SIGKILL", exitCode: undefined });
    expect(killed.message).toMatch(/it was ended by SIGKILL/);
    expect((await lost(pool.call.abort())).signal).toMatch(/^SIG(?:ABRT|TRAP|ILL)$/);
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  // Bun has no limit of its heap.
  test.runIf(runtimeName !== "bun")("tells that it ran out of memory", async () => {
    const pool = processPool({ resourceLimits: { maxOldGenerationSizeMb: 60 } });
    expect(await lost(pool.call.fill())).toMatchObject({
      outOfMemory: true,
      message: expect.stringMatching(/it ran out of memory/),
    });
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  test("by an exception comes also if the program has replaced the streams", async () => {
    const pool = processPool();
    pool.addEventListener("workerExit", (event) => event.preventDefault());
    const call = pool.call.sleep(60_000);
    await pool.call.muteAndThrow();
    expect(await lost(call)).toMatchObject({ cause: { message: "muted" } });
  });

  test("by an exception has that as its cause", async () => {
    const pool = processPool();
    const events: unknown[] = [];
    pool.addEventListener("workerExit", (event) => {
      events.push(event.detail.error?.cause);
      event.preventDefault();
    });
    const call = pool.call.sleep(60_000);
    await pool.call.throwLater();
    expect((await lost(call)).cause).toMatchObject({ name: "RangeError", message: "late" });
    await until(() => events.length === 1);
  });

  test("costs the calls that it had begun, and no others", async () => {
    const pool = processPool();
    await Promise.all(Array.from({ length: 500 }, (_, index) => pool.call.add(index, 1)));
    await pool.call.kill("SIGKILL").catch(() => {});
    await pool.ready;
    for (let round = 0; round < 3; round++) {
      const before = Array.from({ length: 20 }, (_, index) => pool.call.add(index, 1));
      const killing = rejection(pool.call.kill("SIGKILL"));
      const after = Array.from({ length: 40 }, (_, index) => pool.call.add(index, 1));
      expect(await Promise.all(before)).toHaveLength(20);
      await killing;
      expect(await Promise.all(after)).toEqual([...after.keys()].map((index) => index + 1));
    }
  });

  test("at a time limit, also if it is stopped by a signal", async () => {
    const pool = processPool({ hardTimeoutMs: 500 });
    expect(await rejection(pool.call.loop())).toMatchObject({ code: "HEDDLE_TIMEOUT" });
    const pid = await pool.call.pid();
    process.kill(pid, "SIGSTOP");
    const error = await rejection(pool.call.add.with({ timeoutMs: 300 })(1, 2));
    expect(error).toMatchObject({ code: "HEDDLE_TIMEOUT" });
    process.kill(pid, "SIGKILL");
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  test("while it starts does not end the pool", async () => {
    const pool = processPool({
      worker: {
        env: { ...process.env as Record<string, string>, HEDDLE_TEST_KILLS: "1" },
        setup: new URL("../fixtures/killed-start.ts", import.meta.url),
      },
    });
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(pool.stats().workersLost).toBeGreaterThan(0);
  });

  // Deno refuses to close a descriptor that it has not opened.
  test.runIf(runtimeName !== "deno")("that has closed its pipe is noticed", async () => {
    const pool = processPool();
    await lost(pool.call.closePipe());
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  test("that is stopped leaves no thread behind", async () => {
    const pool = processPool({ hardTimeoutMs: 300 });
    expect(await rejection(pool.call.loop())).toMatchObject({ code: "HEDDLE_TIMEOUT" });
    expect(pool.stats().abandonedThreads).toBe(0);
  });

  test("before it was ready says what it wrote", async () => {
    const pool = processPool({
      worker: { setup: new URL("../fixtures/shouting-setup.ts", import.meta.url) },
    });
    expect(await rejection(pool.ready)).toMatchObject({
      code: "HEDDLE_WORKER_START",
      message: expect.stringMatching(/it exited \(exit code 9\); the last that it wrote: no luck/),
    });
  });

  test("of one of several, killed again and again: each call settles once", async () => {
    const pool = processPool({ threads: 2 });
    let settled = 0;
    let wrong = 0;
    let lostCalls = 0;
    for (let round = 0; round < 30; round++) {
      const calls = Array.from({ length: 100 }, async (_, index) => {
        try {
          if (await pool.call.add(index, round) !== index + round) wrong++;
        } catch (error) {
          if (!(error instanceof WorkerLostError)) throw error;
          lostCalls++;
        }
        settled++;
      });
      if (round % 3 === 0) {
        const pid = await pool.call.pid().catch(() => 0);
        if (pid > 0) process.kill(pid, "SIGKILL");
      }
      await Promise.all(calls);
    }
    expect({ settled, wrong }).toEqual({ settled: 3000, wrong: 0 });
    expect(lostCalls).toBeLessThan(30);
  });
});

test("a child that cannot open the file gets large values by the pipe", async () => {
  const pool = processPool({
    process: { execPath: programOf("deno") },
    worker: { execArgv: ["--allow-read", "--allow-env"] },
  });
  for (const length of [60_000, 70_000, 300_000]) {
    expect(await pool.call.echo(new Uint8Array(length))).toHaveLength(length);
  }
  expect(pool.stats().workersLost).toBe(0);
});

/** With the rights that the docs name, on Deno. */
test("a host that has no descriptors left fails to start a process, and goes on", async () => {
  const script = fileURLToPath(
    new URL("../fixtures/scripts/short-of-descriptors.ts", import.meta.url),
  );
  const rights = ["run", "env", "read", "write"].map((name) => `--allow-${name}`);
  const flags = runtimeName === "deno" ? ["run", ...rights] : [];
  const command = [process.execPath, ...flags, script].map((part) => `'${part}'`).join(" ");
  const host = launch(["sh", "-c", `ulimit -n 200; exec ${command}`]);
  await until(() => /^b$|HEDDLE_WORKER_START .*could not be started/m.test(host.output()));
});

test("a budget of threads counts processes, and a pool gives its idle ones to another", async () => {
  const budget = threadBudget({ max: 2 });
  const pools = [0, 1].map(() => processPool({ threads: "auto", minThreads: 0, budget }));
  let most = 0;
  for (const pool of pools) {
    pool.addEventListener("workerStart", () => most = Math.max(most, budget.threads));
  }
  for (const pool of pools) {
    // Until the second process has started, which takes its time on a busy machine.
    const pids = new Set<number>();
    while (pids.size < 2) {
      const burnt = await Promise.all(Array.from({ length: 40 }, () => pool.call.burn(20)));
      for (const pid of burnt) pids.add(pid);
    }
    expect([...pids].every(isAlive)).toBe(true);
  }
  // The first process of the second pool may start before one of the first pool has closed for it.
  expect(most).toBeLessThanOrEqual(3);
});

describe("options", () => {
  test.each<[PoolOptions & object, RegExp]>([
    [{ workers: "fibres" as never }, /workers must be "threads" or "processes", got "fibres"/],
    [{ transport: "shared" }, /transport: "shared" is for threads/],
    [{ metrics: true }, /metrics needs memory that threads share/],
    [{ permission: "strict" }, /permission is for threads/],
    [{ process: { cwd: 3 as never } }, /process\.cwd must be the path or URL of a folder, got 3/],
    [{ process: { execPath: "" } }, /process\.execPath must be the path of Node, Deno or Bun/],
    [{ process: { orphans: "keep" as never } }, /process\.orphans must be "end" or "kill"/],
    [{ process: { isolate: 0 } }, /process\.isolate/],
    [{ process: { shell: true } as never }, /shell/],
    [{ workers: "threads", process: {} }, /process is for workers that are processes/],
  ])("%j is refused", (options, message) => {
    expect(() => createPool({ threads: 1, workers: "processes", ...options })).toThrow(message);
  });

  test("a program or a folder that is not there fails the pool", async () => {
    for (const options of [{ execPath: "/no/such/program" }, { cwd: "/no/such/folder" }]) {
      const pool = processPool({ process: options, threads: 2 });
      const call = pool.call.add(1, 2);
      for (const failed of [pool.ready, call]) {
        expect(await rejection(failed)).toMatchObject({
          code: "HEDDLE_WORKER_START",
          // The system names the program alone, also where the folder is not there.
          message: expect.stringMatching(
            "cwd" in options
              ? /could not be started in the folder \/no\/such\/folder/
              : /could not be started/,
          ),
        });
      }
    }
  });

  test("a process that blocks cannot be waited for", async () => {
    const pool = processPool();
    expect(() => pool.sync).toThrow(/pool\.sync/);
    await pool.ready;
  });
});

test("what a process has written arrives after its end, if the pipe is read late", async () => {
  const script = new URL("../fixtures/scripts/child-output.ts", import.meta.url);
  const [command, ...args] = commandOf(fileURLToPath(script));
  const { stdout } = spawn(command!, args, { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => setTimeout(resolve, 1500)); // the process has written long before
  let bytes = 0;
  for await (const chunk of stdout) bytes += (chunk as Uint8Array).length;
  expect(bytes).toBe(1_000_000);
});
