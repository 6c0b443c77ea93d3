/** Waiting, with a lock given back meanwhile, until another thread says that something has changed. */
import { DeadlockError, InvalidArgumentError } from "../../errors.ts";
import { invalid, show } from "../../option-checks.ts";
import { BLOCK, checkWait, memoryOrNew, NO_OPTIONS, WAIT } from "../given.ts";
import { Guarded } from "../guarded.ts";
import { registerHandle, SharedObject } from "../handles.ts";
import { OBJECT_WORDS, ObjectMemory } from "../memory.ts";
import { thisThread } from "../threads/this-thread.ts";
import { type BlockOptions, LockGuard, type WaitOptions } from "./options.ts";
import { CALLED, Waiters, WAITERS_WORDS, WAITING } from "./waiters.ts";

/*
 *   word 4   latch
 *   word 5   deaths    when the waiters were last swept
 *   word 16  waiters
 */
const LATCH = OBJECT_WORDS;
const DEATHS = 5;
const WAITERS = 16;

const FOR_CONDITION = "Waiting for this condition";

class Calls extends Guarded {
  readonly #waiters: Waiters;

  constructor(memory: ObjectMemory) {
    super(memory.view.i32, memory.thread, LATCH, DEATHS, "a condition");
    this.#waiters = new Waiters(this.words, WAITERS, this.thread);
  }

  arrive(): number {
    return this.locked(() => this.#waiters.add(0));
  }

  /** Whether the wait is over: it was called, or a thread has died since: perhaps the one that would have called. */
  isOver(place: number, deaths: number): boolean {
    return this.#waiters.state(place) !== WAITING || this.thread.root.deaths !== deaths;
  }

  /** Ends a wait. `passesOn`: another one is called if this one was. */
  end(place: number, passesOn: boolean): void {
    if (!this.thread.root.isEntitled(this.thread.token)) return; // its place may be another's
    const wasCalled = !this.#waiters.abandon(place);
    this.whenFree(() => {
      this.#waiters.free(place);
      if (wasCalled && passesOn) this.#call(1);
    });
  }

  notify(count: number): void {
    this.whenFree(() => this.#call(count));
  }

  #call(count: number): void {
    for (let called = 0; called < count;) {
      const oldest = this.#waiters.oldest();
      if (oldest < 0) return;
      if (this.#waiters.answer(oldest, CALLED)) called++;
    }
  }

  protected override repair(): void {
    this.#waiters.sweep(() => this.#call(1));
  }
}

/**
 * A condition variable: threads that hold a {@link Mutex} wait until others `notify`. A wait may end without a call, for
 * example after the death of a thread, so look at what you wait for in a loop.
 */
export class Condition extends SharedObject {
  readonly #calls: Calls;
  readonly #memory: ObjectMemory;

  /** A new condition. Pass it in an argument, or name it: `shared.condition(name)`. */
  constructor(given?: ObjectMemory) {
    const bytes = 4 * (WAITERS + WAITERS_WORDS);
    const create = (): ObjectMemory => ObjectMemory.create("condition", bytes, thisThread());
    const memory = memoryOrNew("Condition", given, create);
    super("condition", memory);
    this.#calls = new Calls(memory);
    this.#memory = memory;
  }

  /**
   * Gives the guard's lock back, waits to be called, and takes the lock again, also if the wait fails. If a thread died with the lock
   * meanwhile, it rejects with PoisonedError and the guard holds nothing.
   */
  async wait(guard: LockGuard, options: WaitOptions = NO_OPTIONS): Promise<void> {
    checkGuard(guard);
    checkWait("wait", options, WAIT);
    const { thread } = this.#memory;
    const { deaths } = thread.root;
    const place = this.#calls.arrive();
    guard.release();
    let isFailed = true;
    try {
      const check = (): boolean => this.#calls.isOver(place, deaths);
      await thread.loop.until({ check }, FOR_CONDITION, options);
      isFailed = false;
    } finally {
      this.#calls.end(place, isFailed);
      await guard.reacquire();
    }
  }

  /** The same, blocking: in workers. */
  waitSync(guard: LockGuard, options: BlockOptions = NO_OPTIONS): void {
    const { thread } = this.#memory;
    thread.checkMayBlock("waitSync");
    checkGuard(guard);
    checkWait("waitSync", options, BLOCK);
    if (thread.pendingLocks > 0) {
      throw new DeadlockError(
        "This thread waits for a lock in its event loop, and may not block for a condition: await that first.",
      );
    }
    const { deaths } = thread.root;
    const place = this.#calls.arrive();
    guard.release();
    let isFailed = true;
    try {
      const check = (): boolean => this.#calls.isOver(place, deaths);
      thread.blockUntil({ check }, FOR_CONDITION, options.timeoutMs);
      isFailed = false;
    } finally {
      this.#calls.end(place, isFailed);
      guard.reacquireSync();
    }
  }

  /** Calls the waiters that have waited longest: one, or `count`. */
  notify(count = 1): void {
    if (!(count >= 0 && (count === Infinity || Number.isInteger(count)))) {
      throw invalid("count", "a whole number, 0 or more, or Infinity", show(count));
    }
    this.#calls.notify(count);
  }

  /** Calls all that wait. */
  notifyAll(): void {
    this.#calls.notify(Infinity);
  }
}

function checkGuard(guard: unknown): void {
  if (guard instanceof LockGuard && guard.isHeld) return;
  throw new InvalidArgumentError(
    `wait() takes the guard of a lock that is held, got ${
      guard instanceof LockGuard ? "one that was released" : show(guard)
    }.`,
  );
}

registerHandle("condition", (memory) => new Condition(memory));
