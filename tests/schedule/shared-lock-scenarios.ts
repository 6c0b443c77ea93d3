/** Mutexes and conditions: one holder at a time, each waiter gets it, and what one gives up goes to the next. */
import { PoisonedError, WaitTimeoutError } from "../../src/shared-errors.ts";
import { memoryOf } from "../../src/shared/handles.ts";
import { Condition } from "../../src/shared/locks/condition.ts";
import { Mutex } from "../../src/shared/locks/mutex.ts";
import type { LockGuard } from "../../src/shared/locks/options.ts";
import type { Scenario } from "./scenarios.ts";
import {
  markEnd,
  ROOT,
  type SharedParts,
  type SharedRole,
  type SharedThread,
  sharing,
  TIME_LIMIT_MS,
} from "./shared-bench.ts";

/** Notes. */
const INSIDE = 0;
const ENTRIES = 1;
const GIVEN_UP = 2;
const TOKENS = 3;

/** Word of a lock: permits that are taken (gate.ts). */
const TAKEN = 6;

const mutexOf = (thread: SharedThread): Mutex => new Mutex(thread.memory("mutex"));

/** What the lock protects. A thread that died inside left it so. */
function useLock(thread: SharedThread, guard: LockGuard): void {
  const { notes } = thread;
  if (guard.wasPoisoned) notes[INSIDE] = 0;
  if (++notes[INSIDE]! !== 1) throw new Error("lost: two threads hold the lock");
  thread.step();
  notes[INSIDE]!--;
  notes[ENTRIES]!++;
}

const lockTimes = (times: number): SharedRole => (thread) => {
  const mutex = mutexOf(thread);
  for (let round = 0; round < times; round++) {
    const guard = mutex.lockSync({ recover: true });
    useLock(thread, guard);
    guard.release();
  }
};

/** The same in the event loop. */
const awaitLock = (times: number): SharedRole => async (thread) => {
  const mutex = mutexOf(thread);
  for (let round = 0; round < times; round++) {
    const guard = await mutex.lock({ recover: true });
    useLock(thread, guard);
    guard.release();
  }
};

/** Gives up after a time that may be over at any step. */
const lockOrGiveUp: SharedRole = (thread) => {
  try {
    const guard = mutexOf(thread).lockSync({ timeoutMs: TIME_LIMIT_MS });
    useLock(thread, guard);
    guard.release();
  } catch (error) {
    if (!(error instanceof WaitTimeoutError)) throw error;
    thread.notes[GIVEN_UP]!++;
  }
};

const awaitLockOrGiveUp: SharedRole = async (thread) => {
  try {
    const guard = await mutexOf(thread).lock({ timeoutMs: TIME_LIMIT_MS });
    useLock(thread, guard);
    guard.release();
  } catch (error) {
    if (!(error instanceof WaitTimeoutError)) throw error;
    thread.notes[GIVEN_UP]!++;
  }
};

type LockParts = Omit<SharedParts, "prepare" | "check">;

/** `entries`: how often the lock is taken, unless a thread gives up or dies. */
function locking(entries: number, parts: LockParts): Scenario {
  return sharing({
    ...parts,
    prepare: () => [memoryOf(new Mutex())],
    check(notes, [gate]) {
      const entered = notes[ENTRIES]! + notes[GIVEN_UP]!;
      const fewest = parts.isMortal === true ? entries - 1 : entries;
      if (entered < fewest || entered > entries) return `lost: the lock was taken ${entered} times`;
      return gate![TAKEN] === 0 || parts.isMortal === true
        ? undefined
        : "lost: the lock stays taken";
    },
  });
}

const waitForToken = (timeoutMs?: number): SharedRole => (thread) => {
  const { notes } = thread;
  const condition = new Condition(thread.memory("condition", 1));
  const guard = mutexOf(thread).lockSync();
  try {
    while (notes[TOKENS] === 0) {
      condition.waitSync(guard, timeoutMs === undefined ? {} : { timeoutMs });
    }
    notes[TOKENS]!--;
    useLock(thread, guard);
  } catch (error) {
    if (!(error instanceof WaitTimeoutError)) throw error;
    notes[GIVEN_UP]!++;
    guard.release();
    return;
  }
  notes[TOKENS]!++; // for the next
  guard.release();
  condition.notify();
};

const giveToken: SharedRole = (thread) => {
  const guard = mutexOf(thread).lockSync();
  thread.notes[TOKENS]!++;
  guard.release();
  new Condition(thread.memory("condition", 1)).notify();
};

function conditional(waiters: readonly SharedRole[], parts: Partial<SharedParts> = {}): Scenario {
  return sharing({
    workers: [giveToken, ...waiters],
    prepare: () => [memoryOf(new Mutex()), memoryOf(new Condition())],
    check(notes) {
      const ended = notes[ENTRIES]! + notes[GIVEN_UP]!;
      return ended === waiters.length ? undefined : `lost: ${ended} waits ended`;
    },
    ...parts,
  });
}

/** A holder that dies; the other recovers the lock, or is refused and tries again. */
const lockOnceRefused: SharedRole = (thread) => {
  const mutex = mutexOf(thread);
  let guard: LockGuard;
  try {
    guard = mutex.lockSync();
  } catch (error) {
    if (!(error instanceof PoisonedError)) throw error;
    guard = mutex.lockSync({ recover: true });
    if (!guard.wasPoisoned) throw new Error("lost: refused by a lock that is not poisoned");
  }
  useLock(thread, guard);
  guard.release();
};

export const lockScenarios: Readonly<Record<string, Scenario>> = {
  "mutex, two threads": locking(3, { workers: [lockTimes(2), lockTimes(1)] }),
  "mutex, three threads": locking(3, { workers: [lockTimes(1), lockTimes(1), lockTimes(1)] }),
  "mutex, one thread in its event loop": locking(2, {
    workers: [lockTimes(1)],
    main: awaitLock(1),
  }),
  "mutex, two threads in their event loops": locking(2, {
    workers: [awaitLock(1)],
    main: awaitLock(1),
  }),
  "mutex, given up or called": locking(3, {
    workers: [lockTimes(1), lockOrGiveUp, lockTimes(1)],
  }),
  "mutex, given up or called in the event loop": locking(3, {
    workers: [lockTimes(1), lockTimes(1)],
    main: awaitLockOrGiveUp,
  }),
  "mutex whose thread dies": locking(2, {
    workers: [lockTimes(1), lockTimes(1)],
    main: markEnd,
    isMortal: true,
  }),
  "mutex whose thread dies as another is called": locking(3, {
    workers: [lockTimes(1), lockTimes(1), lockTimes(1)],
    main: markEnd,
    isMortal: true,
  }),
  "mutex whose thread dies, refused and recovered": locking(2, {
    workers: [lockTimes(1), lockOnceRefused],
    main: markEnd,
    isMortal: true,
  }),
  "condition": conditional([waitForToken()]),
  "condition, given up or called": conditional([waitForToken(TIME_LIMIT_MS), waitForToken()]),
  "broken: mutex without notify": locking(2, {
    workers: [lockTimes(1), lockTimes(1)],
    fault: ({ operation }) => operation === "notify",
  }),
  "broken: mutex whose waiters are not announced": locking(2, {
    workers: [lockTimes(1), lockTimes(1)],
    fault: ({ operation, buffer }) => operation === "or" && buffer === ROOT,
  }),
};
