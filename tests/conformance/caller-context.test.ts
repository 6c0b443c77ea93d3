/** The asynchronous context (`AsyncLocalStorage`) of what a caller hands over and heddle calls later. */
import { AsyncLocalStorage } from "node:async_hooks";
import { tracingChannel } from "node:diagnostics_channel";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { callback, createPool, type Pool, type PoolOptions } from "../../src/mod.ts";
import { SharedMap } from "../../src/mod-shared.ts";
import { begun, closedAfterTest, rejection, sharedWords, until } from "../support/conformance.ts";
import { checked, outer, seen } from "../fixtures/checked-nested-tasks.ts";
import { functions } from "../fixtures/host-functions.ts";
import { callers, storeOfCaller } from "../fixtures/stored-run.ts";
import { pause } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/source-tasks.ts");
/** Notes the store that is seen now. */
type Note = () => void;

const url = new URL("../fixtures/source-tasks.ts", import.meta.url);
const store = new AsyncLocalStorage<string>();

const pools: Record<string, (options?: PoolOptions) => Promise<Pool<Tasks>>> = {
  "a ready pool": async (options) => {
    const pool = closedAfterTest(createPool({ threads: 2, ...options })<Tasks>(url));
    await pool.ready;
    return pool;
  },
  "a pool that starts its workers": (options) =>
    Promise.resolve(
      closedAfterTest(createPool({ minThreads: 0, maxThreads: 2, ...options })<Tasks>(url)),
    ),
};

async function* numbers(note: Note, count = 30): AsyncGenerator<number> {
  try {
    for (let n = 0; n < count; n++) {
      note();
      if (n % 10 === 0) await pause(1);
      note();
      yield n;
    }
  } finally {
    note();
  }
}

/** No generator: on Deno one whose return() waits for a pending next() ends without a store. */
const endless = (note: Note): AsyncIterable<number> => {
  let n = 0;
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        note();
        return pause(1).then(() => ({ done: false, value: n++ }));
      },
      return: () => {
        note();
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
};

const users: Record<string, (pool: Pool<Tasks>, note: Note) => Promise<unknown>> = {
  "a listener of events": ({ call }, note) => call.steps.with({ onEvent: note })(10, 1),
  "a callback": ({ call }, note) => call.callBack(callback(note)),
  "an async generator": ({ call }, note) => call.collect(numbers(note)),
  "a generator that is ended": async ({ call }, note) => {
    const source = numbers(note, 1e9);
    await source.next();
    await call.ignore(source);
    await pause(5);
  },
  "an iterable": ({ call }, note) => {
    let left = 30;
    return call.collect({
      [Symbol.asyncIterator]() {
        note();
        return {
          next: () => {
            note();
            return Promise.resolve({ done: left-- === 0, value: left });
          },
        };
      },
    });
  },
  "a source whose call is aborted by another": async ({ call }, note) => {
    const controller = new AbortController();
    const source = endless(note);
    const reading = call.readOne.with({ signal: controller.signal })(source);
    const others = store.run("another", async () => {
      await pause(20);
      controller.abort();
    });
    await reading.catch(() => {});
    await others;
    await pause(5);
  },
  "a Readable": ({ call }, note) => {
    let left = 30;
    return call.collect(
      new Readable({
        objectMode: true,
        read() {
          note();
          this.push(left-- > 0 ? left : null);
        },
        destroy(_error, done) {
          note();
          done(null);
        },
      }),
    );
  },
  "a ReadableStream": ({ call }, note) => {
    let left = 30;
    return call.collect(
      new ReadableStream<number>({
        pull(controller) {
          note();
          if (left-- > 0) controller.enqueue(left);
          else controller.close();
        },
      }, { highWaterMark: 0 }),
    );
  },
  "a ReadableStream that is cancelled": async ({ call }, note) => {
    await call.ignore(new ReadableStream({ cancel: note }));
    await pause(5);
  },
  "the items of map()": ({ call, map }, note) => map(call.twice, numbers(note)).toArray(),
  "the items of map() that are read elsewhere": async ({ call, map }, note) => {
    const results = map(call.twice, endless(note), { chunk: 1, concurrency: 2 });
    await store.run("another", async () => {
      for await (const n of results) if (n === 20) break;
      await pause(5);
    });
  },
  "the items of forEach()": ({ call, forEach }, note) => forEach(call.twice, numbers(note)),
  "the items of reduce()": async ({ call, reduce }, note) => {
    await call.twice(1); // its tasks are known
    await reduce(call.add, numbers(note));
  },
};

