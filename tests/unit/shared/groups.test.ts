/** Barrier, wait group, condition and once, with deaths between any two stores and changes in between. */
import { describe, expect, test } from "vitest";
import { Condition } from "../../../src/shared/locks/condition.ts";
import { Once } from "../../../src/shared/locks/event.ts";
import { Barrier, WaitGroup } from "../../../src/shared/locks/groups.ts";
import { Mutex } from "../../../src/shared/locks/mutex.ts";
import { memoryOf, type SharedObject } from "../../../src/shared/handles.ts";
import type { Kind, ObjectMemory } from "../../../src/shared/memory.ts";
import {
  forEachDeath,
  type SimulatedThread,
  SimulatedThreads,
  turn,
} from "../../support/shared-threads.ts";

/** Word of a barrier. */
const RESETS = 10;
const soon = (): Promise<string> => turn().then(() => "stuck");

type Make<Handle> = (memory: ObjectMemory) => Handle;
type Three<Item> = [Item, Item, Item];

/** An object with a handle for each of three workers. */
function createBench<Handle extends SharedObject>(
  kind: Kind,
  create: () => Handle,
  adopt: Make<Handle>,
) {
  const threads = new SimulatedThreads();
  const { buffer } = memoryOf(threads.main.run(create));
  const workers = threads.workers(3) as Three<SimulatedThread>;
  const handleOf = (thread: SimulatedThread) => adopt(thread.adopt(kind, buffer));
  return { threads, workers, handles: workers.map(handleOf) as Three<Handle>, handleOf, buffer };
}

const barrierOf = (count: number) =>
  createBench("barrier", () => new Barrier(count), (memory) => new Barrier(memory));
const groupOf = () =>
  createBench("waitGroup", () => new WaitGroup(), (memory) => new WaitGroup(memory));
const onceOf = () => createBench("once", () => new Once(), (memory) => new Once(memory));
const codeOf = (wait: Promise<unknown>): Promise<unknown> =>
  wait.then((value) => value, (error) => error.code);

describe("a barrier", () => {
  test("whose last thread dies opens, or is broken for those who wait", async () => {
    const outcomes: Promise<unknown>[] = [];
    forEachDeath((dies) => {
      const { workers: [first], handles: [barrier, other] } = barrierOf(2);
      const wait = codeOf(other.wait());
      const isDone = dies(first, () => void codeOf(barrier.wait()));
      outcomes.push(wait.then((outcome) => {
        if (isDone) expect(outcome).toBe(false);
        // Killed before it was a member: the barrier waits for another.
        return outcome;
      }));
      void codeOf(other.wait()); // another one
    });
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set([false, "HEDDLE_POISONED"]));
  });

  test("that a thread dies in the reset of keeps nobody waiting for ever", async () => {
    const waits: Promise<unknown>[] = [];
    forEachDeath((dies) => {
      const { workers: [first], handles: [barrier, other, third] } = barrierOf(3);
      const wait = codeOf(other.wait());
      dies(first, () => barrier.reset());
      // Two more: with the first it is three, if that still counts.
      const more = [codeOf(other.wait()), codeOf(third.wait())];
      const probe = Promise.race([wait, soon()]);
      waits.push(probe);
      void Promise.all(more);
    });
    expect((await Promise.all(waits)).filter((each) => each === "stuck")).toEqual([]);
  });

  test("that is reset as a thread has just arrived tells that thread", async () => {
    const { workers: [first], handles: [barrier, other] } = barrierOf(2);
    first.onLoad = (index) => {
      if (index !== RESETS) return;
      first.onLoad = undefined;
      other.reset(); // the latch is free
    };
    const wait = codeOf(barrier.wait());
    // It arrived before the reset, so it is refused; the next one is alone.
    void codeOf(other.wait());
    expect(await Promise.race([wait, soon()])).toBe("HEDDLE_POISONED");
  });

  test("is not broken by a thread that has left, and counts again after a time limit", async () => {
    const { workers: [first, second], handles: [barrier, other, third] } = barrierOf(2);
    const late = codeOf(barrier.wait({ timeoutMs: 1 }));
    first.runTimers();
    expect(await late).toBe("HEDDLE_WAIT_TIMEOUT");
    barrier.leave();
    first.die();
    const waits = [codeOf(other.wait()), codeOf(third.wait())];
    expect(await Promise.all(waits)).toEqual([false, true]);
    second.die();
    expect(await codeOf(third.wait())).toBe("HEDDLE_POISONED");
    third.reset();
  });
});

