/** Maps that all threads read at once. */
import { Map } from "../../builtins.ts";
import { DeadlockError, InvalidArgumentError } from "../../errors.ts";
import { invalid, show } from "../../option-checks.ts";
import { bytesAt } from "../../codec/kinds/bytes.ts";
import { BLOCK, checkFunction, checkOptions, checkWait, NO_OPTIONS, WAIT } from "../given.ts";
import { SharedObject } from "../handles.ts";
import type { BlockOptions, WaitOptions } from "../locks/options.ts";
import { ObjectMemory } from "../memory.ts";
import { type ThisThread, thisThread } from "../threads/this-thread.ts";
import { WaitSet } from "../wait-set.ts";
import type { CacheCounts } from "./cache-counts.ts";
import { Entries, type Found, nameOf } from "./entries.ts";
import { type HashedKey, hashKey, type Key, readKey } from "./keys.ts";
import { ENTRY_WAITS } from "./layout.ts";
import {
  checkTtl,
  createMap,
  mapOptions,
  SET_OPTIONS,
  type SetOptions,
  type SharedMapOptions,
} from "./options.ts";
import type { Table } from "./table.ts";
import { UpdateLocks } from "./update-locks.ts";

export type { Key } from "./keys.ts";

/** How often `update` runs its function again, because others change the entry each time. */
const MAX_RUNS = 1000;

/** Buckets with entries that are cleared at once: others get their turn in between. */
const CLEARED_BUCKETS = 1024;

const always = (): boolean => true;

/** The type of {@link SharedMap.DELETE}. Not a unique symbol, which a function that returns it alone would widen. */
export type Deletion = symbol & { readonly description: "heddle.shared.delete" };

/** What a cache counts. */
export let countsOf: (cache: SharedMap<Key>) => CacheCounts;

/**
 * A map that every thread reads and changes: keys are strings, numbers and bigints, values all that calls can carry without a port. Values are
 * copied in by `set` and out by `get`.
 *
 * Readers never wait. Changes happen one at a time, each at one moment: a reader sees it or does not. A thread that
 * dies leaves what it has changed, and nothing half-changed.
 */
export class SharedMap<K extends Key = string, V = unknown> extends SharedObject {
  /** What the function of an `update` returns to remove the entry. */
  static readonly DELETE: Deletion = Symbol.for("heddle.shared.delete") as Deletion;

  readonly #entries: Entries;
  readonly #table: Table;
  readonly #thread: ThisThread;
  readonly #waits: WaitSet;
  readonly #updates: UpdateLocks;

  /** A new map. Pass it in an argument, or name it: `shared.map(name, options)`. */
  constructor(options: SharedMapOptions | ObjectMemory = NO_OPTIONS) {
    const memory = options instanceof ObjectMemory
      ? options
      : createMap(mapOptions("new SharedMap()", options), false, thisThread());
    super("map", memory);
    this.#entries = new Entries(memory);
    this.#table = this.#entries.table;
    this.#thread = memory.thread;
    this.#waits = new WaitSet(memory.view.i32, ENTRY_WAITS, memory.thread);
    this.#updates = new UpdateLocks(memory, this.#table);
  }

  static {
    countsOf = (cache) => cache.#table.counts!;
  }

  /** A copy of the value; undefined if there is none. */
  get(key: K): V | undefined {
    return this.#entries.read(this.#hash(key), true)?.value as V | undefined;
  }

