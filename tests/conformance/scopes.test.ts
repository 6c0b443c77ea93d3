/** Scopes: what leaving them waits for, what cancels their calls, and which errors they throw. */
import { describe, expect, test } from "vitest";
import {
  InvalidArgumentError,
  PoolClosedError,
  type PoolOptions,
  ScopeCancelledError,
  ScopeClosedError,
  TimeoutError,
  UnknownTaskError,
  WorkerLostError,
} from "../../src/mod.ts";
import { createScopePool, type ScopeTestPool } from "../fixtures/scope-tasks.ts";
import { begun, closedAfterTest, rejection, sharedWords, until } from "../support/conformance.ts";
import { pause, runScript } from "../support/runtime.ts";

const scopePool = (options: PoolOptions = {}): ScopeTestPool =>
  closedAfterTest(createScopePool(options));

/** How many tasks have ended. */
const ended = (words: Int32Array): number => Atomics.load(words, 2);
/** How many tasks run: have begun and not ended. */
const running = (words: Int32Array): number => Atomics.load(words, 1) - ended(words);

describe("leaving a scope", () => {
  test("waits for all its calls", async () => {
    const pool = scopePool();
    const words = sharedWords();
    const result = await pool.scope(async ({ call }) => {
      void call.answerWhen(words);
      void call.answerWhen(words);
      await begun(words, 2);
      Atomics.store(words, 0, 1);
      return "done";
    });
    expect([result, ended(words)]).toEqual(["done", 2]);
  });

  test("without a function: close() and Symbol.asyncDispose", async () => {
    const pool = scopePool();
    for (const leave of ["close", Symbol.asyncDispose] as const) {
      const words = sharedWords();
      const scope = pool.scope();
      void scope.call.answerWhen(words);
      await begun(words);
      const left = scope[leave]();
      Atomics.store(words, 0, 1);
      await left;
      expect(ended(words)).toBe(1);
      await scope.close();
      await scope[Symbol.asyncDispose]();
    }
  });

  test("refuses further calls", async () => {
    const pool = scopePool();
    const words = sharedWords();
    const scope = pool.scope();
    void scope.call.answerWhen(words);
    await begun(words);
    const left = scope.close();
    expect(await rejection(scope.call.echo(1))).toBeInstanceOf(ScopeClosedError);
    const stream = scope.call.numbers(words);
    expect(await rejection(stream.next())).toBeInstanceOf(ScopeClosedError);
    expect(() => scope.scope()).toThrow(ScopeClosedError);
    Atomics.store(words, 0, 1);
    await left;
    expect(await rejection(scope.call.echo(1))).toMatchObject({ code: "HEDDLE_SCOPE_CLOSED" });
    expect(await rejection(scope.scope(() => 1))).toBeInstanceOf(ScopeClosedError);
  });

  test("throws an error once: by close(), not again by the end of the block", async () => {
    const scope = scopePool().scope();
    void scope.call.fail("one");
    expect(await rejection(scope.close())).toMatchObject({ name: "RangeError", message: "one" });
    await scope[Symbol.asyncDispose]();
  });

  test("waits for a task that goes on after its own time limit", async () => {
    const pool = scopePool();
    await pool.ready;
    const words = sharedWords();
    await until(() => Atomics.load(words, 1) > 0, async () => {
      const error = await rejection(pool.scope(({ call }) => {
        void call.cleanUp.with({ timeoutMs: 20 })(words, 30);
      }));
      expect(error).toMatchObject({ code: "HEDDLE_TIMEOUT", kind: "call" });
      expect(running(words)).toBe(0);
    });
  });

  test("waits for calls that are still queued, and for arguments that are promises", async () => {
    const pool = scopePool({ threads: 1, maxConcurrency: 1 });
    const results: unknown[] = [];
    await pool.scope(({ call }) => {
      for (let n = 0; n < 50; n++) {
        void call.echo(pause(n % 5).then(() => n)).then((n) => results.push(n));
        void call.later(1, -1);
      }
    });
    expect(results).toHaveLength(50);
    expect(pool.stats()).toMatchObject({ inFlight: 0 });
  });
});

