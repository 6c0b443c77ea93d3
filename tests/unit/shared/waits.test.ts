/** Wait sets, and waits in the event loop and outside: no change is missed, and none leaves anything behind. */
import { describe, expect, test } from "vitest";
import { ObjectMemory } from "../../../src/shared/memory.ts";
import { BLOCKED, IN_LOOP, wordsOf } from "../../../src/shared/threads/root.ts";
import { WaitSet } from "../../../src/shared/wait-set.ts";
import {
  asyncWaitsOf,
  forEachDeath,
  type SimulatedThread,
  SimulatedThreads,
  turn,
} from "../../support/shared-threads.ts";

const VALUE = 4;
const SET = 8;

/** A word that threads wait for, with a wait set. */
function createBench() {
  const threads = new SimulatedThreads();
  const memory = ObjectMemory.create("event", 128, threads.main.thread);
  const viewOf = (thread: SimulatedThread) => thread.adopt("event", memory.buffer).view.i32;
  const setOf = (thread: SimulatedThread) => new WaitSet(viewOf(thread), SET, thread.thread);
  const conditionOf = (thread: SimulatedThread) => {
    const [words, set] = [viewOf(thread), setOf(thread)];
    return {
      check: () => {
        set.add();
        return Atomics.load(words, VALUE) === 1;
      },
    };
  };
  const change = (thread: SimulatedThread) => {
    Atomics.store(viewOf(thread), VALUE, 1);
    setOf(thread).wake();
  };
  const [first, second] = threads.workers(2) as [SimulatedThread, SimulatedThread];
  const waitsOf = ({ thread }: SimulatedThread) => threads.root.words[wordsOf(thread.index).waits];
  return { threads, first, second, viewOf, setOf, conditionOf, change, waitsOf, memory };
}

describe("a wait set", () => {
  test("wakes those in it, once each", () => {
    const threads = new SimulatedThreads();
    const memory = ObjectMemory.create("event", 128, threads.main.thread);
    const workers = threads.workers(70);
    const setOf = (thread: SimulatedThread) =>
      new WaitSet(thread.adopt("event", memory.buffer).view.i32, SET, thread.thread);
    const waiting = workers.filter((_, index) => index % 3 === 0 || index === 30 || index === 31);
    for (const each of waiting) setOf(each).add();
    const readings = () =>
      workers.map(({ thread }) => threads.root.words[wordsOf(thread.index).sync]!);
    const before = readings();
    setOf(workers[1]!).wake();
    const expected = workers.map((each, index) =>
      before[index]! + (waiting.includes(each) ? 1 : 0)
    );
    expect(readings()).toEqual(expected);
    setOf(workers[1]!).wake();
    expect(readings()).toEqual(expected);
  });

  test("loses no change, between whichever stores it comes", () => {
    for (let step = 1, isDone = false; !isDone; step++) {
      const { first, second, conditionOf, change, waitsOf } = createBench();
      isDone = true;
      first.atStep(step, () => {
        isDone = false;
        change(second);
      });
      if (isDone) first.onWait = () => change(second);
      first.thread.blockUntil(conditionOf(first), "Waiting");
      expect(waitsOf(first)).toBe(0);
    }
  });

  test("loses no change if the thread that made it dies", () => {
    forEachDeath((dies) => {
      const { first, second, conditionOf, change, viewOf } = createBench();
      let isDone = false;
      first.onWait = () => {
        if (!second.isStopped) isDone = dies(second, () => change(second));
        if (!isDone) Atomics.store(viewOf(first), VALUE, 1);
      };
      first.thread.blockUntil(conditionOf(first), "Waiting");
      expect(second.isStopped).toBe(true);
    });
  });
});

