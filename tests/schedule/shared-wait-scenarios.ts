/** Wait sets, latches, events, barriers and `Once`: no wake is lost, and a death holds up none. */
import { PoisonedError, WaitTimeoutError } from "../../src/shared-errors.ts";
import { memoryOf } from "../../src/shared/handles.ts";
import { Latch } from "../../src/shared/latch.ts";
import { Event, Once } from "../../src/shared/locks/event.ts";
import { Barrier } from "../../src/shared/locks/groups.ts";
import { ObjectMemory } from "../../src/shared/memory.ts";
import { BLOCKED, IN_LOOP, wordsOf } from "../../src/shared/threads/root.ts";
import { WaitSet } from "../../src/shared/wait-set.ts";
import type { Scenario } from "./scenarios.ts";
import {
  markEnd,
  ROOT,
  type SharedParts,
  type SharedRole,
  type SharedThread,
  sharing,
  TIME_LIMIT_MS,
  tokenOf,
} from "./shared-bench.ts";

/** Words of the object: a number that is waited for, a latch, two numbers that are equal outside the latch, and a wait set. */
const VALUE = 4;
const LATCH = 5;
const LEFT = 6;
const RIGHT = 7;
const SET = 8;
const BYTES = 128;

/** Notes. */
const PASSED = 0;
const INSIDE = 1;
const RUNS = 2;

const wordsOfObject = (thread: SharedThread) => thread.memory("event").view.i32;

function conditionOf(thread: SharedThread, wanted: number): { check(): boolean } {
  const words = wordsOfObject(thread);
  const set = new WaitSet(words, SET, thread.thread);
  return {
    check() {
      set.add();
      return Atomics.load(words, VALUE) >= wanted;
    },
  };
}

const change = (times: number): SharedRole => (thread) => {
  const words = wordsOfObject(thread);
  const set = new WaitSet(words, SET, thread.thread);
  for (let value = 1; value <= times; value++) {
    Atomics.store(words, VALUE, value);
    set.wake();
  }
};

const block = (times: number): SharedRole => (thread) => {
  for (let value = 1; value <= times; value++) {
    thread.thread.blockUntil(conditionOf(thread, value), "Waiting");
  }
  thread.notes[PASSED]!++;
};

const wait = (times: number): SharedRole => async (thread) => {
  for (let value = 1; value <= times; value++) {
    await thread.thread.loop.until(conditionOf(thread, value), "Waiting", {});
  }
  thread.notes[PASSED]!++;
};

/** Waits twice at a time. */
const waitTwice: SharedRole = async (thread) => {
  const { loop } = thread.thread;
  await Promise.all([1, 2].map((value) => loop.until(conditionOf(thread, value), "Waiting", {})));
  thread.notes[PASSED]!++;
};

/** The time of the first wait may end at any step; the second has no limit. */
const giveUpThenBlock: SharedRole = (thread) => {
  const condition = conditionOf(thread, 1);
  try {
    thread.thread.blockUntil(condition, "Waiting", TIME_LIMIT_MS);
  } catch (error) {
    if (!(error instanceof WaitTimeoutError)) throw error;
    thread.thread.blockUntil(condition, "Waiting");
  }
  thread.notes[PASSED]!++;
};

const giveUpThenWait: SharedRole = async (thread) => {
  const condition = conditionOf(thread, 1);
  const { loop } = thread.thread;
  try {
    await loop.until(condition, "Waiting", { timeoutMs: TIME_LIMIT_MS });
  } catch (error) {
    if (!(error instanceof WaitTimeoutError)) throw error;
    await loop.until(condition, "Waiting", {});
  }
  thread.notes[PASSED]!++;
};

/** Until the number is there, or the first worker has died. */
const blockUntilDeath: SharedRole = (thread) => {
  const { root } = thread.thread;
  const { check } = conditionOf(thread, 1);
  const condition = { check: () => check() || !root.isAlive(tokenOf(1)) };
  thread.thread.blockUntil(condition, "Waiting");
  thread.notes[PASSED]!++;
};

