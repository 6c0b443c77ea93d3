/** Locks whose threads die between any two stores: no permit is lost, exclusion holds, and a lock is poisoned if its holder died with it. */
import { describe, expect, test } from "vitest";
import { Gate, GATE_BYTES, MAX_PERMITS } from "../../../src/shared/locks/gate.ts";
import { type Kind, ObjectMemory } from "../../../src/shared/memory.ts";
import {
  forEachDeath,
  type SimulatedThread,
  SimulatedThreads,
} from "../../support/shared-threads.ts";

type GateKind = "mutex" | "rwLock" | "semaphore";
const CAPACITIES = { mutex: 1, rwLock: MAX_PERMITS, semaphore: 3 };

/** A gate of this kind, with a handle for each of three workers. */
function createBench(kind: GateKind) {
  const threads = new SimulatedThreads();
  const capacity = CAPACITIES[kind];
  const memory = ObjectMemory.create(kind as Kind, GATE_BYTES, threads.main.thread);
  Gate.initialize(memory, capacity, kind === "semaphore" ? 0 : capacity);
  const gateOf = (thread: SimulatedThread) => new Gate(thread.adopt(kind, memory.buffer), kind);
  const workers = threads.workers(3) as [SimulatedThread, SimulatedThread, SimulatedThread];
  const gates = workers.map(gateOf) as [Gate, Gate, Gate];
  return { threads, workers, gates, capacity, gateOf, i32: memory.view.i32 };
}

/** All permits can be taken and given back by a living thread. */
function expectWhole(gate: Gate, isPoisoned: boolean): void {
  expect(gate.isPoisoned).toBe(isPoisoned);
  expect(gate.available).toBe(gate.capacity);
  expect(gate.tryAcquire(gate.capacity, true)).toBe(isPoisoned ? "recovered" : "held");
  expect([gate.own, gate.available]).toEqual([gate.capacity, 0]);
  gate.release(gate.capacity);
  expect([gate.own, gate.available, gate.isPoisoned]).toEqual([0, gate.capacity, false]);
}

/** Permits in the record of a thread. */
const heldBy = (i32: Int32Array, { thread }: SimulatedThread): number =>
  i32[16 + 2 * thread.index] === thread.token ? i32[17 + 2 * thread.index]! : 0;

