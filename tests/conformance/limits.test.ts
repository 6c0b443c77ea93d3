/** Time limits, aborts, retries: how calls end before, or instead of, their answer. */
import { describe, expect, test } from "vitest";
import { TimeoutError, WorkerLostError } from "../../src/mod.ts";
import { createLimitedPool } from "../fixtures/limited.ts";
import {
  begun,
  closedAfterTest,
  rejection,
  release,
  sharedWords,
  until,
} from "../support/conformance.ts";
import { capabilities, pause } from "../support/runtime.ts";

function limitedPool(
  options: Parameters<typeof createLimitedPool>[0] = {},
): ReturnType<typeof createLimitedPool> {
  return closedAfterTest(createLimitedPool(options));
}

describe("runTimeoutMs", () => {
  test("rejects an async call and drops its late response", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    const error = await rejection(pool.call.answerWhen.with({ runTimeoutMs: 20 })(words));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ code: "HEDDLE_TIMEOUT", kind: "run", limitMs: 20 });
    release(words);
    await until(() => pool.stats().lateResponses === 1);
    expect(pool.stats()).toMatchObject({ timedOut: 1, workersLost: 0, inFlight: 0 });
  });

  test("rejects a synchronous call while it runs and does not stop the worker", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    expect(await rejection(pool.call.untilSet.with({ runTimeoutMs: 20 })(words)))
      .toMatchObject({ kind: "run" });
    await begun(words); // and it runs still: nothing has set the other
    release(words);
    expect(await pool.call.echo(1)).toBe(1);
    expect(pool.stats()).toMatchObject({ workersLost: 0, lateResponses: 1 });
  });

  test("settles with timeoutValue, also after timeoutMs", async () => {
    const { call } = limitedPool();
    for (const limit of [{ runTimeoutMs: 10 }, { timeoutMs: 10 }]) {
      const late = call.hang.with(limit);
      for (const timeoutValue of ["instead", null, 0]) {
        expect(await late.with({ timeoutValue })()).toBe(timeoutValue);
      }
      expect(await rejection(late.with({ timeoutValue: undefined })())).toBeInstanceOf(
        TimeoutError,
      );
    }
    expect(await call.patient(2 ** 30)).toBe("too late");
    expect(await call.patient.with({ runTimeoutMs: Infinity })(60)).toBe(undefined);
  });

  test("does not start while a call waits for its worker", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    const long = pool.call.untilSet(words);
    await begun(words);
    const waiting = pool.call.hang.with({ runTimeoutMs: 30 })();
    const outcome = rejection(waiting);
    await pause(200);
    expect(pool.stats()).toMatchObject({ timedOut: 0, inFlight: 2 });
    release(words);
    expect(await long).toBe("set");
    expect(await outcome).toBeInstanceOf(TimeoutError);
  });

  test("does not affect calls that finish in time", async () => {
    const pool = limitedPool({ threads: 2 });
    const calls = Array.from(
      { length: 5000 },
      (_, n) => pool.call.echo.with({ runTimeoutMs: 20_000, timeoutMs: 20_000 })(n),
    );
    expect(await Promise.all(calls)).toEqual(calls.map((_, n) => n));
    expect(pool.stats()).toMatchObject({ timedOut: 0, inFlight: 0 });
  });

  test("does not reject calls whose response arrived while the host was busy", async () => {
    const { call } = limitedPool({ balancer: "roundRobin" }); // nothing is kept on the host
    const words = sharedWords();
    await call.mark(words);
    const answers = Array.from({ length: 50 }, () => call.mark.with({ runTimeoutMs: 5 })(words));
    const last = call.mark(words);
    const latest = performance.now() + 20_000; // a test that blocks its thread has no other limit
    while (Atomics.load(words, 2) < 52 && performance.now() < latest);
    const end = performance.now() + 60;
    while (performance.now() < end);
    expect(await Promise.all(answers)).toHaveLength(50);
    expect(await last).toBe(52);
  });
});

describe("timeoutMs", () => {
  test("includes the wait, and an expired call never begins", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    const long = pool.call.untilSet(words);
    await begun(words);
    const error = await rejection(pool.call.mark.with({ timeoutMs: 20 })(words));
    expect(error).toMatchObject({ kind: "call", limitMs: 20 });
    release(words);
    await long;
    await pool.call.echo(0);
    expect(Atomics.load(words, 2)).toBe(0);
    expect(pool.stats()).toMatchObject({ lateResponses: 0, timedOut: 1 });
  });

  test("applies to a call that waits for a promise argument", async () => {
    const { call } = limitedPool();
    const never = new Promise<string>(() => {});
    expect(await rejection(call.echo.with({ timeoutMs: 10 })(never))).toBeInstanceOf(TimeoutError);
  });
});

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

