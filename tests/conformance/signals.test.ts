/** `shutdownOnSignals`: the first signal lets calls finish, the second does not wait. */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { shutdownOnSignals } from "../../src/mod.ts";
import { until } from "../support/conformance.ts";
import { launch } from "../support/processes.ts";
import { runtimeName } from "../support/runtime.ts";

const path = fileURLToPath(new URL("../fixtures/signalled.ts", import.meta.url));

function start(kind: string, ms: number, queued = "run"): ReturnType<typeof launch> {
  const flags = runtimeName === "deno" ? ["run", "-A", "--quiet", "--no-lock"] : [];
  return launch([process.execPath, ...flags, path, kind, String(ms), queued]);
}

const outputOf = (program: ReturnType<typeof launch>): string =>
  program.output().replace(/ready \d+/, "ready");

describe.skipIf(process.platform === "win32")("a signal", () => {
  test.each(
    [["threads", "SIGINT", 130], ["threads", "SIGTERM", 143], [
      "processes",
      "SIGINT",
      130,
    ]] as const,
  )(
    "lets calls of %s finish, and ends the program with its code: %s",
    async (kind, name, code) => {
      const program = start(kind, 400);
      await until(() => program.output().includes("ready"));
      const worker = Number(/ready (\d+)/.exec(program.output())![1]);
      // A terminal sends it to all.
      if (kind === "processes") process.kill(worker, name);
      program.send(name);
      await until(() => program.output().includes("closing"));
      if (kind === "threads") program.send(name); // by `npm run`: it counts as the same
      expect((await program.exited).code).toBe(code);
      await program.closed;
      expect(outputOf(program)).toBe("ready\nclosing\nslept\n");
    },
  );

  test("rejects calls that no worker has begun, if it is told so", async () => {
    const program = start("threads", 300, "reject");
    await until(() => program.output().includes("ready") && program.output().includes("begun"));
    program.send("SIGINT");
    expect((await program.exited).code).toBe(130);
    await program.closed;
    const lines = outputOf(program).trim().split("\n");
    expect(lines.filter((line) => line === "slept")).toHaveLength(1);
    expect(lines.filter((line) => line.includes("closed"))).toHaveLength(2);
  });

  test("that comes again ends it at once", async () => {
    const program = start("threads", 60_000);
    await until(() => program.output().includes("ready"));
    program.send("SIGINT");
    await until(() => program.output().includes("closing"));
    program.send("SIGTERM");
    expect((await program.exited).code).toBe(143);
    await program.closed;
    expect(outputOf(program)).toBe("ready\nclosing\n");
  });
});

test("wrong arguments are refused, and listeners removed", () => {
  const pool = { shutdown: () => Promise.resolve() };
  for (
    const [pools, options] of [
      [5, {}],
      [[pool, {}], {}],
      [pool, 5],
      [pool, { signals: ["SIGKILL"] }],
      [
        pool,
        { timeoutMs: -1 },
      ],
      [pool, { queued: "drop" }],
      [pool, { before: 1 }],
      [pool, { after: 1 }],
    ]
  ) {
    expect(() => shutdownOnSignals(pools as never, options as never))
      .toThrow(expect.objectContaining({ code: "HEDDLE_INVALID_ARGUMENT" }));
  }
  const before = process.listenerCount("SIGTERM");
  const stop = shutdownOnSignals([pool, pool]);
  expect(process.listenerCount("SIGTERM")).toBe(before + 1);
  stop();
  expect(process.listenerCount("SIGTERM")).toBe(before);
});