describe.each(Object.keys(pools))("in %s", (kind) => {
  test.each(Object.keys(users))("%s has the store of its caller", async (user) => {
    const pool = await pools[kind]!();
    const names = ["A", "B", "C"];
    const seen = await Promise.all(names.map((name) =>
      store.run(name, async () => {
        const stores = new Set<string | undefined>();
        await users[user]!(pool, () => stores.add(store.getStore()));
        return [...stores];
      })
    ));
    expect(seen).toEqual([["A"], ["B"], ["C"]]);
  });

  test("mapError has the store of the caller", async () => {
    const seen: unknown[] = [];
    const mapError = (error: unknown): unknown => {
      seen.push(store.getStore());
      return error;
    };
    const pool = await pools[kind]!({ mapError });
    await Promise.all(["A", "B"].map((name) =>
      store.run(name, async () => {
        await expect(pool.call.fail()).rejects.toThrow("failed");
        await expect(pool.call.failingStream().toArray()).rejects.toThrow("failed");
        await expect(pool.map(pool.call.fail, [1]).toArray()).rejects.toThrow("failed");
      })
    ));
    expect(seen.toSorted()).toEqual(["A", "A", "A", "B", "B", "B"]);
  });
});

describe("a function of the host has the store of the call that asks", () => {
  type Asking = typeof import("../fixtures/asking-tasks.ts");
  type Unknown = typeof import("../fixtures/unknown-asking-tasks.ts");
  const noted: unknown[] = [];
  const host = {
    functions: {
      store: () => store.getStore() ?? "none",
      note: () => void noted.push(store.getStore() ?? "none"),
    },
  };
  /** Made within a request, as programs do that make a pool when they first need it. */
  const create = <Tasks extends object>(file: string, options: PoolOptions): Pool<Tasks> => {
    const url = new URL(`../fixtures/${file}.ts`, import.meta.url);
    const pool = store.run("creator", () => createPool({ host, ...options })<Asking>(url));
    return closedAfterTest(pool) as unknown as Pool<Tasks>;
  };
  const ways: Record<string, (pool: Pool<Asking>) => Promise<unknown>> = {
    "a call": ({ call }) => call.ask(),
    "a call with options": ({ call }) => call.ask.with({ timeoutMs: 60_000 })(),
    "a nested call": ({ call }) => call.askNested(2),
    "a stream": ({ call }) => call.askAndYield().toArray(),
    "map()": ({ call, map }) => map(call.askForItem, [1, 2, 3, 4, 5]).toArray(),
    "map() by chunks of one": ({ call, map }) =>
      map(call.askForItem, [1, 2], { chunk: 1 }).toArray(),
    "a broadcast": ({ broadcast }) => broadcast.ask().then((answers) => answers.flat()),
    "a scope": ({ scope }) => scope(({ call }) => call.ask()),
  };

  test.each(Object.keys(ways))("by %s, of several requests at once", async (way) => {
    const pool = create<Asking>("asking-tasks", { threads: 2 });
    const names = ["A", "B", "C"];
    for (let round = 0; round < 2; round++) { // before it is ready, and after
      const seen = await Promise.all(
        names.map((name) =>
          store.run(name, async () => [...new Set(await ways[way]!(pool) as unknown[])])
        ),
      );
      expect(seen).toEqual(names.map((name) => [name]));
    }
  });

  test("if it is the only call of its worker", async () => {
    const pool = create<Unknown>("unknown-asking-tasks", { threads: 1 });
    for (const name of ["A", "B"]) {
      expect(await store.run(name, () => pool.call.askOnce())).toBe(name);
    }
  });

  test("and none if no call does", async () => {
    for (const file of ["asking-tasks", "unknown-asking-tasks"]) {
      const pool = create<Unknown>(file, { threads: 1 });
      noted.length = 0;
      await store.run("A", () => pool.call.keepAsking());
      await until(() => noted.length === 1);
      expect([file, noted]).toEqual([file, ["none"]]);
    }
  });
});

test("the schema of a call has the store of the caller, also if a task calls it", async () => {
  const moduleUrl = new URL("../fixtures/checked-nested-tasks.ts", import.meta.url).href;
  const functions = {}; // without `host` the context of a call is not kept
  const pool = callers.run(
    "creator",
    () =>
      closedAfterTest(
        createPool({ threads: 1, moduleUrl, host: { functions } })({ checked, outer }),
      ),
  );
  seen.length = 0;
  for (const name of ["A", "B"]) {
    expect(await callers.run(name, () => pool.call.checked(1))).toBe(2);
    expect(await callers.run(name, () => pool.call.outer(3))).toBe(4);
  }
  expect(seen).toEqual(["A", "A", "B", "B"]);
});

