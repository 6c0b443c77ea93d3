/** A budget of threads with pools whose calls and workers the test plays. */
import { describe, expect, test } from "vitest";
import { PoolBudget, type ShareLimits } from "../../../../src/host/scaling/thread-budget.ts";
import type { Timer } from "../../../../src/runtimes/runtime.ts";

const LOOK_MS = 10;
/** Time that a pool waits before a busy worker is taken back for it. */
const SHARE_MS = 200;

function createClock() {
  let nowMs = 0;
  const timers = new Set<
    { readonly callback: () => void; readonly atMs: number; isRef: boolean }
  >();
  return {
    timers,
    now: () => nowMs,
    setTimeout: (callback: () => void, delayMs: number): Timer => {
      const timer = { callback, atMs: nowMs + delayMs, isRef: true };
      timers.add(timer);
      return {
        ref: () => timer.isRef = true,
        unref: () => timer.isRef = false,
        clear: () => void timers.delete(timer),
      };
    },
    pass: (ms: number): void => {
      const endMs = nowMs + ms;
      for (;;) {
        const [next] = [...timers].sort((one, other) => one.atMs - other.atMs);
        if (next === undefined || next.atMs > endMs) break;
        nowMs = next.atMs;
        timers.delete(next);
        next.callback();
      }
      nowMs = endMs;
    },
  };
}

function createBudget(max: number) {
  const budget = new PoolBudget(max);
  const clock = createClock();
  /** The pools whose turn came, in order. */
  const turns: string[] = [];
  const join = (name: string, limits: Partial<ShareLimits> = {}) => {
    const pool = {
      /** Calls that wait; a thread takes one of them. */
      queued: 0,
      idle: 0,
      busy: 0,
      canStart: true,
      /** How often a worker was wanted back. */
      asked: 0,
      /** Wants a thread for one more call. */
      call: (): void => {
        pool.queued++;
        if (pool.held < share.guaranteed || share.request()) pool.start();
      },
      start: (): void => {
        if (!pool.canStart) return;
        pool.queued--;
        pool.busy++;
        share.add();
        share.opened();
      },
      /** A worker answers its call. */
      answer: (): void => {
        pool.busy--;
        pool.idle++;
      },
      /** A worker has ended. */
      end: (kind: "idle" | "busy"): void => {
        pool[kind]--;
        share.remove();
      },
      get held(): number {
        return share.held;
      },
    };
    const share = budget.join(
      {
        get wantsThread(): boolean {
          return pool.queued > 0;
        },
        start: () => {
          turns.push(name);
          pool.start();
        },
        giveBack: (mayBeBusy) => {
          pool.asked++;
          return pool.idle > 0 || (mayBeBusy && pool.busy > 0);
        },
      },
      { guaranteed: 0, isLimited: true, ...limits },
      clock,
    );
    return Object.assign(pool, { share });
  };
  return { budget, clock, join, turns, pass: clock.pass };
}

describe("room", () => {
  test("is what is left of the maximum, guaranteed threads that are not there included", () => {
    const { budget, join } = createBudget(3);
    const one = join("one", { guaranteed: 1 });
    const other = join("other");
    other.call();
    other.call();
    expect([budget.threads, budget.hasRoom, budget.waiting]).toEqual([2, false, 0]);
    other.call();
    expect([other.held, budget.waiting]).toEqual([2, 1]);
    one.call(); // the thread that was kept for it
    expect([one.held, budget.threads]).toEqual([1, 3]);
    one.share.leave();
    expect(budget.threads).toBe(3); // its thread has not ended
    one.end("busy");
    expect([other.held, budget.waiting]).toEqual([3, 0]);
  });

  test("grows for a pool unless all of it is kept: guaranteed, or of pools that only count", () => {
    const { join } = createBudget(3);
    const one = join("one", { guaranteed: 1 });
    const other = join("other", { guaranteed: 1 });
    one.call();
    other.call();
    other.call();
    expect([one.share.hasRoom, one.share.canGrow]).toEqual([false, true]); // the other has borrowed one
    const third = join("third", { guaranteed: 1 });
    expect([one.share.canGrow, third.share.canGrow]).toEqual([false, true]);
    third.share.leave();
    join("counts", { isLimited: false }).call();
    expect([one.share.canGrow, other.share.canGrow]).toEqual([false, false]);
  });

  test("does not limit guaranteed threads, nor pools that only count", () => {
    const { budget, join } = createBudget(1);
    const first = join("first", { guaranteed: 2 });
    first.call();
    first.call();
    const second = join("second", { guaranteed: 1 });
    second.call();
    const free = join("free", { isLimited: false });
    free.call();
    free.call();
    expect([budget.threads, budget.waiting]).toEqual([5, 0]);
  });
});

