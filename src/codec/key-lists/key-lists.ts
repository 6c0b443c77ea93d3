/**
 * Key lists: the keys of recurring objects. An object of a known key list is sent as the id of its list and its
 * values; the keys were sent once before, in a separate record.
 *
 * A sender keeps a `KeyListRegistry`. It is append-only, so that an id never changes its meaning, whichever
 * lane or worker gets an encoded call. A key list is registered when it is seen for the second time; until
 * then, and beyond the limits below, objects are sent with their keys. A receiver keeps the announced key lists
 * in the same order.
 *
 * Properties are read and written by loops at first, and always if code generation from strings is not allowed. After
 * some uses the code is compiled per key list, so that engines use inline caches and preallocated hidden classes.
 */
import { Map, Set } from "../../builtins.ts";
import { ProtocolError } from "../../errors.ts";
import type { ReadableKeyList } from "../reader.ts";
import type { WritableKeyList } from "../writer.ts";
import { canCompile } from "../support/code-generation.ts";
import { setOwn } from "../support/own-property.ts";
import { compileReader, compileWriter } from "./compiler.ts";

/** Objects with more keys are sent with their keys: on Node a key list saves 80% of the time at 100 keys, 25% at 250. */
export const MAX_LISTED_KEYS = 128;
const MAX_KEY_UNITS = 256;
/** Key lists per sender, and keys of all of them: bounds the cost for receivers of a hostile stream of new key lists. */
export const MAX_KEY_LISTS = 1024;
export const MAX_KEYS_OF_LISTS: number = 64 * MAX_KEY_LISTS;
/** Maximum number of key lists seen once. At this number they are discarded. */
const MAX_CANDIDATES = 256;
/**
 * Uses after which the code of a key list is compiled. Compiling takes as long as compiled code saves in some 400 uses, and must
 * come before the engine has optimized the loops (after 1,000): then both cost.
 */
const COMPILED_AFTER = 256;
/** Consecutive wrong guesses after which guessing stops until an object has a key list. A guess adds 10% to a Date on V8. */
const MAX_MISSES = 8;
/** Maximum number of key lists with the same first key that are searched. */
const MAX_BUCKET = 32;

/** The sender's side of a key list. */
export interface SentKeyList extends WritableKeyList {
  readonly keys: readonly string[];
  write: WritableKeyList["write"];
  fits: WritableKeyList["fits"];
  /** Uses before it is compiled. */
  uses: number;
  /** The key list that followed this one last time: the next guess. */
  follower: SentKeyList | undefined;
}

function sameKeys(one: readonly string[], other: readonly string[]): boolean {
  const count = one.length;
  if (other.length !== count) return false;
  for (let index = 0; index < count; index++) if (one[index] !== other[index]) return false;
  return true;
}

export class KeyListRegistry {
  readonly #keyLists: SentKeyList[] = [];
  readonly #byFirstKey = new Map<string, SentKeyList[]>();
  readonly #candidates = new Map<string, readonly string[]>();
  readonly #compiledAfter: number;
  readonly #mark: symbol | undefined;
  #last: SentKeyList | undefined;
  #misses = 0;
  #keyCount = 0;
  /** Number of registered key lists; their ids are below it. Only this class writes it. */
  size = 0;
  /** Whether an object could have a key list. Only this class writes it. */
  hasSeenKeys = false;

  /** `compiledAfter`: uses of a key list after which its code is compiled. `mark`: of objects that cannot be cloned. */
  constructor(compiledAfter: number = COMPILED_AFTER, mark?: symbol) {
    this.#compiledAfter = compiledAfter;
    this.#mark = mark;
  }

  /** The key lists from `first` on, for a receiver that lacks them. */
  keysFrom(first: number, count: number): (readonly string[])[] {
    return this.#keyLists.slice(first, first + count).map(({ keys }) => keys);
  }

