/** Joined calls of a scope, scopes within scopes, streams and module pools in scopes. */
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import {
  createPool,
  InvalidArgumentError,
  type PoolOptions,
  ScopeCancelledError,
} from "../../src/mod.ts";
import { createScopePool, type ScopeTestPool } from "../fixtures/scope-tasks.ts";
import { begun, closedAfterTest, rejection, sharedWords, until } from "../support/conformance.ts";
import { pause, runFile, runScript } from "../support/runtime.ts";

const scopePool = (options: PoolOptions = {}): ScopeTestPool =>
  closedAfterTest(createScopePool(options));

const ended = (words: Int32Array): number => Atomics.load(words, 2);

describe("joiners", () => {
  test("all: results in order; the first error cancels the others", async () => {
    const pool = scopePool();
    const words = sharedWords();
    await pool.scope(async ({ all, call }) => {
      const results = await all([
        call.later(5, "a"),
        call.echo(2),
        () => 3,
        () => Promise.resolve("four"),
      ]);
      expect(results).toEqual(["a", 2, 3, "four"]);
      expect(await all([])).toEqual([]);
    });
    const scope = pool.scope({ onError: "collect" });
    const { call } = scope;
    const [joined, apart] = [call.cleanUp(words, 10), call.answerWhen(words)];
    await begun(words, 2);
    const all = scope.all([joined, call.fail("one")]);
    expect(await rejection(all)).toMatchObject({ message: "one" });
    expect(await rejection(joined)).toBeInstanceOf(ScopeCancelledError);
    Atomics.store(words, 0, 1);
    expect(await apart).toBe("answered"); // "collect": the scope goes on
    expect(await rejection(scope.close())).toMatchObject({ errors: [{ message: "one" }] });
    expect(ended(words)).toBe(2);
  });

  test("race: the first outcome, whose losers are cancelled", async () => {
    const pool = scopePool();
    const words = sharedWords();
    await pool.scope(async ({ call, race }) => {
      const loser = call.cleanUp(words, 10);
      await begun(words);
      expect(await race([loser, call.echo("won")])).toBe("won");
      expect(await rejection(loser)).toMatchObject({
        message: "The call was cancelled: race() has its result.",
      });
      expect(await call.echo("goes on")).toBe("goes on");
    });
    expect(ended(words)).toBe(1);
    const failed = pool.scope(({ call, race }) => race([call.fail("won"), call.ignore(words)]));
    expect(await rejection(failed)).toMatchObject({ message: "won" });
  });

  test("any: the first result; errors count only if all fail", async () => {
    const pool = scopePool();
    const words = sharedWords();
    await pool.scope(async ({ any, call }) => {
      expect(await any([call.fail("one"), call.later(20, "second"), call.cleanUp(words, 0)]))
        .toBe("second");
      expect(await call.echo(1)).toBe(1);
    });
    expect(Atomics.load(words, 1)).toBe(ended(words));
    const error = await rejection(
      pool.scope(({ any, call }) => any([call.fail("one"), call.fail("two")])),
    );
    expect(error).toMatchObject({ errors: [{ message: "one" }, { message: "two" }] });
  });

  test("settled: all outcomes, none of which is an error of the scope", async () => {
    const pool = scopePool();
    const outcomes = await pool.scope(({ call, settled }) =>
      settled([call.fail("one"), call.later(5, 2)])
    );
    expect(outcomes).toMatchObject([
      { status: "rejected", reason: { message: "one" } },
      { status: "fulfilled", value: 2 },
    ]);
  });

  test("functions get a scope of their own, in which they may make several calls", async () => {
    const pool = scopePool();
    const words = sharedWords();
    const counted = async ({ call }: { readonly call: ScopeTestPool["call"] }) => {
      const letters: string[] = [];
      for (const letter of "abc") letters.push(await call.later(1, letter));
      return letters.join("");
    };
    await pool.scope(async ({ all, race }) => {
      expect(await all([counted, counted])).toEqual(["abc", "abc"]);
      const slow = ({ call }: { call: ScopeTestPool["call"] }) => call.cleanUp(words, 10);
      expect(
        await race([slow, async ({ call }) => {
          await begun(words);
          return await call.echo("won");
        }]),
      ).toBe("won");
    });
    expect(ended(words)).toBe(1);
  });

  test("can be joined", async () => {
    const pool = scopePool();
    const words = sharedWords();
    await pool.scope(async ({ all, call, race, settled }) => {
      const both = all([call.cleanUp(words, 5), call.cleanUp(words, 5)]);
      await begun(words, 2);
      expect(await race([both, call.echo("won")])).toBe("won");
      expect(await settled([all([call.fail("x")])])).toMatchObject([{ status: "rejected" }]);
    });
    expect(ended(words)).toBe(2);
  });

  test("take nothing else", async () => {
    const pool = scopePool();
    const scope = pool.scope();
    const foreign = pool.call.echo(1);
    const wrong: readonly unknown[] = [foreign, 3, scope.call.echo(1).then(() => 2), null];
    for (const item of wrong) {
      const error = await rejection(scope.all([item as Promise<unknown>]));
      expect(error).toBeInstanceOf(InvalidArgumentError);
      expect(String(error)).toContain("all() takes promises of this scope's calls, or functions");
    }
    expect(await rejection(scope.race([]))).toMatchObject({ code: "HEDDLE_INVALID_ARGUMENT" });
    expect(await rejection(scope.any(1 as unknown as []))).toMatchObject({
      message: "any() takes an array of calls or functions, got 1 (number).",
    });
    await foreign;
    await scope.close();
  });

  // A rejection that nobody handles would end the process.
  test("handle what they refuse", async () => {
    expect(await runScript("refused-joins.ts")).toEqual({
      code: 0,
      output: "all any race settled map forEach reduce\n",
    });
  });

  test("keep nothing of what they have cancelled", async () => {
    const file = fileURLToPath(new URL("../fixtures/scripts/lost-races.ts", import.meta.url));
    expect(await runFile(file, ["--expose-gc"], 50_000)).toEqual({ code: 0, output: "kept: 0\n" });
  });
});