describe("pools that wait", () => {
  test("are served in turn", () => {
    const { join, turns } = createBudget(1);
    const [holder, ...others] = ["holder", "a", "b", "c"].map((name) => join(name));
    holder!.call();
    for (const pool of others) pool.call();
    others[0]!.call(); // it waits already
    holder!.end("busy");
    for (const pool of others) pool.end("busy");
    expect(turns).toEqual(["a", "b", "c"]);
  });

  test("come before those that ask later, and are skipped if their calls are gone", () => {
    const { join, turns } = createBudget(1);
    const [holder, a, b, c] = ["holder", "a", "b", "c"].map((name) => join(name)) as [
      ReturnType<typeof join>,
      ReturnType<typeof join>,
      ReturnType<typeof join>,
      ReturnType<typeof join>,
    ];
    holder.call();
    a.call();
    b.call();
    a.queued = 0;
    holder.end("busy");
    expect(turns).toEqual(["b"]);
    c.call();
    a.call();
    b.end("busy");
    expect(turns).toEqual(["b", "c"]);
  });

  test("go on waiting if a thread cannot start, and the next one is served", () => {
    const { budget, join, turns } = createBudget(1);
    const holder = join("holder");
    const broken = join("broken");
    const next = join("next");
    holder.call();
    broken.call();
    next.call();
    broken.canStart = false;
    holder.end("busy");
    expect([turns, next.held, budget.threads]).toEqual([["broken", "next"], 1, 1]);
  });

  test("leave with their pool", () => {
    const { budget, clock, join, pass, turns } = createBudget(1);
    const holder = join("holder");
    const other = join("other");
    holder.call();
    other.call();
    other.share.leave();
    holder.end("busy");
    pass(10 * LOOK_MS);
    expect([turns, budget.waiting, budget.threads, clock.timers.size]).toEqual([[], 0, 0, 0]);
  });
});

test("those with fewer threads come first", () => {
  const { join, turns } = createBudget(3);
  const [rich, poor, holder] = [join("rich"), join("poor"), join("holder")];
  rich.call();
  holder.call();
  holder.call();
  rich.call();
  poor.call();
  holder.end("busy");
  holder.end("busy");
  expect(turns).toEqual(["poor", "rich"]);
});

describe("an idle worker", () => {
  test("is taken back soon, one for each pool that waits", () => {
    const { join, pass, turns } = createBudget(3);
    const rich = join("rich", { guaranteed: 1 });
    for (let n = 0; n < 3; n++) rich.call();
    const poor = join("poor");
    poor.call();
    expect([rich.asked, rich.share.retiring]).toEqual([1, 0]); // all are busy
    rich.answer();
    rich.answer();
    pass(LOOK_MS);
    expect([rich.asked, rich.share.retiring]).toEqual([2, 1]);
    pass(5 * LOOK_MS);
    expect(rich.asked).toBe(2); // one is on its way
    rich.end("idle");
    expect([turns, poor.held, rich.held]).toEqual([["poor"], 1, 2]);
  });

  test("is never a guaranteed one, and comes from the pool that has borrowed most", () => {
    const { join, pass } = createBudget(5);
    const fixed = join("fixed", { guaranteed: 2 });
    const few = join("few");
    const many = join("many");
    for (const [pool, threads] of [[fixed, 2], [few, 1], [many, 2]] as const) {
      for (let n = 0; n < threads; n++) {
        pool.call();
        pool.answer();
      }
    }
    join("asker").call();
    pass(10 * SHARE_MS);
    expect([fixed.share.retiring, few.share.retiring, many.share.retiring]).toEqual([0, 0, 1]);
  });
});

describe("a busy worker", () => {
  test("is taken back after a while for a pool that has fewer", () => {
    const { join, pass, turns } = createBudget(4);
    const rich = join("rich");
    for (let n = 0; n < 4; n++) rich.call();
    const poor = join("poor");
    pass(SHARE_MS); // its threads are old enough
    for (let n = 0; n < 4; n++) poor.call();
    pass(SHARE_MS - 1);
    expect(rich.share.retiring).toBe(0);
    pass(LOOK_MS);
    expect(rich.share.retiring).toBe(1);
    rich.end("busy");
    expect(turns).toEqual(["poor"]);
    poor.share.request();
    pass(SHARE_MS + LOOK_MS);
    rich.end("busy");
    poor.share.request();
    pass(10 * SHARE_MS);
    expect([rich.held, rich.share.retiring, poor.held]).toEqual([2, 0, 2]); // equal parts
  });

  test("goes round if there are more pools than threads", () => {
    const { budget, join, pass, turns } = createBudget(1);
    const pools = ["a", "b", "c"].map((name) => join(name));
    for (const pool of pools) for (let n = 0; n < 9; n++) pool.call();
    for (let round = 0; round < 6; round++) {
      pass(2 * SHARE_MS);
      const holder = pools.find(({ share }) => share.retiring > 0)!;
      holder.end("busy");
      holder.share.request();
      expect(budget.threads).toBe(1);
    }
    expect(turns).toEqual(["b", "c", "a", "b", "c", "a"]);
  });
});

test("no timer keeps the process running, and there is none without pools that wait", () => {
  const { clock, join, pass } = createBudget(1);
  const holder = join("holder");
  holder.call();
  expect(clock.timers.size).toBe(0);
  const other = join("other");
  other.call();
  expect([...clock.timers].map(({ isRef }) => isRef)).toEqual([false]);
  other.queued = 0;
  pass(LOOK_MS);
  expect(clock.timers.size).toBe(0);
});

test("the budget of a thread is the same for all its pools", () => {
  const budget = PoolBudget.ofThread(2);
  expect(PoolBudget.ofThread(2)).toBe(budget);
});
