/** The root: tokens, families, fences and deaths, and the reuse of records. */
import { describe, expect, test } from "vitest";
import {
  refuseToken,
  type ThreadWords,
  TOKEN,
  WORDS_BYTES,
} from "../../../src/realm/thread-hooks.ts";
import { MAX_THREADS, Root, wordsOf } from "../../../src/shared/threads/root.ts";
import { ThisThread } from "../../../src/shared/threads/this-thread.ts";
import { forEachDeath, SimulatedThreads } from "../../support/shared-threads.ts";
import { createRandom, upTo } from "../../support/random.ts";

const LIFE_BITS = 22;

describe("a token", () => {
  test("names one life of one record", () => {
    const root = Root.create();
    const first = root.begin(0);
    const second = root.begin(first);
    expect([root.isAlive(first), root.isAlive(second), root.high]).toEqual([true, true, 2]);
    root.end(first);
    expect([root.isAlive(first), root.isAlive(second), root.tokenAt(0)]).toEqual([false, true, 0]);
    const third = root.begin(second);
    expect([third & 255, root.isAlive(first), root.tokenAt(0)]).toEqual([0, false, third]);
    expect([root.high, root.deaths]).toEqual([2, 1]);
  });

  test("is not 0 and of 30 bits, also when lives wrap", () => {
    const root = Root.create();
    for (const life of [2 ** LIFE_BITS - 4, 2 ** LIFE_BITS - 2, 2 ** 31 - 2, -4, -2]) {
      root.words[wordsOf(0).waits - 1] = life;
      const token = root.begin(0);
      expect(token > 0 && token < 2 ** 30).toBe(true);
      expect([root.isAlive(token), root.isEntitled(token), root.tokenAt(0)])
        .toEqual([true, true, token]);
      root.end(token);
      expect([root.isAlive(token), root.isEntitled(token), root.tokenAt(0)])
        .toEqual([false, false, 0]);
    }
  });

  test("is refused when as many threads live as there may", () => {
    const root = Root.create();
    const tokens = Array.from({ length: MAX_THREADS }, () => root.begin(0));
    expect(() => root.begin(0)).toThrow(`${MAX_THREADS} threads share data`);
    root.end(tokens[77]!);
    expect(root.begin(0) & 255).toBe(77);
  });
});

describe("a death", () => {
  test("counts once, wakes every thread, and does not touch the next life", () => {
    const root = Root.create();
    const [first, second] = [root.begin(0), root.begin(0)];
    const { sync, async } = wordsOf(second & 255);
    const before = [root.words[sync]!, root.words[async]!];
    root.end(first);
    root.end(first);
    expect(root.deaths).toBe(1);
    expect([root.words[sync], root.words[async]]).toEqual(before.map((value) => value + 1));
    const next = root.begin(second);
    root.fence(first, 1);
    root.end(first);
    expect([root.isAlive(next), root.isEntitled(next), root.deaths]).toEqual([true, true, 1]);
  });

  test("of a thread that marks one leaves the other dead or alive, and counted", () => {
    forEachDeath((dies) => {
      const threads = new SimulatedThreads();
      const { main } = threads;
      const parent = threads.start({ parent: main.token });
      const child = threads.start({ parent: parent.token });
      const { deaths } = threads.root;
      dies(parent, () => parent.root.end(child.token));
      for (const each of threads.root.family(parent.token)) threads.root.end(each);
      expect(threads.root.isAlive(parent.token)).toBe(false);
      expect(threads.root.deaths).toBeGreaterThan(deaths);
      threads.root.end(child.token);
      expect(threads.root.isAlive(child.token)).toBe(false);
    });
  });

  test("of a thread as it starts another leaves the rest usable", () => {
    forEachDeath((dies) => {
      const threads = new SimulatedThreads();
      const parent = threads.start({ parent: threads.main.token });
      dies(parent, () => void parent.root.begin(parent.token));
      const { root } = threads;
      for (const each of root.family(parent.token)) root.end(each);
      const next = [root.begin(threads.main.token), root.begin(threads.main.token)];
      expect(new Set(next).size).toBe(2);
      expect(next.every((token) => root.isAlive(token) && root.isEntitled(token))).toBe(true);
      expect(next.every((token) => (token & 255) < root.high)).toBe(true);
    });
  });
});

