/** The entries of a map: looked up by any thread, changed by one at a time. layout.ts has the words. */
import { Guarded } from "../guarded.ts";
import type { ObjectMemory } from "../memory.ts";
import type { Memory } from "../../memory/views.ts";
import { copyWords } from "../../memory/views.ts";
import type { Encoded } from "../values.ts";
import { Arena } from "./arena.ts";
import { CacheCounts } from "./cache-counts.ts";
import { type HashedKey, isKeyAt, keyBytes, keyBytesAt, writeKey } from "./keys.ts";
import {
  BLOCK_WORDS,
  BUCKET_BITS,
  BUCKETS,
  DEATHS,
  ENTRY_HEADER_BYTES,
  ENTRY_VERSION,
  EVICTS,
  EXPIRES_F64,
  HASH,
  LATCH,
  MAX_BLOCKS,
  MAX_ENTRIES,
  NEXT,
  ORDER,
  type Places,
  placesOf,
  RESERVED,
  SEED,
  SIZE,
  TTL_F64,
  UPDATE_LOCKS,
  USED,
  VALUE_BYTES,
  VERSION,
} from "./layout.ts";

/** Entries of which the one that was used longest ago is evicted. Five find one of the oldest fifth nearly always (as in Redis). */
const EVICTION_SAMPLE = 5;

/** Looking at all entries for expired ones takes up to a tenth of the time at most. */
const DROP_PAUSE = 10;

/** Bytes of a value up to which it is written under the latch: it takes two microseconds then. */
const MAX_LATCHED_BYTES = 2 ** 14;

/** Larger values are copied in parts, between which a thread that was stopped notices it. */
const PART_BYTES = 2 ** 20;

/** "full": there is no room. "held": none but what a reader may read. Otherwise whether there was an entry of the key. */
export type Put = "full" | "held" | boolean;

/** Time to live of an entry, in milliseconds. 0: for ever; undefined: the map's; "kept": that of the entry before. */
export type Life = number | undefined | "kept";

/** Whether to set this value, asked under the latch. It may change the value then. */
export type IsWanted = (value: Encoded) => boolean;

export class Table extends Guarded {
  readonly memory: ObjectMemory;
  readonly evicts: boolean;
  /** Of a cache. */
  readonly counts: CacheCounts | undefined;
  /** For `hashKey`. */
  readonly seed: number;
  readonly #reservation: number;
  readonly #places: Places;
  readonly #arena: Arena;
  readonly #maxEntries: number;
  readonly #ttlMs: number;
  /** When this thread looks for expired entries again if there is no room. */
  #nextDropMs = 0;

