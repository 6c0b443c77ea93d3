/** Maps and caches that all threads read at once. */
import { Map, TypeError } from "../../builtins.ts";
import { DeadlockError } from "../../errors.ts";
import { SharedMemoryFullError } from "../../shared-errors.ts";
import { bytesAt } from "../../codec/kinds/bytes.ts";
import { registerHandle, SharedObject } from "../handles.ts";
import { type BlockOptions, checkWait, type WaitOptions } from "../locks/options.ts";
import { ObjectMemory } from "../memory.ts";
import { CountedWait } from "../threads/counted-wait.ts";
import { type ThisThread, thisThread } from "../threads/this-thread.ts";
import { type Values, valuesOf } from "../values.ts";
import { WaitSet } from "../wait-set.ts";
import { type HashedKey, hashKey, type Key, readKey } from "./keys.ts";
import { ENTRY_WAITS, EVICTS, VALUE_BYTES } from "./layout.ts";
import {
  checkTtl,
  createMap,
  type SetOptions,
  type SharedCacheOptions,
  type SharedMapOptions,
} from "./options.ts";
import { type Life, Table } from "./table.ts";
import { UpdateLocks } from "./update-locks.ts";

export type { Key } from "./keys.ts";

/** How often `update` runs its function again, because others change the entry each time. */
const MAX_RUNS = 1000;

/** How long a change waits for memory that a reader holds: longer than it takes to know that a thread is gone that was stopped. */
const MAX_HELD_MS = 250;
/** As much of it counts between two attempts, each of which takes up to GRACE_MS. */
const HELD_STEP_MS = 4;

/** Buckets with entries that are cleared at once: others get their turn in between. */
const CLEARED_BUCKETS = 1024;

/**
 * A map that every thread reads and changes: keys are strings, numbers and bigints, values all that calls can carry without a port. Values are
 * copied in by `set` and out by `get`.
 *
 * Readers never wait. Changes happen one at a time, each at one moment: a reader sees it or does not. A thread that
 * dies leaves what it has changed, and nothing half-changed.
 */
export class SharedMap<K extends Key = string, V = unknown> extends SharedObject {
  readonly #table: Table;
  readonly #thread: ThisThread;
  readonly #values: Values;
  readonly #waits: WaitSet;
  readonly #updates: UpdateLocks;

  /** A new map. Pass it in an argument, or name it: `shared.map(name, options)`. */
  constructor(options: SharedMapOptions | ObjectMemory = {}) {
    const memory = options instanceof ObjectMemory
      ? options
      : createMap(options, false, thisThread());
    super("map", memory);
    this.#table = new Table(memory);
    this.#thread = memory.thread;
    this.#values = valuesOf(memory.thread.runtime);
    this.#waits = new WaitSet(memory.view.i32, ENTRY_WAITS, memory.thread);
    this.#updates = new UpdateLocks(memory, this.#table);
  }

  /** A copy of the value; undefined if there is none. */
  get(key: K): V | undefined {
    const found = this.#read(this.#hash(key));
    return found?.value;
  }

  /** Whether there is an entry. */
  has(key: K): boolean {
    const hashed = this.#hash(key);
    this.#thread.enter();
    try {
      return this.#table.find(hashed) >= 0;
    } finally {
      this.#thread.leave();
    }
  }

  /** Sets the value. Throws SharedMemoryFullError if there is no room, and DataCloneError for what needs a port. */
  set(key: K, value: V, options: SetOptions = {}): this {
    const { ttlMs } = options;
    if (ttlMs !== undefined) checkTtl(ttlMs);
    this.#put(key, this.#hash(key), value, ttlMs === Infinity ? 0 : ttlMs, () => true);
    return this;
  }

  /** Removes the entry. Whether there was one. */
  delete(key: K): boolean {
    const hashed = this.#hash(key);
    const wasThere = this.#table.change(() => this.#table.remove(hashed));
    if (wasThere) this.#waits.wake();
    return wasThere;
  }

  /** The value of the key; `value` if there was none, which then is. */
  getOrInsert(key: K, value: V): V {
    return this.getOrInsertComputed(key, () => value);
  }

  /** The same with a function, called if there is no entry. Another thread may call its own at the same time: both get the value of the one that was first. */
  getOrInsertComputed(key: K, compute: (key: K) => V): V {
    const hashed = this.#hash(key);
    for (;;) {
      const found = this.#read(hashed);
      if (found !== undefined) return found.value;
      const value = compute(key);
      if (this.#put(key, hashed, value, undefined, () => this.#table.find(hashed) < 0)) {
        return value;
      }
    }
  }

