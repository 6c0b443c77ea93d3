/** The values of a map by key: how they are read, compared and set. Over the table, which knows bytes alone. */
import { SharedMemoryFullError } from "../../shared-errors.ts";
import { show } from "../../option-checks.ts";
import type { ObjectMemory } from "../memory.ts";
import { CountedWait } from "../threads/counted-wait.ts";
import type { ThisThread } from "../threads/this-thread.ts";
import { type Values, valuesOf } from "../values.ts";
import type { HashedKey, Key } from "./keys.ts";
import { VALUE_BYTES } from "./layout.ts";
import { type IsWanted, type Life, Table } from "./table.ts";

/** How long a change waits for memory that a reader holds: longer than it takes to know that a thread is gone that was stopped. */
const MAX_HELD_MS = 250;
/** As much of it counts between two attempts, each of which takes up to GRACE_MS. */
const HELD_STEP_MS = 4;

/** What is there of a key. Undefined: nothing. */
export type Found = { readonly value: unknown; readonly version: number } | undefined;

export class Entries {
  readonly table: Table;
  readonly #thread: ThisThread;
  readonly #values: Values;

  constructor(memory: ObjectMemory) {
    this.table = new Table(memory);
    this.#thread = memory.thread;
    this.#values = valuesOf(memory.thread.runtime);
  }

  /** `isCounted`: it is a read of a user, which caches count. */
  read(key: HashedKey, isCounted: boolean): Found {
    const { table } = this;
    this.#thread.enter();
    try {
      const word = table.find(key);
      if (table.evicts) this.noteRead(word, isCounted);
      if (word < 0) return undefined;
      return { value: this.valueOf(word), version: table.versionOf(word) };
    } finally {
      this.#thread.leave();
    }
  }

  /** Inside a visit of a cache: a key was looked up. `word` of its entry; -1: there is none. */
  noteRead(word: number, isCounted: boolean): void {
    if (word >= 0) this.table.touch(word);
    if (isCounted) this.table.counts!.countRead(word >= 0);
  }

  /** Inside a visit: a copy of the value of the entry at this word. */
  valueOf(word: number): unknown {
    const at = this.table.valueAt(word);
    const { view } = this.table.memory;
    return this.#values.decode(view, at, at + view.i32[word + VALUE_BYTES]!);
  }

  /** Sets the value of a key if `isWanted`, which runs under the latch, returns true. */
  put(key: Key, hashed: HashedKey, value: unknown, life: Life, isWanted: IsWanted): boolean {
    const { table } = this;
    const outcome = this.#values.encode(value, () => nameOf(key), (encoded) => {
      let result = table.put(hashed, encoded, life, isWanted);
      if (result === "held") {
        const wait = new CountedWait(this.#thread.runtime.now, MAX_HELD_MS, HELD_STEP_MS);
        do {
          this.#thread.rest();
          result = table.put(hashed, encoded, life, isWanted);
        } while (result === "held" && !wait.hasPassed());
      }
      return result;
    });
    if (outcome === undefined) return false;
    // A cache may lose an entry at any time, but not keep an old value.
    if (outcome === "held" && table.evicts) {
      table.change(() => table.remove(hashed));
      return true;
    }
    if (outcome === "full" || outcome === "held") {
      const why = outcome === "full"
        ? "within the maxBytes of this shared map. Nothing was changed."
        : "but what a thread reads that has been suspended, or is in getView(). Nothing was changed.";
      throw new SharedMemoryFullError(`There is no room for ${nameOf(key, "the value")} ${why}`);
    }
    return true;
  }

  /** In a change: whether the entry has this version; undefined: whether there is none. */
  hasVersion(key: HashedKey, version: number | undefined): boolean {
    const word = this.table.find(key);
    return (word < 0 ? undefined : this.table.versionOf(word)) === version;
  }

  /** Removes the entry if it has this version. Whether it had. */
  removeIf(key: HashedKey, version: number | undefined): boolean {
    return this.table.change(() => {
      if (!this.hasVersion(key, version)) return false;
      if (version !== undefined) this.table.remove(key);
      return true;
    });
  }

  /** Whether a value that was read is the same as another one. */
  isEqual(found: unknown, other: unknown, key: Key): boolean {
    return this.#values.equal(found, other, () => nameOf(key, "The expected value"));
  }

  /** Adds to a number, or to 0 if there is none, under the latch; returns the sum. Undefined: the value is no number. */
  add(key: Key, hashed: HashedKey, by: number): number | undefined {
    const { table } = this;
    let sum = 0;
    const isDone = this.put(key, hashed, by, "kept", (encoded) => {
      const word = table.find(hashed);
      const old = word < 0 ? 0 : this.#values.numberAt(table.memory.view, table.valueAt(word));
      if (old === undefined) return false;
      sum = old + by;
      this.#values.setNumber(encoded, sum);
      return true;
    });
    return isDone ? sum : undefined;
  }
}

/** Longest key that `nameOf` shows as it is: it runs for each value that is set. */
const MAX_PLAIN_UNITS = 60;

/** How messages name the value of a key. */
export function nameOf(key: Key, what = "The value"): string {
  const isPlain = typeof key === "string" && key.length <= MAX_PLAIN_UNITS;
  return isPlain ? `${what} of "${key}"` : `${what} of ${show(key)}`;
}