describe("an error of a call", () => {
  test("cancels the others at once, and is thrown when their tasks have ended", async () => {
    const pool = scopePool();
    const words = sharedWords();
    let sibling: unknown;
    const error = await rejection(pool.scope(async ({ call, signal }) => {
      const call1 = call.cleanUp(words, 30);
      const call2 = call.failWhen(words, "first");
      await begun(words, 2);
      Atomics.store(words, 0, 1);
      sibling = await rejection(call1);
      expect(ended(words)).toBe(0); // its task goes on
      expect(signal.aborted).toBe(true);
      expect(signal.reason).toBe(sibling);
      return await call2;
    }));
    expect(error).toMatchObject({ name: "RangeError", message: "first" });
    expect(sibling).toBeInstanceOf(ScopeCancelledError);
    expect((sibling as Error).cause).toBe(error);
    expect(ended(words)).toBe(1);
    expect(Atomics.load(words, 3)).toBe(1);
  });

  test("counts in a block also if the program has handled it: the scope does not see what the block throws", async () => {
    const pool = scopePool();
    const scope = pool.scope();
    expect(await rejection(scope.call.fail("handled"))).toBeInstanceOf(RangeError);
    expect(await rejection(scope.call.echo(1))).toBeInstanceOf(ScopeCancelledError);
    expect(await rejection(scope.close())).toMatchObject({ message: "handled" });
  });

  const handlings: Readonly<Record<string, (call: ScopeTestPool["call"]) => Promise<unknown>>> = {
    "caught": (call) => call.fail("x").catch(() => {}),
    "awaited": (call) => rejection(call.fail("x")),
    "attached to, then awaited": async (call) => {
      const promise = call.failWhen(Int32Array.of(1), "x");
      promise.catch(() => {});
      await pause(20);
      await rejection(promise);
    },
    "raced": (call) => rejection(Promise.race([call.fail("x"), new Promise(() => {})])),
    "settled": (call) => Promise.allSettled([call.fail("x"), call.fail("y")]),
    "refused at once": (call) => rejection(call.echo((() => {}) as unknown as string)),
    "an argument": (call) => rejection(call.echo(call.fail("x"))),
    "of a stream": (call) => rejection(call.failing(3).toArray()),
    "of a stream that is read slowly": async (call) => {
      const stream = call.failing(3);
      await stream.next();
      await pause(20);
      await rejection(stream.toArray());
    },
    "behind what was read of a stream": async (call) => {
      for await (const _ of call.failing(3)) break;
    },
  };

  test.each(Object.keys(handlings))(
    "that its function handles is not the scope's: %s",
    async (how) => {
      const pool = scopePool();
      const result = await pool.scope(async ({ call, signal }) => {
        const other = call.later(30, "goes on");
        await handlings[how]!(call);
        await pause(5);
        expect(signal.aborted).toBe(false);
        return await other;
      });
      expect(result).toBe("goes on");
      const scope = pool.scope({ onError: "ignoreHandled" });
      await handlings[how]!(scope.call);
      expect(await scope.call.echo("goes on")).toBe("goes on");
      await scope.close();
    },
  );

  test("of a joiner and of an inner scope too is the function's if it handles it", async () => {
    const pool = scopePool();
    const result = await pool.scope(async ({ call, all, scope }) => {
      await rejection(all([call.fail("x"), call.echo(1)]));
      await rejection(scope(async (inner) => await inner.call.fail("y")));
      return await call.echo("goes on");
    });
    expect(result).toBe("goes on");
  });

  test("that the function does not handle is the scope's, and that of its function once", async () => {
    const pool = scopePool();
    const words = sharedWords();
    for (const unhandled of ["fail", "failing", "all", "inner"] as const) {
      const error = await rejection(pool.scope(async ({ call, all, scope }) => {
        const other = call.cleanUp(words, 0);
        if (unhandled === "all") void all([call.fail("stream")]);
        else if (unhandled === "inner") void scope(({ call }) => call.fail("stream"));
        else if (unhandled === "fail") void call.fail("stream");
        else void call.failing(0);
        await other; // would wait for ever
      }));
      expect(error).toMatchObject({ name: "RangeError", message: "stream" });
    }
    const passedOn = await rejection(pool.scope(async ({ call }) => {
      void call.cleanUp(words, 0);
      await Promise.all([call.fail("passed on"), call.echo(1)]);
    }));
    expect(passedOn).toMatchObject({ name: "RangeError", message: "passed on" });
  });

  test("may be the reason that there is no call", async () => {
    const pool = scopePool();
    const error = await rejection(
      pool.scope(({ call }) => void call.echo((() => {}) as unknown as string)),
    );
    expect(error).toMatchObject({ code: "HEDDLE_DATA_CLONE" });
    const scope = pool.scope();
    const unknown = Reflect.get(scope.call, "nameless") as () => Promise<unknown>;
    await expect(scope.settled([unknown()])).resolves.toMatchObject([
      { reason: expect.any(UnknownTaskError) as unknown },
    ]);
    expect(Object.keys(scope.call)).toEqual(Object.keys(pool.call));
    expect("echo" in scope.call).toBe(true);
    expect(() => scope.call.echo.with({ timeoutMs: -1 })).toThrow(InvalidArgumentError);
    await scope.close();
  });

  test("with others is part of an AggregateError, in order", async () => {
    const pool = scopePool();
    const words = sharedWords();
    const error = await rejection(pool.scope({ onError: "cancel" }, async ({ call }) => {
      await rejection(call.fail("first"));
      throw new TypeError("of the function", { cause: words });
    })) as AggregateError;
    expect(error).toBeInstanceOf(AggregateError);
    expect(error.errors.map(({ message }) => message)).toEqual(["first", "of the function"]);
    expect(error.message).toBe("2 errors in a scope: first");
  });

  test("of the scope's own cancellation is none, also with mapError", async () => {
    for (const options of [{}, { mapError: (e: unknown) => new Error("mapped", { cause: e }) }]) {
      const pool = scopePool(options);
      const words = sharedWords();
      const error = await rejection(pool.scope(async ({ call }) => {
        const other = call.cleanUp(words, 0);
        await begun(words);
        void call.fail("first");
        await other; // the function fails with the cancellation
      })) as Error;
      expect(error).not.toBeInstanceOf(AggregateError);
      const first = "mapError" in options ? error.cause : error;
      expect(first).toMatchObject({ message: "first" });
    }
  });

  test('with onError: "collect" cancels nothing', async () => {
    const pool = scopePool();
    const words = sharedWords();
    const error = await rejection(pool.scope({ onError: "collect" }, async ({ call }) => {
      const answer = call.answerWhen(words);
      void call.fail("one");
      await rejection(call.fail("two"));
      Atomics.store(words, 0, 1);
      expect(await answer).toBe("answered");
    })) as AggregateError;
    expect(error).toBeInstanceOf(AggregateError);
    expect(error.errors.map(({ message }) => message).sort()).toEqual(["one", "two"]);
    await pool.scope({ onError: "collect" }, ({ call }) => void call.echo(1));
    const single = await rejection(
      pool.scope({ onError: "collect" }, ({ call }) => void call.fail("only")),
    );
    expect(single).toMatchObject({ errors: [{ message: "only" }] });
  });
});

