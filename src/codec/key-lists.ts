/**
 * Key lists: the keys of recurring objects. An object of a known key list is sent as the id of its list and its
 * values; the keys were sent once before, in a separate record.
 *
 * A sender keeps a `KeyListRegistry`. It is append-only, so that an id never changes its meaning, whichever
 * lane or worker gets an encoded call. A key list is registered when it is seen for the second time; until
 * then, and beyond the limits below, objects are sent with their keys. A receiver keeps the announced key lists
 * in the same order.
 *
 * Properties are read and written by loops at first, and always if code generation from strings is not allowed. After some
 * uses code is generated per key list, so that engines use inline caches and preallocated hidden classes: an object takes two
 * thirds of the time, a small one of few strings half.
 */
import { JSON, Map, Set } from "../builtins.ts";
import { ProtocolError } from "../errors.ts";
import type { Decoder } from "./decoder.ts";
import type { Encoder } from "./encoder.ts";
import { canCompile, evaluate, property } from "./support/code-generation.ts";
import { setOwn } from "./support/own-property.ts";
import { FALSE, INT, NULL, NUMBER, TEXT, TRUE } from "./tags.ts";

/** Objects with more keys are sent with their keys: on Node a key list saves 80% of the time at 100 keys, 25% at 250. */
export const MAX_LISTED_KEYS = 128;
const MAX_KEY_UNITS = 256;
/** In the text that announces key lists. Objects with such keys are sent with their keys. */
const BETWEEN_KEYS = "\n";
const BETWEEN_LISTS = "\r";
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
/** Maximum number of key lists with the same first key that are searched. */
const MAX_BUCKET = 32;
/** Maximum size of a value that is written inline. */
const SPOT_BYTES = 16;
/** Maximum number of keys for inline code: engines do not optimize larger functions. */
const MAX_SPOT_KEYS = 24;

/** The side of a key list that writes. */
export interface SentKeyList {
  readonly id: number;
  /** Writes the properties of an object from `at`; returns their end. */
  readonly write: (encoder: Encoder, object: Record<string, unknown>, at: number) => number;
}

/** The side of a key list that reads. */
interface ReadableKeyList {
  readonly keys: readonly string[];
  /** Creates the object whose values start at `at`. */
  readonly read: (decoder: Decoder, at: number) => object;
}

interface RegisteredKeyList extends SentKeyList {
  readonly keys: readonly string[];
  write: SentKeyList["write"];
  /** Uses before it is compiled. */
  uses: number;
  /** The key list that followed this one last time, which is the first to be compared. */
  follower: RegisteredKeyList | undefined;
}

function sameKeys(one: readonly string[], other: readonly string[]): boolean {
  const count = one.length;
  if (other.length !== count) return false;
  for (let index = 0; index < count; index++) if (one[index] !== other[index]) return false;
  return true;
}

export class KeyListRegistry {
  readonly #keyLists: RegisteredKeyList[] = [];
  readonly #byFirstKey = new Map<string, RegisteredKeyList[]>();
  readonly #candidates = new Map<string, readonly string[]>();
  readonly #compiledAfter: number;
  #last: RegisteredKeyList | undefined;
  #keyCount = 0;
  /** Number of registered key lists; their ids are below it. Only this class writes it. */
  size = 0;
  /** Whether an object could have a key list. Only this class writes it. */
  hasSeenKeys = false;

  /** `compiledAfter`: uses of a key list after which its code is compiled. */
  constructor(compiledAfter: number = COMPILED_AFTER) {
    this.#compiledAfter = compiledAfter;
  }

  /** The key lists from `first` on as a text, for a receiver that lacks them (`ReceivedKeyLists.add`). */
  textFrom(first: number, count: number): string {
    let text = String(first);
    for (const { keys } of this.#keyLists.slice(first, first + count)) {
      text += BETWEEN_LISTS + keys.join(BETWEEN_KEYS);
    }
    return text;
  }

  /** The key list with these keys, if it is registered. */
  find(keys: readonly string[]): SentKeyList | undefined {
    const last = this.#last;
    const expected = last?.follower;
    const found = expected !== undefined && sameKeys(expected.keys, keys)
      ? expected
      : this.#find(keys);
    if (found === undefined) return undefined;
    if (++found.uses === this.#compiledAfter && canCompile()) {
      found.write = compileWriter(found.keys);
    }
    if (last !== undefined) last.follower = found;
    return this.#last = found;
  }

