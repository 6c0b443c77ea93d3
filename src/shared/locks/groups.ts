/** Barrier and wait group: threads that wait for each other. */
import { InvalidArgumentError } from "../../errors.ts";
import { invalid, show } from "../../option-checks.ts";
import { PoisonedError } from "../../shared-errors.ts";
import { BLOCK, checkWait, memoryOrNew, NO_OPTIONS, WAIT } from "../given.ts";
import { Guarded } from "../guarded.ts";
import { registerHandle, SharedObject } from "../handles.ts";
import { type Kind, OBJECT_WORDS, ObjectMemory } from "../memory.ts";
import { thisThread } from "../threads/this-thread.ts";
import { WAIT_SET_WORDS, WaitSet } from "../wait-set.ts";
import { THREAD_NUMBERS_WORDS, ThreadNumbers } from "./thread-numbers.ts";
import {
  BLOCK_LOCK,
  type BlockOptions,
  LOCK,
  type RecoverOption,
  type WaitOptions,
} from "./options.ts";

/*
 *   word 4   latch         everything below is changed under it
 *   word 5   deaths        when the members were last looked at
 *   word 6   poisoned      1: a member died
 *   word 7   count         Barrier: threads to wait for. WaitGroup: `add` less `done`
 *   word 8   arrived       Barrier: threads that wait. WaitGroup: count and all that have entered
 *   word 9   generation    Barrier: how often it has opened
 *   word 10  resets        Barrier: how often it was reset
 *   word 16  wait set
 *   word 32  members       [token, number] of each thread. Barrier: 1. WaitGroup: how often it has entered
 */
const LATCH = OBJECT_WORDS;
const DEATHS = 5;
const POISONED = 6;
const COUNT = 7;
const ARRIVED = 8;
const GENERATION = 9;
const RESETS = 10;
const WAIT_SET = 16;
const MEMBERS = WAIT_SET + 2 * WAIT_SET_WORDS;
const END = MEMBERS + THREAD_NUMBERS_WORDS;

const MAX_PENDING = 2 ** 31 - 1;

const AT_BARRIER = "Waiting at this barrier";
const FOR_GROUP = "Waiting for this group";

function create(kind: Kind, count: number): ObjectMemory {
  const memory = ObjectMemory.create(kind, 4 * END, thisThread());
  memory.view.i32[COUNT] = count;
  memory.view.i32[DEATHS] = memory.thread.root.deaths;
  return memory;
}

class Members extends Guarded {
  readonly waiting: WaitSet;
  readonly numbers: ThreadNumbers;

  constructor(memory: ObjectMemory, kind: Kind) {
    super(memory.view.i32, memory.thread, LATCH, DEATHS, `a ${kind}`);
    this.waiting = new WaitSet(this.words, WAIT_SET, this.thread);
    this.numbers = new ThreadNumbers(this.words, MEMBERS, this.thread);
  }

  run<Result>(f: (words: Int32Array<SharedArrayBuffer>) => Result): Result {
    return this.locked(() => f(this.words));
  }

  later(f: (words: Int32Array<SharedArrayBuffer>) => unknown): void {
    this.whenFree(() => f(this.words));
  }

  /** Looks after the dead if there are new ones. */
  refresh(): void {
    if (this.isStale && this.attempt(() => true) === undefined) this.checkSoon();
  }

  protected override repair(): void {
    this.numbers.removeDead(() => Atomics.store(this.words, POISONED, 1));
    this.onRepaired();
    this.waiting.wake();
  }

  protected onRepaired(): void {}
}

/**
 * A place where a number of threads wait for each other. A thread that has waited at it is a member: if one dies, the barrier
 * is broken and its waits fail with {@link PoisonedError} until `reset()`. A member that does not come back calls `leave()`.
 */
export class Barrier extends SharedObject {
  readonly #members: Members;
  readonly #memory: ObjectMemory;

