/** Calls that are aborted, at every moment of their life. */
import { describe, expect, test } from "vitest";
import { TimeoutError } from "../../src/mod.ts";
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

function limitedPool(
  options: Parameters<typeof createLimitedPool>[0] = {},
): ReturnType<typeof createLimitedPool> {
  return closedAfterTest(createLimitedPool(options));
}

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
