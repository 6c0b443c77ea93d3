/** What `heddle/shared` refuses: options that it does not know, and values of the wrong kind. */
import { describe, expect, test } from "vitest";
import {
  AtomicCounter,
  AtomicFlag,
  Barrier,
  channel,
  Condition,
  type ElementType,
  Event,
  Mutex,
  Once,
  RwLock,
  select,
  Semaphore,
  shared,
  SharedCache,
  SharedMap,
  SharedVector,
  timer,
  WaitGroup,
} from "../../src/mod-shared.ts";
import { createSharedPool } from "../fixtures/shared-tasks.ts";
import { closedAfterTest, rejection } from "../support/conformance.ts";

/** The error of something that throws or rejects. */
async function errorOf(f: () => unknown): Promise<Error & { readonly code?: string }> {
  return await rejection((async () => await f())()) as Error;
}

const refusal = (text: RegExp | string): unknown =>
  expect.objectContaining({
    code: "HEDDLE_INVALID_ARGUMENT",
    message: typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text),
  });

const map = new SharedMap<string, unknown>();
const mutex = new Mutex();
const rwLock = new RwLock();
const semaphore = new Semaphore(2);
const condition = new Condition();
const [sender, receiver] = channel<number>();

type Take = (options: never) => unknown;

/** What takes options, with one that is misspelt and what is meant. */
const takers: readonly (readonly [string, Take, string, string])[] = [
  ["new SharedMap", (options) => new SharedMap(options), "maxByte", "maxBytes"],
  ["new SharedMap", (options) => new SharedMap(options), "ttlMS", "ttlMs"],
  ["new SharedCache", (options) => new SharedCache(options), "maxEntrys", "maxEntries"],
  ["new SharedVector", (options) => new SharedVector("f64", options), "lenght", "length"],
  ["channel", (options) => channel(options), "capcity", "capacity"],
  ["shared.map", (options) => shared.map("options", options), "maxbytes", "maxBytes"],
  ["shared.cache", (options) => shared.cache("options", options), "maxEntrys", "maxEntries"],
  ["shared.channel", (options) => shared.channel("options", options), "capcity", "capacity"],
  ["shared.vector", (options) => shared.vector("options", "i8", options), "maxLenght", "maxLength"],
  ["set", (options) => map.set("k", 1, options), "ttlMS", "ttlMs"],
  ["update", (options) => map.update("k", () => 1, options), "timeout", "timeoutMs"],
  ["wait", (options) => map.wait("k", () => true, options), "sginal", "signal"],
  ["lock", (options) => mutex.lock(options), "timeout", "timeoutMs"],
  ["tryLock", (options) => mutex.tryLock(options), "recovers", "recover"],
  ["read", (options) => rwLock.read(options), "timeoutMS", "timeoutMs"],
  ["write", (options) => rwLock.write(options), "timeout", "timeoutMs"],
  ["tryRead", (options) => rwLock.tryRead(options), "recovered", "recover"],
  ["tryWrite", (options) => rwLock.tryWrite(options), "recovered", "recover"],
  ["acquire", (options) => semaphore.acquire(1, options), "timeout", "timeoutMs"],
  [
    "wait",
    async (options) => {
      const guard = await mutex.lock();
      try {
        await condition.wait(guard, options);
      } finally {
        guard.release();
      }
    },
    "timeout",
    "timeoutMs",
  ],
  ["wait", (options) => new Event().wait(options), "timeout", "timeoutMs"],
  ["run", (options) => new Once().run(() => {}, options), "timeout", "timeoutMs"],
  ["wait", (options) => new Barrier(2).wait(options), "timeout", "timeoutMs"],
  ["wait", (options) => new WaitGroup().wait(options), "recovr", "recover"],
  ["send", (options) => sender.send(1, options), "timeout", "timeoutMs"],
  ["receive", (options) => receiver.receive(options), "timeout", "timeoutMs"],
  ["select", (options) => select([timer(0)], options), "baised", "biased"],
];