describe("a scope within another", () => {
  test("is cancelled with it and cannot outlive it", async () => {
    const pool = scopePool();
    const words = sharedWords();
    const outer = pool.scope();
    const inner = outer.scope();
    const ran = outer.scope(async (scope) => await scope.call.cleanUp(words, 10));
    const left = outer.scope((scope) => void scope.call.cleanUp(words, 20));
    const call = inner.call.cleanUp(words, 10);
    await begun(words, 3);
    outer.cancel("over");
    expect(await rejection(call)).toBe("over");
    expect(await rejection(inner.call.echo(1))).toBe("over");
    expect(await rejection(ran)).toBe("over");
    await left;
    await outer.close();
    expect(ended(words)).toBe(3);
    expect(await rejection(inner.call.echo(1))).toMatchObject({ code: "HEDDLE_SCOPE_CLOSED" });
  });

  test("gives its error to the outer one if nobody else closes it", async () => {
    const pool = scopePool();
    const outer = pool.scope();
    void outer.scope().call.fail("inner");
    expect(await rejection(outer.close())).toMatchObject({ message: "inner" });
    const caught = await pool.scope(async (scope) => {
      const inner = scope.scope();
      void inner.call.fail("handled");
      return await rejection(inner.close());
    });
    expect(caught).toMatchObject({ message: "handled" });
    const failed = pool.scope((scope) => void scope.scope(({ call }) => void call.fail("inner")));
    expect(await rejection(failed)).toMatchObject({ message: "inner" });
  });

  test("has options of its own", async () => {
    const pool = scopePool();
    const words = sharedWords();
    await pool.scope(async (scope) => {
      const inner = scope.scope({ timeoutMs: 10 });
      void inner.call.cleanUp(words, 0);
      await until(() => inner.signal.aborted);
      expect(await rejection(inner.close())).toMatchObject({ kind: "scope" });
      expect(await scope.call.echo(1)).toBe(1);
    });
    expect(() => pool.scope({ onError: "all" as "collect" })).toThrow(
      'onError must be "cancel", "ignoreHandled" or "collect", got "all" (string).',
    );
    expect(await rejection(pool.scope({ timeoutMs: 0 }, () => 1))).toMatchObject({
      code: "HEDDLE_INVALID_ARGUMENT",
    });
    expect(await rejection(pool.scope({}, 3 as unknown as () => number))).toMatchObject({
      message: "scope() runs a function, got 3 (number).",
    });
  });
});

