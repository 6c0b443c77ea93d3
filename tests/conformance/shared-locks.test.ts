/** Locks that threads share: exclusion, fairness, deaths, and waits that end early. */
import { describe, expect, test } from "vitest";
import {
  AtomicCounter,
  AtomicFlag,
  Barrier,
  Condition,
  Event,
  Mutex,
  Once,
  RwLock,
  Semaphore,
  SharedMap,
  WaitGroup,
} from "../../src/mod-shared.ts";
import { createSharedPool, type SharedPool } from "../fixtures/shared-tasks.ts";
import { closedAfterTest, rejection, until } from "../support/conformance.ts";
import { pause } from "../support/runtime.ts";

const pool = (...args: Parameters<typeof createSharedPool>): SharedPool =>
  closedAfterTest(createSharedPool(...args));

/** A worker has the mutex, and is killed by the end of the call. */
async function dieWith(mutex: Mutex): Promise<SharedPool> {
  const made = pool({ threads: 2, hardTimeoutMs: 500 });
  const event = new Event();
  const call = rejection(made.call.holdForEver([mutex, event]));
  await event.wait();
  expect(mutex.tryLock()).toBeUndefined();
  expect(await call).toMatchObject({ code: "HEDDLE_TIMEOUT" });
  return made;
}

describe("a mutex", () => {
  test("excludes workers from each other and from the host", async () => {
    const { call } = pool();
    const [mutex, map, counter] = [
      new Mutex(),
      new SharedMap<string, number>(),
      new AtomicCounter(),
    ];
    const workers = [1, 2, 3, 4].map(() => call.countUp([mutex, map, counter, 500]));
    for (let time = 0; time < 200; time++) {
      using _guard = await mutex.lock();
      const before = map.get("count") ?? 0;
      await Promise.resolve();
      map.set("count", before + 1);
    }
    await Promise.all(workers);
    expect(map.get("count")).toBe(2200);
    expect(counter.value).toBe(2000);
  });

  test("is given in the order of asking, and only to those who still want it", async () => {
    const mutex = new Mutex();
    const first = await mutex.lock();
    expect(mutex.isHeld).toBe(true);
    const order: number[] = [];
    const stop = new AbortController();
    const take = async (n: number, options = {}): Promise<void> => {
      using _guard = await mutex.lock(options);
      order.push(n);
    };
    const waits = [1, 2, 3].map((n) => take(n));
    const aborted = rejection(take(4, { signal: stop.signal }));
    const late = rejection(take(5, { timeoutMs: 1 }));
    waits.push(take(6));
    expect(await late).toMatchObject({ code: "HEDDLE_WAIT_TIMEOUT", limitMs: 1 });
    stop.abort(new Error("no more"));
    expect(await aborted).toEqual(new Error("no more"));
    expect(mutex.tryLock()).toBeUndefined();
    first.release();
    first.release();
    await Promise.all(waits);
    expect(order).toEqual([1, 2, 3, 6]);
    using guard = mutex.tryLock();
    expect(guard?.isHeld).toBe(true);
  });

  test("whose holder dies is poisoned until somebody recovers it", async () => {
    const mutex = new Mutex();
    const { call } = await dieWith(mutex);
    expect(await rejection(mutex.lock())).toMatchObject({ code: "HEDDLE_POISONED" });
    expect(await rejection(call.invoke([mutex, "lock"]))).toMatchObject({
      name: "PoisonedError",
      code: "HEDDLE_POISONED",
    });
    expect(() => mutex.tryLock()).toThrow(/died while it held this mutex/);
    expect(mutex.isPoisoned).toBe(true);
    const guard = await mutex.lock({ recover: true });
    expect(guard.wasPoisoned).toBe(true);
    guard.release();
    expect(mutex.isPoisoned).toBe(false);
    expect((await mutex.lock()).wasPoisoned).toBe(false);
  });

  test("whose holder dies wakes those who wait: all are told, the one that recovers gets it", async () => {
    const mutex = new Mutex();
    const made = pool({ threads: 1, hardTimeoutMs: 100 });
    const event = new Event();
    const call = rejection(made.call.holdForEver([mutex, event]));
    await event.wait();
    const told = [1, 2].map(() => rejection(mutex.lock()));
    const recovered = mutex.lock({ recover: true });
    for (const error of await Promise.all(told)) {
      expect(error).toMatchObject({ code: "HEDDLE_POISONED" });
    }
    expect((await recovered).wasPoisoned).toBe(true);
    await call;
  });

  test("whose holder dies is poisoned even while the host waits with its thread", async () => {
    const mutex = new Mutex();
    const { call, sync, ready } = pool();
    await ready;
    const event = new Event();
    const dies = rejection(
      call.holdForEver.with({ runTimeoutMs: 50, killAfterMs: 1 })([mutex, event]),
    );
    await event.wait();
    expect(() => sync.invoke.with({ timeoutMs: 15_000 })([mutex, "lock"])).toThrow(
      expect.objectContaining({ code: "HEDDLE_POISONED" }),
    );
    expect(await dies).toMatchObject({ code: "HEDDLE_TIMEOUT" });
  });

  test("cannot be locked twice by one thread, nor blocked for behind a pending lock", async () => {
    const { call } = pool({ threads: 1 });
    const [first, second] = [new Mutex(), new Mutex()];
    expect(await call.lockTwice(first)).toBe("HEDDLE_DEADLOCK");
    using _second = await second.lock();
    const held = await first.lock();
    const result = call.blockBehind([first, second]);
    await pause(20);
    held.release();
    expect(await result).toBe("HEDDLE_DEADLOCK");
  });

  test("cannot be blocked for on the main thread", () => {
    expect(() => new Mutex().lockSync()).toThrow(/lockSync\(\) blocks its thread/);
    expect(() => new Event().waitSync()).toThrow(
      expect.objectContaining({ code: "HEDDLE_SHARED_ACCESS" }),
    );
  });
});

