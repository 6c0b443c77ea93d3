/**
 * Threads that share data, for lockstep scenarios. Buffer 0 is the root of `heddle/shared`, buffer 1 the notes of the scenario
 * (plain words: no steps), and the others are its objects, prepared once by a host that has ended its part.
 */
import { currentRuntime } from "../../src/runtimes/current.ts";
import type { Runtime } from "../../src/runtimes/runtime.ts";
import { type Kind, ObjectMemory } from "../../src/shared/memory.ts";
import { Root, wordsOf } from "../../src/shared/threads/root.ts";
import { ThisThread } from "../../src/shared/threads/this-thread.ts";
import type { Fault, LockstepThread, Scenario } from "./scenarios.ts";

type Words = Int32Array<SharedArrayBuffer>;

const NOTES_BYTES = 256;
const NOTES = 1;
/** Index of the first object among the buffers, and of the root. */
export const OBJECT = 2;
export const ROOT = 0;
/** Limit of waits that have one. In these runs it may pass at any step of another thread. */
export const TIME_LIMIT_MS = 1000;
/** Of the clock that threads share: far from its start. */
const ORIGIN_MS = 1e6;

/** One thread of a scenario. */
export class SharedThread {
  readonly notes: Words;
  readonly thread: ThisThread;
  readonly #lockstep: LockstepThread["lockstep"];
  readonly #buffers: readonly SharedArrayBuffer[];

  constructor({ lockstep, loop, buffers }: LockstepThread, token: number, isWorker: boolean) {
    this.#lockstep = lockstep;
    this.#buffers = buffers;
    this.notes = new Int32Array(buffers[NOTES]!);
    const runtime: Runtime = {
      ...currentRuntime,
      losesAsyncWakes: false,
      originMs: ORIGIN_MS,
      now: () => lockstep.nowMs,
      pause: () => lockstep.hush(),
      setTimeout: (callback, ms) => loop.setTimeout(callback, ms),
      setInterval: (callback, ms) => loop.setTimeout(callback, ms),
      macrotask: (callback) => loop.macrotask(callback),
    };
    this.thread = new ThisThread(new Root(new Int32Array(buffers[0]!)), token, isWorker, runtime);
    setThisThread(this.thread);
  }

  /** The memory of an object as this thread has it. */
  memory(kind: Kind, index = 0): ObjectMemory {
    return ObjectMemory.adopt(kind, this.#buffers[OBJECT + index]!, this.thread);
  }

  /** Lets other threads run, once. */
  step(): void {
    this.#lockstep.step("load", NOTES_ADDRESS);
  }

  /** Waits until another thread has made `condition` true, a look at each of their steps. */
  until(condition: () => boolean): void {
    while (!condition()) this.#lockstep.pause();
  }

  /** Appends to a list in the notes: a count and the values. */
  note(list: number, value: number): void {
    const count = ++this.notes[list]!;
    this.notes[list + count] = value;
  }

  awaitEnd(): void {
    this.#lockstep.awaitEnd();
  }
}

const NOTES_ADDRESS = NOTES << 24;

const KEY = Symbol.for("heddle.shared.thread");

function setThisThread(value: ThisThread | undefined): void {
  Object.defineProperty(globalThis, KEY, { value, configurable: true });
}

/** A list in the notes. */
export function notesAt(notes: Words, list: number): number[] {
  return [...notes.subarray(list + 1, list + 1 + notes[list]!)];
}

/** What a thread does. */
export type SharedRole = (thread: SharedThread) => void | Promise<void>;

export interface SharedParts {
  /** Creates the objects, in the main thread. */
  prepare(main: ThisThread): readonly ObjectMemory[];
  /** What the main thread does: it may not block, and marks the death of `mortal`. */
  readonly main?: SharedRole;
  readonly workers: readonly SharedRole[];
  /** The first worker may die at any step. */
  readonly isMortal?: boolean;
  readonly fault?: Fault;
  check(notes: Words, objects: readonly Words[]): string | undefined;
}

interface Template {
  readonly root: Uint8Array;
  readonly objects: readonly Uint8Array[];
}

function createTemplate({ prepare, workers }: SharedParts): Template {
  const root = Root.create();
  const main = new ThisThread(root, root.begin(0), false, currentRuntime);
  for (const _ of workers) root.begin(main.token);
  setThisThread(main);
  const objects = prepare(main).map(({ buffer }) => new Uint8Array(buffer));
  setThisThread(undefined);
  return { root: new Uint8Array(root.words.buffer), objects };
}

/** Of the main thread (0), or of a worker. */
export const tokenOf = (index: number): number => index | 1 << 8;

/** The main thread marks the death of the first worker. */
export const markEnd: SharedRole = (main) => {
  main.awaitEnd();
  main.thread.root.end(tokenOf(1));
};

/** Words of the root (threads/root.ts): how many records are used, and of each thread whether it may touch shared data. */
const HIGH = 2;
const entitledAt = (index: number): number => wordsOf(index).waits + 3;

export function sharing(parts: SharedParts): Scenario {
  let known: Template | undefined;
  const template = (): Template => known ??= createTemplate(parts);
  const workers = parts.workers.map((role, index) => (_: unknown, thread: LockstepThread) =>
    role(new SharedThread(thread, tokenOf(index + 1), true))
  );
  const indexOfThread = (thread: number): number => thread === workers.length ? 0 : thread + 1;
  const main = parts.main === undefined ? [] : [
    (_: unknown, thread: LockstepThread) =>
      parts.main!(new SharedThread(thread, tokenOf(0), false)),
  ];
  return {
    get bytes() {
      return template().root.length;
    },
    get moreBytes() {
      return [NOTES_BYTES, ...template().objects.map(({ length }) => length)];
    },
    reset(memory, more) {
      const { root, objects } = template();
      new Uint8Array(memory).set(root);
      for (const [index, object] of objects.entries()) new Uint8Array(more[1 + index]!).set(object);
    },
    threads: [...workers, ...main],
    isConstant: ({ buffer, word, thread }) =>
      buffer === ROOT && (word === HIGH || word === entitledAt(indexOfThread(thread))),
    ...(parts.isMortal === true ? { mortal: 0 } : {}),
    ...(parts.fault === undefined ? {} : { fault: parts.fault }),
    check(_, [notes, ...objects]) {
      return parts.check(
        new Int32Array(notes!),
        objects.map((object) => new Int32Array(object)),
      );
    },
  };
}