describe("streams", () => {
  test("that are open are ended when the scope is left", async () => {
    const pool = scopePool();
    const words = sharedWords();
    const read = await pool.scope(async ({ call }) => {
      const stream = call.numbers(words, 20);
      const opened = await call.opened(words);
      await begun(words, 2);
      return [(await stream.next()).value, (await opened.next()).value, stream] as const;
    });
    expect(read.slice(0, 2)).toEqual([0, 0]);
    expect(ended(words)).toBe(2);
    expect(await read[2].next()).toEqual({ done: true, value: undefined });
  });

  test("that are read to their end", async () => {
    const pool = scopePool();
    const error = await rejection(pool.scope(async ({ call }) => {
      const items: number[] = [];
      for await (const item of call.failing(3)) items.push(item);
    }));
    expect(error).toMatchObject({ message: "stream" });
    const cut = await pool.scope(async ({ call }) => {
      for await (const n of call.numbers(sharedWords())) if (n === 1000) return n;
      return -1;
    });
    expect(cut).toBe(1000);
  });

  test("fail when the scope is cancelled", async () => {
    const pool = scopePool();
    const words = sharedWords();
    const scope = pool.scope();
    const stream = scope.call.numbers(words, 10);
    expect((await stream.next()).value).toBe(0);
    scope.cancel("over");
    expect(await rejection(stream.toArray())).toBe("over");
    await scope.close();
    expect(ended(words)).toBe(1);
  });

  test("that do not end are stopped with their worker", async () => {
    const pool = scopePool();
    const words = sharedWords();
    const scope = pool.scope({ killAfterMs: 20 });
    const stream = scope.call.stuck(words);
    expect((await stream.next()).value).toBe(1);
    await begun(words);
    await scope.close();
    expect(pool.stats()).toMatchObject({ workersLost: 1 });
  });

  test("among the arguments", async () => {
    const pool = closedAfterTest(
      createPool({ threads: 1 })<typeof import("../fixtures/stream-tasks.ts")>(
        new URL("../fixtures/stream-tasks.ts", import.meta.url),
      ),
    );
    let hasBegun = false;
    let hasEnded = false;
    const scope = pool.scope();
    const sum = scope.call.sum(async function* () {
      try {
        for (;;) {
          hasBegun = true;
          yield 1;
          await pause(1);
        }
      } finally {
        hasEnded = true;
      }
    }());
    await until(() => hasBegun);
    scope.cancel("over");
    expect(await rejection(sum)).toBe("over");
    await scope.close();
    await until(() => hasEnded);
  });
});

describe("a pool of a module", () => {
  const modulePool = () =>
    closedAfterTest(
      createPool({ threads: 1 })<typeof import("../fixtures/scope-tasks.ts")>(
        new URL("../fixtures/scope-tasks.ts", import.meta.url),
      ),
    );

  test("calls before the tasks are known", async () => {
    const pool = modulePool();
    const words = sharedWords();
    const items: number[] = [];
    await pool.scope(async ({ call }) => {
      void call.numbers(words, 5); // not read
      const results = [call.later(1, "a"), call.echo(2)];
      for await (const n of call.numbers(words)) {
        items.push(n);
        if (n === 2) break;
      }
      expect(await Promise.all(results)).toEqual(["a", 2]);
    });
    expect(items).toEqual([0, 1, 2]);
    expect([Atomics.load(words, 1), ended(words)]).toEqual([2, 2]);
    expect(await rejection(pool.scope(({ call }) => void call.fail("known")))).toMatchObject({
      message: "known",
    });
  });

  test("fails with the errors of such calls", async () => {
    const error = await rejection(modulePool().scope(({ call }) => void call.fail("early")));
    expect(error).toMatchObject({ message: "early" });
    const unknown = modulePool().scope(({ call }) => void Reflect.get(call, "nameless")(1));
    expect(await rejection(unknown)).toMatchObject({ code: "HEDDLE_UNKNOWN_TASK" });
    const scope = modulePool().scope();
    const words = sharedWords();
    const early = [scope.call.numbers(words), scope.call.echo(1)] as const;
    scope.cancel("over");
    expect(await rejection(early[0].next())).toBe("over");
    expect(await rejection(early[1])).toBe("over");
    await scope.close();
    expect(Atomics.load(words, 1)).toBe(0);
  });
});