describe("abort", () => {
  test("a call with an aborted signal never runs", async () => {
    const { call } = limitedPool();
    const words = sharedWords();
    const reason = new RangeError("my reason");
    const signal = AbortSignal.abort(reason);
    expect(await rejection(call.mark.with({ signal })(words))).toBe(reason);
    await call.echo(0);
    expect(Atomics.load(words, 2)).toBe(0);
  });

  test("a waiting call never runs, in the ring or on the host", async () => {
    const pool = limitedPool({ ringBytes: 1024 });
    const words = sharedWords();
    const long = pool.call.untilSet(words);
    await begun(words);
    const controllers = Array.from({ length: 60 }, () => new AbortController());
    const calls = controllers.map(({ signal }) => pool.call.mark.with({ signal })(words));
    const errors = calls.map((call, n) => n % 2 === 0 ? rejection(call) : undefined);
    for (const [n, controller] of controllers.entries()) if (n % 2 === 0) controller.abort(n);
    for (const [n, error] of errors.entries()) if (n % 2 === 0) expect(await error).toBe(n);
    release(words);
    await long;
    await Promise.all(calls.filter((_, n) => n % 2 === 1));
    expect(Atomics.load(words, 2)).toBe(30);
    expect(pool.stats()).toMatchObject({ aborted: 30, lateResponses: 0, inFlight: 0 });
  });

  test("a synchronous task sees the abort immediately, and the caller does not wait for it", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    const controller = new AbortController();
    const call = pool.call.untilAborted.with({ signal: controller.signal })(words);
    await begun(words);
    controller.abort();
    expect(await rejection(call)).toBe(controller.signal.reason);
    await until(() => Atomics.load(words, 2) === 1);
    expect(await pool.call.echo(1)).toBe(1);
    expect(pool.stats()).toMatchObject({ workersLost: 0, lateResponses: 1 });
  });

  test("an async task receives the abort event and its reason", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    const controller = new AbortController();
    const call = pool.call.awaitAbort.with({ signal: controller.signal })(words);
    await begun(words);
    controller.abort(new TypeError("because"));
    expect(await rejection(call)).toMatchObject({ message: "because" });
    await until(() => Atomics.load(words, 2) === 1);
    expect(String.fromCharCode(...words.slice(3, 10))).toBe("because");
  });

  test("keeps its reason, or has an AbortError; later aborts change nothing", async () => {
    const pool = limitedPool();
    for (const reason of [undefined, "enough"]) {
      const words = sharedWords();
      const controller = new AbortController();
      const call = pool.call.untilAborted.with({ signal: controller.signal })(words);
      await begun(words);
      controller.abort(reason);
      controller.abort("too late");
      const error = await rejection(call);
      if (reason === undefined) expect(error).toMatchObject({ name: "AbortError" });
      else expect(error).toBe(reason);
      await until(() => Atomics.load(words, 2) === 1);
    }
    const late = new AbortController();
    const done = pool.call.untilAborted.with({ runTimeoutMs: 20, signal: late.signal })(
      sharedWords(),
    );
    expect(await rejection(done)).toBeInstanceOf(TimeoutError);
    late.abort("settled already");
    expect(await pool.call.echo(1)).toBe(1);
    expect(pool.stats().aborted).toBe(2);
  });

  test("affects no other call and removes its listeners", async () => {
    const pool = limitedPool({ threads: 2 });
    let listeners = 0;
    const counted = (signal: AbortSignal): AbortSignal => {
      const { addEventListener, removeEventListener } = signal;
      return Object.assign(signal, {
        addEventListener: (...args: Parameters<typeof addEventListener>) => {
          listeners++;
          addEventListener.apply(signal, args);
        },
        removeEventListener: (...args: Parameters<typeof removeEventListener>) => {
          listeners--;
          removeEventListener.apply(signal, args);
        },
      });
    };
    const controllers = Array.from({ length: 10 }, () => new AbortController());
    const signals = controllers.map(({ signal }) => counted(signal));
    const outcomes = Array.from({ length: 1000 }, (_, n) => {
      const call = pool.call.echo.with({ signal: signals[n % 10]! })(n);
      return call.then((value) => ({ n, value }), (reason: unknown) => ({ n, reason }));
    });
    expect(listeners).toBe(10);
    for (const n of [3, 7]) controllers[n]!.abort(`group ${n}`);
    for (const outcome of await Promise.all(outcomes)) {
      const { n } = outcome;
      if ("value" in outcome) expect(outcome.value).toBe(n);
      else {expect([outcome.reason, n % 10 === 3 || n % 10 === 7]).toEqual([
          `group ${n % 10}`,
          true,
        ]);}
    }
    expect(listeners).toBe(0);
  });

  test("a getter may abort its own call during encoding", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    await pool.call.echo(0);
    for (let round = 0; round < 20; round++) {
      const controller = new AbortController();
      const argument = {
        get words() {
          controller.abort("from a getter");
          return words;
        },
      };
      const call = pool.call.mark.with({ signal: controller.signal })(argument as never);
      expect(await rejection(call)).toBe("from a getter");
      expect(await pool.call.echo(round)).toBe(round);
    }
    expect(Atomics.load(words, 2)).toBe(0);
    expect(pool.stats()).toMatchObject({ inFlight: 0, lateResponses: 0 });
  });

  test("killAfterMs stops a worker whose task ignores the abort", async () => {
    const pool = limitedPool();
    const controller = new AbortController();
    const { signal } = controller;
    const words = sharedWords();
    const call = rejection(pool.call.untilSet.with({ signal, killAfterMs: 20 })(words));
    await begun(words);
    const behind = pool.call.echo("behind");
    controller.abort("stop");
    expect(await call).toBe("stop");
    expect(await behind).toBe("behind");
    expect(pool.stats().workersLost).toBe(1);
  });

  test("a task receives its signal as its last parameter", async () => {
    const { call } = limitedPool();
    expect(await call.countWithSignal()).toEqual([undefined, undefined, true]);
    expect(await call.countWithSignal(1)).toEqual([1, undefined, true]);
    expect(await call.countWithSignal("a", { b: 1 })).toEqual(["a", { b: 1 }, true]);
  });

  test("a message sent for an aborted call is dropped", async () => {
    const pool = limitedPool({ ringBytes: 1024 });
    const words = sharedWords();
    const long = pool.call.untilSet(words);
    await begun(words);
    const controller = new AbortController();
    const large = new Uint8Array(4096);
    const call = rejection(pool.call.echo.with({ signal: controller.signal })(large));
    const kept = pool.call.echo(large.fill(7));
    controller.abort("dropped");
    expect(await call).toBe("dropped");
    release(words);
    await long;
    expect(await kept).toEqual(large);
    expect(await pool.call.echo(large)).toEqual(large);
  });
});