describe.each(takers)("%s", (name, take, wrong, right) => {
  test(`refuses "${wrong}", and what is no object of options`, async () => {
    const error = await errorOf(() => take({ [wrong]: 5 } as never));
    expect(error).toEqual(refusal(`has no option "${wrong}"; did you mean "${right}"?`));
    expect(error.message).toContain(name);
    for (const options of [5, "text", null, [], new Map(), () => {}]) {
      expect(await errorOf(() => take(options as never))).toEqual(
        refusal(/takes an object of options, got/),
      );
    }
    // What is refused has begun nothing.
    expect([sender.size, map.size, semaphore.available]).toEqual([0, 0, 2]);
    mutex.tryLock()!.release();
    rwLock.tryWrite()!.release();
  });
});

test("limits and signals of a wrong kind are refused everywhere", async () => {
  const waits = takers.filter(([, , , right]) => right === "timeoutMs" || right === "signal");
  expect(waits.length).toBeGreaterThan(10);
  for (const [, take] of waits) {
    for (const timeoutMs of ["5", -1, NaN, null, 2 ** 53]) {
      expect(await errorOf(() => take({ timeoutMs } as never))).toEqual(
        refusal(/^timeoutMs must be a number of milliseconds/),
      );
    }
    for (const signal of [{}, "text", new AbortController()]) {
      expect(await errorOf(() => take({ signal } as never))).toEqual(
        refusal(/^signal must be an AbortSignal, got/),
      );
    }
  }
  expect(await errorOf(() => mutex.lock({ recover: 1 as never }))).toEqual(
    refusal("recover must be a boolean, got 1"),
  );
  expect(await errorOf(() => select([timer(0)], { biased: "no" as never }))).toEqual(
    refusal('biased must be a boolean, got "no"'),
  );
  (await mutex.lock({ signal: null, timeoutMs: Infinity })).release();
});

test("the blocking forms refuse them too, and a signal, which they could not hear", async () => {
  const { call } = closedAfterTest(createSharedPool({ threads: 1 }));
  const [end, other] = channel<number>();
  const calls: readonly (readonly [object, string, ...unknown[]])[] = [
    [mutex, "lockSync"],
    [rwLock, "readSync"],
    [rwLock, "writeSync"],
    [semaphore, "acquireSync", 1],
    [map, "waitSync", "k", undefined],
    [new Event(), "waitSync"],
    [new Barrier(2), "waitSync"],
    [new WaitGroup(), "waitSync"],
    [end, "sendSync", 1],
    [other, "receiveSync"],
  ];
  for (const [object, method, ...args] of calls) {
    const refused = async (options: unknown): Promise<Error> =>
      await errorOf(() => call.invoke([object, method, ...args, options]));
    expect(await refused({ timeout: 5 })).toEqual(
      refusal(`${method}() has no option "timeout"; did you mean "timeoutMs"?`),
    );
    expect(await refused({ signal: undefined })).toEqual(refusal(`has no option "signal"`));
    expect(await refused(5)).toEqual(refusal(`${method}() takes an object of options, got 5`));
    expect(await refused({ timeoutMs: "5" })).toEqual(refusal(/^timeoutMs must be/));
  }
});

test("functions, guards and counts of a wrong kind are refused", async () => {
  const foreign = { release() {} };
  const released = await mutex.lock();
  released.release();
  for (
    const f of [
      () => map.update("k", 5 as never),
      () => map.wait("k", 5 as never),
      () => map.getOrInsertComputed("k", 5 as never),
      () => map.getView("k", 5 as never),
      () => map.forEach(5 as never),
      () => new Once().run("f" as never),
      () => condition.wait(foreign as never),
      () => condition.wait(released),
      () => condition.notify("1" as never),
      () => condition.notify(-1),
      () => new Barrier("2" as never),
      () => new WaitGroup().add("1" as never),
      () => new AtomicCounter("1" as never),
      () => semaphore.acquire({ timeoutMs: 5 } as never),
      () => timer("5" as never),
      () => select(5 as never),
      () => select([Promise.resolve(1)] as never),
    ]
  ) {
    expect(await errorOf(f)).toMatchObject({ code: "HEDDLE_INVALID_ARGUMENT" });
  }
  expect(map.size).toBe(0);
});