  /** A barrier that opens for `count` waits, 1 to 2 ** 31 - 1. Pass it in an argument, or name it: `shared.barrier(name, count)`. */
  constructor(count: number | ObjectMemory) {
    const memory = count instanceof ObjectMemory ? count : create("barrier", checkThreads(count));
    super("barrier", memory);
    this.#memory = memory;
    this.#members = new Members(memory, "barrier");
  }

  /** Resolves when as many wait as the barrier is for; true for the last one to come. */
  async wait(options: WaitOptions = NO_OPTIONS): Promise<boolean> {
    checkWait("wait", options, WAIT);
    const arrived = this.#arrive();
    if (arrived === undefined) {
      await this.#memory.thread.loop.turn();
      return true;
    }
    await this.#memory.thread.loop.until(this.#condition(arrived), AT_BARRIER, options);
    return false;
  }

  /** The same, blocking: in workers. */
  waitSync(options: BlockOptions = NO_OPTIONS): boolean {
    const { thread } = this.#memory;
    thread.checkMayBlock("waitSync");
    checkWait("waitSync", options, BLOCK);
    const arrived = this.#arrive();
    if (arrived === undefined) return true;
    thread.blockUntil(this.#condition(arrived), AT_BARRIER, options.timeoutMs);
    return false;
  }

  /** This thread is no member any more: its end breaks nothing. */
  leave(): void {
    this.#members.later(() => this.#members.numbers.own = 0);
  }

  /** Makes a broken barrier whole. Waits that have begun fail with PoisonedError. */
  reset(): void {
    this.#members.later((words) => {
      this.#members.numbers.clear();
      // It counts as broken until all of it is done: a thread that dies in between leaves no other waiting.
      Atomics.store(words, POISONED, 1);
      words[ARRIVED] = 0;
      Atomics.add(words, RESETS, 1);
      Atomics.store(words, POISONED, 0);
      this.#members.waiting.wake();
    });
  }

  /** What it waits at; undefined: it was the last one to come. */
  #arrive(): { readonly generation: number; readonly resets: number } | undefined {
    return this.#members.run((words) => {
      if (words[POISONED] === 1) throw broken();
      this.#members.numbers.own = 1;
      const generation = words[GENERATION]!;
      if (words[ARRIVED]! + 1 < words[COUNT]!) {
        words[ARRIVED]!++;
        return { generation, resets: words[RESETS]! };
      }
      words[ARRIVED] = 0;
      Atomics.store(words, GENERATION, generation + 1 | 0);
      this.#members.waiting.wake();
      return undefined;
    });
  }

  #condition(
    { generation, resets }: { readonly generation: number; readonly resets: number },
  ): { check(): boolean; leave(): boolean } {
    const { i32 } = this.#memory.view;
    let isOver = false;
    return {
      check: () => {
        this.#members.waiting.add();
        this.#members.refresh();
        const isBroken = Atomics.load(i32, POISONED) === 1 || Atomics.load(i32, RESETS) !== resets;
        const hasPassed = Atomics.load(i32, GENERATION) !== generation;
        isOver = hasPassed || isBroken;
        if (isBroken && !hasPassed) throw broken();
        return isOver;
      },
      leave: () => {
        if (isOver || Atomics.load(i32, GENERATION) !== generation) return true;
        // Under the latch: it opens with this arrival, or without it.
        const withdraw = (words: Int32Array<SharedArrayBuffer>): boolean => {
          if (words[GENERATION] !== generation) return true;
          if (words[RESETS] === resets && words[POISONED] === 0) words[ARRIVED]!--;
          return false;
        };
        try {
          return this.#members.run(withdraw);
        } catch {
          // The main thread gave up on the latch, whose holder is suspended.
          this.#members.later(withdraw);
          return false;
        }
      },
    };
  }
}

function broken(): PoisonedError {
  return new PoisonedError(
    "A thread that others wait for at this barrier died, or it was reset: see reset().",
  );
}

export function checkThreads(count: number): number {
  if (Number.isInteger(count) && count >= 1 && count < 2 ** 31) return count;
  throw invalid("The number of threads at a barrier", "a whole number, 1 or more", show(count));
}

class Group extends Members {
  protected override onRepaired(): void {
    this.count();
  }

