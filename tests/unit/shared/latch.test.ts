/** The latch: who gets it after a death, an exception and a fence. */
import { describe, expect, test } from "vitest";
import { Guarded } from "../../../src/shared/guarded.ts";
import { BUSY, Latch } from "../../../src/shared/latch.ts";
import { ObjectMemory } from "../../../src/shared/memory.ts";
import { FENCE_MS, FENCE_STEP_MS } from "../../../src/shared/threads/root.ts";
import {
  forEachDeath,
  type SimulatedThread,
  SimulatedThreads,
} from "../../support/shared-threads.ts";

const LATCH = 4;
const DEATHS = 5;
const FIRST = 8;
const SECOND = 9;

/** Two words that are equal unless a thread is between its stores to them. */
class Pair extends Guarded {
  readonly repairs: boolean[] = [];

  constructor(memory: ObjectMemory) {
    super(memory.view.i32, memory.thread, LATCH, DEATHS, "a pair");
  }

  set(value: number, fail?: () => void): void {
    this.locked(() => {
      this.words[FIRST] = value;
      fail?.();
      this.words[SECOND] = value;
    });
  }

  get values(): number[] {
    return this.locked(() => [this.words[FIRST]!, this.words[SECOND]!]);
  }

  later(f: () => void): void {
    this.whenFree(f);
  }

  protected override repair(isDamaged: boolean): void {
    this.repairs.push(isDamaged);
    if (isDamaged) this.words[SECOND] = this.words[FIRST]!;
  }
}

function createBench() {
  const threads = new SimulatedThreads();
  const memory = ObjectMemory.create("counter", 64, threads.main.thread);
  const viewOf = (thread: SimulatedThread) => thread.adopt("counter", memory.buffer);
  const latchOf = (thread: SimulatedThread) =>
    new Latch(viewOf(thread).view.i32, LATCH, thread.thread, "a pair");
  const [first, second] = threads.workers(2) as [SimulatedThread, SimulatedThread];
  return {
    threads,
    main: threads.main,
    first,
    second,
    latchOf,
    pairOf: (thread: SimulatedThread) => new Pair(viewOf(thread)),
    word: () => memory.view.i32[LATCH],
    free: () => void (memory.view.i32[LATCH] = 0),
  };
}

/** What one attempt of a thread gives, and what `f` does while it holds the latch. */
function attempt(latch: Latch, f: () => void = () => {}, waits = false): string {
  const outcome = latch.run(
    (isDamaged) => (f(), isDamaged ? "recover" : "taken"),
    undefined,
    waits,
  );
  return outcome === BUSY ? "busy" : outcome;
}

/** Leaves the latch taken, as by a thread that is killed under it. */
function keep(thread: SimulatedThread, latch: Latch): void {
  expect(thread.diesAt(2, () => attempt(latch))).toBe(false);
}

