/** Compile-time assertions: what `pool.call` accepts and returns. Checked by `npm run typecheck`. */
import {
  type AbortablePromise,
  createPool,
  f64,
  importTask,
  type Pool,
  struct,
  task,
  type TaskSignal,
} from "../../src/mod.ts";

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

const Point = struct({ x: f64, y: f64 });
const mirror = task({ args: [Point], returns: Point, f: ({ x, y }) => ({ x: y, y: x }) });
const listen = task({
  abortSignal: true,
  f: (n: number, signal: TaskSignal) => signal.aborted ? 0 : n,
});
const place = task({
  abortSignal: true,
  returns: Point,
  f: (n: number, signal: TaskSignal) => ({ x: n, y: signal.aborted ? 0 : n }),
});
const turn = task({
  abortSignal: true,
  args: [Point],
  returns: Point,
  f: ({ x, y }, signal) => signal.aborted ? { x, y } : { x: y, y: x },
});
const href = "./x.ts";
const others = createPool()({
  mirror: importTask<typeof mirror>({ href, name: "mirror", args: [Point], returns: Point }),
  square: importTask<typeof square>({ href, name: "square" }),
  listen: importTask<typeof listen>({ href, name: "listen", abortSignal: true }),
  wait: importTask<(n: number, signal: TaskSignal) => string>({
    href,
    name: "wait",
    abortSignal: true,
  }),
  place,
  turn,
});
type XY = { x: number; y: number };
assert<Equal<ReturnType<typeof others.call.mirror>, Promise<XY>>>();
assert<Equal<ReturnType<typeof others.call.square>, Promise<number>>>();
assert<Equal<ReturnType<typeof others.call.listen>, AbortablePromise<number>>>();
assert<Equal<ReturnType<typeof others.call.wait>, AbortablePromise<string>>>();
assert<Equal<ReturnType<typeof others.call.place>, AbortablePromise<XY>>>();
assert<Equal<ReturnType<typeof others.call.turn>, AbortablePromise<XY>>>();

export async function imported(): Promise<void> {
  await others.call.mirror({ x: 1, y: 2 });
  await others.call.listen(1);
  await others.call.place(1);
  await others.call.turn({ x: 1, y: 2 });
  others.call.wait(1).reject();
  // @ts-expect-error the signal is not the caller's to give
  await others.call.wait(1, new AbortController().signal);
  // @ts-expect-error an argument of the wrong type
  await others.call.square("1");
  // @ts-expect-error not what is declared
  task({ abortSignal: true, args: [Point], returns: Point, f: () => ({ x: "no" }) });
  // @ts-expect-error not what is declared
  task({ abortSignal: true, returns: Point, f: () => ({ x: 1 }) });
}
