/** `minFreeMemory`: when a pool starts workers, by the memory that is free. */
import { expect, test } from "vitest";
import { PoolBudget } from "../../../../src/features/workers/scaling/host/pool-budget.ts";
import type { PoolSize } from "../../../../src/host/workers/feature.ts";
import type { HostRuntime } from "../../../../src/runtimes/runtime.ts";
import { createSupervisor } from "../../../support/supervised.ts";

const NEEDED = 1000;

/** A pool whose workers are ready as soon as they start, and whose memory is free as the test says. */
function createPool(size: Partial<PoolSize>) {
  const pool = createSupervisor({ minFreeMemory: NEEDED, ...size });
  const memory = { freeBytes: 0, reads: 0 };
  const { supervisor, threads } = pool;
  (supervisor.runtime as { systemMemory: HostRuntime["systemMemory"] }).systemMemory = () => {
    memory.reads++;
    return { totalBytes: 2 * NEEDED, freeBytes: memory.freeBytes };
  };
  supervisor.start();
  return {
    ...pool,
    memory,
    /** Lets time pass while so many calls wait. Returns the number of workers. */
    wait: (calls: number, ms = 1000): number => {
      const endMs = ms;
      for (let passedMs = 0; passedMs < endMs; passedMs += 10) {
        pool.dispatcher.waitingCalls = calls;
        supervisor.checkLoad();
        pool.pass(10);
        for (const { id } of supervisor.threads) {
          if (supervisor.isStarting(id)) threads[id]!.ready();
        }
      }
      return supervisor.threadCount;
    },
  };
}

const phasesOf = ({ supervisor }: ReturnType<typeof createPool>): string[] =>
  [...supervisor.threads].map(({ phase }) => phase);

/** What the options make of pools whose number of threads is automatic. */
const AUTO = { share: { guaranteed: 1, isLimited: true } };

test("a further worker starts only while enough memory is free, and as soon as it is", () => {
  const { memory, wait } = createPool({ minThreads: 1, maxThreads: 3 });
  memory.freeBytes = NEEDED - 1;
  expect(wait(5)).toBe(1);
  memory.freeBytes = NEEDED;
  expect(wait(5)).toBe(3);
});

test("a pool of an automatic number begins with one worker, and gets the others when calls wait", () => {
  const budget = new PoolBudget(4);
  const { memory, supervisor, wait } = createPool({
    ...AUTO,
    budget,
    minThreads: 3,
    maxThreads: 3,
  });
  expect(supervisor.threadCount).toBe(1);
  expect(wait(5)).toBe(1);
  memory.freeBytes = NEEDED;
  expect(wait(0)).toBe(1);
  expect(wait(5)).toBe(3);
});

test("the first worker and minThreads start without it", () => {
  const none = createPool({ minThreads: 0, maxThreads: 2 });
  expect(none.wait(1)).toBe(1);
  expect(createPool({ minThreads: 2, maxThreads: 3 }).wait(5)).toBe(2);
});

test("a worker that ended is replaced if it was the last, else when enough memory is free", () => {
  const { memory, supervisor, threads, wait } = createPool({ minThreads: 0, maxThreads: 2 });
  memory.freeBytes = NEEDED;
  expect(wait(5)).toBe(2);
  memory.freeBytes = 0;
  threads[1]!.exit();
  expect(wait(5)).toBe(1);
  threads[0]!.exit();
  expect(wait(5)).toBe(1);
  memory.freeBytes = NEEDED;
  expect(wait(5)).toBe(2);
  expect(supervisor.lost).toBe(2);
});

test("a pool that lacks memory takes no thread of a budget's other pools", () => {
  const budget = new PoolBudget(3);
  const other = createPool({ minThreads: 0, maxThreads: 2, budget, ...AUTO });
  other.memory.freeBytes = NEEDED;
  expect(other.wait(5)).toBe(2);
  other.dispatcher.waitingCalls = 0;
  const { memory, wait } = createPool({ minThreads: 0, maxThreads: 3, budget, ...AUTO });
  expect(wait(5)).toBe(1);
  other.pass(1000);
  expect(wait(5)).toBe(1);
  expect(phasesOf(other)).toEqual(["open", "open"]);
  memory.freeBytes = NEEDED;
  wait(5); // the budget looks at the idle workers of the other pool
  other.pass(1000);
  wait(5);
  expect(phasesOf(other)).toEqual(["open", "closing"]);
});

test("without the option no memory is read", () => {
  const { memory, wait } = createPool({ minThreads: 1, maxThreads: 3, minFreeMemory: undefined });
  expect(wait(5)).toBe(3);
  expect(memory.reads).toBe(0);
});
