/** `pool.sync`: calls that block the host. */
import { tracingChannel } from "node:diagnostics_channel";
import { describe, expect, test } from "vitest";
import { createPool, transfer } from "../../src/mod.ts";
import {
  createBrokenPool,
  createNeverPool,
  createSyncModulePool,
  createSyncPool,
  type SyncPool,
} from "../fixtures/sync-tasks.ts";
import { closedAfterTest, rejection, sharedWords, until } from "../support/conformance.ts";
import { runScript } from "../support/runtime.ts";

const pool = (options?: Parameters<typeof createSyncPool>[0]): SyncPool =>
  closedAfterTest(createSyncPool(options));
const modulePool = (options?: Parameters<typeof createSyncPool>[0]): SyncPool =>
  closedAfterTest(createSyncModulePool(options));

/** What `f` throws. */
function thrown(f: () => unknown): unknown {
  try {
    f();
  } catch (error) {
    return error;
  }
  throw new Error("It has thrown nothing.");
}

const kinds: readonly (readonly [string, typeof pool])[] = [
  ["tasks by name", pool],
  ["a module", modulePool],
];

describe.each(kinds)("pool.sync with %s", (_name, create) => {
  test("answers the first call of a new pool, before the event loop has run", async () => {
    const { sync, call, stats } = create();
    expect(sync.add(1, 2)).toBe(3);
    expect(sync.later(5, "async")).toBe("async");
    expect(stats()).toMatchObject({ completed: 2, inFlight: 0 });
    expect(await call.add(3, 4)).toBe(7);
  });

  test("carries what pool.call carries", async () => {
    const { sync, call } = create({ threads: 1 });
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    const values = [
      1,
      -0,
      "text",
      undefined,
      10n ** 30n,
      { a: [1, { b: new Date(5) }], m: new Map([["k", new Set([1])]]) },
      new Float64Array([1, 2]),
      new Uint8Array(5_000_000).fill(3),
      cyclic,
      new RangeError("as a value", { cause: 1 }),
    ];
    for (const value of values) expect(sync.echo(value)).toEqual(await call.echo(value));
    expect(sync.bytes(5_000_000).every((byte) => byte === 7)).toBe(true);
    const moved = new Uint8Array(100_000);
    expect(sync.lengthOf(transfer(moved, [moved.buffer]))).toBe(100_000);
    expect(moved.byteLength).toBe(0);
    const other = new Uint8Array(100_000);
    expect(sync.lengthOf.with({ transfer: [other] })(other)).toBe(100_000);
    expect(other.byteLength).toBe(0);
  });

  test("throws what the task throws", () => {
    const { sync } = create({ threads: 1 });
    const error = thrown(() => sync.rethrow(new TypeError("wrong", { cause: "why" })));
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({ message: "wrong", cause: "why" });
    expect(thrown(() => sync.rethrow("a string"))).toBe("a string");
    expect(sync.add(1, 1)).toBe(2);
  });

  test("leaves other calls to settle afterwards, in order, and timers to run", async () => {
    const { sync, call } = create({ threads: 2 });
    const order: unknown[] = [];
    const calls = Array.from(
      { length: 200 },
      (_, n) => call.echo(n).then((value) => order.push(value)),
    );
    const timer = new Promise<void>((resolve) => setTimeout(resolve, 0));
    expect(sync.add(1, 2)).toBe(3);
    expect(order).toEqual([]);
    await Promise.all(calls);
    await timer;
    expect(order.toSorted((a, b) => Number(a) - Number(b))).toEqual(calls.map((_, n) => n));
  });

  test("waits for its turn behind other calls, and for room in the ring", async () => {
    const { sync, call } = create({ threads: 1, ringBytes: 4096 });
    const before = Array.from({ length: 3000 }, (_, n) => call.echo({ n, text: "x".repeat(50) }));
    const slow = call.later(20, "slow");
    expect(sync.echo("after all")).toBe("after all");
    expect(await slow).toBe("slow");
    expect(await Promise.all(before)).toHaveLength(3000);
  });

  test("has time limits, which spoil no later call", async () => {
    const { sync, call } = create({ threads: 1 });
    expect(thrown(() => sync.later.with({ timeoutMs: 20 })(60_000))).toMatchObject({
      code: "HEDDLE_TIMEOUT",
      kind: "call",
    });
    expect(sync.later.with({ timeoutMs: 20, timeoutValue: "late" })(60_000)).toBe("late");
    for (let n = 0; n < 100; n++) expect(sync.add(n, 1)).toBe(n + 1);
    expect(await call.add(1, 1)).toBe(2);
  });

  test("stops a worker at its hard limit; the next call has another one at once", async () => {
    const { sync, stats } = create({ threads: 1, hardTimeoutMs: 100 });
    const words = sharedWords();
    expect(thrown(() => sync.spin(words))).toMatchObject({ code: "HEDDLE_TIMEOUT", kind: "hard" });
    expect(sync.add(1, 2)).toBe(3);
    await until(() => stats().workersLost === 1);
  });

  test("notices the end of its worker; the next call has another one at once", async () => {
    const { sync, stats } = create({ threads: 1 });
    for (const die of [() => sync.exit(3), () => sync.throwLater()]) {
      expect(thrown(die)).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
      expect(sync.add(1, 2)).toBe(3);
    }
    expect(stats()).toMatchObject({ workersLost: 2, inFlight: 0 });
    const words = sharedWords();
    expect(sync.dieOnce.with({ retries: 1 })(words)).toBe("again");
    // The events that the runtime has for it come later, and change nothing.
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(stats()).toMatchObject({ workersLost: 3, inFlight: 0 });
    expect(sync.add(1, 2)).toBe(3);
  });

  test("waits until a worker that starts meanwhile has run its sticky broadcasts", async () => {
    const { sync, broadcast, ready } = create({ threads: 1 });
    await ready;
    await broadcast.remember.with({ sticky: true })(7);
    expect(thrown(() => sync.exit(1))).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    expect(sync.recall()).toBe(7);
    const fresh = create({ threads: 1 });
    const early = fresh.broadcast.remember.with({ sticky: true })(8);
    expect(fresh.sync.recall()).toBe(8);
    await early;
  });

  test("may be made by a getter of an argument of another call", async () => {
    const { sync, call } = create({ threads: 1 });
    const value = {
      get sum() {
        return sync.add(1, 2);
      },
    };
    expect(await call.echo(value)).toEqual({ sum: 3 });
    expect(sync.echo(value)).toEqual({ sum: 3 });
  });

  test("starts workers of a pool that has none", () => {
    const { sync } = create({ minThreads: 0, maxThreads: 2 });
    expect(sync.add(1, 2)).toBe(3);
  });

  test("refuses what only an event loop can do, and sends nothing", async () => {
    const { sync, call, stats } = create({ threads: 1 });
    const refusals: readonly [() => unknown, RegExp][] = [
      [() => sync.echo(Promise.resolve(1)), /Argument 1 of pool\.sync\.echo\(\) is a promise/],
      [() => sync.add(1, Promise.reject(new Error("ignored")) as never), /Argument 2/],
      [() => sync.echo(new ReadableStream()), /is a stream/],
      [
        () => (sync as unknown as { count(n: number): unknown }).count(3),
        /"count" is a generator.*pool\.call\.count/,
      ],
    ];
    for (const [refuse, message] of refusals) {
      const error = thrown(refuse);
      expect(error).toMatchObject({ code: "HEDDLE_INVALID_ARGUMENT" });
      expect((error as Error).message).toMatch(message);
    }
    expect(thrown(() => sync.add.with({ timeout: 5 } as never))).toMatchObject({
      code: "HEDDLE_INVALID_ARGUMENT",
    });
    expect(thrown(() => (sync as unknown as { addd(): void }).addd())).toMatchObject({
      code: "HEDDLE_UNKNOWN_TASK",
    });
    expect(stats().completed).toBe(0);
    const items: number[] = [];
    for await (const item of sync.stream() as unknown as AsyncIterable<number>) items.push(item);
    expect(items).toEqual([1, 2, 3]);
    expect(await call.add(1, 2)).toBe(3);
  });

  test("refuses calls with an aborted signal and of a closed pool", async () => {
    const { sync, shutdown } = create({ threads: 1 });
    const signal = AbortSignal.abort("enough");
    expect(thrown(() => sync.add.with({ signal })(1, 2))).toBe("enough");
    await shutdown();
    expect(thrown(() => sync.add(1, 2))).toMatchObject({ code: "HEDDLE_POOL_CLOSED" });
  });
});

