/**
 * Locks of entries: a word for all entries of a hash, 0 or the token of the thread that updates one. They keep two updates of one entry from
 * running at once. No update is lost without them. So an update within the function of another takes no lock, and cannot
 * deadlock by it.
 */
import type { AsyncContext } from "../../runtimes/runtime.ts";
import type { ObjectMemory } from "../memory.ts";
import type { WaitOptions } from "../threads/condition.ts";
import type { ThisThread } from "../threads/this-thread.ts";
import { WaitSet } from "../wait-set.ts";
import type { HashedKey } from "./keys.ts";
import { UPDATE_LOCK_COUNT, UPDATE_LOCKS, UPDATE_WAITS } from "./layout.ts";

const OTHER_UPDATE = "Waiting for another update of the entry";

interface Lock {
  release(): void;
}

/** Whether the code that runs is in the function of an update, of any map. */
let inside: AsyncContext<true> | undefined;

export class UpdateLocks {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #thread: ThisThread;
  readonly #waits: WaitSet;

  constructor(memory: ObjectMemory) {
    this.#words = memory.view.i32;
    this.#thread = memory.thread;
    this.#waits = new WaitSet(this.#words, UPDATE_WAITS, this.#thread);
  }

  /** Runs the function of an update. */
  run<Result>(fn: () => Result): Result {
    inside ??= this.#thread.runtime.createContext<true>();
    return inside.run(true, fn);
  }

  /** Waits for the lock of a key. Undefined: none is needed. */
  async lock(key: HashedKey, options: WaitOptions): Promise<Lock | undefined> {
    if (this.#isInside) return undefined;
    const index = indexOfLock(key);
    if (!this.#take(index)) {
      await this.#thread.loop.until({ check: () => this.#take(index) }, OTHER_UPDATE, options);
    }
    return this.#lockAt(index);
  }

  /** The same, blocking. */
  lockSync(key: HashedKey, timeoutMs: number | undefined): Lock | undefined {
    if (this.#isInside) return undefined;
    const index = indexOfLock(key);
    // An async update of this thread has it, which could not go on meanwhile.
    if (Atomics.load(this.#words, index) === this.#thread.token) return undefined;
    this.#thread.blockUntil({ check: () => this.#take(index) }, OTHER_UPDATE, timeoutMs);
    return this.#lockAt(index);
  }

  get #isInside(): boolean {
    return inside?.get() === true;
  }

  #take(index: number): boolean {
    const { token, root } = this.#thread;
    this.#waits.add();
    const holder = Atomics.load(this.#words, index);
    if (holder !== 0 && root.isAlive(holder)) return false;
    return Atomics.compareExchange(this.#words, index, holder, token) === holder;
  }

  #lockAt(index: number): Lock {
    return {
      release: () => {
        Atomics.compareExchange(this.#words, index, this.#thread.token, 0);
        this.#waits.wake();
      },
    };
  }
}

function indexOfLock({ hash }: HashedKey): number {
  return UPDATE_LOCKS + (hash & (UPDATE_LOCK_COUNT - 1));
}