  /** Copies of the values of several keys, in their order; undefined for each that has none. Each is read as by `get`: others may change one between two of them. */
  getMany(keys: Iterable<K>): (V | undefined)[] {
    return Array.from(keys, (key) => this.get(key));
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
  set(key: K, value: V, options: SetOptions = NO_OPTIONS): this {
    let ttlMs: number | undefined;
    if (options !== NO_OPTIONS) {
      checkOptions("set()", options, SET_OPTIONS);
      ({ ttlMs } = options);
      if (ttlMs !== undefined) checkTtl(ttlMs);
    }
    this.#entries.put(key, this.#hash(key), value, ttlMs === Infinity ? 0 : ttlMs, always);
    this.#waits.wake();
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
    checkFunction("compute", compute);
    const hashed = this.#hash(key);
    for (let isFirst = true;; isFirst = false) {
      const found = this.#entries.read(hashed, isFirst);
      if (found !== undefined) return found.value as V;
      const value = compute(key);
      if (this.#setIf(key, hashed, value, undefined)) return value;
    }
  }

  /**
   * Sets the value if `get(key)` would return `expected` now, so `undefined` for an entry that is not there. Whether it did. Values are the same if
   * `Object.is` says so, or if they are objects with equal contents in the same order, at any depth. As `update`, it does not prolong the entry.
   */
  replace(key: K, expected: V | undefined, value: V): boolean {
    const hashed = this.#hash(key);
    for (;;) {
      const found = this.#entries.read(hashed, false);
      if (!this.#entries.isEqual(found?.value, expected, key)) return false;
      if (this.#setIf(key, hashed, value, found?.version)) return true;
    }
  }

  /**
   * Adds to a number, in one step for all threads; returns the sum. An entry that is not there counts as 0. As `update`, it does not prolong the
   * entry. Throws InvalidArgumentError if the value is no number.
   */
  increment(this: SharedMap<K, number>, key: K, by = 1): number {
    if (!Number.isFinite(by)) throw invalid("by", "a finite number", show(by));
    const sum = this.#entries.add(key, this.#hash(key), by);
    if (sum === undefined) {
      throw new InvalidArgumentError(`${nameOf(key)} is no number: increment() is for numbers.`);
    }
    this.#waits.wake();
    return sum;
  }

  /**
   * Sets the value to what `fn` makes of it; resolves with that. No other update of this entry runs meanwhile. If `set` or
   * `delete` changes the entry in between, `fn` runs again with what is there then, so nothing is lost.
   */
  update(
    key: K,
    fn: (value: V | undefined, key: K) => V | Promise<V>,
    options?: WaitOptions,
  ): Promise<V>;
  /** The same with a function that may remove the entry by `SharedMap.DELETE`: it resolves with undefined then. */
  update(
    key: K,
    fn: (value: V | undefined, key: K) => V | Deletion | Promise<V | Deletion>,
    options?: WaitOptions,
  ): Promise<V | undefined>;
  /** As declared before. */
  async update(
    key: K,
    fn: (value: V | undefined, key: K) => V | Deletion | Promise<V | Deletion>,
    options: WaitOptions = NO_OPTIONS,
  ): Promise<V | undefined> {
    checkFunction("fn", fn);
    checkWait("update", options, WAIT);
    const hashed = this.#hash(key);
    const lock = await this.#updates.lock(hashed, options);
    try {
      for (let runs = 0; runs < MAX_RUNS; runs++) {
        const found = this.#entries.read(hashed, false);
        const value = await this.#updates.run(() => fn(found?.value as V | undefined, key));
        if (this.#finishUpdate(key, hashed, value, found)) return valueOrNone(value);
      }
    } finally {
      lock?.release();
    }
    throw changedAlways();
  }

  /** The same with a function that returns at once, blocking: in workers. */
  updateSync(key: K, fn: (value: V | undefined, key: K) => V, options?: BlockOptions): V;
  /** The same with a function that may remove the entry by `SharedMap.DELETE`: it returns undefined then. */
  updateSync(
    key: K,
    fn: (value: V | undefined, key: K) => V | Deletion,
    options?: BlockOptions,
  ): V | undefined;
  /** As declared before. */
  updateSync(
    key: K,
    fn: (value: V | undefined, key: K) => V | Deletion,
    options: BlockOptions = NO_OPTIONS,
  ): V | undefined {
    this.#thread.checkMayBlock("updateSync");
    checkFunction("fn", fn);
    checkWait("updateSync", options, BLOCK);
    const hashed = this.#hash(key);
    const lock = this.#updates.lockSync(hashed, options.timeoutMs);
    try {
      for (let runs = 0; runs < MAX_RUNS; runs++) {
        const found = this.#entries.read(hashed, false);
        const value = this.#updates.run(() => fn(found?.value as V | undefined, key));
        if (this.#finishUpdate(key, hashed, value, found)) return valueOrNone(value);
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
    options: WaitOptions = NO_OPTIONS,
  ): Promise<V> {
    if (predicate !== undefined) checkFunction("predicate", predicate);
    checkWait("wait", options, WAIT);
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
    return wait.found!.value as V;
  }

  /** The same, blocking: in workers. */
  waitSync(
    key: K,
    predicate: (value: V) => boolean = always,
    options: BlockOptions = NO_OPTIONS,
  ): V {
    this.#thread.checkMayBlock("waitSync");
    checkFunction("predicate", predicate);
    checkWait("waitSync", options, BLOCK);
    const wait = this.#waitFor(key, predicate);
    this.#thread.blockUntil(wait, waitingFor(key), options.timeoutMs);
    return wait.found!.value as V;
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
    checkFunction("use", use);
    const hashed = this.#hash(key);
    const table = this.#table;
    this.#thread.enter();
    try {
      const word = table.find(hashed);
      if (table.evicts) this.#entries.noteRead(word, true);
      if (word < 0) return undefined;
      const at = table.valueAt(word);
      const { view } = table.memory;
      const place = bytesAt(view, at);
      if (place === undefined) {
        throw new InvalidArgumentError(
          `${nameOf(key)} is no Uint8Array: getView() is for bytes.`,
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
    return this.#collect((word) => this.#entries.valueOf(word) as V).values();
  }

  /** Keys and copies of the values that are there now. An entry that changes meanwhile is there as it was or as it is. */
  entries(): IterableIterator<[K, V]> {
    return this.#collect((word): [K, V] => [this.#keyOf(word), this.#entries.valueOf(word) as V])
      .values();
  }

  /** As `entries()`. */
  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.entries();
  }

  /** Calls `f` for each entry that is there now, as `entries()` has them. */
  forEach(f: (value: V, key: K, map: this) => void): void {
    checkFunction("f", f);
    for (const [key, value] of this.entries()) f(value, key, this);
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

  /** Sets the value if the entry has this version; undefined: if there is none. */
  #setIf(key: K, hashed: HashedKey, value: V, version: number | undefined): boolean {
    const isWanted = (): boolean => this.#entries.hasVersion(hashed, version);
    const isSet = this.#entries.put(key, hashed, value, "kept", isWanted);
    if (isSet) this.#waits.wake();
    return isSet;
  }

  /** Sets or removes what an update makes of an entry, if nobody has changed that since. */
  #finishUpdate(key: K, hashed: HashedKey, value: V | Deletion, found: Found): boolean {
    if (value !== SharedMap.DELETE) {
      return this.#setIf(key, hashed, value as V, found?.version);
    }
    const isRemoved = this.#entries.removeIf(hashed, found?.version);
    if (isRemoved) this.#waits.wake();
    return isRemoved;
  }

  #waitFor(key: K, predicate: (value: V) => boolean): { check(): boolean; found: Found } {
    const hashed = this.#hash(key);
    const wait = {
      found: undefined as Found,
      check: () => {
        this.#waits.add();
        const found = this.#entries.read(hashed, false);
        if (found === undefined || !predicate(found.value as V)) return false;
        wait.found = found;
        return true;
      },
    };
    return wait;
  }
}

function valueOrNone<V>(value: V | Deletion): V | undefined {
  return value === SharedMap.DELETE ? undefined : value as V;
}

const waitingFor = (key: Key): string => `Waiting for ${nameOf(key, "the entry")}`;

function changedAlways(): DeadlockError {
  return new DeadlockError(
    `The entry was changed ${MAX_RUNS} times while its update ran: does the function change it itself?`,
  );
}