describe("a scope is cancelled", () => {
  test("by an error of its function", async () => {
    const pool = scopePool();
    const words = sharedWords();
    for (const onError of ["cancel", "collect"] as const) {
      const reason = new TypeError("mine");
      const calls: Promise<unknown>[] = [];
      const error = await rejection(pool.scope({ onError }, async ({ call }) => {
        calls.push(call.cleanUp(words, 20), call.loop(words));
        await until(() => Atomics.load(words, 1) === 2);
        throw reason;
      }));
      expect(error).toBe(reason);
      expect(ended(words)).toBe(2);
      for (const call of calls) expect(await rejection(call)).toMatchObject({ cause: reason });
      words.fill(0);
    }
  });

  test("by its time limit", async () => {
    const pool = scopePool();
    await pool.ready;
    const words = sharedWords();
    await until(() => Atomics.load(words, 1) > 0, async () => {
      const error = await rejection(pool.scope({ timeoutMs: 30 }, async ({ call, signal }) => {
        const reason = await rejection(call.cleanUp(words, 10));
        expect(reason).toBe(signal.reason);
        throw reason;
      }));
      expect(error).toBeInstanceOf(TimeoutError);
      expect(error).toMatchObject({ kind: "scope", limitMs: 30 });
      expect(running(words)).toBe(0);
    });
    await pool.scope({ timeoutMs: 60_000 }, ({ call }) => call.echo(1));
  });

  test("by a signal, before and after its start", async () => {
    const pool = scopePool();
    const words = sharedWords();
    const controller = new AbortController();
    const { signal } = controller;
    const left = rejection(pool.scope({ signal }, ({ call }) => void call.cleanUp(words, 10)));
    await begun(words);
    controller.abort("enough");
    expect(await left).toBe("enough");
    expect(ended(words)).toBe(1);
    let refused: unknown;
    const late = pool.scope({ signal }, async ({ call }) => {
      refused = await rejection(call.echo(1));
    });
    expect([await rejection(late), refused]).toEqual(["enough", "enough"]);
  });

  test("by the program, which is no error", async () => {
    const pool = scopePool();
    const words = sharedWords();
    const scope = pool.scope();
    const call = scope.call.cleanUp(words, 10);
    await begun(words);
    scope.cancel();
    scope.cancel("later reasons change nothing");
    expect(await rejection(call)).toBeInstanceOf(ScopeCancelledError);
    expect(await rejection(scope.call.echo(1))).toBeInstanceOf(ScopeCancelledError);
    await scope.close();
    expect(ended(words)).toBe(1);
    expect(
      await rejection(pool.scope(async (scope) => {
        scope.cancel("over");
        await scope.call.echo(1);
      })),
    ).toBe("over");
  });

  test("while calls wait on the host: they never run", async () => {
    const pool = scopePool({ threads: 1, maxConcurrency: 1 });
    const words = sharedWords();
    const busy = pool.call.answerWhen(words);
    await begun(words);
    const scope = pool.scope();
    const calls = Array.from({ length: 100 }, () => rejection(scope.call.answerWhen(words)));
    scope.cancel("no");
    await scope.close(); // although the worker is busy
    expect(new Set(await Promise.all(calls))).toEqual(new Set(["no"]));
    Atomics.store(words, 0, 1);
    await busy;
    expect(await pool.call.echo(1)).toBe(1);
    expect([Atomics.load(words, 1), ended(words)]).toEqual([1, 1]);
  });
});

