/** Compile-time assertions: the calls of a module. Checked by `npm run typecheck`. */
import type { Call, Pool } from "../../src/mod.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;
function assert<_T extends true>(): void {}

type Module = typeof import("./modules-fixture.ts");
declare const pool: Pool<Module>;

type Calls = typeof pool.call;
assert<
  Equal<
    keyof Calls,
    "add" | "load" | "square" | "listen" | "mirror" | "first" | "untyped" | "default"
  >
>();
assert<Equal<Calls["add"], Call<(a: number, b: number) => number>>>();
assert<Equal<Calls["listen"], Call<(n: number) => number>>>();
assert<Equal<ReturnType<Calls["load"]>, Promise<Uint8Array>>>();
assert<Equal<ReturnType<Calls["square"]>, Promise<number>>>();
assert<Equal<ReturnType<Calls["listen"]>, Promise<number>>>();
assert<Equal<ReturnType<Calls["mirror"]>, Promise<{ x: number; y: number }>>>();
assert<Equal<ReturnType<Calls["untyped"]>, Promise<unknown>>>();
assert<Equal<ReturnType<Calls["default"]>, Promise<number>>>();

export async function accepted(): Promise<void> {
  await pool.ready;
  const sum: number = await pool.call.add(1, Promise.resolve(2));
  const head: string | undefined = await pool.call.first(["a"]);
  await pool.call.default(head ?? String(sum));
  await pool.call.mirror.with({ runTimeoutMs: 100 })({ x: 1, y: 2 });
  await pool.call.untyped(1, "anything");
  await pool.call.listen(1);
  await pool.call.listen.with({ priority: "high" })(1);
}

export async function refused(): Promise<void> {
  // @ts-expect-error a missing argument
  await pool.call.add(1);
  // @ts-expect-error an argument of the wrong type
  await pool.call.square("1");
  // @ts-expect-error an argument of the wrong type
  await pool.call.mirror({ x: 1 });
  // @ts-expect-error the caller cannot pass the signal
  await pool.call.listen(1, new AbortController().signal);
  // @ts-expect-error a promise as any other
  pool.call.square(1).reject();
  // @ts-expect-error no such export
  await pool.call.missing();
  // @ts-expect-error a number
  await pool.call.limit();
  // @ts-expect-error an object
  await pool.call.settings();
  // @ts-expect-error a class
  await pool.call.Counter();
  // @ts-expect-error a schema
  await pool.call.Point();
  // @ts-expect-error a task of another module
  await pool.call.remote(1);
  // @ts-expect-error an interface
  await pool.call.Unit();
}
