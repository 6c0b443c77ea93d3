/** Workers that are stopped because a task runs too long, or because they stop responding. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, onTestFinished, test } from "vitest";
import { createPool, importTask, type TimeoutError } from "../../src/mod.ts";
import { createLimitedPool } from "../fixtures/limited.ts";
import { createSupervisedPool } from "../fixtures/supervision-tasks.ts";
import {
  begun,
  closedAfterTest,
  rejection,
  release,
  settledWithin,
  sharedWords,
  until,
} from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function limitedPool(
  options: Parameters<typeof createLimitedPool>[0] = {},
): ReturnType<typeof createLimitedPool> {
  return closedAfterTest(createLimitedPool(options));
}

function supervisedPool(
  options: Parameters<typeof createSupervisedPool>[0] = {},
): ReturnType<typeof createSupervisedPool> {
  return closedAfterTest(createSupervisedPool(options));
}

describe("hardTimeoutMs", () => {
  test("stops only that worker, and calls it has not begun run elsewhere", async () => {
    const pool = limitedPool({ hardTimeoutMs: 1000 });
    const stuck = rejection(pool.call.untilSet(sharedWords()));
    const [behind, words] = [Array.from({ length: 10 }, () => sharedWords()), sharedWords()];
    const calls = [...behind, words].map((given) => pool.call.mark(given));
    expect(await stuck).toMatchObject({ kind: "hard", limitMs: 1000, code: "HEDDLE_TIMEOUT" });
    expect(await Promise.all(calls)).toEqual(calls.map(() => 1));
    expect(pool.stats()).toMatchObject({ workersLost: 1, inFlight: 0 });
  });

  test("rejects the worker's other async calls", async () => {
    const pool = limitedPool({ hardTimeoutMs: 500 });
    await pool.ready;
    const running = rejection(pool.call.sleep.with({})(50).then(() => pool.call.sleep(10_000)));
    const words = sharedWords();
    const slow = rejection(pool.call.sleep(60_000));
    await pause(60);
    const stuck = rejection(pool.call.untilSet(words));
    const errors = await Promise.all([running, slow, stuck]);
    const kinds = errors.map((error) => (error as Error).name);
    expect(kinds).toContain("TimeoutError");
    for (const kind of kinds) expect(["TimeoutError", "WorkerLostError"]).toContain(kind);
    expect(await pool.call.echo(1)).toBe(1);
  });

  test("applies to a task whose call has already timed out", async () => {
    const pool = limitedPool({ hardTimeoutMs: 500 });
    const soft = await rejection(pool.call.untilSet.with({ runTimeoutMs: 20 })(sharedWords()));
    expect(soft).toMatchObject({ kind: "run" });
    expect(await pool.call.echo("after")).toBe("after");
    expect(pool.stats().workersLost).toBe(1);
  });
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

describe("hard limits", () => {
  test("stop the worker of a call that was aborted just after it began", async () => {
    const pool = limitedPool({ hardTimeoutMs: 500 });
    const words = sharedWords();
    const controller = new AbortController();
    const call = rejection(pool.call.untilSet.with({ signal: controller.signal })(words));
    await begun(words);
    controller.abort("enough");
    expect(await call).toBe("enough");
    expect(await pool.call.echo("elsewhere")).toBe("elsewhere");
    expect(pool.stats().workersLost).toBe(1);
  });

  test("stop 8 workers in a row, and the pool still works", async () => {
    const pool = limitedPool({ hardTimeoutMs: 250, maxAbandonedThreads: Infinity });
    for (let n = 0; n < 8; n++) {
      const words = sharedWords();
      expect(await rejection(pool.call.untilSet(words))).toMatchObject({ kind: "hard" });
      Atomics.store(words, 0, 1); // Deno cannot stop the loop, which would take a core
    }
    expect(await pool.call.echo("still here")).toBe("still here");
    expect(pool.stats().workersLost).toBe(8);
  });

  test("apply after the caller's own timeout and are reported as hard", async () => {
    const pool = limitedPool({ hardTimeoutMs: 150 });
    const lost = new Promise<Error>((resolve) =>
      pool.addEventListener("workerExit", ({ detail: { error } }) => {
        if ((error?.cause as TimeoutError | undefined)?.kind === "hard") resolve(error!);
      })
    );
    const call = pool.call.untilSet.with({ runTimeoutMs: 30, timeoutValue: "default" });
    expect(await call(sharedWords())).toBe("default");
    expect((await lost).cause).toMatchObject({ kind: "hard", limitMs: 150 });
  });

  test("expire while each turn of the host takes longer than a tick", async () => {
    const pool = limitedPool();
    await pool.ready;
    const words = sharedWords();
    const call = rejection(pool.call.untilSet.with({ runTimeoutMs: 100 })(words));
    let isOver = false;
    void call.then(() => isOver = true);
    await until(() => isOver, () => {
      const end = performance.now() + 20;
      while (performance.now() < end);
      return pause(0);
    });
    expect(await call).toMatchObject({ kind: "run" });
    Atomics.store(words, 0, 1);
  });

  test("responses that waited for a busy host are on time", async () => {
    const limitMs = 4000;
    const pool = limitedPool({ hardTimeoutMs: limitMs, ringBytes: 65_536 });
    await pool.ready;
    const words = sharedWords();
    const calls = Array.from(
      { length: 40 }, // six rings full, which take far less than the second that they have on busy machines as well
      () => pool.call.bytesLater.with({ runTimeoutMs: limitMs })(100, 10_000, words),
    );
    await pause(60);
    // Longer than the limit, and until all tasks have ended, which the worker does in time.
    const [end, latest] = [performance.now() + 1.5 * limitMs, performance.now() + 20_000];
    const isWaiting = (): boolean =>
      performance.now() < end || Atomics.load(words, 2) < calls.length;
    while (isWaiting() && performance.now() < latest);
    for (const bytes of await Promise.all(calls)) expect(bytes).toHaveLength(10_000);
    expect(pool.stats()).toMatchObject({ timedOut: 0, workersLost: 0 });
  });

  test("expire while the worker always has a response backlog", async () => {
    const pool = limitedPool({ ringBytes: 65_536 });
    const words = sharedWords();
    const stuck = rejection(pool.call.answerWhen.with({ runTimeoutMs: 50 })(words));
    await begun(words);
    let isOver = false;
    void stuck.then(() => isOver = true);
    const feed = async (): Promise<void> => {
      expect(await pool.call.bytesLater(0, 10_000)).toHaveLength(10_000);
      const end = performance.now() + 0.3;
      while (performance.now() < end);
    };
    await Promise.all(Array.from({ length: 100 }, () => until(() => isOver, feed)));
    expect(await stuck).toMatchObject({ kind: "run" });
    release(words);
  });
});