describe("a thread that shares data for the first time", () => {
  const start = (): { threads: SimulatedThreads; words: ThreadWords[] } => {
    const threads = new SimulatedThreads();
    const words = [0, 1, 2].map(() => ({ buffer: new SharedArrayBuffer(WORDS_BYTES), index: 0 }));
    new Int32Array(words[0]!.buffer)[TOKEN] = threads.main.token;
    return { threads, words };
  };

  test("gets a token, and so do those above it, once", () => {
    const { threads: { root, main }, words } = start();
    const below = root.enter(words);
    const above = root.enter(words.slice(0, 2));
    expect(root.enter(words)).toBe(below);
    expect(root.family(above)).toEqual([above, below]);
    expect(root.family(main.token)).toEqual([main.token, above, below]);
    expect([refuseToken(words[1]!), refuseToken(words[2]!)]).toEqual([above, below]);
    root.endFamily(above);
    expect(() => root.enter(words)).toThrow("This thread was stopped");
    expect(root.family(main.token)).toEqual([main.token]);
  });

  test("gets none after it was stopped, nor after one above it was", () => {
    const { threads: { root, main }, words } = start();
    expect(refuseToken(words[1]!)).toBe(0);
    expect(refuseToken(words[1]!)).toBe(0);
    expect(() => root.enter(words.slice(0, 2))).toThrow("This thread was stopped");
    expect(() => root.enter(words)).toThrow("This thread was stopped");
    expect(root.family(main.token)).toEqual([main.token]);
  });

  test("and dies there leaves the others usable", () => {
    forEachDeath((dies) => {
      const { threads, words } = start();
      const { root } = threads;
      const dying = threads.start({ parent: threads.main.token });
      dies(dying, () => void dying.root.enter(words));
      for (const each of words.slice(1)) {
        const token = refuseToken(each);
        if (token !== 0) root.endFamily(token);
      }
      const others = [words[0]!, { buffer: new SharedArrayBuffer(WORDS_BYTES), index: 0 }];
      const token = root.enter(others);
      expect([root.isAlive(token), root.isEntitled(token)]).toEqual([true, true]);
    });
  });
});

describe("a fence", () => {
  test("ends a thread's operations, but not its life", () => {
    const threads = new SimulatedThreads();
    const { thread, token } = threads.start();
    const { root } = threads;
    thread.enter();
    root.fence(token, 1);
    expect([root.isAlive(token), root.isEntitled(token)]).toEqual([true, false]);
    expect(() => thread.checkLife()).toThrow("This thread was stopped");
    expect(() => thread.blockUntil({ check: () => true }, "Waiting")).toThrow(
      "This thread was stopped",
    );
    const visits = root.visits(thread.index);
    thread.leave();
    expect(root.visits(thread.index)).toBe(visits);
    root.end(token);
    const next = new ThisThread(root, root.begin(0), true, thread.runtime);
    expect([next.index, root.visits(next.index) & 1]).toEqual([thread.index, 0]);
    expect(() => thread.enter()).toThrow("This thread was stopped");
    expect(root.visits(next.index) & 1).toBe(0);
  });
});

test("a family is a thread and all below it, at random", () => {
  const random = createRandom(1);
  for (let round = 0; round < 50; round++) {
    const root = Root.create();
    const parents = new Map([[root.begin(0), 0]]);
    for (let step = 0; step < 60; step++) {
      const tokens = [...parents.keys()];
      const chosen = tokens[upTo(random, tokens.length - 1)]!;
      const family = new Set([chosen]);
      for (const [token, parent] of parents) if (family.has(parent)) family.add(token);
      expect(new Set(root.family(chosen))).toEqual(family);
      if (random() < 0.3 && chosen !== tokens[0]) {
        for (const token of family) {
          root.end(token);
          parents.delete(token);
        }
      } else parents.set(root.begin(chosen), chosen);
      expect([...parents.keys()].every((token) => root.isAlive(token))).toBe(true);
    }
  }
});

test("visits nest, and are odd inside", () => {
  const threads = new SimulatedThreads();
  const { thread } = threads.start();
  const isInside = () => (threads.root.visits(thread.index) & 1) === 1;
  expect([thread.isInside, isInside()]).toEqual([false, false]);
  thread.enter();
  thread.enter();
  thread.leave();
  expect([thread.isInside, isInside()]).toEqual([true, true]);
  thread.leave();
  expect([thread.isInside, isInside()]).toEqual([false, false]);
});