describe("what heddle/shared calls later has the store of its caller:", () => {
  const inStores = async (
    wait: (map: SharedMap<string, number>, note: Note) => Promise<unknown>,
  ): Promise<void> => {
    const map = new SharedMap<string, number>();
    const seen: Record<string, Set<unknown>> = { A: new Set(), B: new Set(), C: new Set() };
    const waits = Object.keys(seen).map((name) =>
      store.run(name, () => wait(map, () => seen[name]!.add(store.getStore())))
    );
    for (const n of [1, 2, 3]) {
      await pause(2);
      store.run("another", () => map.set("key", n));
    }
    await Promise.all(waits);
    expect(seen).toEqual({ A: new Set(["A"]), B: new Set(["B"]), C: new Set(["C"]) });
  };

  test("the predicate of wait()", async () => {
    await inStores((map, note) => map.wait("key", (n) => (note(), n === 3)));
  });

  test("the function of update()", async () => {
    await inStores((map, note) =>
      map.update("key", async (n) => {
        note();
        await pause(1);
        note();
        return n ?? 0;
      })
    );
  });
});

test("a listener of a pool has the store of where it was added", async () => {
  const pool = closedAfterTest(createPool({ minThreads: 0, maxThreads: 1 })<Tasks>(url));
  const seen: unknown[] = [];
  const listener = (): void => void seen.push(store.getStore());
  store.run("added", () => pool.addEventListener("workerStart", listener));
  await store.run("caller", () => pool.call.twice(1));
  await until(() => seen.length === 1);
  expect(seen).toEqual(["added"]);
});

test("the chunks of map() carry the context of its caller", async () => {
  const pool = closedAfterTest(
    createPool({
      threads: 1,
      context: {
        capture: () => store.getStore(),
        run: new URL("../fixtures/stored-run.ts", import.meta.url),
      },
    })<Tasks>(url),
  );
  await pool.ready;
  const results = store.run(
    "caller",
    () => pool.map(pool.call.contextOf, [1, 2, 3, 4], { chunk: 1, concurrency: 1 }),
  );
  const seen = await store.run("reader", () => results.toArray());
  expect(seen).toEqual(["caller", "caller", "caller", "caller"]);
});

test("a task that the host runs has no store of a call, as in a worker", async () => {
  const { href: moduleUrl } = new URL("../fixtures/stored-run.ts", import.meta.url);
  const inliner = { position: "first", dispatchThreshold: 1 } as const;
  const pool = closedAfterTest(createPool({ threads: 1, moduleUrl, inliner })({ storeOfCaller }));
  const seen = await Promise.all(
    ["A", "B"].map((name) => callers.run(name, () => pool.call.storeOfCaller())),
  );
  expect(seen).toEqual(["none", "none"]);
});

test("subscribers of the tracing channel have the store of the caller", async () => {
  const pool = await pools["a ready pool"]!();
  const seen: unknown[] = [];
  const note = (): void => void seen.push(store.getStore());
  const channel = tracingChannel("heddle:call");
  const subscribers = { start: note, end: note, asyncStart: note, asyncEnd: note, error: note };
  channel.subscribe(subscribers);
  try {
    await Promise.all(["A", "B"].map((name) =>
      store.run(name, async () => {
        await pool.call.twice(1);
        await pool.call.fail().catch(() => {});
      })
    ));
  } finally {
    channel.unsubscribe(subscribers);
  }
  expect(seen.filter((name) => name === "A")).toHaveLength(9);
  expect(seen.filter((name) => name === "B")).toHaveLength(9);
  expect(seen).toHaveLength(18);
});

test("a task that begins while another waits for the host does not run in its context", async () => {
  const given = { host: { functions }, threads: 1, maxConcurrency: 1 };
  const asking = new URL("../fixtures/stored-asking-tasks.ts", import.meta.url);
  const pool = createPool(given)<typeof import("../fixtures/stored-asking-tasks.ts")>(asking);
  const words = sharedWords();
  const waiting = rejection(closedAfterTest(pool).call.askAndWait(words)); // the first request of its worker
  const store = pool.call.storeOf();
  await begun(words);
  expect(await store).toBe(undefined);
  await pool.shutdown(0);
  await waiting;
});