  constructor(memory: ObjectMemory) {
    const { i32, f64 } = memory.view;
    super(i32, memory.thread, LATCH, DEATHS, "a shared map");
    this.memory = memory;
    this.evicts = i32[EVICTS] === 1;
    this.#places = placesOf(i32[BUCKET_BITS]!, i32[MAX_BLOCKS]!, this.evicts);
    this.#arena = new Arena(memory, this.#places);
    if (this.evicts) this.counts = new CacheCounts(memory, this.#places.reads);
    this.seed = i32[SEED]!;
    this.#reservation = RESERVED + 2 * memory.thread.index;
    this.#maxEntries = i32[MAX_ENTRIES]!;
    this.#ttlMs = f64[TTL_F64]!;
  }

  get size(): number {
    return Atomics.load(this.words, SIZE);
  }

  /** Bytes of memory for entries now. */
  get bytes(): number {
    return this.#arena.bytes;
  }

  /** The first bucket from `bucket` on that may have entries; -1: there is none. */
  nextBucket(bucket: number): number {
    if (bucket > this.#places.bucketMask) return -1;
    const { occupied } = this.#places;
    const end = occupied + (this.#places.bucketMask >> 5);
    let at = occupied + (bucket >> 5);
    let bits = Atomics.load(this.words, at) & (-1 << (bucket & 31));
    while (bits === 0) {
      if (++at > end) return -1;
      bits = Atomics.load(this.words, at);
    }
    return (at - occupied << 5) + 31 - Math.clz32(bits & -bits);
  }

  /** Runs `f` under the latch: no other thread changes the map. */
  change<Result>(f: () => Result): Result {
    return this.locked(f);
  }

  /** Inside a visit or a change: the word of the key's entry in `memory.view`; -1: there is none, or it has expired. */
  find(key: HashedKey): number {
    let link = Atomics.load(this.words, this.#bucketOf(key));
    while (link !== 0) {
      const word = this.#reach(link);
      const view = this.memory.view;
      if (view.i32[word + HASH] === key.hash && this.#isKey(view, word, key)) {
        return this.isExpired(word) ? -1 : word;
      }
      link = Atomics.load(view.i32, word + NEXT);
    }
    return -1;
  }

  /** Inside a visit: the words of the entries of a bucket. */
  entriesOf(bucket: number): number[] {
    const words: number[] = [];
    let link = Atomics.load(this.words, BUCKETS + bucket);
    while (link !== 0) {
      const word = this.#reach(link);
      link = Atomics.load(this.memory.view.i32, word + NEXT);
      if (!this.isExpired(word)) words.push(word);
    }
    return words;
  }

  isExpired(word: number): boolean {
    const expiresMs = this.memory.view.f64[(word >> 1) + EXPIRES_F64]!;
    return expiresMs !== 0 && expiresMs <= this.thread.runtime.coarseNow();
  }

  /** Byte of the key of an entry. */
  keyAt(word: number): number {
    return 4 * word + ENTRY_HEADER_BYTES;
  }

  /** Byte of the value of an entry, to which the view reaches. */
  valueAt(word: number): number {
    return this.keyAt(word) + keyBytesAt(this.memory.view, word);
  }

  /** Notes that an entry was read, for caches. */
  touch(word: number): void {
    const { i32 } = this.memory.view;
    const version = Atomics.load(this.words, VERSION);
    if (i32[word + USED] !== version) i32[word + USED] = version;
  }

  versionOf(word: number): number {
    return this.memory.view.i32[word + ENTRY_VERSION]!;
  }

  /**
   * Sets the value of a key if `isWanted`, which runs under the latch, returns true; undefined: it did not. A large value is written outside
   * the latch, into memory that only this thread knows, and becomes the entry under it: readers see old or new, and no thread waits for the copy.
   */
  put(key: HashedKey, value: Encoded, life: Life, isWanted: IsWanted): Put | undefined {
    if (value.bytes <= MAX_LATCHED_BYTES) {
      return this.locked(() => {
        if (!isWanted(value)) return undefined;
        const block = this.#take(key, value);
        if (block < 0) return this.#arena.isHeld ? "held" : "full";
        this.#fill(block, key, value);
        return this.#publish(block, key, life);
      });
    }
    const block = this.locked(() => isWanted(value) ? this.#reserve(key, value) : undefined);
    if (typeof block !== "number") return block;
    this.#fill(block, key, value);
    return this.locked(() => {
      // First: what is linked must not be freed as a reservation of the dead.
      Atomics.store(this.words, this.#reservation, 0);
      if (isWanted(value)) return this.#publish(block, key, life);
      this.#arena.free(block, this.#orderOf(block));
      return undefined;
    });
  }

  /** In a change: a block that only this thread uses, until it is published. */
  #reserve(key: HashedKey, value: Encoded): number | "full" | "held" {
    const at = this.#reservation;
    // Left by a change that gave up on the latch.
    if (this.words[at] === this.thread.token) this.#dropReservation(at);
    const block = this.#take(key, value);
    if (block < 0) return this.#arena.isHeld ? "held" : "full";
    this.words[at + 1] = block + 1;
    Atomics.store(this.words, at, this.thread.token);
    return block;
  }

  #dropReservation(at: number): void {
    const block = this.words[at + 1]! - 1;
    Atomics.store(this.words, at, 0);
    this.#arena.free(block, this.#orderOf(block));
  }

  /** In a change: a block for an entry, with its order and key in it; -1: there is none. */
  #take(key: HashedKey, { bytes }: Encoded): number {
    const size = ENTRY_HEADER_BYTES + keyBytes(key) + bytes;
    const block = this.#allocate(size, key);
    if (block < 0) return -1;
    const word = this.#arena.wordOf(block);
    // All of it: what is written there is read before it is known.
    this.memory.reach(4 * (word + BLOCK_WORDS * 2 ** Arena.orderOf(size)));
    const at = 4 * word + ENTRY_HEADER_BYTES;
    writeKey(this.memory.view, word, Arena.orderOf(size), key, at);
    return block;
  }

  /** Writes a value into a block. */
  #fill(block: number, key: HashedKey, { memory, bytes }: Encoded): void {
    const word = this.#arena.wordOf(block);
    const at = 4 * word + ENTRY_HEADER_BYTES + keyBytes(key);
    const { view } = this.memory;
    view.i32[word + VALUE_BYTES] = bytes;
    if (bytes <= MAX_LATCHED_BYTES) return copyWords(memory, view, at, bytes);
    for (let from = 0; from < bytes; from += PART_BYTES) {
      this.thread.checkLife();
      const part = memory.u8.subarray(from, Math.min(from + PART_BYTES, bytes));
      view.u8.set(part, at + from);
    }
  }

  /** In a change: makes a block that is filled the entry of its key. Whether there was one. */
  #publish(block: number, key: HashedKey, life: Life): boolean {
    const word = this.#arena.wordOf(block);
    this.#reach(block + 1);
    // After the allocation, which may have evicted entries of this bucket.
    const place = this.#placeOf(key);
    const { i32, f64 } = this.memory.view;
    const old = Atomics.load(i32, place);
    const version = this.words[VERSION]! + 1 | 0;
    i32[word + HASH] = key.hash;
    i32[word + ENTRY_VERSION] = version;
    i32[word + USED] = version;
    f64[(word >> 1) + EXPIRES_F64] = this.#expiry(old, life);
    i32[word + NEXT] = old === 0 ? 0 : Atomics.load(i32, this.#arena.wordOf(old - 1) + NEXT);
    Atomics.store(this.words, VERSION, version);
    const wasThere = old !== 0 && !this.isExpired(this.#arena.wordOf(old - 1));
    const bucket = key.hash & this.#places.bucketMask;
    if (old === 0) {
      Atomics.or(this.words, this.#places.occupied + (bucket >> 5), 1 << (bucket & 31));
    }
    // SYNC(map-entry): the entry, then the link; pairs with `find`.
    Atomics.store(i32, place, block + 1);
    if (old === 0) Atomics.add(this.words, SIZE, 1);
    else this.#arena.retire(old - 1);
    return wasThere;
  }

  #orderOf(block: number): number {
    const word = this.#arena.wordOf(block);
    return this.memory.reach(4 * (word + BLOCK_WORDS)).i32[word + ORDER]! & 0xff;
  }

  #expiry(old: number, life: Life): number {
    if (life === "kept" && old !== 0) {
      const word = this.#arena.wordOf(old - 1);
      if (!this.isExpired(word)) return this.memory.view.f64[(word >> 1) + EXPIRES_F64]!;
    }
    const lifeMs = typeof life === "number" ? life : this.#ttlMs;
    return lifeMs === 0 ? 0 : this.thread.runtime.coarseNow() + lifeMs;
  }

  /** In a change: removes the entry of a key. Whether there was one. */
  remove(key: HashedKey): boolean {
    const place = this.#placeOf(key);
    const link = Atomics.load(this.memory.view.i32, place);
    if (link === 0) return false;
    const isExpired = this.isExpired(this.#arena.wordOf(link - 1));
    this.#unlink(place, link);
    return !isExpired;
  }

  /** In a change: removes everything from `count` buckets from this one on. The next bucket with entries; -1: there is none. */
  clear(bucket: number, count: number): number {
    for (let left = count; bucket >= 0 && left > 0; left--) {
      for (let link: number; (link = Atomics.load(this.words, BUCKETS + bucket)) !== 0;) {
        this.#reach(link);
        this.#unlink(BUCKETS + bucket, link);
      }
      bucket = this.nextBucket(bucket + 1);
    }
    return bucket;
  }

  /** In a change: a bucket has no entries. Numbers beyond the last one, of links within entries, mean nothing. */
  #markEmpty(bucket: number): void {
    if (bucket > this.#places.bucketMask) return;
    Atomics.and(this.words, this.#places.occupied + (bucket >> 5), ~(1 << (bucket & 31)));
  }

  #unlink(place: number, link: number): void {
    const { i32 } = this.memory.view;
    const word = this.#arena.wordOf(link - 1);
    this.words[VERSION] = this.words[VERSION]! + 1 | 0;
    const next = Atomics.load(i32, word + NEXT);
    Atomics.store(i32, place, next);
    if (next === 0) this.#markEmpty(place - BUCKETS);
    Atomics.sub(this.words, SIZE, 1);
    this.#arena.retire(link - 1);
  }

  /** A block, for which caches evict and maps drop what has expired. -1: there is none. */
  #allocate(bytes: number, key: HashedKey): number {
    if (this.#maxEntries > 0) {
      while (this.size >= this.#maxEntries && this.find(key) < 0 && this.#evict());
    }
    let block = this.#arena.allocate(bytes);
    if (block < 0 && this.#dropExpired() > 0) block = this.#arena.allocate(bytes);
    if (!this.evicts || !this.#arena.canHold(bytes)) return block;
    while (block < 0 && this.size > 0 && !this.#arena.isHeld) {
      // Some at a time: what they leave is free after a grace period only.
      for (let count = Math.min(this.size, 16); count > 0; count--) if (!this.#evict()) return -1;
      block = this.#arena.allocate(bytes);
    }
    return block;
  }

  #dropExpired(): number {
    const { now } = this.thread.runtime;
    const startMs = now();
    if (startMs < this.#nextDropMs) return 0;
    let dropped = 0;
    for (let bucket = this.nextBucket(0); bucket >= 0; bucket = this.nextBucket(bucket + 1)) {
      let place = BUCKETS + bucket;
      for (let link = Atomics.load(this.words, place); link !== 0;) {
        const word = this.#reach(link);
        if (this.isExpired(word)) {
          this.#unlink(place, link);
          dropped++;
        } else place = word + NEXT;
        link = Atomics.load(this.memory.view.i32, place);
      }
    }
    const endMs = now();
    this.#nextDropMs = endMs + DROP_PAUSE * (endMs - startMs);
    return dropped;
  }

  /** Removes the one of some entries that was used longest ago. False: there are none. */
  #evict(): boolean {
    let bucket = Math.floor(Math.random() * (this.#places.bucketMask + 1));
    let oldestPlace = -1;
    let oldestLink = 0;
    let oldestAge = -1;
    const version = this.words[VERSION]!;
    for (let seen = 0, left = 2 * EVICTION_SAMPLE; seen < EVICTION_SAMPLE && left > 0; left--) {
      bucket = this.nextBucket(bucket);
      if (bucket < 0) bucket = this.nextBucket(0);
      if (bucket < 0) break;
      let place = BUCKETS + bucket;
      if (Atomics.load(this.words, place) === 0) this.#markEmpty(bucket); // its last change was cut short by a death
      for (let link = Atomics.load(this.words, place); link !== 0;) {
        const word = this.#reach(link);
        const { i32 } = this.memory.view;
        const age = this.isExpired(word) ? Infinity : version - i32[word + USED]! >>> 0;
        if (age > oldestAge) [oldestPlace, oldestLink, oldestAge] = [place, link, age];
        seen++;
        place = word + NEXT;
        link = Atomics.load(i32, place);
      }
      bucket++;
    }
    if (oldestLink === 0) return false;
    if (oldestAge !== Infinity) this.counts?.countEviction();
    this.#unlink(oldestPlace, oldestLink);
    return true;
  }

  /** The word that links to the key's entry, expired or not; at the end of the bucket if there is none. */
  #placeOf(key: HashedKey): number {
    let place = this.#bucketOf(key);
    for (let link = Atomics.load(this.words, place); link !== 0;) {
      const word = this.#reach(link);
      const view = this.memory.view;
      if (view.i32[word + HASH] === key.hash && this.#isKey(view, word, key)) return place;
      place = word + NEXT;
      link = Atomics.load(view.i32, place);
    }
    return place;
  }

  #isKey(view: Memory, word: number, key: HashedKey): boolean {
    return isKeyAt(view, word, key, 4 * word + ENTRY_HEADER_BYTES);
  }

  #bucketOf({ hash }: HashedKey): number {
    return BUCKETS + (hash & this.#places.bucketMask);
  }

  /** The word of an entry; the view reaches over all of it. */
  #reach(link: number): number {
    const word = this.#arena.wordOf(link - 1);
    const { i32 } = this.memory.reach(4 * (word + BLOCK_WORDS));
    // Blocks merge across what the buffer has grown by.
    const order = i32[word + ORDER]! & 0xff;
    if (order > 0) this.memory.reach(4 * (word + BLOCK_WORDS * 2 ** order));
    return word;
  }

  protected override repair(isDamaged: boolean): void {
    for (let at = RESERVED; at < UPDATE_LOCKS; at += 2) {
      const token = this.words[at]!;
      if (token === 0 || this.thread.root.isAlive(token)) continue;
      if (isDamaged) Atomics.store(this.words, at, 0);
      else this.#dropReservation(at);
    }
    if (isDamaged) this.#rebuild();
  }

  /** A change is one store of a link. The size and the free memory are derived from the links and the reservations again. */
  #rebuild(): void {
    this.#arena.reset();
    let size = 0;
    for (let bucket = this.nextBucket(0); bucket >= 0; bucket = this.nextBucket(bucket + 1)) {
      let link = Atomics.load(this.words, BUCKETS + bucket);
      while (link !== 0) {
        const word = this.#reach(link);
        const { i32 } = this.memory.view;
        this.#arena.use(link - 1, i32[word + ORDER]! & 0xff);
        size++;
        link = Atomics.load(i32, word + NEXT);
      }
    }
    for (let at = RESERVED; at < UPDATE_LOCKS; at += 2) {
      if (this.words[at] === 0) continue;
      const block = this.words[at + 1]! - 1;
      this.#arena.use(block, this.#orderOf(block));
    }
    Atomics.store(this.words, SIZE, size);
    this.#arena.finish();
  }
}
