/** Compile-time assertions: what `pool.call` accepts and returns. Checked by `npm run typecheck`. */
import {
  type Call,
  type CallOptions,
  createPool,
  f64,
  importTask,
  type Pool,
  struct,
  task,
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

// Copies have no methods.
class User {
  readonly name: string = "Ada";
  readonly #secret = 1;
  friends: User[] = [];
  readonly onChange?: () => void;
  greet(): string {
    return `hi ${this.name} ${this.#secret}`;
  }
}
class Pixel {
  x = 1;
  readonly y: number | undefined;
}
interface Shape {
  readonly id: number;
  readonly onClick?: () => void;
}
const classes = createPool()({
  user: () => new User(),
  users: (): User[] => [],
  byName: () => Promise.resolve(new Map<string, User>()),
  point: (): Pixel => new Pixel(),
  shape: (): Shape => ({ id: 1 }),
  pair: (): [User, number] => [new User(), 1],
  *all() {
    yield new User();
  },
});
export async function copies(): Promise<void> {
  const user = await classes.call.user();
  assert<Equal<keyof typeof user, "name" | "friends">>();
  // @ts-expect-error -- no method
  user.greet();
  // @ts-expect-error -- no method
  user.friends[0]?.greet();
  const users = await classes.call.users();
  users.push(user);
  users.sort((a, b) => a.name.localeCompare(b.name));
  // @ts-expect-error -- no method
  users[0]?.greet();
  // @ts-expect-error -- no method
  (await classes.call.byName()).get("a")?.greet();
  const shape: Shape = await classes.call.shape(); // without onClick
  shape.id.toFixed();
  const [first, second] = await classes.call.pair();
  first.name.trim();
  second.toFixed();
  for await (const each of classes.call.all()) {
    each.name.trim();
    // @ts-expect-error -- no method
    each.greet();
  }
  for (const each of await classes.broadcast.user()) each.name.trim();
  // @ts-expect-error -- no method
  classes.sync.user().greet();
}
assert<Equal<ReturnType<typeof classes.call.point>, Promise<Pixel>>>();

export async function accepted(): Promise<void> {
  await pool.call.add(1, 2);
  await pool.call.add(Promise.resolve(1), 2);
  await pool.call.optional("a");
  await pool.call.optional("a", 2);
  await pool.call.rest(1, "a", Promise.resolve("b"));
  await pool.call.untyped(1, "anything", {});
  pool.addEventListener("workerExit", (event) => event.detail.error?.exitCode);
  pool.addEventListener(
    "unavailable",
    (event) => event.detail.threads + event.detail.error.message,
  );
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
  f: (n: number, signal: AbortSignal) => signal.aborted ? 0 : n,
});
const place = task({
  abortSignal: true,
  returns: Point,
  f: (n: number, signal: AbortSignal) => ({ x: n, y: signal.aborted ? 0 : n }),
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
  wait: importTask<(n: number, signal: AbortSignal) => string>({
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
assert<Equal<ReturnType<typeof others.call.listen>, Promise<number>>>();
assert<Equal<ReturnType<typeof others.call.wait>, Promise<string>>>();
assert<Equal<ReturnType<typeof others.call.place>, Promise<XY>>>();
assert<Equal<ReturnType<typeof others.call.turn>, Promise<XY>>>();

export async function imported(): Promise<void> {
  await others.call.mirror({ x: 1, y: 2 });
  await others.call.listen(1);
  await others.call.place(1);
  await others.call.turn({ x: 1, y: 2 });
  await others.call.wait(1);
  // @ts-expect-error the caller cannot pass the signal
  await others.call.wait(1, new AbortController().signal);
  // @ts-expect-error an argument of the wrong type
  await others.call.square("1");
  // @ts-expect-error not what is declared
  task({ abortSignal: true, args: [Point], returns: Point, f: () => ({ x: "no" }) });
  // @ts-expect-error not what is declared
  task({ abortSignal: true, returns: Point, f: () => ({ x: 1 }) });
}

// Each of `with(options)` and the function itself has the same signature.
type Signature = (a: number | Promise<number>, b: number | Promise<number>) => Promise<number>;
assert<Equal<ReturnType<typeof pool.call.add.with>, typeof pool.call.add>>();
assert<Equal<ReturnType<typeof pool.call.add>, ReturnType<Signature>>>();
assert<Equal<Parameters<typeof pool.call.add.with>, [options: CallOptions]>>();
assert<Equal<Parameters<typeof pool.call.add>, Parameters<Signature>>>();

export async function withOptions(): Promise<void> {
  await pool.call.add.with({ signal: null, runTimeoutMs: 100, priority: "low" })(
    1,
    Promise.resolve(2),
  );
  await others.call.listen.with({ timeoutMs: 100 })(1);
  await others.call.listen.with({ timeoutMs: 100 }).with({ signal: null })(1);
  await call.clone.with({ priority: 1 }).with({ runTimeoutMs: 100 })({ x: 1 });
  // @ts-expect-error no such option
  pool.call.add.with({}).with({ timeouts: 100 });
  // @ts-expect-error no such option
  pool.call.add.with({ timeouts: 100 });
  // @ts-expect-error an argument of the wrong type
  await pool.call.add.with({})(1, "2");
}

interface Parse {
  (text: string): number;
  (bytes: Uint8Array, encoding?: string): Promise<string>;
  (): undefined;
}
interface Visit {
  (id: number): Promise<number>;
  (each: () => void): Promise<string>;
}
interface AsyncGeneric {
  <T extends string>(value: T): Promise<T>;
  <T>(values: T[]): Promise<T[]>;
}
declare const parse: Parse;
declare const visit: Visit;
declare const both: AsyncGeneric;
declare const isText: (value: unknown) => value is string;
declare const cached: { (key: string): number; readonly hits: number };
declare const clone: <T>(value: T) => Promise<T>;
declare const pick: <T, K extends keyof T>(value: T, key: K) => Promise<T[K]>;
declare const map: <T>(values: T[], each: (value: T) => T) => Promise<T[]>;
declare const same: <T extends object>(value: T) => T;
const cloned = task({ f: clone });
const remote = importTask<typeof cloned>({ href, name: "cloned" });
const overloads = { parse, visit, both, isText, cached };
const generics = { clone, pick, map, same, cloned, remote };
const { call, broadcast: broadcasts } = createPool()({ ...overloads, ...generics });
assert<Equal<typeof call.clone, Call<typeof clone>>>();
assert<Equal<typeof call.remote, typeof call.clone>>();
assert<Equal<typeof call.remote, Call<typeof clone>>>();
assert<Equal<ReturnType<typeof call.isText>, Promise<boolean>>>();
assert<Equal<keyof typeof call.cached, "with">>();

export async function overloaded(): Promise<void> {
  const count: number = await call.parse("a");
  const text: string = await call.parse(new Uint8Array(count), Promise.resolve("utf8"));
  const none: undefined = await call.parse();
  const again: number = await call.parse.with({ runTimeoutMs: 100 })(text);
  const id: number = await call.visit(again);
  const one: string = await call.both("a");
  const list: unknown[] = await call.both([id, one, none]);
  await call.cached(String(list));
  // @ts-expect-error no overload takes a number
  await call.parse(1);
  // @ts-expect-error the result of another overload
  const wrong: string = await call.parse("a");
  // @ts-expect-error a function
  await call.visit(() => wrong);
}

export async function generic(): Promise<void> {
  const point: { x: number } = await call.clone({ x: 1 });
  const x: number = await call.pick(point, "x");
  const text: string = await call.cloned.with({ runTimeoutMs: 100 })(x.toFixed());
  const kept: string = await call.remote(Promise.resolve(text));
  const unknown: unknown = await call.same({ kept });
  // @ts-expect-error no such key
  await call.pick(point, "y");
  // @ts-expect-error a function
  await call.map([unknown], (value) => value);
  // @ts-expect-error not an object
  await call.same(1);
  // @ts-expect-error the type parameter of a synchronous function is lost
  const lost: { kept: string } = await call.same({ kept });
  return void lost;
}

const { broadcast } = pool;
assert<Equal<keyof typeof broadcast, keyof typeof tasks>>();
assert<Equal<Parameters<typeof broadcast.add>, Parameters<typeof pool.call.add>>>();
assert<Equal<ReturnType<typeof broadcast.add>, Promise<number[]>>>();
assert<Equal<ReturnType<typeof broadcast.load>, Promise<Uint8Array[]>>>();
assert<Equal<ReturnType<typeof broadcast.nothing>, Promise<void[]>>>();
assert<Equal<ReturnType<typeof others.broadcast.listen>, Promise<number[]>>>();
assert<Equal<ReturnType<typeof broadcasts.clone>, Promise<unknown[]>>>();

export async function broadcasted(): Promise<void> {
  const sums: number[] = await broadcast.add(1, Promise.resolve(2));
  await broadcast.load.with({ sticky: true }).with({ runTimeoutMs: 100 })(String(sums));
  const counts: number[] = await broadcasts.parse("a");
  const texts: string[] = await broadcasts.parse(new Uint8Array(counts), "utf8");
  // @ts-expect-error an argument of the wrong type
  await broadcast.add(1, "2");
  // @ts-expect-error no overload takes a list
  await broadcasts.parse(texts);
  // @ts-expect-error no such task
  await broadcast.missing();
  // @ts-expect-error not a boolean
  broadcast.add.with({ sticky: 1 });
  // @ts-expect-error an option of broadcasts
  pool.call.add.with({ sticky: true });
}

export async function timed(): Promise<void> {
  const timed = pool.call.add.with({ timeoutMs: 10, timeoutValue: "late" });
  const late = await timed(1, 2);
  assert<Equal<typeof late, number | string>>();
  const chained = await timed.with({ priority: "high" })(1, 2);
  assert<Equal<typeof chained, number | string>>();
  const none = await pool.call.add.with({ timeoutMs: 10 })(1, 2);
  assert<Equal<typeof none, number>>();
  const options: CallOptions = { timeoutMs: 10 };
  const plain = await pool.call.add.with(options)(1, 2);
  assert<Equal<typeof plain, number>>();
}