/** `passes`: how many waits end. */
function waiting(passes: number, parts: Omit<SharedParts, "prepare" | "check">): Scenario {
  return sharing({
    ...parts,
    prepare: (main) => [ObjectMemory.create("event", BYTES, main)],
    check: ({ [PASSED]: passed }) => {
      return passed === passes ? undefined : `lost: ${passed} waits ended`;
    },
  });
}

/** Changes two numbers under the latch, one after the other. `repairs`: what a holder has left that died inside. */
const changeUnderLatch = (times: number, repairs = false): SharedRole => (thread) => {
  const words = wordsOfObject(thread);
  const latch = new Latch(words, LATCH, thread.thread, "a pair");
  const change = (hasDied: boolean): void => {
    if (hasDied && repairs) thread.notes[INSIDE] = 0;
    if (++thread.notes[INSIDE]! !== 1) throw new Error("lost: two threads hold the latch");
    const left = Atomics.load(words, LEFT);
    if (!hasDied && Atomics.load(words, RIGHT) !== left) throw new Error("lost: half a change");
    Atomics.store(words, LEFT, left + 1);
    Atomics.store(words, RIGHT, left + 1);
    thread.notes[INSIDE]!--;
  };
  for (let round = 0; round < times; round++) latch.run(change, undefined, true);
  thread.notes[PASSED]!++;
};

/** Of a later life than any thread here has. */
const DEAD_TOKEN = 3 | 3 << 8;

/** `holder`: token that is in the latch. */
function latching(parts: Omit<SharedParts, "prepare" | "check">, holder = 0): Scenario {
  const fewest = parts.workers.length - (parts.isMortal === true ? 1 : 0);
  return sharing({
    ...parts,
    prepare(main) {
      const memory = ObjectMemory.create("event", BYTES, main);
      memory.view.i32[LATCH] = holder;
      return [memory];
    },
    check(notes) {
      return notes[PASSED]! >= fewest ? undefined : `lost: ${notes[PASSED]} threads went on`;
    },
  });
}

const eventOf = (thread: SharedThread): Event => new Event(thread.memory("event"));

const blockForEvent: SharedRole = (thread) => {
  eventOf(thread).waitSync();
  thread.notes[PASSED]!++;
};

const waitForEvent: SharedRole = async (thread) => {
  await eventOf(thread).wait();
  thread.notes[PASSED]!++;
};

/** Sets the event and resets it at once when the thread with this index waits. */
const pulse = (index: number): SharedRole => (thread) => {
  const { words } = thread.thread.root;
  thread.until(() => (words[wordsOf(index).waits]! & (BLOCKED | IN_LOOP)) !== 0);
  const event = eventOf(thread);
  event.set();
  event.reset();
};

function eventful(workers: readonly SharedRole[], main?: SharedRole): Scenario {
  return sharing({
    workers,
    ...(main === undefined ? {} : { main }),
    prepare: () => [memoryOf(new Event())],
    check: ({ [PASSED]: passed }) => passed === 1 ? undefined : "lost: the wait did not end",
  });
}

const runOnce: SharedRole = (thread) => {
  const once = new Once(thread.memory("once"));
  once.runSync(() => {
    thread.step();
    thread.notes[RUNS]!++;
  });
  thread.notes[PASSED]!++;
};

/** Passes the barrier twice, unless the other thread dies. */
const meet: SharedRole = (thread) => {
  const barrier = new Barrier(thread.memory("barrier"));
  try {
    for (let round = 0; round < 2; round++) {
      barrier.waitSync();
      thread.notes[RUNS]!++;
    }
  } catch (error) {
    if (!(error instanceof PoisonedError)) throw error;
  }
  thread.notes[PASSED]!++;
};

/** Word of a barrier: its members (groups.ts). */
const MEMBERS = 32;

/** As if the first worker had waited at the barrier before: it is a member. */
function metBefore(barrier: ObjectMemory): ObjectMemory {
  barrier.view.i32.set([tokenOf(1), 1], MEMBERS + 2);
  return barrier;
}