describe("a thread that blocks", () => {
  test("stops after its time", () => {
    const { first, conditionOf, waitsOf } = createBench();
    expect(() => first.thread.blockUntil(conditionOf(first), "Waiting", 50))
      .toThrow("Waiting took longer than its timeoutMs of 50 ms.");
    expect(waitsOf(first)).toBe(0);
  });

  test("is not blocked while a lock may be given to its event loop", () => {
    const { first, conditionOf, change } = createBench();
    first.thread.pendingLocks = 1;
    expect(() => first.thread.blockUntil(conditionOf(first), "Waiting")).toThrow(
      "waits for a lock",
    );
    change(first);
    expect(() => first.thread.blockUntil(conditionOf(first), "Waiting")).not.toThrow();
  });

  test("and is dead by then writes nothing to the record of its successor", () => {
    const { threads, first, conditionOf, waitsOf } = createBench();
    first.onWait = () => {
      threads.root.end(first.token);
      const next = threads.start();
      Atomics.store(threads.root.words, wordsOf(next.thread.index).waits, BLOCKED);
    };
    expect(() => first.thread.blockUntil(conditionOf(first), "Waiting")).toThrow(
      "This thread was stopped",
    );
    expect(waitsOf(first)).toBe(BLOCKED);
  });
});

describe("a wait in the event loop", () => {
  test("ends when another thread changes the object, and leaves nothing", async () => {
    const { first, second, conditionOf, change, waitsOf } = createBench();
    const waits = [1, 2, 3].map(() => first.thread.loop.until(conditionOf(first), "Waiting", {}));
    expect([waitsOf(first), asyncWaitsOf(first)]).toEqual([IN_LOOP, 1]);
    change(second);
    await Promise.all(waits);
    await turn();
    expect([waitsOf(first), asyncWaitsOf(first), first.timers.size]).toEqual([0, 0, 0]);
  });

  test("ends with the reason of its signal, also during its first look", async () => {
    const { first, conditionOf, waitsOf } = createBench();
    const controllers = [new AbortController(), new AbortController(), new AbortController()];
    controllers[0]!.abort("before");
    let left = 0;
    const waits = controllers.map(({ signal }, index) => {
      const check = () => {
        if (index === 1) controllers[1]!.abort("in look");
        return conditionOf(first).check() || index === 1;
      };
      return first.thread.loop.until({ check, leave: () => left++ }, "Waiting", { signal });
    });
    const settled = Promise.allSettled(waits);
    controllers[2]!.abort("later");
    expect((await settled).map((each) => (each as PromiseRejectedResult).reason))
      .toEqual(["before", "in look", "later"]);
    await turn();
    expect([left, waitsOf(first), asyncWaitsOf(first)]).toEqual([3, 0, 0]);
  });

  test("ends by its time limit, or by what its look throws", async () => {
    const { first, conditionOf, waitsOf } = createBench();
    const looks = [
      conditionOf(first).check,
      () => {
        throw new Error("wrong");
      },
    ];
    const waits = looks.map((check) =>
      first.thread.loop.until({ check }, "Waiting", { timeoutMs: 5 })
    );
    const settled = Promise.allSettled(waits);
    first.runTimers();
    expect((await settled).map((each) => (each as PromiseRejectedResult).reason.message))
      .toEqual(["Waiting took longer than its timeoutMs of 5 ms.", "wrong"]);
    await turn();
    expect([waitsOf(first), asyncWaitsOf(first), first.timers.size]).toEqual([0, 0, 0]);
  });

  test("does not miss a change between whichever stores it comes", async () => {
    for (let step = 1, isDone = false; !isDone; step++) {
      const { first, second, conditionOf, change } = createBench();
      isDone = true;
      first.atStep(step, () => {
        isDone = false;
        change(second);
      });
      const wait = first.thread.loop.until(conditionOf(first), "Waiting", {});
      if (isDone) change(second);
      await wait;
    }
  });

  test("that begins in the look of another adds no second waitAsync", async () => {
    const { first, second, conditionOf, change } = createBench();
    let looks = 0;
    let nested: Promise<void> | undefined;
    const check = () => {
      // In the look of `#arm`.
      if (++looks === 2) nested = first.thread.loop.until(conditionOf(first), "Waiting", {});
      return conditionOf(first).check();
    };
    const wait = first.thread.loop.until({ check }, "Waiting", {});
    expect(nested).toBeDefined();
    const outstanding = asyncWaitsOf(first);
    change(second);
    await Promise.all([wait, nested]);
    expect(outstanding).toBe(1);
  });
});
