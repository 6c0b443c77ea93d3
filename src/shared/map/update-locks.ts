/**
 * Locks of the entries that are being updated. They keep two updates of one entry from running at once. No update is lost without them. So an update
 * within the function of another takes no lock, and cannot deadlock by it; nor does one that finds all locks of its group in use.
 */
import type { AsyncContext } from "../../runtimes/runtime.ts";
import type { ObjectMemory } from "../memory.ts";
import type { WaitOptions } from "../threads/condition.ts";
import type { ThisThread } from "../threads/this-thread.ts";
import { WaitSet } from "../wait-set.ts";
import type { HashedKey } from "./keys.ts";
import { UPDATE_GROUP_LOCKS, UPDATE_LOCK_GROUPS, UPDATE_LOCKS, UPDATE_WAITS } from "./layout.ts";
import type { Table } from "./table.ts";

const OTHER_UPDATE = "Waiting for another update of the entry";

interface Lock {
  release(): void;
}

/** Another update has the lock; all locks of the group are in use. */
const TAKEN = -1;
const NONE_FREE = -2;

/** Whether the code that runs is in the function of an update, of any map. */
let inside: AsyncContext<true> | undefined;

export class UpdateLocks {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #thread: ThisThread;
  readonly #waits: WaitSet;

  readonly #table: Table;

  constructor(memory: ObjectMemory, table: Table) {
    this.#table = table;
    this.#words = memory.view.i32;
    this.#thread = memory.thread;
    this.#waits = new WaitSet(this.#words, UPDATE_WAITS, this.#thread);
  }

  /** Runs the function of an update. */
  run<Result>(fn: () => Result): Result {
    inside ??= this.#thread.runtime.createContext<true>();
    return inside.run(true, fn);
  }

  /** Waits for the lock of a key. Undefined: none is needed, or there is none. */
  async lock(key: HashedKey, options: WaitOptions): Promise<Lock | undefined> {
    if (this.#isInside) return undefined;
    let place = this.#take(key);
    if (place === TAKEN) {
      const check = (): boolean => (place = this.#take(key)) !== TAKEN;
      await this.#thread.loop.until({ check }, OTHER_UPDATE, options);
    }
    return this.#lockAt(place);
  }

  /** The same, blocking. */
  lockSync(key: HashedKey, timeoutMs: number | undefined): Lock | undefined {
    if (this.#isInside) return undefined;
    let place = TAKEN;
    // An async update of this thread has it, which could not go on meanwhile.
    const check = (): boolean => (place = this.#take(key, true)) !== TAKEN;
    this.#thread.blockUntil({ check }, OTHER_UPDATE, timeoutMs);
    return this.#lockAt(place);
  }

  get #isInside(): boolean {
    return inside?.get() === true;
  }

  /** Word of the lock that was taken. `skipsOwn`: NONE_FREE if this thread has it. */
  #take({ hash }: HashedKey, skipsOwn = false): number {
    this.#waits.add();
    const { token, root } = this.#thread;
    const words = this.#words;
    const start = UPDATE_LOCKS + 2 * UPDATE_GROUP_LOCKS * (hash & (UPDATE_LOCK_GROUPS - 1));
    return this.#table.change(() => {
      let free = NONE_FREE;
      for (let at = start; at < start + 2 * UPDATE_GROUP_LOCKS; at += 2) {
        const holder = Atomics.load(words, at);
        if (holder === 0 || !root.isAlive(holder)) free = at;
        else if (words[at + 1] === hash) return skipsOwn && holder === token ? NONE_FREE : TAKEN;
      }
      if (free !== NONE_FREE) {
        words[free + 1] = hash;
        Atomics.store(words, free, token);
      }
      return free;
    });
  }

  #lockAt(place: number): Lock | undefined {
    if (place < 0) return undefined;
    return {
      release: () => {
        Atomics.compareExchange(this.#words, place, this.#thread.token, 0);
        this.#waits.wake();
      },
    };
  }
}
