/** Compile-time assertions: results and arguments that are streams, events, and `map`. */
import {
  createPool,
  type MappedResults,
  type ResultStream,
  type SettledItem,
} from "../../src/mod.ts";
import { count, plain } from "../fixtures/stream-tasks.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;
function assert<_T extends true>(): void {}

type Tasks = typeof import("../fixtures/stream-tasks.ts");
const pool = createPool()<Tasks>(new URL("../fixtures/stream-tasks.ts", import.meta.url));
const { call } = pool;

assert<Equal<ReturnType<typeof call.count>, ResultStream<number, string>>>();
assert<Equal<ReturnType<typeof call.slowCount>, ResultStream<number, string>>>();
assert<Equal<ReturnType<typeof call.readable>, Promise<ReadableStream<number>>>>();
assert<Equal<ReturnType<typeof call.laterGenerator>, Promise<ResultStream<number, string>>>>();
assert<Equal<ReturnType<typeof call.plain>, Promise<number>>>();
assert<Equal<ReturnType<typeof pool.broadcast.count>, Promise<ResultStream<number, string>[]>>>();

const mapped = createPool()({ count, plain });
assert<Equal<ReturnType<typeof mapped.call.count>, ResultStream<number, string>>>();
assert<Equal<ReturnType<typeof mapped.call.plain>, Promise<number>>>();

export async function accepted(source: AsyncIterable<number>): Promise<void> {
  for await (const n of call.count(0, 1)) n.toFixed();
  await call.sum(source);
  await call.sum(call.count(0, 1));
  await call.sumReadable(new ReadableStream<number>());
  await call.count.with({ runTimeoutMs: 1 })(0, 1).toArray();
  await call.progress.with({ onEvent: (event: unknown) => event })(1);
  const squares = pool.map(call.square, [1, 2], { ordered: false });
  assert<Equal<typeof squares, MappedResults<number>>>();
  const awaited = await squares;
  assert<Equal<typeof awaited, number[]>>();
  const others = await squares.catch(() => "none" as const);
  assert<Equal<typeof others, number[] | "none">>();
  await squares.finally(() => {});
  await Promise.all([squares, call.square(1)]);
  await pool.forEach(call.square, new Set([1]));
  const total: number = await pool.reduce(call.add, source);
  total.toFixed();
  const { signal } = new AbortController();
  const sums = pool.map(call.add, [1], { args: [2], signal, ordered: false });
  assert<Equal<typeof sums, MappedResults<number>>>();
  await pool.forEach(call.add.with({ priority: 1 }), source, { args: [2], chunk: 4 });
  const outcomes = await pool.map(call.square, [1], { settled: true, onProgress: () => {} });
  assert<Equal<typeof outcomes, SettledItem<number, number>[]>>();
  for (const each of outcomes) {
    if (each.status === "rejected") each.item.toFixed();
    else each.value.toFixed(each.index);
  }
  await pool.map(call.add, [1], { settled: true, args: [2] });
  await pool.forEach(call.square, [1], { onProgress: ({ done, total = done }) => total - done });
  await pool.map(call.optional, ["a"]).toArray();
  await pool.map(call.optional, ["a"], { args: [1] }).toArray();
  const joined: string = await pool.reduce(call.joinWith, ["a", "b"], { args: ["-"] });
  joined.trim();
}

export function refused(): void {
  // @ts-expect-error -- a stream of numbers is wanted
  void call.sum([1, 2]);
  // @ts-expect-error -- the items are no numbers
  pool.map(call.square, ["a"]);
  // @ts-expect-error -- a generator task is no function of promises
  pool.map(call.asyncCount, [1]);
  // @ts-expect-error -- the second argument is missing
  pool.map(call.add, [1], { settled: true });
  // @ts-expect-error -- forEach has no outcomes
  void pool.forEach(call.square, [1], { settled: true });
  // @ts-expect-error -- the second argument is missing
  pool.map(call.add, [1]);
  // @ts-expect-error -- the second argument is missing
  pool.map(call.add, [1], { chunk: 1 });
  // @ts-expect-error -- the second argument is a number
  pool.map(call.add, [1], { args: ["2"] });
  // @ts-expect-error -- the task has one argument
  pool.map(call.square, [1], { args: [2] });
  // @ts-expect-error -- there are no results
  void pool.forEach(call.square, [1], { ordered: false });
  // @ts-expect-error -- its two arguments are not of one type
  void pool.reduce(call.takeSome, [1]);
  // @ts-expect-error -- only tasks have it
  call.count.with({ highWaterMark: 5 });
}
