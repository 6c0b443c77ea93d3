/** Compile-time assertions: functions of the host, callbacks, and calls between tasks. */
import { callback, createPool } from "../../src/mod.ts";
import { type Callback, currentPool, host } from "../../src/mod-task.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;
function assert<_T extends true>(): void {}

const functions = {
  double: (n: number): number => 2 * n,
  load: (path: string, options?: { readonly deep: boolean }): Promise<Uint8Array> =>
    Promise.resolve(new Uint8Array(path.length + Number(options?.deep))),
  version: "1",
};

const { call, sync } = host.typed<typeof functions>();
assert<Equal<typeof call.double, (n: number) => Promise<number>>>();
assert<Equal<ReturnType<typeof call.load>, Promise<Uint8Array>>>();
assert<Equal<ReturnType<typeof sync.load>, Uint8Array>>();
assert<Equal<ReturnType<typeof sync.double>, number>>();
assert<Equal<keyof typeof call, "double" | "load">>();

interface Tasks {
  add(a: number, b: number): number;
  later(text: string): Promise<string>;
  rows(count: number): Generator<number>;
  convert(files: string[], each: Callback<(file: string, index: number) => boolean>): Promise<void>;
  deep(options: { readonly each: Callback<() => void> }): void;
  plain(f: () => void): void;
  name: string;
}

const pool = currentPool<Tasks>();
assert<Equal<keyof typeof pool.call, "add" | "later" | "convert" | "deep" | "plain">>();
assert<Equal<Awaited<ReturnType<typeof pool.call.add>>, number>>();
assert<Equal<Awaited<ReturnType<typeof pool.call.later>>, string>>();
assert<Equal<ReturnType<typeof pool.sync.add>, number>>();
assert<Equal<ReturnType<typeof pool.sync.later>, string>>();

export async function accepted(): Promise<void> {
  await host.call["anything"]!(1, "two");
  await pool.call.add.with({ timeoutMs: 5, priority: "high" }).with({ retries: 1 })(1, 2);
  pool.sync.later.with({ timeoutMs: 5 })("a").slice();
  await currentPool().call["add"]!(1, 2);

  const tasks = createPool({ host: { functions } })<Tasks>("./tasks.ts");
  await tasks.call.convert(["a"], callback((file: string, index) => file.length > index));
  await tasks.call.convert(
    ["a"],
    callback(async (file: string) => await Promise.resolve(file === "")),
  );
  await tasks.call.deep({ each: callback(() => {}) });
}

export async function rejected(): Promise<void> {
  // @ts-expect-error -- no such function
  await call.triple(1);
  // @ts-expect-error -- not a function
  void call.version;
  // @ts-expect-error -- a string
  sync.double("1");
  // @ts-expect-error -- no such task
  await pool.call.subtract(1, 2);
  // @ts-expect-error -- a generator
  pool.call.rows(1);
  // @ts-expect-error -- promises have to be awaited first
  await pool.call.add(Promise.resolve(1), 2);
  // @ts-expect-error -- not an option of nested calls
  pool.call.add.with({ affinity: 1 });

  const tasks = createPool()<Tasks>("./tasks.ts");
  // @ts-expect-error -- not a callback
  await tasks.call.convert(["a"], (file: string) => file === "");
  // @ts-expect-error -- its parameter is a number
  await tasks.call.convert(["a"], callback((file: number) => file === 1));
  // @ts-expect-error -- the task expects a plain function, which cannot be sent
  await tasks.call.plain(() => {});
}
