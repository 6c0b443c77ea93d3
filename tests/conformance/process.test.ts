/** When the process goes on, and when it ends. */
import { describe, expect, test } from "vitest";
import { capabilities, runScript, runtimeName } from "../support/runtime.ts";

describe("the process", () => {
  test("exits while a worker still runs a timed-out task", async () => {
    const { code, output } = await runScript("abandoned.ts");
    expect({ code, output }).toEqual({ code: 0, output: "TimeoutError\nechoed\n" });
  });
});

test.runIf(runtimeName === "node")(
  "a pool works in code from the command line and from stdin",
  async () => {
    const { code, output } = await runScript("eval.ts");
    expect({ code, output }).toEqual({ code: 0, output: "42\n".repeat(4) });
  },
);

describe("the process", () => {
  test("exits while an idle pool is open", async () => {
    const { code, output } = await runScript("idle-pool.ts");
    expect({ code, output }).toEqual({ code: 0, output: "3\n" });
  });

  test("exits after shutdown", async () => {
    const { code, output } = await runScript("shutdown.ts");
    expect({ code, output }).toEqual({ code: 0, output: "3\nclosed\n" });
  });

  test("keeps running while calls are in flight", async () => {
    const { code, output } = await runScript("in-flight.ts");
    expect({ code, output }).toEqual({ code: 0, output: "slow\n" });
  });

  test("keeps running while an argument is awaited, also if the host was parked before", async () => {
    const { code, output } = await runScript("pending-argument.ts");
    expect({ code, output }).toEqual({ code: 0, output: "42\n" });
  });

  test("keeps running until a pool is ready, even if a worker exits during its start", async () => {
    const { code, output } = await runScript("starting-again.ts");
    expect({ code, output }).toEqual({ code: 0, output: "1\n" });
  });

  test("keeps running with an idle pool and keepAlive", async () => {
    const { code, output } = await runScript("keep-alive.ts");
    expect({ code, output }).toEqual({ code: 0, output: "still here\n" });
  });

  test("a module that awaits its pool at top level does not deadlock its workers", async () => {
    const { code, output } = await runScript("top-level-await.ts");
    expect({ code, output }).toEqual({ code: 0, output: "49\n" });
  });

  test("a missing isMain guard is reported and starts no chain of pools", async () => {
    const { code, output } = await runScript("no-guard.ts");
    expect(output).toMatch(/HEDDLE_POOL_WHILE_LOADING.*isMain/s);
    expect(code).toBe(0);
  });

  test("a pool in a plain worker thread works", async () => {
    const { code, output } = await runScript("in-worker.ts");
    expect({ code, output }).toEqual({ code: 0, output: "5\n" });
  });

  test.runIf(capabilities.usingSyntax)("using and await using close pools and scopes", async () => {
    const { code, output } = await runScript("using.ts");
    expect({ code, output }).toEqual({ code: 0, output: "4\n0 5\nrejected PoolClosedError\n" });
  });

  test("loads only the modules it uses", async () => {
    // `fetch` and its like: 18 ms and 7 MiB in each thread. Only Node tells what is loaded.
    const { code, output } = await runScript("lazy.ts");
    expect({ code, output }).toEqual({ code: 0, output: "0 0\n" });
  });

  test("output of a task arrives before its result, in order", async () => {
    const { code, output } = await runScript("prompt-output.ts");
    const lines = output.trim().split("\n");
    expect(code).toBe(0);
    expect(lines.filter((line) => /one|two|five|settled/.test(line))).toEqual([
      "one",
      "two",
      "five",
      "settled",
    ]);
    expect(lines.filter((line) => /three|four/.test(line))).toEqual(["three", "four"]);
  });

  test.runIf(capabilities.capturesConsole)(
    "output goes through a stream whose write was replaced",
    async () => {
      const { code, output } = await runScript("captured-output.ts");
      const captured = "from the worker\ndecoded\nfrom the worker, written\n";
      expect({ code, output }).toEqual({ code: 0, output: `${JSON.stringify(captured)}\n` });
    },
  );

  // Deno shows no sign of its streams, so heddle looks at them there.
  test.runIf(capabilities.capturesConsole)("makes no stream of the process", async () => {
    const { code, output } = await runScript("late-streams.ts");
    const { get, value } = Object.getOwnPropertyDescriptor(process, "stderr")!;
    expect({ code, output }).toEqual({
      code: 0,
      output: `42 0 true ${get === undefined ? typeof value : "getStderr"}\n`,
    });
  });

  // Deno and Bun tell nobody that they make a thread.
  test.runIf(capabilities.requireHooks)(
    "gives streams to code that watches its start",
    async () => {
      const { code, output } = await runScript("watched-start.ts");
      expect({ code, output }).toEqual({ code: 0, output: "a hook\na thread\n42 true number\n" });
    },
  );

  test.runIf(capabilities.requireHooks)(
    "prints what a thread writes before heddle is there",
    async () => {
      const printing = `import { isMainThread } from "node:worker_threads";
        if (!isMainThread) {
          for (let n = 0; n < 40; n++) process.stdout.write(n + "x".repeat(10_000) + "\\n");
          console.error("to stderr");
        }`;
      const flag = `--import=data:text/javascript,${encodeURIComponent(printing)}`;
      const { code, output } = await runScript("late-streams.ts", [flag]);
      expect(code).toBe(0);
      const lines = output.trim().split("\n");
      expect(lines).toContain("to stderr");
      for (let n = 0; n < 40; n++) { // by both threads
        expect(lines.filter((line) => line === n + "x".repeat(10_000))).toHaveLength(2);
      }
      expect(output).toMatch(/^42 /m);
    },
  );

  test("output of a worker arrives while it is busy and while it is idle", async () => {
    const { code, output } = await runScript("console.ts");
    expect(code).toBe(0);
    expect(output.split("\n").filter((line) => line.startsWith("from the worker"))).toHaveLength(3);
  });
});