test("settles at once, whoever observes calls and however they end", async () => {
  const { code, output } = await runScript("sync-observed.ts");
  const plain =
    "3, RangeError (task), TimeoutError (The call got), WorkerLostError (Worker 0 end), 7, 1, 2, 1, 2, RangeError";
  const mapped =
    "3, URIError (mapped Range), URIError (mapped Timeo), URIError (mapped Worke), 7, 1, 2, 1, 2, URIError";
  const seen = "number 2, RangeError 2, TimeoutError 2, WorkerLostError 2, number 2, " +
    "undefined 2, undefined 2, RangeError 2";
  const lines = output.split("\n").filter((line) => line !== "" && !line.startsWith("heddle "));
  expect({ code, lines }).toEqual({
    code: 0,
    lines: [
      `nobody: ${plain}; `,
      `debug: ${plain}; `,
      `env: ${plain}; `,
      `channel: ${plain}; ${seen}`,
      `mapError: ${mapped}; `,
      `metrics: ${plain}; `,
      `context: ${plain}; `,
      `all: ${mapped}; ${seen}`,
    ],
  });
});

test("measures the wait of each call by itself", () => {
  const waits: number[] = [];
  const channel = tracingChannel("heddle:call");
  const noteWait = (message: object): void => {
    waits.push((message as { waitMs: number }).waitMs);
  };
  const subscribers = { asyncEnd: noteWait } as unknown as Parameters<typeof channel.subscribe>[0];
  const { sync } = pool({ threads: 1, metrics: true });
  channel.subscribe(subscribers);
  try {
    sync.later(200);
    for (let n = 0; n < 10; n++) sync.add(n, 1);
  } finally {
    channel.unsubscribe(subscribers);
  }
  expect(waits).toHaveLength(11);
  expect(Math.min(...waits.slice(1))).toBeLessThan(200); // as if all were made before the first
});

