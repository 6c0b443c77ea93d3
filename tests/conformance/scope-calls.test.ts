/** `scope.map`, `forEach`, `reduce` and `scope.sync`: further calls of scopes. */
import { describe, expect, test } from "vitest";
import {
  InvalidArgumentError,
  type PoolOptions,
  ScopeCancelledError,
  ScopeClosedError,
  TimeoutError,
} from "../../src/mod.ts";
import { createScopePool, echo, type ScopeTestPool } from "../fixtures/scope-tasks.ts";
import { begun, closedAfterTest, rejection, sharedWords } from "../support/conformance.ts";

const scopePool = (options: PoolOptions = {}): ScopeTestPool =>
  closedAfterTest(createScopePool(options));

/** How many tasks run: have begun and not ended. */
const running = (words: Int32Array): number => Atomics.load(words, 1) - Atomics.load(words, 2);

describe("scope.map", () => {
  const numbered = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

  /** `forEach`, or `map` as a promise. */
  const each = (
    { map, forEach }: Pick<ScopeTestPool, "map" | "forEach">,
    name: "map" | "forEach",
  ): typeof forEach =>
  async (...args) => {
    await (name === "map" ? map(...args) : forEach(...args));
  };

  test("gives what pool.map gives, and so do forEach and reduce; leaving waits for what is awaited", async () => {
    const pool = scopePool();
    const items = numbered(300);
    const results: unknown[] = [];
    const sum = await pool.scope(async ({ call, map, forEach, reduce, scope }) => {
      expect(await map(call.echo, items)).toEqual(items);
      const read: unknown[] = [];
      for await (const n of map(call.echo.with({ priority: 1 }), items)) read.push(n);
      expect(read).toEqual(items);
      await scope(async (inner) => {
        expect(await inner.map(inner.call.later, [1, 2], { args: ["x"] })).toEqual(["x", "x"]);
      });
      void forEach(call.later, numbered(20), { args: ["y"] }).then(() => results.push("forEach"));
      void map(call.later, numbered(20), { args: ["y"] }).then((all) => results.push(all.length));
      return await reduce(call.add, items);
    });
    expect([sum, results.sort()]).toEqual([300 * 299 / 2, [20, "forEach"]]);
    const scope = pool.scope();
    const all = scope.map(scope.call.later, numbered(20), { args: ["z"] }).toArray();
    await scope.close();
    expect(await all).toHaveLength(20);
  });

  test("is refused for functions of others, and when the scope is over", async () => {
    const pool = scopePool();
    const scope = pool.scope();
    const inner = scope.scope();
    for (const f of [pool.call.echo, inner.call.echo, echo]) {
      expect(() => scope.map(f as typeof scope.call.echo, [1])).toThrow(InvalidArgumentError);
    }
    expect(() => pool.map(scope.call.echo, [1])).toThrow(InvalidArgumentError);
    const late = scope.map(scope.call.echo, [1]);
    await scope.close();
    const rejecting = (): unknown[] => [Promise.reject(new Error("an item"))];
    expect(await rejection(late.toArray())).toBeInstanceOf(ScopeClosedError);
    expect(await rejection(scope.forEach(scope.call.echo, rejecting()))).toBeInstanceOf(
      ScopeClosedError,
    );
    expect(await rejection(scope.reduce(scope.call.add, [1]))).toBeInstanceOf(ScopeClosedError);
  });

  test("fails as a call does: its error is the function's, or the scope's", async () => {
    const pool = scopePool();
    const words = sharedWords();
    const result = await pool.scope(async ({ call, map, forEach, all }) => {
      const other = call.later(20, "goes on");
      expect(await rejection(map(call.fail, ["caught"]).toArray())).toBeInstanceOf(RangeError);
      expect(await rejection(map(call.fail, ["read"]).next())).toBeInstanceOf(RangeError);
      expect(await rejection(forEach(call.fail, ["caught"]))).toBeInstanceOf(RangeError);
      const joined = all([map(call.echo, [1, 2]), forEach(call.echo, [3]), call.echo(4)]);
      expect(await joined).toEqual([[1, 2], undefined, 4]);
      expect(await rejection(all([map(call.fail, ["joined"])]))).toBeInstanceOf(RangeError);
      return await other;
    });
    expect(result).toBe("goes on");
    for (const name of ["map", "forEach"] as const) {
      const error = await rejection(pool.scope(async (scope) => {
        const other = scope.call.cleanUp(words, 0);
        if (name === "map") await scope.map(scope.call.fail, ["counts"]);
        else void scope.forEach(scope.call.fail, ["counts"]);
        await other;
      }));
      expect(error).toMatchObject({ name: "RangeError", message: "counts" });
      const block = pool.scope();
      await rejection(each(block, name)(block.call.fail, ["of a block"]));
      expect(await rejection(block.call.echo(1))).toBeInstanceOf(ScopeCancelledError);
      expect(await rejection(block.close())).toMatchObject({ message: "of a block" });
    }
    expect(running(words)).toBe(0);
  });

  const ends: Readonly<Record<string, [object, (scope: { cancel(): void }) => void, unknown]>> = {
    "cancelled": [{}, (scope) => scope.cancel(), { code: "HEDDLE_SCOPE_CANCELLED" }],
    "cancelled from outside": [{}, () => {}, { code: "HEDDLE_SCOPE_CANCELLED" }],
    "over its time limit": [{ timeoutMs: 150 }, () => {}, { kind: "scope" }],
  };

  test.each(Object.keys(ends))(
    "ends with its scope, which waits for its tasks: %s",
    async (how) => {
      const pool = scopePool({ threads: 1 });
      await pool.ready;
      const [options, end, expected] = ends[how]!;
      for (const name of ["map", "forEach"] as const) {
        const words = sharedWords();
        const outer = pool.scope();
        const scope = outer.scope(options);
        const mapped = rejection(
          each(scope, name)(scope.call.cleanUp, [words, words], { args: [20] }),
        );
        const never = {
          async *[Symbol.asyncIterator]() {
            await new Promise(() => {});
            yield 1;
          },
        };
        const waiting = rejection(each(scope, name)(scope.call.echo, never));
        await begun(words);
        end(scope);
        if (how === "cancelled from outside") outer.cancel();
        expect(await mapped).toMatchObject(expected as object);
        expect(await waiting).toMatchObject(expected as object);
        const left = scope.close();
        if (how === "over its time limit") {
          expect(await rejection(left)).toMatchObject({
            kind: "scope",
          });
        } else await left;
        expect(running(words)).toBe(0);
        await outer.close();
      }
    },
  );

  test("that is read one by one ends with the scope, as a stream does", async () => {
    const pool = scopePool();
    let returned = 0;
    const endless = function* (): Generator<number> {
      try {
        for (let n = 0;; n++) yield n;
      } finally {
        returned++;
      }
    };
    const scope = pool.scope();
    const results = scope.map(scope.call.echo, endless());
    await results.next();
    await scope.close();
    expect([returned, (await results.next()).done]).toEqual([1, true]);
  });
});