test("large arguments of aborted calls do not accumulate behind a long call", async () => {
  const pool = limitedPool();
  await pool.ready;
  const words = sharedWords();
  const long = pool.call.untilSet(words);
  await begun(words);
  for (let call = 0; call < 70; call++) {
    const controller = new AbortController();
    const waiting = rejection(
      pool.call.echo.with({ signal: controller.signal })(new Uint8Array(2 ** 20)),
    );
    controller.abort("given up");
    expect(await waiting).toBe("given up");
  }
  // 64 MiB wait in the worker's port for nothing: what comes now waits here, where it can be dropped.
  const kept = pool.call.echo(new Uint8Array(2 ** 20).fill(7));
  expect(pool.stats().queued).toBe(1);
  release(words);
  await long;
  expect(await kept).toEqual(new Uint8Array(2 ** 20).fill(7));
  expect(await pool.call.echo(new Uint8Array(2 ** 20))).toEqual(new Uint8Array(2 ** 20));
});

describe("retries", () => {
  test("are retried up to the limit when their worker is lost", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    expect(await pool.call.dieAtFirst.with({ retries: 3 })(words, 2)).toBe(3);
    expect(pool.stats()).toMatchObject({ workersLost: 2, inFlight: 0 });
    const others = sharedWords();
    const error = await rejection(
      pool.call.dieAtFirst.with({ retries: 1 })(others, 5),
    );
    expect(error).toBeInstanceOf(WorkerLostError);
    expect(Atomics.load(others, 2)).toBe(2);
  });

  test("stop on a worker that was stopped and run again on another", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    const controller = new AbortController();
    const { signal } = controller;
    const stopping = rejection(pool.call.hang.with({ signal, killAfterMs: 0 })());
    const last = new AbortController();
    const again = pool.call.loopAtFirst.with({ retries: 3, signal: last.signal })(words);
    await begun(words);
    controller.abort("stop");
    expect(await stopping).toBe("stop");
    await begun(words, 2);
    await until(() => Atomics.load(words, 2) === 1 || capabilities.stopsLoops);
    // Its signal ends the run that it has now.
    last.abort("given up");
    expect(await rejection(again)).toBe("given up");
    release(words);
    expect(pool.stats()).toMatchObject({ aborted: 2, workersLost: 1, inFlight: 0 });
  });

  test("calls without retries run once", async () => {
    const pool = limitedPool();
    const words = sharedWords();
    expect(await rejection(pool.call.dieAtFirst(words, 1))).toBeInstanceOf(WorkerLostError);
    await pool.call.echo(0);
    expect(Atomics.load(words, 2)).toBe(1);
  });
});