describe.each(["mutex", "rwLock", "semaphore"] as const)("a %s", (kind) => {
  const requests = kind === "mutex" ? [1] : [1, CAPACITIES[kind]];
  test.each(requests)("whose thread dies as it takes %d", (permits) => {
    const steps = forEachDeath((dies) => {
      const { workers: [first], gates: [gate, other], i32, capacity } = createBench(kind);
      dies(first, () => void gate.tryAcquire(permits, false));
      const held = heldBy(i32, first);
      expectWhole(other, kind !== "semaphore" && held === capacity);
    });
    expect(steps).toBeGreaterThan(4);
  });

  test.each(requests)("whose thread dies as it gives %d back", (permits) => {
    forEachDeath((dies) => {
      const { workers: [first], gates: [gate, other], i32, capacity } = createBench(kind);
      gate.tryAcquire(permits, false);
      const isDone = dies(first, () => gate.release(permits));
      const held = heldBy(i32, first);
      if (isDone) expect(held).toBe(0);
      expectWhole(other, kind !== "semaphore" && held === capacity);
    });
  });

  test("whose holder dies calls the one that waits, at whichever store", () => {
    forEachDeath((dies) => {
      const { workers: [first], gates: [gate, other], i32, capacity } = createBench(kind);
      gate.tryAcquire(capacity, false);
      const place = other.arrive(1, true)!.place;
      dies(first, () => gate.release(capacity));
      const isPoisoned = kind !== "semaphore" && heldBy(i32, first) === capacity;
      expect(other.isCalled(place)).toBe(true);
      expect(other.settle(place, 1)).toBe(isPoisoned ? "recovered" : "held");
      other.release(1);
      expectWhole(other, false);
    });
  });

  test("whose waiter dies as it arrives, settles or gives up", () => {
    forEachDeath((dies) => {
      const { workers: [, second], gates: [gate, other, third], capacity, i32 } = createBench(kind);
      gate.tryAcquire(capacity, false);
      dies(second, () => {
        const place = other.arrive(1, false)!.place;
        gate.release(capacity);
        other.settle(place, 1);
      });
      const isPoisoned = kind === "mutex" && heldBy(i32, second) === 1;
      if (gate.own > 0) gate.release(capacity);
      expectWhole(third, isPoisoned);
    });
    forEachDeath((dies) => {
      const { workers: [, second], gates: [gate, other, third], capacity } = createBench(kind);
      gate.tryAcquire(capacity, false);
      const place = other.arrive(capacity, false)!.place;
      const next = third.arrive(1, false)!.place;
      dies(second, () => other.abandon(place, capacity));
      gate.release(capacity);
      expect(third.settle(next, 1)).toBe("held");
      third.release(1);
      expectWhole(third, false);
    });
  });

  test("whose waiter gives up after it was called passes the call on", () => {
    forEachDeath((dies) => {
      const { workers: [, second], gates: [gate, other, third], capacity } = createBench(kind);
      gate.tryAcquire(capacity, false);
      const place = other.arrive(capacity, false)!.place;
      const next = third.arrive(1, false)!.place;
      gate.release(capacity);
      dies(second, () => other.abandon(place, capacity));
      expect(third.isCalled(next)).toBe(true);
      expect(third.settle(next, 1)).toBe("held");
      third.release(1);
      expectWhole(gate, false);
    });
  });

  test("that is repaired by a thread that dies, too", () => {
    forEachDeath((dies) => {
      const { workers: [first, second], gates: [gate, other, third], capacity } = createBench(kind);
      gate.tryAcquire(capacity, false);
      const next = third.arrive(1, true)!.place;
      first.die();
      dies(second, () => void other.available);
      expect(third.isCalled(next)).toBe(true);
      expect(third.settle(next, 1)).toBe(kind === "semaphore" ? "held" : "recovered");
      third.release(1);
      expectWhole(third, false);
    });
  });
});

test("a mutex that two threads die with in turn is poisoned until a living one recovers it", () => {
  forEachDeath((dies) => {
    const { workers: [first, second], gates: [gate, other, third] } = createBench("mutex");
    gate.tryAcquire(1, false);
    first.die();
    expect(other.tryAcquire(1, false)).toBe("poisoned");
    dies(second, () => void other.tryAcquire(1, true));
    expectWhole(third, true);
  });
});

test("a write lock that is refused to all who wait does not stay taken", () => {
  const { workers: [first], gates: [gate, other, third], capacity } = createBench("rwLock");
  gate.tryAcquire(capacity, false);
  const [reader, recovering] = [other.arrive(1, false)!.place, third.arrive(1, true)!.place];
  first.die();
  expect(other.settle(reader, 1)).toBe("poisoned");
  expect(third.settle(recovering, 1)).toBe("recovered");
  expect(other.tryAcquire(1, false)).toBe("held");
  other.release(1);
  third.release(1);
  expectWhole(other, false);
});

test("the next thread of a dead holder's index holds nothing", () => {
  for (const kind of ["mutex", "rwLock", "semaphore"] as const) {
    const { threads, workers: [first], gates: [gate, other], gateOf, capacity } = createBench(kind);
    gate.tryAcquire(capacity, false);
    first.die();
    const next = threads.start();
    expect(next.thread.index).toBe(first.thread.index);
    const successor = gateOf(next);
    expect(successor.own).toBe(0);
    expect(successor.tryAcquire(1, true)).toBe(kind === "semaphore" ? "held" : "recovered");
    expect([successor.own, other.available]).toEqual([1, capacity - 1]);
  }
});