export const waitScenarios: Readonly<Record<string, Scenario>> = {
  "wait set, one thread blocks": waiting(1, { workers: [change(2), block(2)] }),
  "wait set, one thread waits in its event loop": waiting(1, {
    workers: [change(2)],
    main: wait(2),
  }),
  "wait set, two waits in one event loop": waiting(1, { workers: [change(2)], main: waitTwice }),
  "wait set, two threads wait": waiting(2, { workers: [change(1), block(1)], main: wait(1) }),
  "wait set, two threads change": waiting(1, { workers: [change(1), block(1), change(1)] }),
  "wait set, timed out or woken": waiting(1, { workers: [change(1), giveUpThenBlock] }),
  "wait set, timed out or woken in the event loop": waiting(1, {
    workers: [change(1)],
    main: giveUpThenWait,
  }),
  "wait set whose waker dies": waiting(1, {
    workers: [change(1), blockUntilDeath],
    main: markEnd,
    isMortal: true,
  }),
  "latch": latching({ workers: [changeUnderLatch(2), changeUnderLatch(2)] }),
  "latch, three threads": latching({
    workers: [changeUnderLatch(1), changeUnderLatch(1), changeUnderLatch(1)],
  }),
  "latch whose holder dies": latching({
    workers: [changeUnderLatch(1), changeUnderLatch(1, true)],
    main: markEnd,
    isMortal: true,
  }),
  "latch of a dead thread, two take it": latching({
    workers: [changeUnderLatch(1), changeUnderLatch(1)],
  }, DEAD_TOKEN),
  "event, set and reset at once": eventful([pulse(2), blockForEvent]),
  "event, set and reset at once, in the event loop": eventful([pulse(0)], waitForEvent),
  "once": sharing({
    workers: [runOnce, runOnce],
    prepare: () => [memoryOf(new Once())],
    check: (notes) => notes[RUNS] === 1 && notes[PASSED] === 2 ? undefined : "lost or run twice",
  }),
  "once whose thread dies": sharing({
    workers: [runOnce, runOnce],
    main: markEnd,
    isMortal: true,
    prepare: () => [memoryOf(new Once())],
    check: (notes) => notes[RUNS]! >= 1 && notes[PASSED]! >= 1 ? undefined : "lost: never run",
  }),
  "barrier": sharing({
    workers: [meet, meet],
    prepare: () => [memoryOf(new Barrier(2))],
    check: (notes) => notes[RUNS] === 4 ? undefined : `lost: passed ${notes[RUNS]} times`,
  }),
  "barrier whose thread dies": sharing({
    workers: [meet, meet],
    main: markEnd,
    isMortal: true,
    prepare: () => [metBefore(memoryOf(new Barrier(2)))],
    check: (notes) => notes[PASSED]! >= 1 ? undefined : "lost: the other waits for ever",
  }),
  "broken: wait set, check before adding": waiting(1, {
    workers: [change(2), (thread) => {
      const words = wordsOfObject(thread);
      const set = new WaitSet(words, SET, thread.thread);
      const check = (): boolean => {
        const isOver = Atomics.load(words, VALUE) === 2;
        if (!isOver) set.add();
        return isOver;
      };
      thread.thread.blockUntil({ check }, "Waiting");
      thread.notes[PASSED]!++;
    }],
  }),
  "broken: wait set, woken before the change": waiting(1, {
    workers: [(thread) => {
      const words = wordsOfObject(thread);
      new WaitSet(words, SET, thread.thread).wake();
      Atomics.store(words, VALUE, 1);
    }, block(1)],
  }),
  "broken: wait set, the threads' words are not added to": waiting(1, {
    workers: [change(1), block(1)],
    fault: ({ operation, buffer }) => operation === "add" && buffer === ROOT,
  }),
  "broken: a death that is not marked": latching({
    workers: [changeUnderLatch(1), changeUnderLatch(1)],
    isMortal: true,
  }),
  "broken: latch taken by a thread that has not been given it": latching({
    workers: [changeUnderLatch(1), (thread) => {
      const words = wordsOfObject(thread);
      while (Atomics.load(words, LATCH) !== 0) Atomics.pause();
      Atomics.store(words, LATCH, thread.thread.token);
      if (++thread.notes[INSIDE]! !== 1) throw new Error("lost: two threads hold the latch");
      thread.step();
      thread.notes[INSIDE]!--;
      Atomics.store(words, LATCH, 0);
      thread.notes[PASSED]!++;
    }],
  }),
};
