import { describe, expect, test } from "vitest";
import { createReversedPool } from "../fixtures/tasks.ts";
import { release, sharedWords, testPool } from "../support/conformance.ts";

describe("calls", () => {
  test("calls take no, one, several or many arguments", async () => {
    const { call } = testPool();
    expect(await call.add(1, 2)).toBe(3);
    expect(await call.nothing()).toBeUndefined();
    expect(await call.count()).toBe(0);
    expect(await call.count(...new Array(500).fill(1))).toBe(500);
    expect(await call.echoAll(1, "a", null, undefined, true)).toEqual([
      1,
      "a",
      null,
      undefined,
      true,
    ]);
  });

  test("a pool calls bare functions, task() and a renamed importTask()", async () => {
    const { call } = testPool();
    expect(await call.square(7)).toBe(49);
    expect(await call.renamed(7)).toBe("number 7");
  });

  test("the worker looks tasks up by name", async () => {
    const pool = createReversedPool();
    expect(await pool.call.add(20, 1)).toBe(21);
    expect(await pool.call.square(5)).toBe(25);
    expect(await pool.call.renamed(1)).toBe("number 1");
    await pool.shutdown();
  });

  test("calls made before the workers are ready settle", async () => {
    const { call, ready } = testPool({ threads: 2 });
    const early = Promise.all([call.add(1, 1), call.echo({ a: [1] }), call.sleep(1, "s")]);
    expect(await early).toEqual([2, { a: [1] }, "s"]);
    await ready;
  });

  test("a module keeps its state between calls in its worker", async () => {
    const { call } = testPool();
    const numbers = await Promise.all(Array.from({ length: 100 }, () => call.callNumber()));
    expect(numbers).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  });

  test.each([1, 2, 3])("10,000 concurrent calls run on %i workers", async (threads) => {
    const { call } = testPool({ threads });
    const sums = await Promise.all(Array.from({ length: 10_000 }, (_, n) => call.add(n, 0.5)));
    expect(sums).toEqual(Array.from({ length: 10_000 }, (_, n) => n + 0.5));
  });

  test("10,000 sequential calls run", async () => {
    const { call } = testPool();
    const answers: unknown[] = [];
    for (let n = 0; n < 10_000; n++) answers.push(await call.echo(n));
    expect(answers).toEqual(answers.map((_, n) => n));
  });

  test("calls settle in the order in which their tasks finish", async () => {
    const { call } = testPool();
    const order: string[] = [];
    const note = (name: string) => () => order.push(name);
    const [longest, shorter] = [sharedWords(), sharedWords()];
    const long = call.answerWhen(longest).then(note("long"));
    const short = call.answerWhen(shorter).then(note("short"));
    await call.echo(1).then(note("sync"));
    release(shorter);
    await short;
    release(longest);
    await long;
    expect(order).toEqual(["sync", "short", "long"]);
  });

  test("sync and async tasks run concurrently in one worker", async () => {
    const { call } = testPool();
    const waiting = call.sleep(60_000);
    waiting.catch(() => {}); // rejected when the pool closes
    for (let n = 0; n < 200; n++) expect(await call.add(n, 1)).toBe(n + 1);
    expect(await call.microtasks(50)).toBe(50);
    expect(await Promise.all([call.sleep(5, "a"), call.asyncEcho("b")])).toEqual(["a", "b"]);
  });

  test("async calls beyond maxConcurrency wait", async () => {
    const { call } = testPool({ maxConcurrency: 3 });
    const sleeps = Array.from({ length: 30 }, (_, n) => call.sleep(2, n));
    expect(await Promise.all(sleeps)).toEqual(Array.from({ length: 30 }, (_, n) => n));
    const mixed = await Promise.all([
      ...Array.from({ length: 500 }, (_, n) => call.asyncEcho(n)),
      ...Array.from({ length: 500 }, (_, n) => call.echo(n)),
    ]);
    expect(mixed).toHaveLength(1000);
  });

  test("take as many arguments as a function of the runtime does", async () => {
    const pool = testPool({ threads: 1 });
    const many = new Array<number>(80_000).fill(1);
    expect(await pool.call.count(...many)).toBe(80_000);
    expect(await pool.call.count({}, ...many)).toBe(80_001);
    expect(await pool.call.count(Promise.resolve(1), ...many)).toBe(80_001);
    expect(await pool.call.count.with({ timeoutMs: 60_000 })(...many)).toBe(80_000);
    expect(await pool.broadcast.count(...many)).toEqual([80_000]);
    expect(pool.sync.count(...many)).toBe(80_000);
    expect(pool.sync.count.with({ timeoutMs: 60_000 })(...many)).toBe(80_000);
  });

  test("promises as arguments are awaited on the host", async () => {
    const { call } = testPool();
    expect(await call.add(Promise.resolve(1), 2)).toBe(3);
    expect(await call.echo(Promise.resolve({ a: 1 }))).toEqual({ a: 1 });
    await expect(call.add(Promise.reject(new RangeError("no")), 2)).rejects.toThrow(RangeError);
  });

  test("thenables are awaited in the worker", async () => {
    const { call } = testPool();
    expect(await call.thenable("value")).toBe("value");
    await expect(call.badThen()).rejects.toThrow(RangeError);
  });

  test("more data than the rings hold arrives in both directions", async () => {
    const { call } = testPool({ ringBytes: 4096 });
    const values = Array.from({ length: 2000 }, (_, n) => `${n} `.repeat(n % 150));
    expect(await Promise.all(values.map((value) => call.echo(value)))).toEqual(values);
  });

  test("the request and the response ring can have different sizes", async () => {
    const values = Array.from({ length: 600 }, (_, n) => `${n} `.repeat(n % 300));
    const sizes = [{ requests: 1024, responses: 65_536 }, { requests: 65_536, responses: 1024 }];
    for (const ringBytes of sizes) {
      const { call } = testPool({ ringBytes });
      expect(await Promise.all(values.map((value) => call.echo(value)))).toEqual(values);
    }
  });

  test("responses wait in the worker while the response ring is full", async () => {
    const { call } = testPool({ ringBytes: 4096 });
    const answers = await Promise.all(Array.from({ length: 500 }, () => call.large(900)));
    expect(answers.every((bytes) => bytes.length === 900 && bytes[899] === 7)).toBe(true);
    const later = Promise.all(Array.from({ length: 300 }, () => call.sleep(1, "x".repeat(800))));
    expect((await later).every((text) => (text as string).length === 800)).toBe(true);
  });

  test("two pools and a pool inside a worker run concurrently", async () => {
    const one = testPool();
    const two = testPool();
    expect(await Promise.all([one.call.add(1, 2), two.call.add(3, 4)])).toEqual([3, 7]);
    expect(await one.call.nested(20, 22)).toBe(42);
  });

  test("the statistics match the calls made", async () => {
    const pool = testPool({ threads: 2 });
    await pool.ready;
    expect(pool.stats()).toMatchObject({ inFlight: 0, queued: 0, ready: 2, workersStarted: 2 });
    const call = pool.call.sleep(20);
    expect(pool.stats().inFlight).toBe(1);
    await call;
    expect(pool.stats()).toMatchObject({ inFlight: 0, workersLost: 0, lateResponses: 0 });
  });
});