  /** The key list that followed last time, if this object has it. Skipped after many objects without a key list. */
  guess(object: object): SentKeyList | undefined {
    const guess = this.#last?.follower;
    if (guess === undefined || this.#misses >= MAX_MISSES) return undefined;
    if (!guess.fits(object)) {
      this.#misses++;
      return undefined;
    }
    this.#misses = 0;
    return this.#last = guess;
  }

  /** The key list with these keys, if it is registered. */
  find(keys: readonly string[]): SentKeyList | undefined {
    const found = this.#find(keys);
    if (found === undefined) return undefined;
    this.#misses = 0;
    if (++found.uses === this.#compiledAfter && canCompile()) compile(found, this.#mark);
    const last = this.#last;
    if (last !== undefined) last.follower = found;
    return this.#last = found;
  }

  #find(keys: readonly string[]): SentKeyList | undefined {
    const first = keys[0]!;
    const bucket = this.#byFirstKey.get(first);
    if (bucket !== undefined) {
      for (const keyList of bucket) if (sameKeys(keyList.keys, keys)) return keyList;
    }
    if (keys.length > MAX_LISTED_KEYS || this.#keyLists.length >= MAX_KEY_LISTS) return undefined;
    if (this.#keyCount + keys.length > MAX_KEYS_OF_LISTS) return undefined;
    for (const key of keys) if (key.length > MAX_KEY_UNITS) return undefined;
    const name = `${first}\n${keys[keys.length - 1]}\n${keys.length}`;
    const candidate = this.#candidates.get(name);
    if (candidate !== undefined && sameKeys(candidate, keys)) {
      this.#candidates.delete(name);
      return this.#register(keys, bucket);
    }
    if (this.#candidates.size >= MAX_CANDIDATES) this.#candidates.clear();
    this.#candidates.set(name, keys);
    this.hasSeenKeys = true;
    return undefined;
  }

  #register(keys: readonly string[], bucket: SentKeyList[] = []): SentKeyList | undefined {
    if (bucket.length >= MAX_BUCKET) return undefined;
    for (const key of keys) {
      // A property deleted before it is written would be read from the prototype.
      if (key in Object.prototype) return undefined;
    }
    const keyList: SentKeyList = {
      id: this.#keyLists.length,
      keys,
      write: loopWriter(keys),
      fits: fitsNone,
      uses: 0,
      follower: undefined,
    };
    this.size = this.#keyLists.push(keyList);
    this.#keyCount += keys.length;
    bucket.push(keyList);
    this.#byFirstKey.set(keys[0]!, bucket);
    return keyList;
  }
}

const fitsNone = (): boolean => false;

function compile(keyList: SentKeyList, mark: symbol | undefined): void {
  const { write, fits } = compileWriter(keyList.keys, mark);
  keyList.write = write;
  // The `arguments` object of a function has such keys and is refused, so it must not match.
  if (keyList.keys[0] !== "0") keyList.fits = fits;
}

function loopWriter(keys: readonly string[]): WritableKeyList["write"] {
  return (writer, object, at) => {
    let next = at;
    for (const key of keys) {
      const value = object[key];
      next = value === undefined
        ? writer.undefinedOrGone(object, key, next)
        : writer.value(value, next);
    }
    return next;
  };
}

/** The key lists that one sender has announced to this receiver. */
export class ReceivedKeyLists {
  readonly #keyLists: ReadableKeyList[] = [];
  readonly #compiledAfter: number;
  #keyCount = 0;

  /** `compiledAfter`: uses of a key list after which its code is compiled. */
  constructor(compiledAfter: number = COMPILED_AFTER) {
    this.#compiledAfter = compiledAfter;
  }

  get size(): number {
    return this.#keyLists.length;
  }

  get(id: number): ReadableKeyList | undefined {
    return this.#keyLists[id];
  }

  /** Adds the contents of a KEY_LISTS record: `[first, ...lists]`. */
  add(announced: unknown): void {
    const [first, ...lists] = Array.isArray(announced) ? announced as unknown[] : [];
    if (first !== this.#keyLists.length || first + lists.length > MAX_KEY_LISTS) {
      throw new ProtocolError(
        `Key lists from ${String(first)} announced after ${this.#keyLists.length}.`,
      );
    }
    for (const keys of lists) {
      if (!isKeyList(keys)) throw new ProtocolError("A key list that is none.");
      this.#keyCount += keys.length;
      if (this.#keyCount > MAX_KEYS_OF_LISTS) {
        throw new ProtocolError("Key lists of too many keys.");
      }
      this.#keyLists.push(createReceived(keys, this.#compiledAfter));
    }
  }
}

function createReceived(keys: readonly string[], compiledAfter: number): ReadableKeyList {
  let uses = 0;
  const loop = loopReader(keys);
  const keyList: { keys: readonly string[]; read: ReadableKeyList["read"] } = {
    keys,
    read(reader, at) {
      if (++uses === compiledAfter && canCompile()) keyList.read = compileReader(keys);
      return loop(reader, at);
    },
  };
  return keyList;
}

function isKeyList(keys: unknown): keys is string[] {
  return Array.isArray(keys) && keys.length <= MAX_LISTED_KEYS &&
    keys.every((key) => typeof key === "string") && new Set(keys).size === keys.length;
}

function loopReader(keys: readonly string[]): ReadableKeyList["read"] {
  return (reader, at) => {
    const object: Record<string, unknown> = {};
    let next = at;
    for (const key of keys) {
      setOwn(object, key, reader.value(next));
      next = reader.next;
    }
    return object;
  };
}
