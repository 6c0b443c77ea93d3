/** Types of pools of `heddle/core`: what no feature in use adds is not there. Compiled, not run. */
import { createPool, type ResultStream } from "../../src/mod.ts";
import {
  type CorePool,
  type CorePoolOptions,
  createPool as createCorePool,
} from "../../src/mod-core.ts";
import { keys } from "../../src/features/calls/keys/use.ts";
import { limits } from "../../src/features/calls/limits/use.ts";
import { map } from "../../src/features/calls/map/use.ts";
import { observe } from "../../src/features/watching/observe/use.ts";
import { queue } from "../../src/features/calls/queue/use.ts";
import { scopes } from "../../src/features/calls/scopes/use.ts";
import { streams } from "../../src/features/calls/streams/use.ts";
import { sync } from "../../src/features/calls/sync/use.ts";

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

export function nothing(): void {
  const pool = createCorePool({ threads: 2, keepAlive: true })(tasks);
  const sum = pool.call.add(1, 2);
  same<typeof sum, Promise<number>>(true);
  void pool.call.add.with({ priority: "high", retries: 1 })(1, 2);
  void pool.ready.then(() => pool.shutdown({ timeoutMs: 5 }));
  // @ts-expect-error -- needs limits()
  pool.call.add.with({ timeoutMs: 1 });
  // @ts-expect-error -- needs limits()
  pool.call.add.with({ timeoutValue: 1 });
  // @ts-expect-error -- needs keys()
  pool.call.add.with({ affinity: 1 });
  // @ts-expect-error -- needs streams()
  pool.call.count();
  // @ts-expect-error -- needs map()
  void pool.map;
  // @ts-expect-error -- needs observe()
  pool.stats();
  // @ts-expect-error -- needs observe()
  pool.addEventListener("drain", () => {});
  // @ts-expect-error -- needs sync()
  void pool.sync;
  // @ts-expect-error -- needs keys()
  void pool.broadcast;
  // @ts-expect-error -- needs queue()
  void pool.needsDrain;
  // @ts-expect-error -- needs limits()
  createCorePool({ hardTimeoutMs: 1 });
  // @ts-expect-error -- needs scaling()
  createCorePool({ minThreads: 1 });
  // @ts-expect-error -- no option at all
  createCorePool({ speed: 1 });
  // @ts-expect-error -- the function, not what it returns
  createCorePool({ use: [limits] });
  createCorePool()(tasks);
  const own: CorePool<typeof tasks> = pool;
  void own;
}

export function some(): void {
  const pool = createCorePool({ use: [limits(), queue()], hardTimeoutMs: 5, maxQueue: 1 })(tasks);
  void pool.drained();
  const fallback = pool.call.add.with({ timeoutMs: 5, timeoutValue: "late" as const })(1, 2);
  same<typeof fallback, Promise<number | "late">>(true);
  pool.call.add.with({ timeoutMs: 5 }).with({ signal: new AbortController().signal });
  // @ts-expect-error -- needs keys()
  pool.call.add.with({ timeoutMs: 5 }).with({ affinity: 1 });
  // @ts-expect-error -- needs streams()
  pool.call.add.with({ onEvent: () => {} });
  const options: CorePoolOptions<"limits"> = { hardTimeoutMs: 1 };
  // @ts-expect-error -- needs queue()
  const other: CorePoolOptions<"limits"> = { maxQueue: 1 };
  void [options, other];
}

/** A feature brings what it needs. */
export async function brought(): Promise<void> {
  const mapping = createCorePool({ use: [map()] })(tasks);
  for await (const name of mapping.map(mapping.call.name, [[]])) same<typeof name, string>(true);
  const stream = mapping.call.count();
  same<typeof stream, ResultStream<number, string>>(true);
  mapping.call.add.with({ timeoutMs: 1 });
  // @ts-expect-error -- needs scopes()
  void mapping.scope;

  const scoped = createCorePool({ use: [scopes()] })(tasks);
  same<Awaited<ReturnType<typeof scoped.call.add>>, number>(true);
  await scoped.scope(async ({ call }) => await call.add(1, 2));
  void scoped.map;

  const blocking = createCorePool({ use: [sync()] })(tasks);
  const sum = blocking.sync.add.with({ affinity: 1, timeoutMs: 1 })(1, 2);
  same<typeof sum, number>(true);
  // @ts-expect-error -- needs values()
  blocking.sync.add.with({ transfer: [] });

  const calling = createCorePool({ use: [keys()] })(tasks);
  const all = calling.broadcast.add.with({ sticky: true })(1, 2);
  same<typeof all, Promise<number[]>>(true);
  // @ts-expect-error -- needs limits()
  calling.broadcast.add.with({ timeoutMs: 1 });

  createCorePool({ use: [observe()], minThreads: 0, metrics: true })(tasks).stats();
  createCorePool({ use: [streams(), limits()] })<typeof tasks>("./tasks.js").call.count();
}

/** `heddle` is as ever. */
export function whole(): void {
  const pool = createPool()(tasks);
  const fallback = pool.call.add.with({ timeoutMs: 5, timeoutValue: "late" as const })(1, 2);
  same<typeof fallback, Promise<number | "late">>(true);
  const core: CorePool<typeof tasks, "limits" | "map" | "streams"> = pool;
  void core;
}