test("the pool fails after several workers in a row exit without a response", async () => {
  const pool = limitedPool();
  const words = sharedWords();
  const errors: unknown[] = [];
  // A caller that does not give up: without an end it would go on for as long as the process.
  do errors.push(await rejection(pool.call.dieAtFirst(words, Infinity))); while (
    errors.length < 20 && errors.at(-1) instanceof WorkerLostError
  );
  expect(errors).toHaveLength(11);
  expect(errors.at(-1)).toMatchObject({ code: "HEDDLE_WORKER_START" });
  expect((errors.at(-1) as Error).message).toMatch(/10 workers in a row ended before/);
  expect(await rejection(pool.call.echo(1))).toBe(errors.at(-1));
});

describe("recycleAfter", () => {
  test("workers are replaced and no call is dropped", async () => {
    const pool = limitedPool({ threads: 2, recycleAfter: 100 });
    const words = sharedWords();
    const long = pool.call.sleep(300);
    const answers: Promise<number>[] = [];
    await until(() => pool.stats().recycled >= 4, () => {
      for (let n = 0; n < 50; n++) answers.push(pool.call.mark(words));
      return answers.at(-1)!;
    });
    await long;
    const runs = await Promise.all(answers);
    expect(runs.toSorted((a, b) => a - b)).toEqual(runs.map((_, n) => n + 1));
    await until(() => pool.stats().ready === 2);
    expect(pool.stats()).toMatchObject({ workersLost: 0, inFlight: 0, lateResponses: 0 });
  });

  test("a call queued in the ring of a retiring worker runs elsewhere", async () => {
    const pool = limitedPool({ recycleAfter: 20 });
    const words = sharedWords();
    await pool.ready;
    for (let n = 0; n < 20; n++) await pool.call.echo(n);
    const long = pool.call.untilSet(words);
    const behind = pool.call.echo("behind");
    // The successor, which would take the first call otherwise, opens when the host is free.
    const latest = performance.now() + 20_000;
    while (Atomics.load(words, 1) === 0 && performance.now() < latest);
    expect(await behind).toBe("behind");
    expect(pool.stats().recycled).toBeGreaterThan(0);
    release(words);
    expect(await long).toBe("set");
  });
});

test("shutdown accepts a time or { timeoutMs }", async () => {
  for (const options of [0, { timeoutMs: 0 }, { timeoutMs: 10 }]) {
    const pool = limitedPool();
    await pool.ready;
    const call = rejection(pool.call.sleep(60_000));
    await pool.shutdown(options);
    expect(await call).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
  }
  const pool = limitedPool();
  const finished = pool.call.sleep(30);
  await pool.shutdown({ timeoutMs: Infinity });
  expect(await finished).toBe(undefined);
  const bad: [unknown, RegExp][] = [
    [{ drain: false }, /no option "drain"/],
    [{ timeoutMs: -1 }, /timeoutMs must be/],
    [{ wait: 1 }, /no option "wait"/],
    ["soon", /timeoutMs must be/],
  ];
  for (const [options, message] of bad) {
    expect(String(await rejection(limitedPool().shutdown(options as never)))).toMatch(message);
  }
});

test("invalid call options are refused by name", () => {
  const { call } = limitedPool();
  const cases: readonly [object, RegExp][] = [
    [{ runTimeoutMs: -1 }, /runTimeoutMs must be a number of milliseconds above 0.*got -1/],
    [{ runTimeoutMs: "1s" }, /runTimeoutMs must be/],
    [{ runTimeoutMs: { time: 1 } }, /runTimeoutMs must be/],
    [{ timeout: 1 }, /no option "timeout"/],
    [{ timeoutMs: NaN }, /timeoutMs must be/],
    [{ killAfterMs: -5 }, /killAfterMs must be a number of milliseconds from 0/],
    [{ signal: {} }, /signal must be an AbortSignal/],
    [{ retries: 1.5 }, /retries must be an integer from 0 to 1000, got 1.5/],
    [{ retrys: 1 }, /no option "retrys"; did you mean "retries"\?/],
    [{ timeout: 1 }, /no option "timeout"; did you mean "timeoutMs"\?/],
    [{ key: "a" }, /no option "key"; did you mean "affinity"\?/],
    [{ fallback: 1 }, /no option "fallback"; did you mean "timeoutValue"\?/],
  ];
  for (const [options, message] of cases) expect(() => call.echo.with(options)).toThrow(message);
  expect(() => createLimitedPool({ hardTimeoutMs: 0 })).toThrow(/hardTimeoutMs must be/);
});