describe("a task that goes on after its cancellation", () => {
  test("is stopped with its worker after killAfterMs", async () => {
    const pool = scopePool();
    const words = sharedWords();
    const exits: unknown[] = [];
    pool.addEventListener("workerExit", ({ detail }) => exits.push(detail.workerId));
    const scope = pool.scope({ killAfterMs: 20 });
    const call = scope.call.ignore(words);
    await begun(words);
    scope.cancel();
    expect(await rejection(call)).toBeInstanceOf(ScopeCancelledError);
    expect(exits).toEqual([]);
    await scope.close();
    expect(exits).toHaveLength(1);
  });

  test("uses the killAfterMs of its call first", async () => {
    const pool = scopePool();
    const words = sharedWords();
    const scope = pool.scope({ killAfterMs: Infinity });
    void scope.call.ignore.with({ killAfterMs: 20 })(words);
    await begun(words);
    scope.cancel();
    await scope.close();
    expect(pool.stats()).toMatchObject({ workersLost: 1 });
  });

  test("keeps the scope open after a time limit of its call too, until it is stopped", async () => {
    const pool = scopePool();
    const words = sharedWords();
    const error = await rejection(
      pool.scope(
        { killAfterMs: 20 },
        ({ call }) => void call.ignore.with({ runTimeoutMs: 10 })(words),
      ),
    );
    expect(error).toMatchObject({ kind: "run" });
    expect(pool.stats()).toMatchObject({ workersLost: 1 });
  });

  test("is waited for if its worker is stopped for another reason, or the pool is closed", async () => {
    const pool = scopePool({ threads: 1 });
    const words = sharedWords();
    const lost = await rejection(pool.scope({ killAfterMs: Infinity }, async ({ call }) => {
      void call.ignore(words);
      await begun(words);
      void call.exit(0);
    }));
    // Both calls are lost at once.
    const errors = lost instanceof AggregateError ? lost.errors : [lost];
    for (const error of errors) expect(error).toBeInstanceOf(WorkerLostError);
    const scope = pool.scope({ killAfterMs: Infinity });
    void scope.call.ignore(words);
    await begun(words, 2);
    const left = rejection(scope.close());
    await pool.shutdown(0);
    expect(await left).toBeInstanceOf(PoolClosedError);
    expect(await rejection(pool.scope(({ call }) => void call.echo(1)))).toBeInstanceOf(
      PoolClosedError,
    );
  });

  test("keeps the process running until it has ended", async () => {
    expect(await runScript("leaving-scope.ts")).toEqual({ code: 0, output: "ended: 1\n" });
  });

  test("runs on the host's own thread", async () => {
    const pool = scopePool({
      threads: 1,
      inliner: { position: "first", batchSize: 8, dispatchThreshold: 1 },
    });
    const words = sharedWords();
    const scope = pool.scope();
    void scope.call.answerWhen(words);
    await begun(words);
    scope.cancel();
    let isLeft = false;
    const left = scope.close().then(() => isLeft = true);
    await pause(20);
    expect(isLeft).toBe(false);
    Atomics.store(words, 0, 1);
    await left;
    expect(ended(words)).toBe(1);
  });
});