  /** Under the latch: what is to be waited for. */
  count(): void {
    const pending = this.words[COUNT]! + this.numbers.sum();
    Atomics.store(this.words, ARRIVED, pending);
    if (pending === 0) this.waiting.wake();
  }
}

/** Work that a thread has begun by {@link WaitGroup.enter}. End it by `release()` or `using`. */
export interface GroupWork {
  /** The work is done; a second time does nothing. */
  release(): void;
  /** The same, for `using`. */
  [Symbol.dispose](): void;
}

/** Work that others wait for: `add` and `done` by number, or `enter` by thread. */
export class WaitGroup extends SharedObject {
  readonly #members: Group;
  readonly #memory: ObjectMemory;

  /** A new group. Pass it in an argument, or name it: `shared.waitGroup(name)`. */
  constructor(given?: ObjectMemory) {
    const memory = memoryOrNew("WaitGroup", given, () => create("waitGroup", 0));
    super("waitGroup", memory);
    this.#memory = memory;
    this.#members = new Group(memory, "waitGroup");
  }

  /** So much more work. Throws InvalidArgumentError if there was less than none. */
  add(count = 1): void {
    if (!Number.isInteger(count) || Math.abs(count) >= 2 ** 30) {
      throw invalid("The count of add()", "a whole number below 2 ** 30", show(count));
    }
    this.#members.run((words) => {
      const sum = words[COUNT]! + count;
      if (sum < 0) {
        throw new InvalidArgumentError("There were more calls of done() than add() has announced.");
      }
      if (words[ARRIVED]! + count > MAX_PENDING) {
        throw new InvalidArgumentError(
          `add(${count}): ${words[ARRIVED]} are pending, and a group holds at most 2 ** 31 - 1.`,
        );
      }
      words[COUNT] = sum;
      this.#members.count();
    });
  }

  /** One piece of work is done. */
  done(): void {
    this.add(-1);
  }

  /** One piece of work of this thread, until the result is released. If the thread dies before, `wait` fails with PoisonedError. */
  enter(): GroupWork {
    this.#members.run(() => {
      this.#members.numbers.own++;
      this.#members.count();
    });
    let isOver = false;
    const release = (): void => {
      if (isOver) return;
      isOver = true;
      this.#members.later(() => {
        this.#members.numbers.own--;
        this.#members.count();
      });
    };
    return { release, [Symbol.dispose]: release };
  }

  /** Work that is not done. */
  get pending(): number {
    return this.#members.run((words) => words[ARRIVED]!);
  }

  /** Resolves when all work is done. Rejects with PoisonedError if a thread died that had entered; `recover` waits for the others, and forgets it. */
  async wait(options: WaitOptions & RecoverOption = NO_OPTIONS): Promise<void> {
    checkWait("wait", options, LOCK);
    const { recover = false } = options;
    await this.#memory.thread.loop.until({ check: () => this.#check(recover) }, FOR_GROUP, options);
  }

  /** The same, blocking: in workers. */
  waitSync(options: BlockOptions & RecoverOption = NO_OPTIONS): void {
    const { thread } = this.#memory;
    thread.checkMayBlock("waitSync");
    checkWait("waitSync", options, BLOCK_LOCK);
    const { recover = false } = options;
    thread.blockUntil({ check: () => this.#check(recover) }, FOR_GROUP, options.timeoutMs);
  }

  #check(recovers: boolean): boolean {
    const { i32 } = this.#memory.view;
    this.#members.waiting.add();
    this.#members.refresh();
    // In this order: a repair poisons the group before it takes a dead thread's part out of the number.
    const isDone = Atomics.load(i32, ARRIVED) === 0;
    if (Atomics.load(i32, POISONED) === 1) {
      if (!recovers) {
        throw new PoisonedError("A thread died before it had done its part of this group's work.");
      }
      if (isDone) this.#members.later((words) => Atomics.store(words, POISONED, 0));
    }
    return isDone;
  }
}

registerHandle("barrier", (memory) => new Barrier(memory));
registerHandle("waitGroup", (memory) => new WaitGroup(memory));