  #find(keys: readonly string[]): RegisteredKeyList | undefined {
    const first = keys[0]!;
    const bucket = this.#byFirstKey.get(first);
    if (bucket !== undefined) {
      for (const keyList of bucket) if (sameKeys(keyList.keys, keys)) return keyList;
    }
    if (keys.length > MAX_LISTED_KEYS || this.#keyLists.length >= MAX_KEY_LISTS) return undefined;
    if (this.#keyCount + keys.length > MAX_KEYS_OF_LISTS) return undefined;
    for (const key of keys) {
      const isLong = key.length > MAX_KEY_UNITS;
      if (isLong || key.includes(BETWEEN_KEYS) || key.includes(BETWEEN_LISTS)) return undefined;
    }
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

  #register(
    keys: readonly string[],
    bucket: RegisteredKeyList[] = [],
  ): RegisteredKeyList | undefined {
    if (bucket.length >= MAX_BUCKET) return undefined;
    for (const key of keys) {
      // A property deleted before it is written would be read from the prototype.
      if (key in Object.prototype) return undefined;
    }
    const keyList: RegisteredKeyList = {
      id: this.#keyLists.length,
      keys,
      write: loopWriter(keys),
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

  /** Adds the contents of a KEY_LISTS record. */
  add(text: unknown): void {
    const [first, ...lists] = typeof text === "string" ? text.split(BETWEEN_LISTS) : [];
    const known = this.#keyLists.length;
    if (first !== String(known) || known + lists.length > MAX_KEY_LISTS) {
      throw new ProtocolError(`Key lists from ${first} announced after ${known}.`);
    }
    for (const list of lists) {
      const keys = list.split(BETWEEN_KEYS);
      this.#keyCount += keys.length;
      if (keys.length > MAX_LISTED_KEYS || this.#keyCount > MAX_KEYS_OF_LISTS) {
        throw new ProtocolError("Key lists of too many keys.");
      }
      if (new Set(keys).size !== keys.length) throw new ProtocolError("A key list that is none.");
      this.#keyLists.push(createReceived(keys, this.#compiledAfter));
    }
  }
}

function createReceived(keys: readonly string[], compiledAfter: number): ReadableKeyList {
  let uses = 0;
  const keyList: { keys: readonly string[]; read: ReadableKeyList["read"] } = {
    keys,
    read(decoder, at) {
      if (++uses === compiledAfter && canCompile()) keyList.read = compileReader(keys);
      const object: Record<string, unknown> = {};
      let next = at;
      for (const key of keys) {
        setOwn(object, key, decoder.value(next));
        next = decoder.next;
      }
      return object;
    },
  };
  return keyList;
}

function loopWriter(keys: readonly string[]): SentKeyList["write"] {
  return (encoder, object, at) => {
    let next = at;
    for (const key of keys) {
      const value = object[key];
      next = value === undefined
        ? encoder.undefinedOrGone(object, key, next)
        : encoder.value(value, next);
    }
    return next;
  };
}

/**
 * The code that writes one property: numbers, booleans, null and short strings inline, which takes an object of five keys a sixth less
 * time; all others by the encoder, whose memory may have moved then. `rest`: room for the properties that follow.
 */
function writeStatement(key: string, isLong: boolean, rest: number): string {
  const name = JSON.stringify(key);
  const call =
    `at = value === undefined ? encoder.undefinedOrGone(object, ${name}, at) : encoder.value(value, at);`;
  if (isLong) return `value = object[${name}]; ${call}`;
  return `value = object[${name}];
if (typeof value === "number") {
integer = value | 0;
if (integer === value && (integer !== 0 || 1 / value > 0)) {
i32[at >> 2] = ${INT}; i32[(at >> 2) + 1] = integer; at += 8;
} else { i32[at >> 2] = ${NUMBER}; f64[(at >> 3) + 1] = value; at += 16; }
} else if (typeof value === "string" && value.length <= longest) {
i32[at >> 2] = ${TEXT}; i32[(at >> 2) + 1] = value.length; encoder.gather(value); at += 8;
} else if (typeof value === "boolean") { i32[at >> 2] = value ? ${TRUE} : ${FALSE}; at += 8; }
else if (value === null) { i32[at >> 2] = ${NULL}; at += 8; }
else { ${call} encoder.room(at, ${rest}); i32 = encoder.i32; f64 = encoder.f64; }`;
}

/** The same with each key in the code. That code usually sees objects of one hidden class only. */
function compileWriter(keys: readonly string[]): SentKeyList["write"] {
  const isLong = keys.length > MAX_SPOT_KEYS;
  const bytes = SPOT_BYTES * keys.length;
  const statements = keys.map((key, index) =>
    writeStatement(key, isLong, bytes - SPOT_BYTES * (index + 1))
  );
  return evaluate(`return (encoder, object, at) => {
encoder.room(at, ${bytes});
let { i32, f64 } = encoder, value, integer;
const longest = encoder.longestGathered;
${statements.join("\n")}
return at;
};`);
}

/** Integers, booleans and short strings are read inline, all other values by the decoder. */
function compileReader(keys: readonly string[]): ReadableKeyList["read"] {
  const isLong = keys.length > MAX_SPOT_KEYS;
  const statements = keys.map((_, index) => {
    const read = `value${index} = decoder.value(next); next = decoder.next;`;
    if (isLong) return read;
    return `word = next + 8 <= limit ? i32[next >> 2] : 0;
if (word === ${INT}) { value${index} = i32[(next >> 2) + 1]; next += 8; }
else if (word === ${TEXT}) { value${index} = decoder.gathered(i32[(next >> 2) + 1], next); next += 8; }
else if (word === ${TRUE} || word === ${FALSE}) { value${index} = word === ${TRUE}; next += 8; }
else { ${read} }`;
  });
  const values = keys.map((_, index) => `value${index}`);
  return evaluate(`return (decoder, at) => {
const { i32, limit } = decoder;
let ${["next = at", "word = 0", ...values].join()};
${statements.join("\n")}
decoder.next = next;
return { ${keys.map((key, index) => property(key, values[index]!)).join()} };
};`);
}