describe("a semaphore", () => {
  test("counts, and gives the permits of the dead back", async () => {
    const semaphore = new Semaphore(3);
    const event = new Event();
    const { call } = pool({ threads: 1 });
    const holding = call.hold([semaphore, event]);
    await until(() => semaphore.available === 1);
    expect(semaphore.tryAcquire(2)).toBeUndefined();
    const one = semaphore.tryAcquire()!;
    const waiting = semaphore.acquire(3);
    one.release();
    event.set();
    await holding;
    using all = await waiting;
    expect(all.isHeld).toBe(true);
    expect(semaphore.available).toBe(0);
  });

  test("of a worker that ends has all its permits", async () => {
    const semaphore = new Semaphore(2);
    const made = createSharedPool({ threads: 1 });
    const call = rejection(made.call.hold([semaphore, new Event()]));
    await until(() => semaphore.available === 0);
    const waiting = semaphore.acquire(2);
    await made.shutdown(0);
    expect(await call).toBeDefined();
    (await waiting).release();
    expect(semaphore.available).toBe(2);
  });
});

test("a read-write lock has many readers or one writer, in turn", async () => {
  const lock = new RwLock();
  const [inside, event] = [new AtomicCounter(), new Event()];
  const { call } = pool();
  const readers = [call.readWhile([lock, inside, event]), call.readWhile([lock, inside, event])];
  await until(() => inside.value === 2);
  expect(lock.tryWrite()).toBeUndefined();
  lock.tryRead()!.release();
  const order: string[] = [];
  const writing = lock.write().then((guard) => {
    order.push("write");
    guard.release();
  });
  const reading = lock.read().then((guard) => {
    order.push("read");
    guard.release();
  });
  await pause(10);
  expect([order, lock.tryRead()]).toEqual([[], undefined]);
  event.set();
  await Promise.all([writing, reading, ...readers]);
  expect(order).toEqual(["write", "read"]);
});

test("a condition wakes one or all, with the lock held", async () => {
  const [mutex, condition, map] = [new Mutex(), new Condition(), new SharedMap<string, number>()];
  const { call } = pool({ threads: 1 });
  const waiting = [call.waitFor([mutex, condition, map]), call.waitFor([mutex, condition, map])];
  await pause(20);
  {
    using _guard = await mutex.lock();
    map.set("ready", 1);
    condition.notifyAll();
  }
  expect(await Promise.all(waiting)).toEqual([1, 1]);
  using guard = await mutex.lock();
  expect(await rejection(condition.wait(guard, { timeoutMs: 5 }))).toMatchObject({
    code: "HEDDLE_WAIT_TIMEOUT",
  });
  expect([guard.isHeld, mutex.isHeld]).toEqual([true, true]);
});

test("a condition whose lock's holder dies meanwhile says so", async () => {
  const [mutex, condition, event] = [new Mutex(), new Condition(), new Event()];
  const { call } = pool({ threads: 1, hardTimeoutMs: 500 });
  const guard = await mutex.lock();
  const waiting = rejection(condition.wait(guard));
  const killed = rejection(call.holdForEver([mutex, event]));
  expect(await waiting).toMatchObject({ code: "HEDDLE_POISONED" });
  expect([guard.isHeld, mutex.isPoisoned]).toEqual([false, true]);
  await killed;
});

