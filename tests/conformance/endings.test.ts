/** Calls that end in the middle of something else: of their own making, of other calls, of their workers' lives. */
import { describe, expect, test } from "vitest";
import { TimeoutError, transfer } from "../../src/mod.ts";
import { createLimitedPool } from "../fixtures/limited.ts";
import {
  begun,
  closedAfterTest,
  rejection,
  release,
  settledWithin,
  sharedWords,
  until,
} from "../support/conformance.ts";
import { pause, runScript } from "../support/runtime.ts";

function limitedPool(
  options: Parameters<typeof createLimitedPool>[0] = {},
): ReturnType<typeof createLimitedPool> {
  return closedAfterTest(createLimitedPool(options));
}

describe("a call cancelled while it is created", () => {
  test("never runs if a getter of its arguments aborts it", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    for (let n = 0; n < 300; n++) {
      const controller = new AbortController();
      const argument = {
        get words() {
          controller.abort(n);
          return words;
        },
      };
      const call = rejection(pool.call.markOf.with({ signal: controller.signal })(argument));
      if (n % 4 === 0) await pool.call.echo(n);
      expect(await call).toBe(n);
    }
    await pool.call.echo(1);
    expect(Atomics.load(words, 2)).toBe(0);
    expect(pool.stats()).toMatchObject({ aborted: 300, lateResponses: 0 });
  });

  test("rejects if the balancer aborts it while placing it or another call", async () => {
    const words = sharedWords();
    let onPlacing: (outstanding: number) => number | undefined = () => 0;
    const pool = limitedPool({ balancer: (workers) => onPlacing(workers[0]!.outstanding) });
    await pool.ready;
    const first = new AbortController();
    onPlacing = () => {
      first.abort("first");
      return 0;
    };
    expect(await rejection(pool.call.mark.with({ signal: first.signal })(words))).toBe("first");
    const second = new AbortController();
    onPlacing = () => undefined;
    const low = pool.call.echo("low");
    onPlacing = (outstanding) => {
      if (outstanding > 0) second.abort("second");
      return 0;
    };
    const high = pool.call.mark.with({ signal: second.signal, priority: "high" })(words);
    expect(await rejection(high)).toBe("second");
    expect(await low).toBe("low");
    // The first was never sent; the second may have begun before the other was placed.
    await until(() => pool.stats().lateResponses === Atomics.load(words, 2));
    expect(Atomics.load(words, 2)).toBeLessThanOrEqual(1);
  });

  test("frees its place in a full queue immediately", async () => {
    const pool = limitedPool({ maxQueue: 8 });
    const controller = new AbortController();
    for (let n = 0; n < 8; n++) {
      void rejection(pool.call.sleep.with({ signal: controller.signal })(1));
    }
    controller.abort();
    expect(await pool.call.echo("there is room")).toBe("there is room");
  });

  test("calls that await their arguments count for the queue until they are cancelled", async () => {
    const pool = limitedPool({ maxQueue: 8 });
    await pool.ready;
    const controller = new AbortController();
    const never = new Promise<number>(() => {});
    const calls = Array.from(
      { length: 12 },
      () => rejection(pool.call.echo.with({ signal: controller.signal })(never)),
    );
    expect(pool.needsDrain).toBe(true);
    expect(await calls[11]).toMatchObject({ code: "HEDDLE_QUEUE_FULL" });
    controller.abort("given up");
    expect(await calls[0]).toBe("given up");
    await pool.drained();
    expect(await pool.call.echo(Promise.resolve(7))).toBe(7);
  });
});

