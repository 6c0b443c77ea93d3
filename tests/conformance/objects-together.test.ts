/** Objects of workers as arguments, listeners, and objects that are made again. */
import { describe, expect, test } from "vitest";
import {
  CallbackEndedError,
  createPool,
  listener,
  ObjectLostError,
  type Pool,
  type PoolOptions,
  WorkerLostError,
} from "../../src/mod.ts";
import { closedAfterTest, rejection, until } from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";

type Module = typeof import("../fixtures/spawned.ts");

const module = new URL("../fixtures/spawned.ts", import.meta.url);

const modulePool = (options: PoolOptions = {}): Pool<Module> =>
  closedAfterTest(createPool({ threads: 2, ...options })<Module>(module));

const gone = async (call: Promise<unknown>): Promise<ObjectLostError> => {
  const error = await rejection(call);
  expect(error).toBeInstanceOf(ObjectLostError);
  return error as ObjectLostError;
};

describe("a handle as an argument", () => {
  test.each(["the same worker", "another worker"])(
    "is an object that tasks and methods call, in %s",
    async (where) => {
      const pool = modulePool();
      await pool.ready;
      const counter = await pool.spawn.Counter("a", 5);
      const placement = where === "another worker" ? "spread" as const : counter;
      const front = await pool.spawn.with({ placement }).Front(counter);
      expect(await front.workerId() === await counter.workerId()).toBe(placement === counter);
      expect(await front.add(2)).toBe(1007);
      expect(await front.use(counter, counter)).toBe(true);
      expect(await pool.call.addTo(counter, 1)).toBe(8);
      expect(await pool.call.isThenable(counter)).toBe(false);
      expect(await counter.$get("count")).toBe(8);
      expect(await front.call("$get", "count")).toBe(8);
      const list = [1, { deep: new Map([[1, 2n]]) }];
      expect(await front.call("echo", list)).toEqual(list);
      expect(await rejection(front.call("fail"))).toMatchObject({
        name: "RangeError",
        message: "a fails",
      });
      for (
        const [name, text] of [["addLate", 'no method "addLate"; did you mean "addLater"?'], [
          "upTo",
          "a generator",
        ]]
      ) {
        expect(await rejection(front.call(name!))).toMatchObject({
          code: "HEDDLE_INVALID_ARGUMENT",
          message: expect.stringContaining(text!),
        });
      }
      expect(await rejection(front.call("echo", () => 1))).toMatchObject({
        name: "DataCloneError",
      });
      expect(await front.call("addLater", 1, 5)).toBe(9);
      await counter.$release();
      expect((await gone(front.add(1))).message).toMatch(/is gone: it was released/);
    },
  );

  test("may be one of another pool, and be nested in other values", async () => {
    const other = modulePool({ threads: 1 });
    const counter = await other.spawn.Counter("a", 1);
    const pool = modulePool({ threads: 1 });
    const front = await pool.spawn.Front(counter);
    expect(await front.add(1)).toBe(1002);
    expect(await pool.call.addTo(counter, 1)).toBe(3);
    await other.shutdown();
    await gone(front.add(1));
  });

  test("is refused where no call waits for it", async () => {
    const pool = modulePool({ threads: 1 });
    const counter = await pool.spawn.Counter("a", 1);
    expect(await rejection(pool.broadcast.addTo(counter as never, 1)))
      .toMatchObject({ name: "DataCloneError" });
    expect(await pool.call.addTo(counter, 1)).toBe(2);
  });

  test("objects that call each other, in any number, in two workers and in one", async () => {
    for (const threads of [1, 2]) {
      const pool = modulePool({ threads, maxConcurrency: 4 });
      await pool.ready;
      const [one, other] = [await pool.spawn.Peer(), await pool.spawn.Peer()];
      await one.meet(other);
      await other.meet(one);
      expect(await one.ping(50)).toBe(50);
      const deep = Array.from({ length: 1000 }, (_, n) => (n % 2 ? one : other).ping(n % 7));
      expect(await Promise.all(deep)).toEqual(deep.map((_, n) => n % 7));
      // More than a worker gets at once: those that are waited for come first.
      const many = Array.from({ length: 4000 }, (_, n) => (n % 2 ? one : other).ping(1 + n % 3));
      expect(await Promise.all(many)).toEqual(many.map((_, n) => 1 + n % 3));
    }
  });

  test("of a worker that dies: each call settles once", async () => {
    const pool = modulePool();
    await pool.ready;
    for (let round = 0; round < 8; round++) {
      const [one, other] = [await pool.spawn.Peer(), await pool.spawn.Peer()];
      await one.meet(other);
      await other.meet(one);
      const calls = Array.from({ length: 100 }, (_, n) => (n % 2 ? one : other).ping(n % 9));
      if (round % 2 === 1) await pause(round / 4);
      calls.push((round % 3 ? one : other).exit(1) as never);
      for (const result of await Promise.allSettled(calls)) {
        if (result.status === "rejected") expect(result.reason).toBeInstanceOf(ObjectLostError);
      }
      await Promise.all([one.$release(), other.$release()]);
    }
  });

  test("its end waits for calls of the same worker, and may call others", async () => {
    const pool = modulePool({ threads: 1 });
    const counter = await pool.spawn.Counter("a");
    const asking = await pool.spawn.Asking(counter);
    const call = asking.askLater(1, 100);
    let hasEnded = false;
    void call.then(() => hasEnded = true);
    await pause(20);
    await counter.$release();
    expect(hasEnded).toBe(true);
    expect(await pool.call.takeLog()).toEqual(["dispose a"]);
    expect(await call).toBe(1);
    const other = createPool({ threads: 1 })<Module>(module);
    const seen: unknown[] = [];
    const words = await other.spawn.Counter("b", 5);
    await using front = await other.spawn.Front(words);
    await front.listen(listener((n: number) => void seen.push(n)));
    const last = await other.spawn.Asking(words);
    await last.ask(1, 0);
    await last.$release();
    expect(await other.call.takeLog()).toEqual(["asked 7"]);
    await other.shutdown();
  });

  test("works while the host blocks", async () => {
    const pool = modulePool();
    await pool.ready;
    const counter = await pool.spawn.Counter("a");
    for (let n = 1; n <= 6; n++) {
      expect(pool.sync.addTo.with({ affinity: n })(counter, 1)).toBe(n);
    }
  });

  test("calls in flight go on while the pool shuts down", async () => {
    const pool = createPool({ threads: 2 })<Module>(module);
    await pool.ready;
    const counter = await pool.spawn.Counter("a");
    const front = await pool.spawn.Front(counter);
    const calls = [front.call("addLater", 1, 30), front.add(1)];
    await pool.shutdown();
    const [later, now] = await Promise.all(calls);
    expect(later).toBe(1);
    expect([1001, 1002]).toContain(now); // on a busy machine the later one may be the first
  });
});

