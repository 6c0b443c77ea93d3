/** Types of scopes. Compiled, not run. */
import { createPool, type PoolScope, type ResultStream } from "../../src/mod.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true
  : false;
declare function same<A, B>(isSame: Equal<A, B>): void;

const tasks = {
  add: (a: number, b: number): number => a + b,
  name: async (): Promise<string> => await Promise.resolve("x"),
  *count(): Generator<number, string> {
    yield 1;
    return "end";
  },
};
const pool = createPool()(tasks);

export async function functions(): Promise<void> {
  const result = await pool.scope(async ({ call }) => {
    const sum = call.add(1, 2);
    same<typeof sum, Promise<number>>(true);
    const fallback = call.add.with({ timeoutMs: 5, timeoutValue: "late" as const })(1, 2);
    same<typeof fallback, Promise<number | "late">>(true);
    const stream = call.count();
    same<typeof stream, ResultStream<number, string>>(true);
    // @ts-expect-error -- a parameter is missing
    void call.add(1);
    // @ts-expect-error -- no such task
    void call.other;
    return { sum: await sum };
  });
  const text = await pool.scope(({ sync }) => {
    // @ts-expect-error -- a parameter is missing
    sync.add(1);
    const sum = sync.add.with({ timeoutMs: 5 })(1, 2);
    same<typeof sum, number>(true);
    return sync.name();
  });
  same<typeof text, string>(true);
  await pool.scope(async ({ call, map, forEach, reduce }) => {
    const names = await map(call.add.with({ priority: 1 }), [1, 2], { args: [3] });
    same<typeof names, number[]>(true);
    const each = forEach(call.name, []);
    same<typeof each, Promise<void>>(true);
    const total = reduce(call.add, [1, 2]);
    same<typeof total, Promise<number>>(true);
    // @ts-expect-error -- the second argument is missing
    void map(call.add, [1, 2]);
  });
  same<typeof result, { sum: number }>(true);
  const sync = await pool.scope({ timeoutMs: 5, onError: "collect" }, () => 3 as const);
  same<typeof sync, 3>(true);
  // @ts-expect-error -- not one of the two
  void pool.scope({ onError: "all" }, () => 1);
  // @ts-expect-error -- unknown option
  void pool.scope({ timeout: 5 });
}

export async function joiners(): Promise<void> {
  const scope = pool.scope({ signal: null, killAfterMs: 10 });
  same<typeof scope, PoolScope<typeof tasks>>(true);
  const { all, any, call, race, settled } = scope;
  const both = await all([call.add(1, 2), call.name(), (inner) => inner.call.add(1, 2), () => 1n]);
  same<typeof both, [number, string, number, bigint]>(true);
  const list = await all([1, 2].map((n) => call.add(n, n)));
  same<typeof list, number[]>(true);
  const first = await race([call.add(1, 2), call.name()]);
  same<typeof first, number | string>(true);
  const any1 = await any([call.add(1, 2), ({ call }) => call.name()]);
  same<typeof any1, number | string>(true);
  const [outcome] = await settled([call.name()]);
  same<typeof outcome, PromiseSettledResult<string>>(true);
  const inner = await scope.scope(({ call }) => call.name());
  same<typeof inner, string>(true);
  // @ts-expect-error -- not an array
  void race(call.name());
  scope.cancel();
  await scope.close();
}

export async function blocks(): Promise<void> {
  await using scope = pool.scope();
  void scope.call.name();
}

export async function profiles(): Promise<void> {
  const { nodes } = await pool.profile(0, { durationMs: 5 });
  same<typeof nodes[number]["id"], number>(true);
  // @ts-expect-error -- the unit is part of the name
  void pool.profile(0, { ms: 5 });
}
