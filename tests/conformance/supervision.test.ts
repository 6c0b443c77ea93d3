/** Workers that are replaced, given up, held to limits, and what they leave behind. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { createPool, importTask, InvalidArgumentError, onTeardown } from "../../src/mod.ts";
import { createSupervisedPool } from "../fixtures/supervision-tasks.ts";
import {
  begun,
  closedAfterTest,
  rejection,
  settledWithin,
  sharedWords,
  until,
} from "../support/conformance.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { capabilities, pause, runtimeName } from "../support/runtime.ts";

function supervisedPool(
  options: Parameters<typeof createSupervisedPool>[0] = {},
): ReturnType<typeof createSupervisedPool> {
  return closedAfterTest(createSupervisedPool(options));
}

const MIB = 2 ** 20;

describe("memory", () => {
  test("a worker above maxWorkerBytes is replaced and no call is dropped", async () => {
    const pool = supervisedPool({ maxWorkerBytes: 160 * MIB });
    const workers = new Set<number>();
    let calls = 0;
    await until(() => workers.size === 3, async () => {
      const waiting = Promise.all([pool.call.sleep(30), pool.call.echo(++calls)]);
      const { workersStarted, recycled } = pool.stats();
      workers.add(await pool.call.leak(workersStarted > recycled + 1 ? 0 : 20));
      expect((await waiting)[1]).toBe(calls);
    });
    expect(pool.stats()).toMatchObject({ workersLost: 0, recycled: 2 });
    expect(calls).toBeGreaterThan(4); // not replaced at every call
  });

  test("a limit below the size of an empty worker replaces it at most once per call", async () => {
    const pool = supervisedPool({ maxWorkerBytes: 1000 });
    await pool.ready;
    await pool.call.sleep(100);
    expect(await pool.call.echo("all the same")).toBe("all the same");
    await pause(600);
    // One for each call at most: a worker that has done nothing yet is not replaced.
    expect(pool.stats().workersStarted).toBeLessThanOrEqual(3);
  });

  test("a worker below its limit is not replaced, and idle workers are not checked", async () => {
    const pool = supervisedPool({ maxWorkerBytes: 500 * MIB });
    for (let call = 0; call < 30; call++) {
      await pool.call.leak(1);
      await pool.call.sleep(5);
    }
    expect(pool.stats()).toMatchObject({ recycled: 0, workersStarted: 1 });
  });

  test.runIf(capabilities.resourceLimits)(
    "a worker that exceeds resourceLimits ends without affecting others",
    async () => {
      const pool = supervisedPool({ threads: 2, resourceLimits: { maxOldGenerationSizeMb: 32 } });
      const error = await rejection(pool.call.exhaust());
      expect(error).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
      expect(String((error as { reason: string }).reason)).toMatch(/memory/);
      expect(await pool.call.echo("others go on")).toBe("others go on");
    },
  );

  test.runIf(!capabilities.resourceLimits)(
    "resourceLimits are refused if the runtime does not support them",
    () => {
      expect(() => createSupervisedPool({ resourceLimits: { maxOldGenerationSizeMb: 32 } }))
        .toThrow(/Bun ignores resourceLimits|Deno leaves workers hanging at resourceLimits/);
    },
  );
});

describe("a worker that stops responding", () => {
  test("is stopped after twice the hard timeout, and its queued calls run elsewhere", async () => {
    const pool = supervisedPool({ hardTimeoutMs: 1000 });
    const words = sharedWords();
    await pool.call.blockLater(words);
    await begun(words);
    const calls = Array.from({ length: 50 }, (_, n) => pool.call.echo(n));
    const all = Promise.all(calls);
    // What it was doing instead, should they not settle.
    const outcome = await settledWithin(all, 20_000);
    expect([outcome, pool.stats()]).toEqual(["settled", expect.anything()]);
    expect(await all).toEqual(calls.map((_, n) => n));
    expect(pool.stats().workersLost).toBe(1);
  });

  test("a worker that becomes ready while the host is busy is on time", async () => {
    const folder = process.env["HEDDLE_TEST_FOLDER"] = temporaryFolder();
    onTestFinished(() => void delete process.env["HEDDLE_TEST_FOLDER"]);
    const href = new URL("../fixtures/first-only.ts", import.meta.url).href;
    const pool = closedAfterTest(
      createPool({ threads: 1, startTimeoutMs: 2500 })({
        wait: importTask<(ms: number) => number>({ href, name: "wait" }),
      }),
    );
    // A timer of its module writes the file: it is ready by then.
    const end = performance.now() + 2800;
    while (performance.now() < end || !existsSync(join(folder, "loaded")));
    expect(await pool.call.wait(1)).toBe(1);
    expect(pool.stats().workersStarted).toBe(1);
  });

  describe("in a pool where only the first worker can start", () => {
    function firstOnly(maxThreads: number) {
      const folder = process.env["HEDDLE_TEST_FOLDER"] = temporaryFolder();
      onTestFinished(() => void delete process.env["HEDDLE_TEST_FOLDER"]);
      const href = new URL("../fixtures/first-only.ts", import.meta.url).href;
      const pool = closedAfterTest(
        createPool({ minThreads: 1, maxThreads })({
          wait: importTask<(ms: number) => number>({ href, name: "wait" }),
          leave: importTask<() => void>({ href, name: "leave" }),
        }),
      );
      const loads = (): number => readFileSync(join(folder, "loads")).length;
      return { pool, loads };
    }

    test("the pool continues with one worker", async () => {
      const { pool, loads } = firstOnly(3);
      await pool.ready;
      // There is always one more that a further worker would run, until far more than five have failed.
      const waits = (): Promise<unknown> =>
        Promise.all(Array.from({ length: 6 }, () => pool.call.wait(20)));
      await until(() => loads() >= 9, waits);
      expect(await pool.call.wait(1)).toBe(1);
      expect(pool.stats()).toMatchObject({ ready: 1, inFlight: 0 });
    });

    test("the pool fails after the worker ends and five replacements fail", async () => {
      const { pool, loads } = firstOnly(1);
      await pool.ready;
      expect(await rejection(pool.call.leave())).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
      const error = await rejection(pool.call.wait(1)) as Error;
      expect(error).toMatchObject({ code: "HEDDLE_WORKER_START" });
      expect(error.message).toMatch(/^5 workers in a row could not be started: /);
      expect(loads()).toBe(6);
    });
  });

  test("a worker that never becomes ready fails the pool after startTimeoutMs", async () => {
    const pool = createPool({ threads: 1, startTimeoutMs: 300 })({
      never: importTask<() => void>({
        href: new URL("../fixtures/never-ready.ts", import.meta.url).href,
        name: "never",
      }),
    });
    const call = rejection(pool.call.never());
    const error = await rejection(pool.ready);
    expect(error).toMatchObject({ code: "HEDDLE_WORKER_START" });
    expect((error as Error).message).toMatch(/not ready within 300 ms/);
    expect(await call).toBe(error);
    await pool.shutdown();
  });
});

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

describe("permission", () => {
  function folder(): string {
    const path = temporaryFolder();
    writeFileSync(join(path, "file"), "");
    return path;
  }

  test('"off" is accepted on every runtime and denies nothing', async () => {
    const path = join(folder(), "file");
    const pool = supervisedPool({ permission: "off" });
    expect(await pool.call.attempt("read", path)).toBe("ok");
    expect(await pool.call.attempt("run")).toBe("ok");
  });

  const net = !capabilities.deniesNet;
  /** What has to be allowed by name where it cannot be denied. */
  const least = { net, read: capabilities.deniesFolder ? [] : [process.cwd()] };

  test.runIf(capabilities.permissions)("access that is not listed is denied", async () => {
    const path = folder();
    const pool = supervisedPool({ permission: least });
    expect(await pool.call.echo("loads and runs")).toBe("loads and runs");
    for (const what of ["read", "write"]) {
      expect(await pool.call.attempt(what, join(path, "file"))).toBe("ERR_ACCESS_DENIED");
    }
    if (capabilities.deniesFolder) {
      expect(await pool.call.attempt("read", "README.md")).toBe("ERR_ACCESS_DENIED");
    }
    expect(await pool.call.attempt("run")).toBe("ERR_ACCESS_DENIED");
    expect(await pool.call.attempt("env", "PATH")).toBe("unset");
    expect(await pool.call.attempt("net")).toBe(net ? "ECONNREFUSED" : "ERR_ACCESS_DENIED");
  });

  test.runIf(capabilities.permissions)(
    "only listed access is allowed",
    async () => {
      const [one, other] = [folder(), folder()];
      const pool = supervisedPool({
        permission: {
          read: [...least.read, pathToFileURL(one).href],
          write: [join(one, "file")],
          env: ["PATH", "NOT_SET", "NODE_OPTIONS"],
          net: true,
        },
      });
      expect(await pool.call.attempt("read", join(one, "file"))).toBe("ok");
      expect(await pool.call.attempt("write", join(one, "file"))).toBe("ok");
      expect(await pool.call.attempt("write", join(one, "file2"))).toBe("ERR_ACCESS_DENIED");
      expect(await pool.call.attempt("read", join(other, "file"))).toBe("ERR_ACCESS_DENIED");
      expect(await pool.call.attempt("env", "PATH")).toBe(process.env["PATH"]);
      for (const name of ["HOME", "NOT_SET", "NODE_OPTIONS"]) {
        expect(await pool.call.attempt("env", name)).toBe("unset");
      }
      expect(await pool.call.attempt("net")).toBe("ECONNREFUSED");
    },
  );

  test("permissions that cannot be enforced are refused with the supported ones", () => {
    const create = () => createSupervisedPool({ permission: { read: true, env: true } });
    if (runtimeName === "node" && !capabilities.deniesFolder) {
      expect(() => createSupervisedPool({ permission: { net: true } }))
        .toThrow(/cannot deny `read` of the current folder/);
    }
    if (runtimeName === "node" && capabilities.deniesNet) {
      expect(() => closedAfterTest(create())).not.toThrow();
      return;
    }
    expect(create).toThrow(InvalidArgumentError);
    expect(create).toThrow(
      {
        node: /Node .* cannot deny `net` .*Node can deny to threads/,
        deno: /Deno cannot deny its threads `net`, which this process may/,
        bun: /Bun cannot deny its threads anything/,
      }[runtimeName],
    );
  });
});