test("a pool that cannot start says why", () => {
  const broken = closedAfterTest(createBrokenPool());
  broken.ready.catch(() => {});
  const error = thrown(() => broken.sync.anything(1));
  expect(error).toMatchObject({ code: "HEDDLE_WORKER_START" });
  expect((error as Error).message).toMatch(/this module is broken/);
  const never = closedAfterTest(createNeverPool());
  never.ready.catch(() => {});
  const late = thrown(() => never.sync.never());
  expect((late as Error).message).toMatch(/not ready within 300 ms/);
});

test("the host does not run the task itself, which could not begin while it blocks", async () => {
  for (const inliner of [true, { position: "first" }] as const) {
    const { sync, call } = pool({ threads: 1, inliner });
    expect(sync.add(1, 2)).toBe(3);
    expect(await call.add(1, 2)).toBe(3);
  }
});

test("a task may block on a pool of its own", async () => {
  const { call, sync } = pool({ threads: 1 });
  expect(await call.nested(1, 2)).toBe(3);
  expect(sync.nested(3, 4)).toBe(7);
});

test("a module with structs needs pool.ready first", async () => {
  type Module = typeof import("../fixtures/module-tasks.ts");
  const url = new URL("../fixtures/module-tasks.ts", import.meta.url);
  const { sync, ready } = closedAfterTest(createPool({ threads: 1 })<Module>(url));
  expect((thrown(() => sync.reverse("abc")) as Error).message).toMatch(/await pool\.ready/);
  await ready;
  expect(sync.reverse("abc")).toBe("cba");
  expect(sync.mirror({ x: 1, y: 2 })).toEqual({ x: 2, y: 1 });
});

test("calls of many kinds with workers that die settle once each", async () => {
  const { sync, call, stats } = pool({ threads: 2 });
  let lost = 0;
  for (let round = 0; round < 12; round++) {
    const async = Array.from({ length: 20 }, (_, n) => call.add(n, round));
    const dying = rejection(call.exit(1));
    for (let n = 0; n < 20; n++) {
      try {
        expect(sync.add(n, round)).toBe(n + round);
      } catch (error) {
        expect(error).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
        lost++;
      }
    }
    expect(await dying).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
    await Promise.allSettled(async);
  }
  expect(stats().inFlight).toBe(0);
  expect(lost).toBeLessThan(12 * 20);
});
