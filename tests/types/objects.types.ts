/** Types of objects in workers. Compiled, not run. */
import {
  createPool,
  type Listener,
  listener,
  type Pool,
  type Remote,
  type ResultStream,
  type Spawned,
  type SpawnOptions,
} from "../../src/mod.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true
  : false;
declare function same<A, B>(isSame: Equal<A, B>): void;

export class Engine {
  readonly path: string;
  private readonly hidden = 1;
  constructor(path: string, size?: number) {
    this.path = path + String(size) + String(this.hidden);
  }
  open(): void {}
  query(text: string): string[] {
    return [text];
  }
  async later(): Promise<number> {
    return await Promise.resolve(1);
  }
  *rows(): Generator<string, number> {
    yield "";
    return 1;
  }
  overloaded(value: string): string;
  overloaded(value: number): number;
  overloaded(value: string | number): string | number {
    return value;
  }
  [Symbol.dispose](): void {}
}
type Module = { Engine: typeof Engine; f(): number; notAClass: 5 };
declare const url: URL;

const pool = createPool()<Module>(url);

export async function objects(): Promise<void> {
  await using engine = await pool.spawn.Engine("data.db");
  same<typeof engine, Spawned<Engine>>(true);
  const rows = engine.query("a");
  same<typeof rows, Promise<string[]>>(true);
  const number = engine.later();
  same<typeof number, Promise<number>>(true);
  const stream = engine.rows();
  same<typeof stream, ResultStream<string, number>>(true);
  const text = engine.overloaded("a");
  same<typeof text, Promise<string>>(true);
  const path = engine.$get("path");
  same<typeof path, Promise<string>>(true);
  const late = engine.query.with({ timeoutMs: 1, timeoutValue: "late" as const })("a");
  same<typeof late, Promise<string[] | "late">>(true);
  const options: SpawnOptions = { placement: engine };
  await pool.spawn.with(options).Engine("a", 1);
  await pool.spawn<Module>(url).Engine("a");
  await pool.spawn<Module>("file:///engine.js").Engine(Promise.resolve("a"));
  // @ts-expect-error -- a parameter is missing
  await pool.spawn.Engine();
  // @ts-expect-error -- no class
  await pool.spawn.f();
  // @ts-expect-error -- no class
  await pool.spawn.notAClass();
  // @ts-expect-error -- private
  await engine.$get("hidden");
  // @ts-expect-error -- is called by heddle
  await engine.open();
  // @ts-expect-error -- another type
  await engine.query(5);
  // @ts-expect-error -- no such placement
  pool.spawn.with({ placement: "near" });
}

declare const addTo: (engine: Remote<Engine>, text: string) => string[];
declare const withAll: (all: readonly { readonly engine: Remote<Engine> }[]) => void;
declare const tasks: Pool<{ addTo: typeof addTo; withAll: typeof withAll }>;
declare const remote: Remote<Engine>;

export async function arguments_(): Promise<void> {
  const engine = await pool.spawn.with({
    restart: { max: 1, withinMs: 5 },
  }).Engine("data.db");
  const found = tasks.call.addTo(engine, "a");
  same<typeof found, Promise<string[]>>(true);
  await tasks.call.withAll([{ engine }]);
  const generation = engine.$generation;
  same<typeof generation, number>(true);
  const rows = remote.query("a");
  same<typeof rows, Promise<string[]>>(true);
  const later = remote.later();
  same<typeof later, Promise<number>>(true);
  const path = remote.$get("path");
  same<typeof path, Promise<string>>(true);
  const on = listener((row: string) => row.length);
  same<typeof on, Listener<(row: string) => number>>(true);
  const heard: Promise<number> = on("a");
  void heard;
  // @ts-expect-error -- no handle
  await tasks.call.addTo({ query: () => [] }, "a");
  // @ts-expect-error -- a generator
  remote.rows();
  // @ts-expect-error -- is called by heddle
  await remote.open();
  // @ts-expect-error -- of those who have made it
  await remote.$release();
  // @ts-expect-error -- no such limit
  pool.spawn.with({ restart: { often: 1 } });
}