describe("scope.sync", () => {
  test("gives the result or throws the error, and leaving waits for its task", async () => {
    const pool = scopePool();
    await pool.ready;
    const words = sharedWords();
    const result = await pool.scope({ timeoutMs: 60_000 }, async ({ call, sync, scope }) => {
      const other = call.later(5, "goes on");
      expect(() => sync.fail("caught")).toThrow("caught");
      expect(() => sync.cleanUp.with({ timeoutMs: 50 })(words, 30)).toThrow(TimeoutError);
      expect(running(words)).toBe(1);
      expect(await scope((inner) => inner.sync.add(1, 2))).toBe(3);
      return [await other, sync.echo("result")];
    });
    expect([result, running(words)]).toEqual([["goes on", "result"], 0]);
    const thrown = await rejection(pool.scope(({ sync }) => sync.fail("of the function")));
    expect(thrown).toMatchObject({ name: "RangeError", message: "of the function" });
  });

  test("in a block: its error counts, and a scope that is cancelled or over refuses it", async () => {
    const pool = scopePool();
    await pool.ready;
    const scope = pool.scope();
    expect(scope.sync.echo(1)).toBe(1);
    const other = rejection(scope.call.cleanUp(sharedWords(), 0));
    expect(() => scope.sync.fail("counts")).toThrow("counts");
    expect(await other).toBeInstanceOf(ScopeCancelledError);
    expect(() => scope.sync.echo(1)).toThrow(ScopeCancelledError);
    expect(await rejection(scope.close())).toMatchObject({ message: "counts" });
    expect(() => scope.sync.echo(1)).toThrow(ScopeClosedError);
    const cancelled = pool.scope();
    cancelled.cancel("enough");
    expect(await rejection((async () => await cancelled.sync.echo(1))())).toBe("enough");
    await cancelled.close();
  });

  test("ends at the time limit of its scope, or of one around it", async () => {
    const pool = scopePool();
    await pool.ready;
    const words = sharedWords();
    const late = { timeoutMs: 60_000, timeoutValue: "late" } as const;
    for (const body of ["plain", "own limit", "inner", "refused"] as const) {
      const error = await rejection(pool.scope({ timeoutMs: 100 }, async (outer) => {
        if (body === "plain") return outer.sync.cleanUp(words, 10);
        if (body === "own limit") return outer.sync.cleanUp.with(late)(words, 10);
        if (body === "inner") return await outer.scope((inner) => inner.sync.cleanUp(words, 10));
        expect(() => outer.sync.cleanUp(words, 10)).toThrow(TimeoutError);
        return outer.sync.echo(1);
      }));
      expect(error).toMatchObject({ code: "HEDDLE_TIMEOUT", kind: "scope", limitMs: 100 });
      expect(running(words)).toBe(0);
    }
  });

  test("may have a shorter time limit of its own", async () => {
    const pool = scopePool();
    await pool.ready;
    const words = sharedWords();
    const result = await pool.scope({ timeoutMs: 60_000 }, ({ sync }) => {
      return sync.cleanUp.with({ timeoutMs: 30, timeoutValue: "early" })(words, 10);
    });
    expect([result, running(words)]).toEqual(["early", 0]);
  });
});
