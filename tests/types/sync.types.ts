/** Compile-time assertions: what `pool.sync` accepts and returns. */
import { createPool, importTask, type SyncCall, task } from "../../src/mod.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;
function assert<_T extends true>(): void {}
type IsAny<T> = 0 extends 1 & T ? true : false;

type Parse = { (text: string): number; (bytes: Uint8Array, encoding: string): string };
declare const parse: Parse;
declare const clone: <T extends object>(value: T) => Promise<T>;
declare const load: (name: Promise<string>) => Promise<Uint8Array>;

const add = (a: number, b = 1): number => a + b;
function* count(to: number): Generator<number> {
  yield to;
}
const square = task({ f: (n: number) => n * n });
const untyped = importTask({ href: "./x.ts", name: "describe" });
const pool = createPool()({ add, count, square, untyped, parse, clone, load });
const { sync } = pool;

assert<Equal<keyof typeof sync, Exclude<keyof typeof pool.call, "count">>>();
assert<Equal<typeof sync.add, SyncCall<typeof add>>>();
assert<Equal<ReturnType<typeof sync.add>, number>>();
assert<Equal<Parameters<typeof sync.add>, [a: number, b?: number | undefined]>>();
assert<Equal<ReturnType<typeof sync.load>, Uint8Array>>();
assert<Equal<Parameters<typeof sync.load>, [name: string]>>();
assert<Equal<ReturnType<typeof sync.square>, number>>();
assert<Equal<ReturnType<typeof sync.untyped>, unknown>>();
assert<Equal<IsAny<typeof sync.untyped>, false>>();

export function accepted(): void {
  const length: number = sync.parse("a");
  const text: string = sync.parse(new Uint8Array(length), "utf8");
  const late = sync.add.with({ timeoutMs: 10, timeoutValue: "late" })(1, 2);
  assert<Equal<typeof late, number | string>>();
  const none = sync.add.with({ timeoutMs: 10 }).with({ priority: "high" })(text.length);
  assert<Equal<typeof none, number>>();
  const object: object = sync.clone({ none });
  return void object;
}

export function refused(): void {
  // @ts-expect-error a promise
  sync.add(Promise.resolve(1), 2);
  // @ts-expect-error a missing argument
  sync.square();
  // @ts-expect-error a generator
  sync.count(3);
  // @ts-expect-error no such task
  sync.missing();
  // @ts-expect-error no such option
  sync.add.with({ timeout: 5 });
}

type Module = typeof import("../fixtures/module-tasks.ts");
const module = createPool()<Module>("../fixtures/module-tasks.ts");
assert<Equal<ReturnType<typeof module.sync.reverse>, string>>();
