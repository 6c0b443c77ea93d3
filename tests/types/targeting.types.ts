/** Compile-time assertions: calls of module pools, overloads, generics, broadcasts and options of workers. */
import { createPool, type Pool, workerInfo } from "../../src/mod.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;
function assert<_T extends true>(): void {}

type Tasks = typeof import("../fixtures/module-tasks.ts");
const url = new URL("../fixtures/module-tasks.ts", import.meta.url);

const pool = createPool({ threads: "auto" })<Tasks>(url);
assert<Equal<typeof pool, Pool<Tasks>>>();
assert<Equal<ReturnType<typeof pool.call.reverse>, Promise<string>>>();
assert<Equal<ReturnType<typeof pool.call.default>, Promise<number>>>();
assert<Equal<ReturnType<typeof pool.call.norm>, Promise<number>>>();
assert<Equal<ReturnType<typeof pool.call.mirror>, Promise<{ x: number; y: number }>>>();

interface Sources {
  overloaded: {
    (value: number): string;
    (value: string): number;
  };
  first: <T>(values: readonly T[]) => Promise<T>;
  echo: <T>(value: T) => T;
  callback: (f: () => void) => void;
  callbacks: (list: (() => void)[]) => void;
  anything: (value: unknown) => void;
  version: string;
}
const generic = createPool()<Sources>("./tasks.ts");

export async function accepted(): Promise<void> {
  const { call, broadcast, shutdown, stats, drained } = pool;
  await call.reverse("a");
  await call.reverse(Promise.resolve("a"));
  await call.reverse.with({ affinity: "a", transfer: [] })("a");
  await call.untilAborted();
  const twice: number[] = await broadcast.default(1);
  await broadcast.default.with({ sticky: true, runTimeoutMs: 5 })(twice[0]!);
  await drained();
  stats();
  await shutdown({ queued: "reject", timeoutMs: 5 });
  const text: string = await generic.call.overloaded(1);
  const number: number = await generic.call.overloaded(text);
  const first: number = await generic.call.first([number]);
  const same: unknown = await generic.call.echo(first);
  await generic.call.anything(same);
  await createPool()(url).call["any"]!(1, "a");
  const prefix: string | undefined = workerInfo<{ prefix: string }>()?.context.prefix;
  createPool({ worker: { setup: url, data: prefix, env: { A: "1" }, argv: ["a"], name: "n" } });
}

export async function refused(): Promise<void> {
  // @ts-expect-error an argument of the wrong type
  await pool.call.reverse(1);
  // @ts-expect-error a missing argument
  await pool.call.reverse();
  // @ts-expect-error a name that the module does not export
  await pool.call.nope();
  // @ts-expect-error an export that is not a function
  await pool.call.version();
  // @ts-expect-error a class
  await pool.call.Point();
  // @ts-expect-error not a function
  await generic.call.version();
  // @ts-expect-error no overload takes this
  await generic.call.overloaded(true);
  // @ts-expect-error functions cannot be sent
  await generic.call.callback(() => {});
  // @ts-expect-error functions in an array neither
  await generic.call.callbacks([() => {}]);
  // @ts-expect-error a key is a string or a number
  pool.call.reverse.with({ affinity: {} });
  // @ts-expect-error a broadcast cannot transfer
  pool.broadcast.default.with({ transfer: [] });
  // @ts-expect-error no such policy
  await pool.shutdown({ queued: "drop" });
  // @ts-expect-error environment variables are strings
  createPool({ worker: { env: { A: 1 } } });
  // @ts-expect-error a module is a URL or a path
  createPool()<Tasks>(5);
}
