/** Compile-time assertions: what `pool.call` accepts and returns. Checked by `npm run typecheck`. */
import { createPool, importTask, type Pool, task } from "../../src/mod.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;
function assert<_T extends true>(): void {}
type IsAny<T> = 0 extends 1 & T ? true : false;

const add = (a: number, b: number): number => a + b;
const load = async (name: string): Promise<Uint8Array> => new TextEncoder().encode(await name);
const optional = (a: string, b?: number): string => a.repeat(b ?? 1);
const rest = (first: number, ...others: string[]): number => first + others.length;
const nothing = (): void => {};
const square = task({ f: (n: number) => n * n });
const describe = importTask<(n: number) => string>({ href: "./x.ts", name: "describe" });
const untyped = importTask({ href: "./x.ts", name: "describe" });

const tasks = { add, load, optional, rest, nothing, square, describe, untyped };
const pool = createPool({ threads: 2 })(tasks);

assert<Equal<typeof pool, Pool<typeof tasks>>>();
assert<Equal<ReturnType<typeof pool.call.add>, Promise<number>>>();
assert<Equal<ReturnType<typeof pool.call.load>, Promise<Uint8Array>>>();
assert<Equal<ReturnType<typeof pool.call.nothing>, Promise<void>>>();
assert<Equal<ReturnType<typeof pool.call.square>, Promise<number>>>();
assert<Equal<ReturnType<typeof pool.call.describe>, Promise<string>>>();
assert<Equal<ReturnType<typeof pool.call.untyped>, Promise<unknown>>>();
assert<Equal<IsAny<typeof pool.call.add>, false>>();
assert<Equal<IsAny<Awaited<ReturnType<typeof pool.call.untyped>>>, false>>();
assert<Equal<keyof typeof pool.call, keyof typeof tasks>>();

export async function accepted(): Promise<void> {
  await pool.call.add(1, 2);
  await pool.call.add(Promise.resolve(1), 2);
  await pool.call.optional("a");
  await pool.call.optional("a", 2);
  await pool.call.rest(1, "a", Promise.resolve("b"));
  await pool.call.untyped(1, "anything", {});
  pool.addEventListener("workerLost", (event) => event.detail.error.exitCode);
  pool.addEventListener("unhandledRejection", (event) => event.detail.workerId.toFixed());
}

export async function refused(): Promise<void> {
  // @ts-expect-error a missing argument
  await pool.call.add(1);
  // @ts-expect-error an argument of the wrong type
  await pool.call.add(1, "2");
  // @ts-expect-error a promise of the wrong type
  await pool.call.add(1, Promise.resolve("2"));
  // @ts-expect-error too many arguments
  await pool.call.square(1, 2);
  // @ts-expect-error no such task
  await pool.call.missing();
  // @ts-expect-error no such option
  createPool({ thread: 2 });
  // @ts-expect-error not a task
  createPool()({ value: 42 });
  // @ts-expect-error no such event
  pool.addEventListener("nope", () => {});
}