test("what takes no arguments says so", () => {
  for (const Type of [Mutex, RwLock, Condition, WaitGroup, Once, Event, AtomicFlag]) {
    for (const argument of ["name", { timeoutMs: 5 }, null]) {
      expect(() => new Type(argument as never)).toThrow(
        refusal(`new ${Type.name}() takes no arguments, got`),
      );
    }
  }
});

test("values are shortened in messages", async () => {
  const long = "k".repeat(70_000);
  const small = new SharedMap<string, unknown>({ maxBytes: 2 ** 16 });
  const big = new SharedMap<string, unknown>({ maxBytes: 2 ** 20 }).set(long, 5);
  const vector = new SharedVector("u8", { length: 1 });
  for (
    const f of [
      () => small.set(long, 1),
      () => big.set(long, () => {}),
      () => big.getView(long, () => 1),
      () => big.wait(long, () => false, { timeoutMs: 1 }),
      () => big.set("k", 1, { [long]: 1 } as never),
      () => big.set("k", 1, { ttlMs: long as never }),
      () => mutex.lock(long as never),
      () => mutex.lock({ timeoutMs: long as never }),
      () => new Semaphore(long as never),
      () => new Barrier(long as never),
      () => new AtomicCounter(long as never),
      () => new SharedVector(long as never),
      () => new SharedMap({ maxBytes: long as never }),
      () => channel({ capacity: long as never }),
      () => timer(long as never),
      () => vector.set(long as never, 1),
      () => vector.set(0, long as never),
      () => vector.push(long as never),
      () => vector.view(long as never),
      () => shared.mutex(long).then(() => shared.event(long)),
    ]
  ) {
    const { message } = await errorOf(f);
    expect(message).toMatch(/\w/);
    expect(message.length).toBeLessThan(600);
  }
  expect(() => big.set("k", 1, { ttlMs: Symbol("s") as never })).toThrow(refusal("Symbol(s)"));
  expect(() => vector.set(Symbol("s") as never, 1)).toThrow(RangeError);
});

describe("a vector refuses values of a wrong kind and changes nothing", () => {
  const types: readonly (readonly [ElementType, unknown])[] = [
    ...(["i8", "u8", "u8clamped", "i16", "u16", "i32", "u32", "f32", "f64"] as const)
      .map((type) => [type, 7] as const),
    ["i64", 7n],
    ["u64", 7n],
  ];
  test.each(types)("%s", (type, right) => {
    const vector = new SharedVector<ElementType>(type, { length: 1, maxLength: 2 });
    vector.set(0, right as never);
    const kind = typeof right;
    const isAtomic = !/^f|clamped/.test(type);
    const { atomic } = isAtomic ? vector : { atomic: undefined };
    for (const value of [kind === "number" ? 1n : 1, "1", "x", undefined, null, {}, [2], true]) {
      const wrong = value as never;
      const text = refusal(`a shared vector of ${type}: it takes a ${kind}`);
      expect(() => vector.set(0, wrong)).toThrow(text);
      expect(() => vector.push(wrong)).toThrow(text);
      if (atomic === undefined) continue;
      for (const name of ["store", "add", "sub", "and", "or", "xor", "exchange"] as const) {
        expect(() => atomic[name](0, wrong)).toThrow(text);
      }
      expect(() => atomic.compareExchange(0, wrong, right as never)).toThrow(text);
      expect(() => atomic.compareExchange(0, right as never, wrong)).toThrow(text);
    }
    expect([...vector]).toEqual([right]);
  });

  test("numbers beyond the type wrap as in typed arrays", () => {
    const vector = new SharedVector("u8", { length: 2 });
    vector.set(0, -1);
    vector.set(1, 2.9);
    expect([...vector]).toEqual([255, 2]);
  });
});

