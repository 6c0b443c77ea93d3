/** `onTeardown`: hooks that run when a worker closes. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, onTestFinished, test } from "vitest";
import { createPool, importTask, InvalidArgumentError, onTeardown } from "../../src/mod.ts";
import { createSupervisedPool } from "../fixtures/supervision-tasks.ts";
import { closedAfterTest, rejection, until } from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function supervisedPool(
  options: Parameters<typeof createSupervisedPool>[0] = {},
): ReturnType<typeof createSupervisedPool> {
  return closedAfterTest(createSupervisedPool(options));
}

describe("onTeardown", () => {
  const createLog = (): Int32Array => new Int32Array(new SharedArrayBuffer(64));
  const marks = (log: Int32Array): number[] => [...log.subarray(1, 1 + log[0]!)];
  const teardownTimeoutMs = 60_000;

  test.each(["quick", "slow"] as const)("%s hooks run once, in reverse order", async (kind) => {
    const pool = supervisedPool({ teardownTimeoutMs });
    const log = createLog();
    await pool.call.leaveHooks(log, kind);
    expect(marks(log)).toEqual([]);
    await pool.shutdown();
    expect(marks(log)).toEqual([3, 2, 1]);
  });

  test("a hook that throws is reported, and the others run", async () => {
    const pool = supervisedPool({ teardownTimeoutMs });
    const log = createLog();
    const reported: unknown[] = [];
    pool.addEventListener("unhandledRejection", (event) => {
      event.preventDefault();
      reported.push(event.detail);
    });
    await pool.call.leaveHooks(log, "throwing");
    await pool.shutdown();
    expect(marks(log)).toEqual([3, 2, 1]);
    expect(reported).toEqual([{ workerId: 0, error: new RangeError("hook") }]);
  });

  test("a hook that does not end is cut off after teardownTimeoutMs", async () => {
    const pool = supervisedPool({ teardownTimeoutMs: 200 });
    const log = createLog();
    await pool.call.leaveHooks(log, "endless");
    await pool.shutdown();
    // As far as they came: a thread may be held up for all of its time.
    const left = marks(log);
    expect(left).toEqual([3, 2].slice(0, left.length));
  });

  test("shutdown does not cut off hooks of a retiring worker", async () => {
    const pool = supervisedPool({
      minThreads: 0,
      maxThreads: 1,
      idleTimeoutMs: 20,
      teardownTimeoutMs,
    });
    const log = createLog();
    await pool.call.leaveHooks(log, "held");
    await until(() => log[0] === 1); // the first has begun, as the worker had nothing to do
    const closed = pool.shutdown();
    await pause(20);
    Atomics.store(log, 15, 1);
    await closed;
    expect(marks(log)).toEqual([3, 2, 1]);
  });

  test("hooks run when a worker is recycled or retired as idle", async () => {
    const recycled = supervisedPool({ recycleAfter: 2, teardownTimeoutMs });
    const log = createLog();
    await recycled.call.leaveHooks(log, "quick");
    await until(
      () => recycled.stats().recycled > 0 && log[0] === 3,
      () => recycled.call.echo(1),
    );
    const idle = supervisedPool({
      minThreads: 0,
      maxThreads: 1,
      idleTimeoutMs: 20,
      teardownTimeoutMs,
    });
    const idleLog = createLog();
    await idle.call.leaveHooks(idleLog, "quick");
    await until(() => idleLog[0] === 3);
    expect(idle.stats()).toMatchObject({ ready: 0, workersLost: 0 });
  });

  test("hooks run in a worker that is still starting when its pool closes", async () => {
    const folder = process.env["HEDDLE_TEST_FOLDER"] = temporaryFolder();
    onTestFinished(() => void delete process.env["HEDDLE_TEST_FOLDER"]);
    const pool = createPool({ threads: 1, teardownTimeoutMs })({
      started: importTask<() => void>({
        href: new URL("../fixtures/slow-start.ts", import.meta.url).href,
        name: "started",
      }),
    });
    const ready = rejection(pool.ready);
    await until(() => existsSync(join(folder, "begun")));
    const closed = pool.shutdown();
    writeFileSync(join(folder, "go"), "");
    await closed;
    expect(existsSync(join(folder, "left"))).toBe(true);
    expect(await ready).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
  });

  test("invalid hooks are refused, and hooks registered on the host never run", () => {
    expect(() => onTeardown(1 as never)).toThrow(InvalidArgumentError);
    onTeardown(() => expect.unreachable());
  });
});
