/**
 * Who updates which entries: a word for all entries of a hash, 0 or the token of a thread. They keep two updates of one entry from
 * running at once; that none is lost does not depend on them.
 */
import type { ObjectMemory } from "../memory.ts";
import type { ThisThread } from "../threads/this-thread.ts";
import { WaitSet } from "../wait-set.ts";
import type { HashedKey } from "./keys.ts";
import { UPDATE_LOCK_COUNT, UPDATE_LOCKS, UPDATE_WAITS } from "./layout.ts";

export class UpdateLocks {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #thread: ThisThread;
  readonly #waits: WaitSet;
  /** Updates that go on in this thread. One that begins meanwhile takes no lock: it might wait for the other. */
  #own = 0;

  constructor(memory: ObjectMemory) {
    this.#words = memory.view.i32;
    this.#thread = memory.thread;
    this.#waits = new WaitSet(this.#words, UPDATE_WAITS, this.#thread);
  }

  /** Begins an update of a key. "busy": another thread updates it. "without": no lock is needed. */
  begin({ hash }: HashedKey): "locked" | "without" | "busy" {
    if (this.#own > 0) {
      this.#own++;
      return "without";
    }
    const { token, root } = this.#thread;
    const index = UPDATE_LOCKS + (hash & (UPDATE_LOCK_COUNT - 1));
    this.#waits.add();
    const holder = Atomics.load(this.#words, index);
    if (holder !== 0 && holder !== token && root.isAlive(holder)) return "busy";
    if (Atomics.compareExchange(this.#words, index, holder, token) !== holder) return "busy";
    this.#own++;
    return "locked";
  }

  /** An update ends. */
  end({ hash }: HashedKey, how: "locked" | "without"): void {
    this.#own--;
    if (how === "without") return;
    const index = UPDATE_LOCKS + (hash & (UPDATE_LOCK_COUNT - 1));
    Atomics.compareExchange(this.#words, index, this.#thread.token, 0);
    this.#waits.wake();
  }
}