describe("a latch", () => {
  test("is taken by one thread at a time", () => {
    const { first, second, latchOf, word } = createBench();
    const [latch, other] = [latchOf(first), latchOf(second)];
    const seen: unknown[] = [];
    expect(attempt(latch, () => seen.push(attempt(other), word()))).toBe("taken");
    expect([seen, word()]).toEqual([["busy", first.token], 0]);
    expect(attempt(other)).toBe("taken");
  });

  test("of a dead holder, or one that left damage, is recovered once", () => {
    const { first, second, main, latchOf } = createBench();
    const [other, third] = [latchOf(second), latchOf(main)];
    keep(first, latchOf(first));
    expect(attempt(other)).toBe("busy");
    first.die();
    const fail = () => {
      expect(attempt(third)).toBe("busy");
      throw new Error("half-done");
    };
    expect(() => attempt(other, fail)).toThrow("half-done");
    expect([attempt(third), attempt(other)]).toEqual(["recover", "taken"]);
  });

  test("that a thread has left taken by an exhausted stack is recovered by itself", () => {
    const { first, latchOf, word } = createBench();
    const latch = latchOf(first);
    // Nothing of the thread runs after its attempt, as if each call had found no stack.
    keep(first, latch);
    expect(word()).toBe(first.token);
    first.isStopped = false;
    expect([attempt(latch), word()]).toEqual(["recover", 0]);
  });

  test("is waited for by a worker, and by the main thread for a while", () => {
    const { first, second, main, latchOf, free } = createBench();
    keep(first, latchOf(first));
    expect(() => attempt(latchOf(main), undefined, true))
      .toThrow("Getting the turn to change a pair");
    second.onWait = free;
    expect([attempt(latchOf(second), undefined, true), second.waits]).toEqual(["taken", 1]);
  });

  test("of a thread that was fenced is free when what it had begun is over", () => {
    const { first, second, threads, latchOf } = createBench();
    const other = latchOf(second);
    keep(first, latchOf(first));
    threads.root.fence(first.token, second.wallMs);
    // Of the time in which nothing looked, because the process was suspended, one step counts.
    const steps = Array.from({ length: FENCE_MS / FENCE_STEP_MS - 2 }, () => FENCE_STEP_MS);
    const outcomes = [0, 60_000, ...steps, FENCE_STEP_MS - 1, 1].map((passedMs) => {
      second.wallMs += passedMs;
      return attempt(other);
    });
    expect(outcomes.slice(0, -1).every((outcome) => outcome === "busy")).toBe(true);
    expect(outcomes.at(-1)).toBe("recover");
  });

  test("is not taken from a thread that was fenced a moment after the clock was read", () => {
    const { first, second, threads, latchOf } = createBench();
    keep(first, latchOf(first));
    // The attempt has read the clock; then the thread is fenced, in the next millisecond.
    threads.root.fence(first.token, second.wallMs + 1);
    expect(attempt(latchOf(second))).toBe("busy");
  });

  test("is not taken by a fenced thread, and not kept by one that was fenced while it slept", () => {
    const { first, second, main, threads, latchOf, word, free } = createBench();
    keep(first, latchOf(first));
    second.onWait = () => {
      threads.root.fence(second.token, second.wallMs);
      free();
    };
    expect(() => attempt(latchOf(second), undefined, true)).toThrow("This thread was stopped");
    expect(word()).not.toBe(second.token);
    expect(() => attempt(latchOf(second))).toThrow("This thread was stopped");
    expect(attempt(latchOf(main))).toBe("recover");
  });
});

describe("what a latch guards", () => {
  test("is whole after a death at any store", () => {
    forEachDeath((dies) => {
      const { first, second, pairOf } = createBench();
      const [pair, other] = [pairOf(first), pairOf(second)];
      pair.set(1);
      dies(first, () => pair.set(2));
      const [one, two] = other.values;
      expect(one).toBe(two);
      expect(other.repairs).toHaveLength(1);
    });
  });

  test("is repaired again if the thread that repairs it dies", () => {
    forEachDeath((dies) => {
      const { first, second, main, pairOf } = createBench();
      const pair = pairOf(first);
      expect(first.diesAt(3, () => pair.set(2))).toBe(false);
      first.die();
      dies(second, () => void pairOf(second).values);
      expect(pairOf(main).values).toEqual([2, 2]);
    });
  });

  test("is repaired after an exception, by whichever thread comes next", () => {
    const { first, second, pairOf } = createBench();
    const [pair, other] = [pairOf(first), pairOf(second)];
    const fail = () => {
      throw new RangeError("Maximum call stack size exceeded");
    };
    expect(() => pair.set(3, fail)).toThrow("Maximum call stack");
    expect([other.values, other.repairs]).toEqual([[3, 3], [true]]);
  });

  test("stays damaged if the thread that recovers it was fenced while it slept", () => {
    const { first, second, main, threads, pairOf } = createBench();
    const pair = pairOf(first);
    expect(first.diesAt(3, () => pair.set(2))).toBe(false);
    second.onWait = () => {
      threads.root.fence(second.token, second.wallMs);
      first.die();
    };
    expect(() => pairOf(second).values).toThrow("This thread was stopped");
    const third = pairOf(main);
    expect([third.values, third.repairs]).toEqual([[2, 2], [true]]);
  });

  test("is changed in a later turn if the main thread finds the latch taken", () => {
    const { first, main, pairOf, latchOf, free } = createBench();
    keep(first, latchOf(first));
    let runs = 0;
    pairOf(main).later(() => runs++);
    expect([runs, main.timers.size]).toEqual([0, 1]);
    main.runTimers();
    free();
    main.runTimers();
    expect([runs, main.timers.size]).toEqual([1, 0]);
  });
});
