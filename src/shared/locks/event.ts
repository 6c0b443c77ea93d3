/** Event, flag and once: one word each. */
import { DeadlockError } from "../../errors.ts";
import { BLOCK, checkFunction, checkWait, memoryOrNew, NO_OPTIONS, WAIT } from "../given.ts";
import { registerHandle, SharedObject } from "../handles.ts";
import { type Kind, OBJECT_WORDS, ObjectMemory } from "../memory.ts";
import { thisThread } from "../threads/this-thread.ts";
import { WAIT_SET_WORDS, WaitSet } from "../wait-set.ts";
import type { BlockOptions, WaitOptions } from "./options.ts";

/*
 *   word 4   state
 *            Event, AtomicFlag: 0 or 1, any thread
 *            Once: 0 or a dead token → token: compare-exchange by the thread that runs it; token → DONE or 0: the same thread
 *   word 5   times    Event: how often it was set; any thread adds
 *   word 8   wait set
 */
const STATE = OBJECT_WORDS;
const TIMES = 5;
const WAIT_SET = 8;
const BYTES = 4 * (WAIT_SET + WAIT_SET_WORDS);
const DONE = -1;

const FOR_EVENT = "Waiting for this event";
const FOR_ONCE = "Waiting for this once";

function memoryFor(kind: Kind, name: string, given: ObjectMemory | undefined): ObjectMemory {
  return memoryOrNew(name, given, () => ObjectMemory.create(kind, BYTES, thisThread()));
}

/** A flag to wait for, reset by hand. */
export class Event extends SharedObject {
  readonly #memory: ObjectMemory;
  readonly #waiting: WaitSet;

  /** A new event, not set. Pass it in an argument, or name it: `shared.event(name)`. */
  constructor(given?: ObjectMemory) {
    const memory = memoryFor("event", "Event", given);
    super("event", memory);
    this.#memory = memory;
    this.#waiting = new WaitSet(memory.view.i32, WAIT_SET, memory.thread);
  }

  /** Whether it is set. */
  get isSet(): boolean {
    return Atomics.load(this.#memory.view.i32, STATE) === 1;
  }

  /** Ends all waits, those that have begun before too if it is reset at once. */
  set(): void {
    const { i32 } = this.#memory.view;
    this.#memory.thread.checkLife();
    Atomics.store(i32, STATE, 1);
    Atomics.add(i32, TIMES, 1);
    this.#waiting.wake();
  }

  /** Waits that begin from now on last until the next `set()`. */
  reset(): void {
    this.#memory.thread.checkLife();
    Atomics.store(this.#memory.view.i32, STATE, 0);
  }

  /** Resolves when it is set. */
  async wait(options: WaitOptions = NO_OPTIONS): Promise<void> {
    checkWait("wait", options, WAIT);
    await this.#memory.thread.loop.until(this.#condition(), FOR_EVENT, options);
  }

  /** Blocks until it is set: in workers. */
  waitSync(options: BlockOptions = NO_OPTIONS): void {
    const { thread } = this.#memory;
    thread.checkMayBlock("waitSync");
    checkWait("waitSync", options, BLOCK);
    thread.blockUntil(this.#condition(), FOR_EVENT, options.timeoutMs);
  }

  #condition(): { check(): boolean } {
    const { i32 } = this.#memory.view;
    const times = Atomics.load(i32, TIMES);
    return {
      check: () => {
        this.#waiting.add();
        return Atomics.load(i32, STATE) === 1 || Atomics.load(i32, TIMES) !== times;
      },
    };
  }
}

/** A boolean that threads set, clear and exchange. */
export class AtomicFlag extends SharedObject {
  readonly #i32: Int32Array<SharedArrayBuffer>;

  /** A new flag, false. Pass it in an argument, or name it: `shared.flag(name)`. */
  constructor(given?: ObjectMemory) {
    const memory = memoryFor("flag", "AtomicFlag", given);
    super("flag", memory);
    this.#i32 = memory.view.i32;
  }

  /** What it is now. */
  get value(): boolean {
    return Atomics.load(this.#i32, STATE) === 1;
  }

  /** Sets it; returns what it was: true means that somebody else was first. */
  testAndSet(): boolean {
    return Atomics.exchange(this.#i32, STATE, 1) === 1;
  }

  /** Clears it; returns what it was. */
  clear(): boolean {
    return Atomics.exchange(this.#i32, STATE, 0) === 1;
  }
}

/** Something that is to happen once, whichever thread gets there first. */
export class Once extends SharedObject {
  readonly #memory: ObjectMemory;
  readonly #waiting: WaitSet;

  /** A new one, not done. Pass it in an argument, or name it: `shared.once(name)`. */
  constructor(given?: ObjectMemory) {
    const memory = memoryFor("once", "Once", given);
    super("once", memory);
    this.#memory = memory;
    this.#waiting = new WaitSet(memory.view.i32, WAIT_SET, memory.thread);
  }

  /** Whether it has been done. */
  get isDone(): boolean {
    return Atomics.load(this.#memory.view.i32, STATE) === DONE;
  }

  /**
   * Runs `f` unless it has been done; resolves when it is done, true if by this call. Others wait meanwhile. If `f` throws, or its thread
   * dies, the next one runs its own.
   */
  async run(f: () => unknown, options: WaitOptions = NO_OPTIONS): Promise<boolean> {
    checkFunction("f", f);
    checkWait("run", options, WAIT);
    const { thread } = this.#memory;
    await thread.loop.until({ check: () => this.#begin() !== "busy" }, FOR_ONCE, options);
    if (this.isDone) return false;
    let isDone = false;
    try {
      await f();
      isDone = true;
    } finally {
      this.#end(isDone);
    }
    return true;
  }

  /** The same with a function that returns at once, blocking: in workers. */
  runSync(f: () => unknown, options: BlockOptions = NO_OPTIONS): boolean {
    const { thread } = this.#memory;
    thread.checkMayBlock("runSync");
    checkFunction("f", f);
    checkWait("runSync", options, BLOCK);
    if (Atomics.load(this.#memory.view.i32, STATE) === thread.token) {
      throw new DeadlockError("This thread is running it already, and would wait for itself.");
    }
    thread.blockUntil({ check: () => this.#begin() !== "busy" }, FOR_ONCE, options.timeoutMs);
    if (this.isDone) return false;
    let isDone = false;
    try {
      f();
      isDone = true;
    } finally {
      this.#end(isDone);
    }
    return true;
  }

  #begin(): "mine" | "done" | "busy" {
    const { i32 } = this.#memory.view;
    const { thread } = this.#memory;
    this.#waiting.add();
    const seen = Atomics.load(i32, STATE);
    if (seen === DONE) return "done";
    if (seen !== 0 && thread.root.isAlive(seen)) return "busy";
    return Atomics.compareExchange(i32, STATE, seen, thread.token) === seen
      ? "mine"
      : this.#begin();
  }

  #end(isDone: boolean): void {
    this.#memory.thread.checkLife();
    Atomics.store(this.#memory.view.i32, STATE, isDone ? DONE : 0);
    this.#waiting.wake();
  }
}

registerHandle("event", (memory) => new Event(memory));
registerHandle("flag", (memory) => new AtomicFlag(memory));
registerHandle("once", (memory) => new Once(memory));