  /**
   * Sets the value to what `fn` makes of it; resolves with that. No other update of this entry runs meanwhile. If `set` or
   * `delete` changes the entry in between, `fn` runs again with what is there then, so nothing is lost.
   */
  async update(
    key: K,
    fn: (value: V | undefined, key: K) => V | Promise<V>,
    options: WaitOptions = {},
  ): Promise<V> {
    checkWait(options);
    const hashed = this.#hash(key);
    const lock = await this.#updates.lock(hashed, options);
    try {
      for (let runs = 0; runs < MAX_RUNS; runs++) {
        const found = this.#read(hashed);
        const value = await this.#updates.run(() => fn(found?.value, key));
        if (this.#replace(key, hashed, value, found?.version)) return value;
      }
    } finally {
      lock?.release();
    }
    throw changedAlways();
  }

  /** The same with a function that returns at once, blocking: in workers. */
  updateSync(key: K, fn: (value: V | undefined, key: K) => V, options: BlockOptions = {}): V {
    this.#thread.checkMayBlock("updateSync");
    checkWait(options);
    const hashed = this.#hash(key);
    const lock = this.#updates.lockSync(hashed, options.timeoutMs);
    try {
      for (let runs = 0; runs < MAX_RUNS; runs++) {
        const found = this.#read(hashed);
        const value = this.#updates.run(() => fn(found?.value, key));
        if (this.#replace(key, hashed, value, found?.version)) return value;
      }
    } finally {
      lock?.release();
    }
    throw changedAlways();
  }

  /** Resolves with the value of the key as soon as there is one for which `predicate` holds. */
  async wait(
    key: K,
    predicate?: (value: V) => boolean,
    options: WaitOptions = {},
  ): Promise<V> {
    checkWait(options);
    // Later checks run in the context of whoever changes something, the predicate in that of its caller.
    let inContext: <Result>(f: () => Result) => Result = (f) => f();
    const test = (value: V): boolean =>
      predicate === undefined || inContext(() => predicate(value));
    const wait = this.#waitFor(key, test);
    const found = this.#thread.loop.until(wait, waitingFor(key), options);
    if (wait.found === undefined && predicate !== undefined) {
      inContext = this.#thread.runtime.bindContext();
    }
    await found;
    return wait.found!.value;
  }

  /** The same, blocking: in workers. */
  waitSync(key: K, predicate: (value: V) => boolean = () => true, options: BlockOptions = {}): V {
    this.#thread.checkMayBlock("waitSync");
    checkWait(options);
    const wait = this.#waitFor(key, predicate);
    this.#thread.blockUntil(wait, waitingFor(key), options.timeoutMs);
    return wait.found!.value;
  }

  /**
   * Calls `use` with the bytes of the value where they are, without a copy; returns its result, or undefined if there is no entry. The value has to
   * be a Uint8Array. Use the bytes within `use` only and do not write to them: afterwards they may belong to another entry. Changes that need memory may have to
   * wait for it, so let it be short.
   */
  getView<Result>(
    key: K,
    use: (bytes: Uint8Array<SharedArrayBuffer>) => Result,
  ): Result | undefined {
    const hashed = this.#hash(key);
    const table = this.#table;
    this.#thread.enter();
    try {
      const word = table.find(hashed);
      if (word < 0) return undefined;
      if (table.evicts) table.touch(word);
      const at = table.valueAt(word);
      const { view } = table.memory;
      const place = bytesAt(view, at);
      if (place === undefined) {
        throw new TypeError(
          `The value of ${String(key)} is no Uint8Array: getView() is for bytes.`,
        );
      }
      return use(view.u8.subarray(place.start, place.end));
    } finally {
      this.#thread.leave();
    }
  }

  /** Number of entries, with those that have expired and were not removed yet. */
  get size(): number {
    return this.#table.size;
  }

  /** Bytes of memory that the map has taken for entries so far. */
  get bytes(): number {
    return this.#table.bytes;
  }

  /** Removes all entries. Those that others set meanwhile may stay. */
  clear(): void {
    const table = this.#table;
    for (let bucket = table.nextBucket(0); bucket >= 0;) {
      bucket = table.change(() => table.clear(bucket, CLEARED_BUCKETS));
    }
    this.#waits.wake();
  }

  /** The keys that are there now. */
  keys(): IterableIterator<K> {
    return this.#collect((word) => this.#keyOf(word)).values();
  }

  /** Copies of the values that are there now. */
  values(): IterableIterator<V> {
    return this.#collect((word) => this.#valueOf(word)).values();
  }

  /** Keys and copies of the values that are there now. An entry that changes meanwhile is there as it was or as it is. */
  entries(): IterableIterator<[K, V]> {
    return this.#collect((word): [K, V] => [this.#keyOf(word), this.#valueOf(word)]).values();
  }

  /** As `entries()`. */
  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.entries();
  }

  #collect<Item>(item: (word: number) => Item): Item[] {
    const table = this.#table;
    const items: Item[] = [];
    for (let bucket = table.nextBucket(0); bucket >= 0; bucket = table.nextBucket(bucket + 1)) {
      this.#thread.enter();
      try {
        let words = table.entriesOf(bucket);
        // An entry that was removed and set again meanwhile may be there twice: as it was, and at the end as it is.
        if (words.length > 1) {
          words = [...new Map(words.map((word) => [this.#keyOf(word), word])).values()];
        }
        for (const word of words) items.push(item(word));
      } finally {
        this.#thread.leave();
      }
    }
    return items;
  }

  #hash(key: K): HashedKey {
    return hashKey(key, this.#table.seed);
  }

  #keyOf(word: number): K {
    return readKey(this.#table.memory.view, word, this.#table.keyAt(word)) as K;
  }

  #valueOf(word: number): V {
    const at = this.#table.valueAt(word);
    const { view } = this.#table.memory;
    return this.#values.decode(view, at, at + view.i32[word + VALUE_BYTES]!) as V;
  }

  #read(key: HashedKey): { readonly value: V; readonly version: number } | undefined {
    this.#thread.enter();
    try {
      const word = this.#table.find(key);
      if (word < 0) return undefined;
      if (this.#table.evicts) this.#table.touch(word);
      return { value: this.#valueOf(word), version: this.#table.versionOf(word) };
    } finally {
      this.#thread.leave();
    }
  }

  /** Sets the value of a key if `isWanted`, which runs under the latch, returns true. */
  #put(
    key: K,
    hashed: HashedKey,
    value: V,
    life: Life,
    isWanted: () => boolean,
  ): boolean {
    const table = this.#table;
    const outcome = this.#values.encode(value, `The value of ${String(key)}`, (encoded) => {
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
      throw new SharedMemoryFullError(
        outcome === "full"
          ? `There is no room for the value of ${
            String(key)
          } within the maxBytes of this shared map. Nothing was changed.`
          : `There is no room for the value of ${
            String(key)
          } but what a thread reads that has been suspended, or is in getView(). Nothing was changed.`,
      );
    }
    this.#waits.wake();
    return true;
  }

  /** Sets the value if the entry still has this version; undefined: if there is none. */
  #replace(key: K, hashed: HashedKey, value: V, version: number | undefined): boolean {
    return this.#put(key, hashed, value, "kept", () => {
      const word = this.#table.find(hashed);
      return (word < 0 ? undefined : this.#table.versionOf(word)) === version;
    });
  }