describe("a named object", () => {
  test("is the same with a default spelled out", async () => {
    const same: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["map", () => shared.map("spelled map")],
      ["map", () => shared.map("spelled map", {})],
      ["map", () => shared.map("spelled map", { ttlMs: Infinity })],
      ["map", () => shared.map("spelled map", { maxBytes: 2 ** 26, ttlMs: undefined as never })],
      ["cache", () => shared.cache("spelled cache", { maxEntries: Infinity })],
      ["cache", () => shared.cache("spelled cache")],
      ["vector", () => shared.vector("spelled vector", "i32")],
      ["vector", () => shared.vector("spelled vector", "i32", { length: 0, maxLength: 2 ** 20 })],
      ["vector", () => shared.vector("spelled length", "i32", { length: 9 })],
      ["vector", () => shared.vector("spelled length", "i32", { length: 9, maxLength: 9 })],
    ];
    const known = new Map<string, unknown>();
    for (const [kind, make] of same) {
      const object = await make();
      expect(object).toBeTypeOf("object");
      const key = /"(spelled \w+)"/.exec(make.toString())?.[1] ?? kind;
      if (known.has(key)) expect(object).toBe(known.get(key));
      known.set(key, object);
    }
    expect(known.size).toBe(4);
    const [first] = await shared.channel<number>("spelled channel");
    const [, last] = await shared.channel<number>("spelled channel", { capacity: 64 });
    first.trySend(1);
    expect(last.tryReceive()).toEqual({ value: 1 });
  });

  test("of other options is refused by both, and wrong options by their own error", async () => {
    await shared.cache("conflict", { maxEntries: 5 });
    expect(await errorOf(() => shared.cache("conflict"))).toEqual(
      refusal(
        'The shared cache "conflict" was made with maxBytes 67108864, ttlMs Infinity, maxEntries 5, ' +
          "and is wanted as a cache with maxBytes 67108864, ttlMs Infinity, maxEntries Infinity",
      ),
    );
    expect(await errorOf(() => shared.map("conflict"))).toEqual(refusal(/wanted as a map with/));
    expect(await errorOf(() => shared.cache("conflict", { maxEntries: 0 }))).toEqual(
      refusal("maxEntries must be"),
    );
    expect(await errorOf(() => shared.semaphore("conflict", 0))).toEqual(refusal("permits"));
    expect(await errorOf(() => shared.barrier("conflict", 0))).toEqual(refusal("threads"));
    expect(await errorOf(() => shared.vector("conflict", "f16" as never))).toEqual(refusal("f16"));
  });
});

test("structured clone refuses handles, which would arrive as empty objects", () => {
  const [end, other] = channel();
  const handles = [
    new SharedMap(),
    new SharedCache(),
    new SharedVector("i8"),
    new Mutex(),
    new Semaphore(1),
    new Event(),
    new AtomicCounter(),
    end,
    other,
  ];
  const { port1 } = new MessageChannel();
  for (const handle of handles) {
    expect(() => structuredClone(handle)).toThrow(
      expect.objectContaining({ name: "DataCloneError" }),
    );
    expect(() => structuredClone({ deep: [handle] })).toThrow(/clone/);
    expect(() => port1.postMessage(handle)).toThrow(/clone/);
    expect(Object.keys(handle)).toEqual([]);
    expect(Object.prototype.toString.call(handle)).toBe("[object Object]");
    expect(handle).toEqual(handle);
    expect("register" in handle).toBe(false);
  }
  port1.close();
});

test("what enter() returns is released without `using`", async () => {
  const group = new WaitGroup();
  const part = group.enter();
  const other = group.enter();
  expect(group.pending).toBe(2);
  part.release();
  part.release();
  expect(group.pending).toBe(1);
  other[Symbol.dispose]();
  await group.wait();
});