describe("a wait group", () => {
  test("whose member dies as it enters or leaves is done, or poisoned and then done", async () => {
    const outcomes: Promise<unknown>[] = [];
    forEachDeath((dies) => {
      const { workers: [first], handles: [group, other, third] } = groupOf();
      third.add(2);
      const entered = third.enter();
      dies(first, () => group.enter()[Symbol.dispose]());
      expect(other.pending).toBe(3);
      third.add(-2);
      entered[Symbol.dispose]();
      expect(other.pending).toBe(0);
      outcomes.push(codeOf(other.wait()));
      outcomes.push(
        codeOf(other.wait({ recover: true })).then((outcome) => {
          expect(outcome).toBe(undefined);
          return codeOf(third.wait());
        }),
      );
    });
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set([undefined, "HEDDLE_POISONED"]));
  });

  test("whose thread dies as it adds or is done counts all of it or nothing", () => {
    for (const [start, count] of [[0, 3], [5, -2]] as const) {
      forEachDeath((dies) => {
        const { workers: [first], handles: [group, other] } = groupOf();
        if (start > 0) group.add(start);
        const isDone = dies(first, () => group.add(count));
        const { pending } = other;
        expect([start, start + count]).toContain(pending);
        if (isDone) expect(pending).toBe(start + count);
        if (pending > 0) other.add(-pending);
        expect(other.pending).toBe(0);
        expect(() => other.done()).toThrow("more calls of done()");
        expect(other.pending).toBe(0);
      });
    }
  });
});

describe("once", () => {
  test("is done by the next thread if one dies with it", () => {
    forEachDeath((dies) => {
      const { workers: [first], handles: [once, other, third] } = onceOf();
      let runs = 0;
      const isDone = dies(first, () => void once.runSync(() => runs++));
      const before = runs;
      const isAgain = other.runSync(() => runs++);
      expect(isAgain).toBe(runs > before);
      if (isDone) expect(isAgain).toBe(false);
      expect(third.runSync(() => runs++)).toBe(false);
      expect(runs).toBe(before + (isAgain ? 1 : 0));
    });
  });

  test("is not left taken by an exception, and refuses itself", () => {
    const { handles: [once, other] } = onceOf();
    expect(() => once.runSync(() => once.runSync(() => {}))).toThrow("running it already");
    expect(other.isDone).toBe(false);
    expect([other.runSync(() => {}), once.isDone]).toEqual([true, true]);
  });

  test("waits for the one that runs", () => {
    const { workers: [, second], handles: [once, other] } = onceOf();
    let waited = 0;
    const run = once.run(() => new Promise(() => {}));
    void run;
    second.onWait = () => {
      if (++waited === 2) throw new Error("waits");
    };
    expect(() => other.runSync(() => {})).toThrow("waits");
  });
});

describe("a condition", () => {
  const create = () => {
    const bench = createBench(
      "condition",
      () => new Condition(),
      (memory) => new Condition(memory),
    );
    const { buffer } = memoryOf(bench.threads.main.run(() => new Mutex()));
    const mutexes = bench.workers.map((thread) => new Mutex(thread.adopt("mutex", buffer)));
    return { ...bench, mutexes: mutexes as Three<Mutex> };
  };

  test("calls the next one, or ends all waits, if a thread dies as it notifies or waits", async () => {
    const waits: Promise<unknown>[] = [];
    forEachDeath((dies) => {
      const { workers: [first], handles: [condition, other], mutexes: [, mutex] } = create();
      const guard = mutex.tryLock()!;
      const wait = codeOf(other.wait(guard));
      dies(first, () => condition.notify());
      waits.push(wait.then((outcome) => [outcome, guard.isHeld, mutex.isHeld]));
    });
    forEachDeath((dies) => {
      const { workers: [first], handles: [condition, other, third], mutexes } = create();
      const own = mutexes[0].tryLock()!;
      first.onWait = () => {
        other.notify();
        first.onWait = undefined;
      };
      dies(first, () => condition.waitSync(own));
      const guard = mutexes[1].tryLock({ recover: true })!;
      waits.push(codeOf(other.wait(guard)).then((outcome) => [outcome, true, guard.isHeld]));
      third.notify();
    });
    const outcomes = await Promise.all(waits);
    expect(outcomes).toEqual(outcomes.map(() => [undefined, true, true]));
  });

  test("takes the lock back, and no call, if a blocking wait is refused", () => {
    const { workers: [first, second], handles: [condition, other, third], mutexes } = create();
    const guard = mutexes[0].tryLock()!;
    first.thread.pendingLocks = 1; // as a `lock()` that waits in the event loop
    expect(() => condition.waitSync(guard)).toThrow("waits for a lock");
    first.thread.pendingLocks = 0;
    const isHeld = guard.isHeld && mutexes[0].isHeld;
    if (isHeld) guard.release();
    let hasWaited = false;
    second.onWait = () => {
      expect(hasWaited).toBe(false);
      hasWaited = true;
      third.notify(); // one call, for the one that waits
    };
    other.waitSync(mutexes[1].tryLock()!, { timeoutMs: 100 });
    expect([isHeld, hasWaited]).toEqual([true, true]);
  });

  test("passes on a call that a wait got as it ended", async () => {
    const { handles: [condition, other, third], mutexes } = create();
    const controller = new AbortController();
    const first = mutexes[0].tryLock()!;
    const failed = codeOf(
      condition.wait(first, { signal: controller.signal }).catch(() => "ended"),
    );
    const next = codeOf(other.wait(mutexes[1].tryLock()!));
    third.notify();
    controller.abort(); // before the event loop has seen the call
    expect(await failed).toBe("ended");
    first.release();
    expect(await next).toBe(undefined);
  });
});
