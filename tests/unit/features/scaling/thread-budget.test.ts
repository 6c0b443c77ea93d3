/** A budget of threads with pools whose calls and workers the test plays. Each pool has a thread; the test asks for further ones. */
import { describe, expect, test } from "vitest";
import {
  PoolBudget,
  type ShareLimits,
} from "../../../../src/features/workers/scaling/host/pool-budget.ts";

/** Time that a pool waits before a busy worker is taken back for it. */
const SHARE_MS = 200;

function createBudget(max: number) {
  const budget = new PoolBudget(max);
  let nowMs = 0;
  /** The pools that got a thread although another asked, in order. */
  const turns: string[] = [];
  const join = (name: string, limits: Partial<ShareLimits> = {}) => {
    const workers: { state: "idle" | "busy" | "draining" | "closing" }[] = [];
    const close = (worker: typeof workers[0]): void => {
      worker.state = "closing";
      share.close(worker);
    };
    const pool = {
      /** Calls that wait; a thread takes one of them. */
      queued: 0,
      canStart: true,
      /** How often a worker was wanted back. */
      asked: 0,
      workers,
      /** Wants a thread for one more call. */
      call: (): void => {
        pool.queued++;
        pool.ask();
      },
      /** Its calls have waited for a while. */
      ask: (): void => {
        if (pool.held < share.guaranteed || share.request()) pool.start();
      },
      start: (): void => {
        if (!pool.canStart) return;
        pool.queued--;
        workers.push({ state: "busy" });
        share.add();
        share.opened();
      },
      /** A worker answers its call. */
      answer: (): void => {
        const draining = workers.find(({ state }) => state === "draining");
        if (draining !== undefined) close(draining);
        else workers.find(({ state }) => state === "busy")!.state = "idle";
      },
      /** A worker has ended. */
      end: (): void => {
        const closing = workers.findIndex(({ state }) => state === "closing");
        share.remove(workers.splice(closing, 1)[0]!);
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
        get isReturning(): boolean {
          return workers.some(({ state }) => state === "draining");
        },
        start: () => {
          turns.push(name);
          pool.start();
        },
        giveBack: (mayBeBusy) => {
          pool.asked++;
          const worker = workers.findLast(({ state }) => state === (mayBeBusy ? "busy" : "idle"));
          if (worker === undefined) return false;
          if (mayBeBusy) worker.state = "draining";
          else close(worker);
          return true;
        },
      },
      { guaranteed: 0, isLimited: true, ...limits },
      () => nowMs,
    );
    return Object.assign(pool, { share });
  };
  return { budget, join, turns, pass: (ms: number): void => void (nowMs += ms) };
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
    one.end();
    other.ask();
    expect([other.held, budget.waiting]).toEqual([3, 0]);
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
  test("get a free thread when another asks, those with the fewest first", () => {
    const { join, turns } = createBudget(8);
    const [rich, middle, poor, holder] = [3, 2, 1, 2].map((threads, n) => {
      const pool = join(["rich", "middle", "poor", "holder"][n]!);
      for (let made = 0; made < threads; made++) pool.call();
      return pool;
    }) as [Joined, Joined, Joined, Joined];
    for (const pool of [rich, middle, poor]) pool.call();
    holder.end();
    rich.ask();
    expect([turns, rich.held, poor.held]).toEqual([["poor"], 3, 2]);
    holder.end();
    rich.ask();
    expect([turns, rich.held, middle.held]).toEqual([["poor", "middle"], 3, 3]);
  });

  test("are passed over if their calls are gone, or if their thread cannot start", () => {
    const { budget, join, turns } = createBudget(5);
    const [gone, broken, holder, next] = [1, 1, 1, 2].map((threads, n) => {
      const pool = join(["gone", "broken", "holder", "next"][n]!);
      for (let made = 0; made < threads; made++) pool.call();
      return pool;
    }) as [Joined, Joined, Joined, Joined];
    for (const pool of [gone, broken, next]) pool.call();
    expect(budget.waiting).toBe(3);
    gone.queued = 0;
    broken.canStart = false;
    holder.end();
    next.ask();
    expect([turns, next.held, budget.threads, budget.waiting]).toEqual([["broken"], 3, 5, 0]);
  });

  test("leave with their pool", () => {
    const { budget, join } = createBudget(1);
    const holder = join("holder");
    const other = join("other", { guaranteed: 1 });
    holder.call();
    other.call();
    other.call();
    expect(budget.waiting).toBe(1);
    other.share.leave();
    expect([budget.waiting, budget.threads]).toEqual([0, 1]);
  });
});

describe("an idle worker", () => {
  test("is taken back, and its thread is free while it closes", () => {
    const { budget, join } = createBudget(3);
    const rich = join("rich", { guaranteed: 1 });
    for (let n = 0; n < 3; n++) rich.call();
    const poor = join("poor");
    poor.call();
    expect([rich.asked, poor.held]).toEqual([1, 0]); // all are busy
    rich.answer();
    poor.ask();
    expect([rich.held, poor.held, budget.threads]).toEqual([2, 1, 4]);
    rich.end();
    expect([rich.held, budget.threads]).toEqual([2, 3]);
  });

  test("is never a guaranteed one, and comes from the pool that has borrowed most", () => {
    const { join } = createBudget(5);
    const fixed = join("fixed", { guaranteed: 2 });
    const few = join("few");
    const many = join("many");
    for (const [pool, threads] of [[fixed, 2], [few, 1], [many, 2]] as const) {
      for (let n = 0; n < threads; n++) pool.call();
      for (let n = 0; n < threads; n++) pool.answer();
    }
    join("asker").call();
    expect([fixed.held, few.held, many.held]).toEqual([2, 1, 1]);
  });
});

describe("a busy worker", () => {
  test("is taken back after a while for a pool that has fewer, one at a time", () => {
    const { join, pass } = createBudget(4);
    const rich = join("rich");
    for (let n = 0; n < 4; n++) rich.call();
    const poor = join("poor", { guaranteed: 1 });
    poor.call();
    poor.call();
    pass(SHARE_MS - 1);
    poor.ask();
    expect(rich.share.member.isReturning).toBe(false);
    pass(1);
    poor.ask();
    poor.ask();
    expect(rich.workers.filter(({ state }) => state === "draining")).toHaveLength(1);
    expect([rich.held, poor.held]).toEqual([4, 1]);
    rich.answer();
    poor.ask(); // five were there, so one was beyond the budget
    expect([rich.held, poor.held]).toEqual([3, 1]);
    rich.answer();
    poor.ask();
    expect([rich.held, poor.held]).toEqual([2, 2]);
    pass(10 * SHARE_MS);
    poor.call();
    expect(rich.share.member.isReturning).toBe(false); // equal parts
  });
});

type Joined = ReturnType<ReturnType<typeof createBudget>["join"]>;

test("the budget of a thread is the same for all its pools", () => {
  const budget = PoolBudget.ofThread(2);
  expect(PoolBudget.ofThread(2)).toBe(budget);
});
