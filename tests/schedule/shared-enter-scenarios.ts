/** Threads that get their tokens when they first share data: each has one, and none that outlives the thread above it. */
import { refuseToken, type ThreadWords, TOKEN } from "../../src/realm/thread-hooks.ts";
import { SharedAccessError } from "../../src/shared-errors.ts";
import { ObjectMemory } from "../../src/shared/memory.ts";
import { MAX_THREADS, Root } from "../../src/shared/threads/root.ts";
import type { Scenario } from "./scenarios.ts";
import { type SharedParts, type SharedRole, type SharedThread, sharing } from "./shared-bench.ts";

/** Words of the object: those of the main thread, of a worker, and of a worker of that. */
const PLACES = [4, 12, 20];
const BYTES = 128;

const wordsFor = (thread: SharedThread, level: number): readonly ThreadWords[] => {
  const { buffer } = thread.memory("event");
  return PLACES.slice(0, level + 1).map((index) => ({ buffer, index }));
};

/** The thread at this level enters. */
const enter = (level: number): SharedRole => (thread) => {
  try {
    thread.notes[level] = thread.thread.root.enter(wordsFor(thread, level));
  } catch (error) {
    if (!(error instanceof SharedAccessError)) throw error;
  }
};

/** Stops the worker of the main thread. */
const stop = (end: (root: Root, token: number) => void): SharedRole => (thread) => {
  const { root } = thread.thread;
  const token = refuseToken(wordsFor(thread, 1)[1]!);
  if (token !== 0) end(root, token);
};

/** How many threads live when all have returned, beside those that run the scenario. */
const entering = (
  parts: Pick<SharedParts, "workers" | "main">,
  isRight: (living: number, tokens: readonly number[]) => boolean,
): Scenario => {
  const scenario = sharing({
    ...parts,
    prepare: (main) => {
      const memory = ObjectMemory.create("event", BYTES, main);
      memory.view.i32[PLACES[0]! + TOKEN] = main.token;
      return [memory];
    },
    check: () => undefined,
  });
  return {
    ...scenario,
    get bytes() {
      return scenario.bytes;
    },
    get moreBytes() {
      return scenario.moreBytes!;
    },
    // Threads begin and end here.
    isConstant: () => false,
    check(memory, more) {
      const root = new Root(new Int32Array(memory));
      let living = -1 - parts.workers.length;
      for (let index = 0; index < MAX_THREADS; index++) if (root.tokenAt(index) !== 0) living++;
      const tokens = [...new Int32Array(more[0]!).subarray(1, 3)];
      return isRight(living, tokens) ? undefined : `lost: ${living} threads live, ${tokens}`;
    },
  };
};

/** The main thread does both at once, though a thread that was stopped may run on for a while. */
const stopFamily = stop((root, token) => {
  root.fenceFamily(token, 0);
  root.endFamily(token);
});

const noneLives = (living: number): boolean => living === 0;

export const enterScenarios: Readonly<Record<string, Scenario>> = {
  "a thread and one below it get tokens at once": entering(
    { workers: [enter(1), enter(2)] },
    (living, [one, below]) => living === 2 && one !== 0 && below !== 0 && one !== below,
  ),
  "a thread is stopped as it gets a token": entering(
    { workers: [enter(1)], main: stopFamily },
    noneLives,
  ),
  "a thread is stopped as one below it gets a token": entering(
    { workers: [enter(2)], main: stopFamily },
    noneLives,
  ),
  "broken: a thread is stopped after a look at those below it": entering(
    {
      workers: [enter(2)],
      main: stop((root, token) => {
        for (const each of root.family(token)) root.end(each);
      }),
    },
    noneLives,
  ),
  "broken: a thread that is stopped may get a token": entering(
    {
      workers: [enter(1)],
      main: (thread) => {
        const { buffer, index } = wordsFor(thread, 1)[1]!;
        const token = Atomics.load(new Int32Array(buffer), index + TOKEN);
        if (token !== 0) thread.thread.root.endFamily(token);
      },
    },
    noneLives,
  ),
};