describe("a listener", () => {
  test("is called after the call that brought it, until it is disposed of", async () => {
    const pool = modulePool({ threads: 1 });
    const front = await pool.spawn.Front();
    const seen: number[] = [];
    const heard = listener((n: number) => {
      seen.push(n);
      return n * 2;
    });
    expect(await front.listen(heard)).toBe(1);
    expect(await front.listen(heard)).toBe(1); // the same function
    expect(await front.tell(1)).toEqual([2]);
    await front.tellLater(2, 20);
    await until(() => seen.length === 2);
    expect(seen).toEqual([1, 2]);
    expect(await heard(3)).toBe(6);
    const refusing = listener((): never => {
      throw new RangeError("not now");
    });
    await front.listen(refusing);
    expect(await rejection(front.tell(4))).toMatchObject({ name: "RangeError" });
    expect(await front.forget(refusing)).toBe(true);
    heard[Symbol.dispose]();
    expect(await rejection(front.tell(5))).toBeInstanceOf(CallbackEndedError);
    expect(await front.forget(heard)).toBe(true);
    expect(await front.tell(6)).toEqual([]);
    expect(() => listener(5 as never)).toThrow(/takes a function/);
  });
});

describe("an object that is made again", () => {
  test("when its worker dies: calls in flight are lost, later ones go on", async () => {
    const pool = modulePool();
    const counter = await pool.spawn.with({ restart: true }).Counter("a", 1);
    expect(counter.$generation).toBe(1);
    expect(await counter.add(1)).toBe(2);
    const front = await pool.spawn.with({ placement: counter, restart: true }).Front(counter);
    const waiting = counter.addLater(1, 60_000);
    expect((await gone(counter.exit(3))).cause).toBeInstanceOf(WorkerLostError);
    await gone(waiting);
    const calls = [counter.add(1), counter.add(1), counter.upTo(5).toArray()];
    expect(await Promise.all(calls)).toEqual([2, 3, [3, 4]]);
    expect(counter.$generation).toBe(2);
    expect(await front.add(1)).toBe(1006);
    expect(await front.workerId()).toBe(await counter.workerId());
    expect(await counter.add.with({ timeoutMs: 5000 })(1)).toBe(7);
    await counter.$release();
    await gone(counter.add(1));
  });

  test("calls that wait for it begin in their order", async () => {
    const pool = modulePool({ threads: 1 });
    const counter = await pool.spawn.with({ restart: true }).Counter("a");
    await gone(counter.exit(3));
    const calls = Array.from({ length: 50 }, () => counter.add(1));
    const later = calls[0]!.then(() => Array.from({ length: 50 }, () => counter.add(1)));
    const results = [...await Promise.all(calls), ...await Promise.all(await later)];
    expect(results).toEqual(results.map((_, index) => index + 1));
  });

  test.each<PoolOptions>([{}, { maxConcurrency: 1, maxQueue: 100 }])(
    "however many calls wait for it, and fill its workers and the queue: %j",
    async (options) => {
      const pool = modulePool({ threads: 2, ...options });
      await pool.ready;
      const counter = await pool.spawn.with({ restart: true }).Counter("a");
      const asking = await pool.spawn.Asking(counter);
      const count = options.maxQueue === undefined ? 2500 : 60;
      const words = new Int32Array(new SharedArrayBuffer(4));
      const calls = Array.from({ length: count }, () => asking.askWhen(1, words));
      await gone(counter.exit(1));
      Atomics.store(words, 0, 1); // none was in flight in the worker that has died
      const results = await Promise.allSettled(calls);
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(count);
      expect(counter.$generation).toBe(2);
      expect(await counter.add(0)).toBe(count);
    },
  );

  test("with a full queue, with an object beside it, and with promises among its arguments", async () => {
    const pool = modulePool({ threads: 1, maxQueue: 3, maxConcurrency: 1 });
    const counter = await pool.spawn.with({ restart: true }).Counter(Promise.resolve("a"), 5);
    const beside = await pool.spawn.with({ restart: true, placement: counter }).Front(counter);
    const dying = gone(counter.exit(1));
    const full = Array.from({ length: 3 }, () => pool.call.block(20));
    await dying;
    await Promise.allSettled(full);
    expect(await counter.add(1)).toBe(6);
    expect(await beside.add(1)).toBe(1007);
    const next = await pool.spawn.with({ placement: counter }).Counter("b");
    expect(await next.workerId()).toBe(await counter.workerId());
  });

  test("stays lost after too many deaths, if it cannot be made, and when it is released", async () => {
    const pool = modulePool({ threads: 1 });
    const twice = await pool.spawn.with({ restart: { max: 2, withinMs: 60_000 } }).Counter("a");
    for (let death = 0; death < 3; death++) {
      await gone(twice.exit(1));
      if (death < 2) expect(await twice.add(1)).toBe(1);
    }
    expect((await gone(twice.add(1))).cause).toBeInstanceOf(WorkerLostError);
    const words = new Int32Array(new SharedArrayBuffer(4));
    const varying = await pool.spawn.with({ restart: true }).Varying(words);
    expect(await varying.first()).toBe("first");
    await gone(varying.exit(1));
    expect((await gone(varying.second())).cause).toMatchObject({
      message: expect.stringContaining("other methods"),
    });
    await gone(varying.second());
    const released = await pool.spawn.with({ restart: true }).Counter("d");
    await gone(released.exit(1));
    const call = released.add(5);
    const end = released.$release();
    expect(await call).toBe(5);
    await end;
    await gone(released.add(1));
    for (const restart of [5, { max: 0 }, { withinMs: "1" }, { replay: () => {} }]) {
      expect(await rejection(pool.spawn.with({ restart: restart as never }).Counter("e")))
        .toMatchObject({ code: "HEDDLE_INVALID_ARGUMENT" });
    }
  });

  test("is not made again when its pool shuts down", async () => {
    const pool = createPool({ threads: 1 })<Module>(module);
    const counter = await pool.spawn.with({ restart: true }).Counter("a");
    await pool.shutdown();
    await gone(counter.add(1));
    for (const timeoutMs of [0, 5000]) {
      const other = createPool({ threads: 2 })<Module>(module);
      const dying = await other.spawn.with({ restart: true }).Counter("b");
      const beside = await other.spawn.with({ restart: true, placement: dying }).Counter("c");
      await gone(dying.exit(1));
      const late = dying.add(1).catch((error: unknown) => error);
      await other.shutdown(timeoutMs);
      await late;
      await Promise.all([dying.$release(), beside.$release()]);
      await rejection(dying.add(1));
      await rejection(other.spawn.with({ placement: dying }).Counter("d"));
    }
  });

  test("while the host blocks: whoever waits for that is refused", async () => {
    const pool = modulePool();
    await pool.ready;
    await until(() => pool.stats().ready === 2);
    const counter = await pool.spawn.with({ restart: true }).Counter("a");
    await gone(counter.exit(1));
    try {
      expect(pool.sync.addTo(counter, 1)).toBe(1);
    } catch (error) {
      expect(error).toMatchObject({ code: "HEDDLE_DEADLOCK" });
    }
    await until(() => counter.$generation === 2);
    expect(await pool.call.addTo(counter, 1)).toBeGreaterThan(0);
  });

  test("beside another that is made again, with arguments that are refused", async () => {
    const pool = modulePool();
    const counter = await pool.spawn.with({ restart: true }).Counter("a");
    await gone(counter.exit(1));
    const refused = Promise.reject<string>(new RangeError("not this"));
    expect(await rejection(pool.spawn.with({ placement: counter }).Counter(refused)))
      .toMatchObject({ name: "RangeError" });
  });
});

test.each<PoolOptions>([{ transport: "messages" }, { workers: "processes" }])(
  "in workers of other kinds: %j",
  async (options) => {
    const pool = modulePool(options);
    await pool.ready;
    const counter = await pool.spawn.with({ restart: true }).Counter("a", 1);
    const front = await pool.spawn.Front(counter);
    expect(await front.add(1)).toBe(1002);
    const seen: number[] = [];
    await front.listen(listener((n: number) => void seen.push(n)));
    await front.tellLater(7, 1);
    await until(() => seen.length === 1);
    await gone(counter.exit(1));
    expect(await front.add(5)).toBe(1006);
  },
);
