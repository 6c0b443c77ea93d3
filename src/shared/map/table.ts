/** The entries of a map: looked up by any thread, changed by one at a time. layout.ts has the words. */
import { Guarded } from "../guarded.ts";
import type { ObjectMemory } from "../memory.ts";
import type { Memory } from "../../memory/views.ts";
import { copyWords } from "../../memory/views.ts";
import type { Encoded } from "../values.ts";
import { Arena } from "./arena.ts";
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
  SIZE,
  TTL_F64,
  USED,
  VALUE_BYTES,
  VERSION,
} from "./layout.ts";

/** Entries of which the one that was used longest ago is evicted. Five find one of the oldest fifth nearly always (as in Redis). */
const EVICTION_SAMPLE = 5;

/** Looking at all entries for expired ones takes milliseconds. */
const DROP_INTERVAL_MS = 1000;

/** "full": there is no room. "held": none but what a reader may read. Otherwise whether there was an entry of the key. */
export type Put = "full" | "held" | boolean;

export class Table extends Guarded {
  readonly memory: ObjectMemory;
  readonly evicts: boolean;
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
    this.#places = placesOf(i32[BUCKET_BITS]!, i32[MAX_BLOCKS]!);
    this.#arena = new Arena(memory, this.#places);
    this.evicts = i32[EVICTS] === 1;
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

  get buckets(): number {
    return this.#places.bucketMask + 1;
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

  /** Inside a visit: calls back with the word of each entry of a bucket. */
  visitBucket(bucket: number, visit: (word: number) => void): void {
    let link = Atomics.load(this.words, BUCKETS + bucket);
    while (link !== 0) {
      const word = this.#reach(link);
      link = Atomics.load(this.memory.view.i32, word + NEXT);
      if (!this.isExpired(word)) visit(word);
    }
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

  /** In a change: sets the value of a key. `ttlMs` 0: it stays; undefined: the map's; "kept": that of the entry. */
  put(key: HashedKey, { memory, bytes }: Encoded, ttlMs: number | undefined | "kept"): Put {
    const keySize = keyBytes(key);
    const size = ENTRY_HEADER_BYTES + keySize + bytes;
    const block = this.#allocate(size, key);
    if (block < 0) return this.#arena.isHeld ? "held" : "full";
    // All of it: what is written there is read before it is known.
    const word = this.#arena.wordOf(block);
    this.memory.reach(4 * (word + BLOCK_WORDS * 2 ** Arena.orderOf(size)));
    // After the allocation, which may have evicted entries of this bucket.
    const place = this.#placeOf(key);
    const { i32, f64 } = this.memory.view;
    const old = Atomics.load(i32, place);
    const version = this.words[VERSION]! + 1 | 0;
    i32[word + HASH] = key.hash;
    i32[word + ENTRY_VERSION] = version;
    i32[word + USED] = version;
    i32[word + VALUE_BYTES] = bytes;
    f64[(word >> 1) + EXPIRES_F64] = this.#expiry(old, ttlMs);
    const at = 4 * word + ENTRY_HEADER_BYTES;
    writeKey(this.memory.view, word, Arena.orderOf(size), key, at);
    copyWords(memory, this.memory.view, at + keySize, bytes);
    i32[word + NEXT] = old === 0 ? 0 : Atomics.load(i32, this.#arena.wordOf(old - 1) + NEXT);
    Atomics.store(this.words, VERSION, version);
    const wasThere = old !== 0 && !this.isExpired(this.#arena.wordOf(old - 1));
    // SYNC(map-entry): the entry, then the link; pairs with `find`.
    Atomics.store(i32, place, block + 1);
    if (old === 0) Atomics.add(this.words, SIZE, 1);
    else this.#arena.retire(old - 1);
    return wasThere;
  }

  #expiry(old: number, ttlMs: number | undefined | "kept"): number {
    if (ttlMs === "kept" && old !== 0) {
      const word = this.#arena.wordOf(old - 1);
      if (!this.isExpired(word)) return this.memory.view.f64[(word >> 1) + EXPIRES_F64]!;
    }
    const lifeMs = typeof ttlMs === "number" ? ttlMs : this.#ttlMs;
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

  /** In a change: removes everything from some buckets. */
  clear(from: number, to: number): void {
    for (let bucket = from; bucket < to; bucket++) {
      let link = Atomics.load(this.words, BUCKETS + bucket);
      while (link !== 0) {
        this.#reach(link);
        this.#unlink(BUCKETS + bucket, link);
        link = Atomics.load(this.words, BUCKETS + bucket);
      }
    }
  }

  #unlink(place: number, link: number): void {
    const { i32 } = this.memory.view;
    const word = this.#arena.wordOf(link - 1);
    this.words[VERSION] = this.words[VERSION]! + 1 | 0;
    Atomics.store(i32, place, Atomics.load(i32, word + NEXT));
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
    if (!this.evicts || bytes > (this.words[MAX_BLOCKS]! * 4 * BLOCK_WORDS) / 2) return block;
    while (block < 0 && this.size > 0 && !this.#arena.isHeld) {
      // Some at a time: what they leave is free after a grace period only.
      for (let count = Math.min(this.size, 16); count > 0; count--) if (!this.#evict()) return -1;
      block = this.#arena.allocate(bytes);
    }
    return block;
  }

  #dropExpired(): number {
    const nowMs = this.thread.runtime.coarseNow();
    if (nowMs < this.#nextDropMs) return 0;
    this.#nextDropMs = nowMs + DROP_INTERVAL_MS;
    let dropped = 0;
    for (let bucket = 0; bucket < this.buckets; bucket++) {
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
    return dropped;
  }

  /** Removes the one of some entries that was used longest ago. False: there are none. */
  #evict(): boolean {
    let bucket = Math.floor(Math.random() * this.buckets);
    let oldestPlace = -1;
    let oldestLink = 0;
    let oldestAge = -1;
    const version = this.words[VERSION]!;
    for (let seen = 0, left = this.buckets; seen < EVICTION_SAMPLE && left > 0; left--) {
      bucket = bucket + 1 & this.#places.bucketMask;
      let place = BUCKETS + bucket;
      for (let link = Atomics.load(this.words, place); link !== 0;) {
        const word = this.#reach(link);
        const { i32 } = this.memory.view;
        const age = this.isExpired(word) ? Infinity : version - i32[word + USED]! >>> 0;
        if (age > oldestAge) [oldestPlace, oldestLink, oldestAge] = [place, link, age];
        seen++;
        place = word + NEXT;
        link = Atomics.load(i32, place);
      }
    }
    if (oldestLink === 0) return false;
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
    if (!isDamaged) return;
    // A change is one store of a link. The size and the free memory are derived from the links again.
    this.#arena.reset();
    let size = 0;
    for (let bucket = 0; bucket < this.buckets; bucket++) {
      let link = Atomics.load(this.words, BUCKETS + bucket);
      while (link !== 0) {
        const word = this.#reach(link);
        const { i32 } = this.memory.view;
        this.#arena.use(link - 1, i32[word + ORDER]! & 0xff);
        size++;
        link = Atomics.load(i32, word + NEXT);
      }
    }
    Atomics.store(this.words, SIZE, size);
    this.#arena.finish();
  }
}