describe("an abort whose reason runs code", () => {
  test("may abort the same call again and make a new call", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    const controller = new AbortController();
    const inner = new AbortController();
    const { signal } = inner;
    const call = pool.call.awaitAbort.with({ signal: controller.signal }).with({ signal })(words);
    const outcome = rejection(call);
    await begun(words);
    let innocent: Promise<unknown> | undefined;
    class Reason extends Error {
      override get message(): string {
        if (innocent === undefined) {
          innocent = pool.call.echo("innocent");
          inner.abort("inner");
        }
        return "why";
      }
    }
    const reason = new Reason();
    innocent = undefined;
    controller.abort(reason);
    expect([reason, "inner"]).toContain(await outcome);
    expect(await innocent).toBe("innocent");
    expect(await Promise.all([1, 2, 3].map((n) => pool.call.echo(n)))).toEqual([1, 2, 3]);
    expect(pool.stats().inFlight).toBe(0);
  });
});

describe("a reused slot", () => {
  test("the previous call in the slot still receives its abort event", async () => {
    const pool = limitedPool();
    for (let round = 0; round < 20; round++) {
      const [before, after] = [sharedWords(), sharedWords()];
      const [one, other] = [new AbortController(), new AbortController()];
      const first = pool.call.awaitAbort.with({ signal: one.signal })(before);
      await begun(before);
      const echo = pool.call.echo("wakes the worker");
      one.abort(new Error("first"));
      const second = pool.call.awaitAbort.with({ signal: other.signal })(after);
      expect(await rejection(first)).toMatchObject({ message: "first" });
      await echo;
      await until(() => Atomics.load(before, 2) === 1);
      await begun(after);
      other.abort(new Error("second"));
      await rejection(second);
      await until(() => Atomics.load(after, 2) === 1);
    }
    await until(() => pool.stats().lateResponses === 40);
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
    const limitMs = 2000;
    const pool = limitedPool({ hardTimeoutMs: limitMs, ringBytes: 65_536 });
    await pool.ready;
    const words = sharedWords();
    const calls = Array.from(
      { length: 200 },
      () => pool.call.bytesLater.with({ runTimeoutMs: limitMs })(100, 10_000, words),
    );
    await pause(60);
    // Longer than the limit, and until all tasks have ended, which the worker does in time.
    const [end, latest] = [performance.now() + 1.5 * limitMs, performance.now() + 20_000];
    const isWaiting = (): boolean => performance.now() < end || Atomics.load(words, 2) < 200;
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

describe("calls run by the host", () => {
  test("tasks with a signal run in workers, and hard limits apply on the host", async () => {
    const inliner = { position: "first", batchSize: 4 } as const;
    const signalled = limitedPool({ inliner });
    await signalled.ready;
    expect(await signalled.call.countWithSignal(1)).toEqual([1, undefined, true]);
    expect(signalled.stats().inlined).toBe(0);
    const pool = limitedPool({ inliner, hardTimeoutMs: 60 });
    await pool.ready;
    expect(await rejection(pool.call.sleep(2 ** 30))).toBeInstanceOf(TimeoutError);
    expect(pool.stats()).toMatchObject({ inlined: 1, workersLost: 0 });
  });
});

describe("workers being replaced", () => {
  test("do not count while they drain, so a lost successor is replaced", async () => {
    const pool = limitedPool({ recycleAfter: 20 });
    expect(await rejection(pool.call.hang.with({ runTimeoutMs: 5 })())).toBeInstanceOf(
      TimeoutError,
    );
    await until(() => pool.stats().recycled > 0, () => pool.call.echo(1));
    expect(await rejection(pool.call.exit(3))).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    expect(await pool.call.echo("a third one")).toBe("a third one");
  });

  test("drain at most as many at a time as the maximum number of workers", async () => {
    const pool = limitedPool({ recycleAfter: 20 });
    void rejection(pool.call.hang());
    await until(() => pool.stats().recycled > 0, () => pool.call.echo(1));
    for (let n = 0; n < 100; n++) await pool.call.echo(n);
    expect(pool.stats().workersStarted).toBe(2);
    await pool.shutdown(0);
  });

  test("are not replaced a second time if they die while they drain", async () => {
    const pool = limitedPool({ recycleAfter: 100 });
    const words = sharedWords();
    const dying = rejection(pool.call.exitWhenSet(words));
    await until(() => pool.stats().recycled > 0, () => pool.call.echo(1));
    const controller = new AbortController();
    const { signal } = controller;
    // More than a lane takes, so that calls wait on the host when it happens.
    const calls = Array.from(
      { length: 1100 },
      () => pool.call.markSlowly.with({ signal })(words, 5),
    );
    const outcomes = Promise.allSettled(calls);
    Atomics.store(words, 0, 1);
    expect(await dying).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    expect(pool.stats().queued).toBeGreaterThan(0);
    await pause(100); // longer than the pause before a replacement
    expect(pool.stats()).toMatchObject({ ready: 1, workersLost: 1 });
    controller.abort();
    await outcomes;
  });
});

describe("a worker that ends", () => {
  test("queued calls run elsewhere, whether sent inline or by message", async () => {
    const pool = limitedPool();
    await pool.ready;
    const shared = new SharedArrayBuffer(16);
    const large = new Uint8Array(300_000);
    const exiting = rejection(pool.call.exit(3));
    const [plain, platform, again] = [
      pool.call.echo("plain"),
      pool.call.echo(shared),
      pool.call.lengthOf.with({ retries: 3 })(large),
    ];
    await exiting;
    expect(await plain).toBe("plain");
    expect(await platform).toBeInstanceOf(SharedArrayBuffer);
    expect(await again).toBe(300_000);
  });
});

describe("shutdown(0)", () => {
  test("queued calls never run", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    await pool.ready;
    const calls = [pool.call.untilSet(words)];
    for (let n = 1; n < 30; n++) calls.push(pool.call.mark(words) as Promise<never>);
    const outcomes = Promise.allSettled(calls);
    await begun(words);
    const closing = pool.shutdown(0);
    release(words);
    await closing;
    expect(new Set((await outcomes).map(({ status }) => status))).toEqual(new Set(["rejected"]));
    expect(Atomics.load(words, 2)).toBe(0);
  });

  test("queued calls sent by message never run", async () => {
    const pool = limitedPool({ balancer: "roundRobin" });
    const words = sharedWords();
    await pool.ready;
    const calls = [
      pool.call.untilSet(words),
      pool.call.markWith(words, new Uint8Array(100_000)),
      pool.call.markWith(words, transfer(new Uint8Array(10))),
    ];
    const outcomes = Promise.allSettled(calls);
    await begun(words);
    const closing = pool.shutdown(0);
    release(words);
    await closing;
    expect(new Set((await outcomes).map(({ status }) => status))).toEqual(new Set(["rejected"]));
    expect(Atomics.load(words, 2)).toBe(0);
  });

  test("aborts the signals of running tasks", async () => {
    const pool = limitedPool({ teardownTimeoutMs: 60_000 });
    const words = sharedWords();
    const call = rejection(pool.call.untilAborted(words));
    await begun(words);
    await pool.shutdown(0);
    expect(await call).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
    expect(Atomics.load(words, 2)).toBe(1);
  });
});

describe("the process", () => {
  test("exits while a worker still runs a timed-out task", async () => {
    const { code, output } = await runScript("abandoned.ts");
    expect({ code, output }).toEqual({ code: 0, output: "TimeoutError\nechoed\n" });
  });
});

describe("invalid signals and endless calls", () => {
  test("with() throws for a signal that is not an AbortSignal", () => {
    const { call } = limitedPool();
    const signal = { aborted: false, addEventListener: () => {} };
    expect(() => call.echo.with({ signal: signal as never })).toThrow(/must be an AbortSignal/);
  });

  test("shutdown settles while a timed-out call still runs", async () => {
    const pool = limitedPool();
    await pool.ready;
    await rejection(pool.call.hang.with({ runTimeoutMs: 5 })());
    expect(await settledWithin(pool.shutdown(), 20_000)).toBe("settled");
  });
});