describe("a barrier", () => {
  test("opens when all have come, again and again", async () => {
    const barrier = new Barrier(2);
    const { call } = pool();
    const last = await Promise.all([call.meet([barrier, 200]), call.meet([barrier, 200])]);
    expect(last[0]! + last[1]!).toBe(200);
  });

  test("times out, and is broken by the death of a member until it is reset", async () => {
    const barrier = new Barrier(2);
    expect(await rejection(barrier.wait({ timeoutMs: 5 }))).toMatchObject({
      code: "HEDDLE_WAIT_TIMEOUT",
    });
    const made = createSharedPool({ threads: 1 });
    const call = rejection(made.call.meet([barrier, 1_000_000_000]));
    expect(
      [await barrier.wait(), await barrier.wait()].every((isLast) => typeof isLast === "boolean"),
    ).toBe(true);
    const waiting = rejection((async () => {
      for (;;) await barrier.wait();
    })());
    await made.shutdown(0);
    expect(await waiting).toMatchObject({ code: "HEDDLE_POISONED" });
    await call;
    barrier.reset();
    expect((await Promise.all([barrier.wait(), barrier.wait()])).sort()).toEqual([false, true]);
  });
});

describe("a wait at a barrier that is given up", () => {
  test("is no arrival, whether its signal was aborted before or is later", async () => {
    const barrier = new Barrier(2);
    for (const signal of [AbortSignal.abort("before"), AbortSignal.timeout(5)]) {
      await rejection(barrier.wait({ signal }));
      expect(await rejection(barrier.wait({ timeoutMs: 5 }))).toMatchObject({
        code: "HEDDLE_WAIT_TIMEOUT",
      });
    }
    expect((await Promise.all([barrier.wait(), barrier.wait()])).sort()).toEqual([false, true]);
  });

  test("has ended well if the barrier opened with it meanwhile", async () => {
    const { call, ready } = pool({ threads: 1 });
    await ready; // the worker needs nothing of this thread from here on
    const barrier = new Barrier(2);
    const controller = new AbortController();
    const passed = new Event();
    const own = barrier.wait({ signal: controller.signal });
    const other = call.meetOnce([barrier, passed]);
    const endMs = performance.now() + 20_000;
    while (!passed.isSet && performance.now() < endMs) { /* this thread hears of nothing */ }
    controller.abort("late");
    expect([await own, await other].sort()).toEqual([false, true]);
  });
});

test("a wait group holds up to 2 ** 31 - 1 pieces of work", () => {
  const group = new WaitGroup();
  for (const count of [2 ** 30 - 1, 2 ** 30 - 1, 1]) group.add(count);
  expect(() => group.add(1)).toThrow(/2 \*\* 31 - 1/);
  expect(group.pending).toBe(2 ** 31 - 1);
});

test("a wait group waits for all, and says when a thread died with its part", async () => {
  const group = new WaitGroup();
  await group.wait();
  group.add(2);
  const waiting = group.wait();
  group.done();
  expect(group.pending).toBe(1);
  group.done();
  await waiting;
  expect(() => group.done()).toThrow(/more calls of done/);
  const made = createSharedPool({ threads: 1 });
  const event = new Event();
  const call = rejection(made.call.enterAndDie([group, event]));
  await event.wait();
  expect(group.pending).toBe(1);
  const told = rejection(group.wait());
  await made.shutdown(0);
  expect(await told).toMatchObject({ code: "HEDDLE_POISONED" });
  await call;
  await group.wait({ recover: true });
  await group.wait();
});

test("once happens once, in whichever thread", async () => {
  const [once, counter] = [new Once(), new AtomicCounter()];
  const { call } = pool();
  const ran = await Promise.all([1, 2, 3, 4].map(() => call.runOnce([once, counter])));
  expect(ran.filter(Boolean)).toHaveLength(1);
  expect([counter.value, once.isDone]).toEqual([1, true]);
  const failing = new Once();
  expect(await rejection(failing.run(() => Promise.reject(new Error("no"))))).toEqual(
    new Error("no"),
  );
  expect(await failing.run(() => {})).toBe(true);
});

test("events, flags and counters", async () => {
  const event = new Event();
  const waits = [event.wait(), event.wait({ timeoutMs: 30_000 })];
  event.set();
  event.reset();
  await Promise.all(waits);
  expect(event.isSet).toBe(false);
  expect(await rejection(event.wait({ timeoutMs: 1 }))).toMatchObject({
    code: "HEDDLE_WAIT_TIMEOUT",
  });
  await expect(event.wait({ timeoutMs: -1 })).rejects.toThrow(/timeoutMs must be .*, got -1/);
  const flag = new AtomicFlag();
  expect([flag.testAndSet(), flag.testAndSet(), flag.value, flag.clear(), flag.value])
    .toEqual([false, true, true, true, false]);
  const counter = new AtomicCounter(2 ** 40);
  expect([counter.add(), counter.add(-2), counter.value]).toEqual([
    2 ** 40 + 1,
    2 ** 40 - 1,
    2 ** 40 - 1,
  ]);
  expect([counter.replace(1, 2), counter.replace(2 ** 40 - 1, 2), counter.value]).toEqual([
    false,
    true,
    2,
  ]);
});