  #waitFor(key: K, predicate: (value: V) => boolean): {
    check(): boolean;
    found: { readonly value: V } | undefined;
  } {
    const hashed = this.#hash(key);
    const wait = {
      found: undefined as { readonly value: V } | undefined,
      check: () => {
        this.#waits.add();
        const found = this.#read(hashed);
        if (found === undefined || !predicate(found.value)) return false;
        wait.found = found;
        return true;
      },
    };
    return wait;
  }
}

const waitingFor = (key: Key): string => `Waiting for the entry ${String(key)}`;

function changedAlways(): DeadlockError {
  return new DeadlockError(
    `The entry was changed ${MAX_RUNS} times while its update ran: does the function change it itself?`,
  );
}

/**
 * A {@link SharedMap} that never is full: it evicts what was not used for long (the oldest of five entries taken at random, as Redis does)
 * when it has `maxEntries`, or no room within `maxBytes`.
 */
export class SharedCache<K extends Key = string, V = unknown> extends SharedMap<K, V> {
  /** A new cache. Pass it in an argument, or name it: `shared.cache(name, options)`. */
  constructor(options: SharedCacheOptions | ObjectMemory = {}) {
    super(options instanceof ObjectMemory ? options : createMap(options, true, thisThread()));
  }
}

registerHandle("map", (memory) => {
  return memory.view.i32[EVICTS] === 1 ? new SharedCache(memory) : new SharedMap(memory);
});
