/**
 * Reads values out of shared memory. Every length is checked against the end of the input before anything is
 * read or allocated: damaged memory causes a ProtocolError, never a loop, or a read or allocation beyond the
 * record. Reading runs no user code. The decoder knows primitives, plain objects and dense arrays by itself, and asks
 * `valueReaders` for the rest.
 */
import { Map } from "../builtins.ts";
import { ProtocolError } from "../errors.ts";
import { align8, align8Large } from "../memory/align.ts";
import { type Memory, viewMemory } from "../memory/views.ts";
import type { ReceivedKeyLists } from "./key-lists.ts";
import type { CodecAccess } from "../runtimes/runtime.ts";
import type { DeclaredValues } from "./declared.ts";
import { normalizeNumber } from "./kinds/numbers.ts";
import { readOneByte } from "./kinds/text.ts";
import { setOwn } from "./support/own-property.ts";
import { readFailure } from "./support/read-failure.ts";
import type { SharedBuffers } from "./support/shared-buffers.ts";
import {
  ARRAY,
  DOUBLES,
  FALSE,
  HOLE,
  INT,
  INTS,
  KEYED,
  NO_HIGH,
  NULL,
  NUMBER,
  OBJECT,
  ONE_BYTE,
  PENDING,
  REF,
  REF_BUFFER,
  REFERENCED,
  STREAM,
  TEXT,
  TEXTS,
  TRUE,
  TWO_BYTE,
  UNDEFINED,
  VALUE_HEADER_BYTES,
} from "./tags.ts";

/** An accessor that reads in place and can be revoked when the borrow ends. */
export interface Revocable {
  revoke(): void;
}

/** Creates what a task gets in the place of a stream, or of a callback, among its arguments. `kind`: of STREAM (tags.ts). */
export type OpenStream = (index: number, kind: number) => object;

/** Reads the value at `at`, whose first word is `word`; sets `next`. */
export type ReadValue = (decoder: Decoder, at: number, word: number) => unknown;

/** By tag; `useValues` adds to them. Every tag has its place, so that the list stays a packed one. */
export const valueReaders: (ReadValue | undefined)[] = new Array<ReadValue | undefined>(256)
  .fill(undefined);

const NO_EXTRAS: readonly unknown[] = [];
const PENDING_VALUE = Symbol();
/** Allowance for arrays with holes, since only their elements take bytes. */
const FREE_BYTES = 64 * 1024;
const NO_MEMORY: Memory = viewMemory(new SharedArrayBuffer(0));
/** V8 creates arrays of more than 32 Mi elements as hash tables: filling them is twelve times slower than growing. */
const MAX_READY_LENGTH = 1 << 24;
/** Objects with more own keys are treated as dictionaries, not as records. */
const TABLE_KEYS = 32;
const { prototype: ObjectPrototype, setPrototypeOf } = Object;

export class Decoder {
  memory: Memory = NO_MEMORY;
  i32: Int32Array<SharedArrayBuffer> = NO_MEMORY.i32;
  f64: Float64Array<SharedArrayBuffer> = NO_MEMORY.f64;
  u8: Uint8Array<SharedArrayBuffer> = NO_MEMORY.u8;
  /** End of the readable bytes. */
  limit = 0;
  /** After a value was read: offset of the next one. */
  next = 0;
  /** Decode borrowed bytes in place instead of copying them. A caller that sets it must keep the memory until the borrows end. */
  isBorrowing = false;
  /** Declarations of the values being read, by position. */
  declared: DeclaredValues | undefined;
  /** Borrows in the values just read. The caller that ends them empties the list. */
  readonly borrows: Revocable[] = [];
  /** Undefined: the values may contain no streams. */
  openStream: OpenStream | undefined = undefined;
  /** Bytes by which resizable buffers may yet grow, in sum. Those beyond get a fixed length. */
  growthBytes: number = Infinity;

  readonly access: CodecAccess;
  keyLists: Pick<ReceivedKeyLists, "get"> | undefined;
  readonly sharedBuffers: SharedBuffers;
  #base = 0;
  /** Number of array elements allocated before they were read. */
  #reserved = 0;
  /** Number of arguments whose values follow the others. */
  #pending = 0;
  #attachments: readonly unknown[] = NO_EXTRAS;
  #referenced: Map<number, unknown> | undefined;
  /** The gathered texts that were read last, of which `#taken` units are used, and where the next are; -1: nowhere. */
  #texts = "";
  #taken = 0;
  #nextTexts = -1;

  constructor(
    access: CodecAccess,
    keyLists: Pick<ReceivedKeyLists, "get"> | undefined,
    sharedBuffers: SharedBuffers,
  ) {
    this.access = access;
    this.keyLists = keyLists;
    this.sharedBuffers = sharedBuffers;
  }

  /** Reads the one value in `[at, limit)`. Not by `all`, whose list costs the echo of a short string a tenth. */
  one(memory: Memory, at: number, limit: number): unknown {
    this.#begin(memory, at, limit, NO_EXTRAS);
    try {
      let value = this.value(at);
      if (value === PENDING_VALUE) value = this.value(this.next);
      if (this.next !== limit) throw this.corrupt("end", this.next);
      return value;
    } catch (error) {
      throw readFailure(error, limit - at);
    } finally {
      if (this.#nextTexts >= 0) this.#closeTexts();
      this.#referenced = undefined;
    }
  }

  /** Reads `count` values that follow one another in `[at, limit)`. */
  all(
    memory: Memory,
    at: number,
    limit: number,
    count: number,
    attachments: readonly unknown[] = NO_EXTRAS,
  ): unknown[] {
    this.#begin(memory, at, limit, attachments);
    try {
      const values: unknown[] = [];
      for (let index = 0; index < count; index++) values[index] = this.value(this.next);
      for (let index = 0; this.#pending > 0 && index < count; index++) {
        if (values[index] === PENDING_VALUE) values[index] = this.value(this.next);
      }
      if (this.next !== limit) throw this.corrupt("end", this.next);
      return values;
    } catch (error) {
      throw readFailure(error, limit - at);
    } finally {
      if (this.#nextTexts >= 0) this.#closeTexts();
      this.#referenced = undefined;
      this.#attachments = NO_EXTRAS;
    }
  }

  /** Drops references to memory that is not read again. */
  forget(): void {
    this.#begin(NO_MEMORY, 0, 0, NO_EXTRAS);
  }

  #begin(memory: Memory, at: number, limit: number, attachments: readonly unknown[]): void {
    if (this.memory !== memory) {
      this.memory = memory;
      this.i32 = memory.i32;
      this.f64 = memory.f64;
      this.u8 = memory.u8;
    }
    this.next = this.#base = at;
    this.#reserved = this.#pending = 0;
    this.limit = limit;
    this.#attachments = attachments;
  }

  /** Reads the value at `at`; sets `next`. */
  value(at: number): unknown {
    const next = at + VALUE_HEADER_BYTES;
    if (next > this.limit) throw this.corrupt("end", at);
    const word = this.i32[at >> 2]!;
    this.next = next;
    switch (word & 0xff) {
      case INT:
        return this.i32[(at >> 2) + 1];
      case ONE_BYTE:
        return this.#oneByte(at, word);
      case NUMBER:
        return normalizeNumber(this.double(at));
      case OBJECT:
        return this.#object(at, word);
      case TRUE:
        return true;
      case FALSE:
        return false;
      case NULL:
        return null;
      case UNDEFINED:
        return undefined;
      case ARRAY:
        return this.#array(at, word);
      case INTS:
      case DOUBLES:
        return this.#numbers(at, word);
      case TEXTS:
        return this.#withTexts(at);
      case TEXT:
        return this.gathered(this.i32[(at >> 2) + 1]!, at);
      case KEYED:
        return this.#keyed(at, word);
      case TWO_BYTE: {
        const end = next + 2 * this.count(at, 2);
        this.next = align8(end);
        return this.access.text.readTwoByte(this.u8, next, end);
      }
      case REF:
        return this.#ref(at, word);
      case STREAM:
        if (this.openStream === undefined) throw this.corrupt("stream", at);
        return this.openStream(this.i32[(at >> 2) + 1]!, (word >> 8) & 0xff);
      case PENDING:
        this.#pending++;
        return PENDING_VALUE;
      default:
        return this.#other(at, word);
    }
  }

  #other(at: number, word: number): unknown {
    const read = valueReaders[word & 0xff];
    if (read === undefined) throw this.corrupt(`tag ${word & 0xff}`, at);
    return this.noted(at, word, read(this, at, word));
  }

  /** Reads a string at `at`: a property's name. */
  key(at: number): string {
    const key = this.value(at);
    if (typeof key !== "string") throw this.corrupt("key", at);
    return key;
  }

  /** Registers an object that a later REF refers to, if `word` says that there is one. */
  noted<Noted>(at: number, word: number, object: Noted): Noted {
    if ((word & REFERENCED) !== 0) (this.#referenced ??= new Map()).set(at - this.#base, object);
    return object;
  }

  /** Checks that `bytes` bytes from `at` may be read. */
  check(at: number, bytes: number): void {
    if (at + bytes > this.limit) throw this.corrupt("end", at);
  }

  /** The aux word at `at` as a count. Checks that `bytesEach` bytes for each can be read. */
  count(at: number, bytesEach: number, headerBytes: number = VALUE_HEADER_BYTES): number {
    const count = this.i32[(at >> 2) + 1]!;
    if (count < 0 || at + headerBytes + count * bytesEach > this.limit) {
      throw this.corrupt(`count ${count}`, at);
    }
    return count;
  }

  /**
   * Whether this number of elements may be allocated before they are read. Damaged nested arrays could each claim the
   * same bytes; the elements of an intact value never exceed the available bytes.
   */
  mayReserve(elements: number): boolean {
    this.#reserved += elements;
    return VALUE_HEADER_BYTES * this.#reserved <= this.limit - this.#base + FREE_BYTES;
  }

  /** The f64 after the header at `at` as a size in bytes. Checks that this many bytes can be read from `start`; sets `next`. */
  size(at: number, start: number): number {
    this.check(at, start - at);
    const size = this.f64[(at >> 3) + 1]!;
    const end = start + align8Large(size);
    if (!Number.isSafeInteger(size) || size < 0 || end > this.limit) {
      throw this.corrupt(`size ${size}`, at);
    }
    this.next = end;
    return size;
  }

  corrupt(kind: string, at: number): ProtocolError {
    return new ProtocolError(
      `Encoded value at offset ${at - this.#base} is corrupt: impossible ${kind}.`,
    );
  }

  /** The object of the payload message that the value at `at`, of `bytes` bytes, refers to. */
  attached(at: number, bytes: number): unknown {
    this.check(at, bytes);
    this.next = at + bytes;
    const index = this.i32[(at >> 2) + 1]!;
    const object = this.#attachments[index];
    if (object === undefined) throw this.corrupt(`part ${index} of its message`, at);
    return object;
  }

  /** The f64 after the header at `at`; sets `next`. */
  double(at: number): number {
    this.check(at, 16);
    this.next = at + 16;
    return this.f64[(at >> 3) + 1]!;
  }

  #oneByte(at: number, word: number): string {
    const start = at + VALUE_HEADER_BYTES;
    const units = this.count(at, 1);
    this.next = align8(start + units);
    const { access, u8 } = this;
    return (word & NO_HIGH) === 0
      ? readOneByte(access.text, u8, start, units)
      : access.text.readAscii(u8, start, start + units);
  }

  #ref(at: number, word: number): unknown {
    const offset = this.i32[(at >> 2) + 1]! * 8;
    const object = this.#referenced?.get(offset);
    if (object === undefined) throw this.corrupt(`reference to ${offset}`, at);
    if (((word >> 8) & 0xff) !== REF_BUFFER) return object;
    if (!ArrayBuffer.isView(object)) throw this.corrupt(`buffer at ${offset}`, at);
    return object.buffer;
  }

  #object(at: number, word: number): object {
    const id = this.i32[(at >> 2) + 1]!;
    const keyList = this.keyLists?.get(id);
    if (keyList === undefined) throw this.corrupt(`key list ${id}`, at);
    // Without flags: not PARTIAL, and not REFERENCED. Such an object is created before its values are read.
    if (word === OBJECT) return keyList.read(this, at + VALUE_HEADER_BYTES);
    const object = this.noted<Record<string, unknown>>(at, word, {});
    for (const key of keyList.keys) {
      const { next } = this;
      if (next < this.limit && this.i32[next >> 2] === HOLE) {
        this.next = next + VALUE_HEADER_BYTES;
      } else setOwn(object, key, this.value(next));
    }
    return object;
  }

  /** With many properties, starts without a prototype: V8 creates it as a hash table, which takes a fifth of the time. */
  #keyed(at: number, word: number): object {
    const properties = this.count(at, 2 * VALUE_HEADER_BYTES);
    const isTable = properties > TABLE_KEYS;
    const object = (isTable ? { __proto__: null } : {}) as Record<string, unknown>;
    this.noted(at, word, object);
    for (let property = 0; property < properties; property++) {
      const key = this.key(this.next);
      const value = this.value(this.next);
      if (isTable) object[key] = value;
      else setOwn(object, key, value);
    }
    if (isTable) setPrototypeOf(object, ObjectPrototype);
    return object;
  }

  /** Filling an array of its final length takes a third to a seventh of the time of growing one. */
  #array(at: number, word: number): unknown[] {
    const length = this.count(at, VALUE_HEADER_BYTES);
    const isReady = length <= MAX_READY_LENGTH && this.mayReserve(length);
    const array = this.noted(at, word, isReady ? new Array<unknown>(length) : []);
    const { i32, limit } = this;
    for (let index = 0; index < length; index++) {
      const { next } = this;
      const word = next < limit ? i32[next >> 2] : 0;
      // Inline: an array of strings takes an eighth less time.
      if (word === TEXT) {
        this.next = next + VALUE_HEADER_BYTES;
        array[index] = this.gathered(i32[(next >> 2) + 1]!, next);
      } else if (word === HOLE) this.next = next + VALUE_HEADER_BYTES;
      else array[index] = this.value(next);
    }
    if (array.length < length) array.length = length; // holes at the end
    return array;
  }

  /** V8 tracks the kind of elements per `new Array` in the source, hence one for each. */
  #numbers(at: number, word: number): number[] {
    const isInts = (word & 0xff) === INTS;
    const length = this.count(at, isInts ? 4 : 8);
    const isReady = length <= MAX_READY_LENGTH;
    this.next = at + VALUE_HEADER_BYTES + align8Large(isInts ? 4 * length : 8 * length);
    if (isInts) {
      const { i32 } = this;
      const start = (at >> 2) + 2;
      const array = this.noted(at, word, isReady ? new Array<number>(length) : []);
      for (let index = 0; index < length; index++) array[index] = i32[start + index]!;
      return array;
    }
    const { f64 } = this;
    const start = (at >> 3) + 1;
    // Engines store such arrays as doubles, so whole numbers among them need not be normalized.
    const array = this.noted(at, word, isReady ? new Array<number>(length) : []);
    for (let index = 0; index < length; index++) array[index] = f64[start + index]!;
    return array;
  }

  /** Reads TEXTS at `at`: a value whose short strings are gathered behind it. */
  #withTexts(at: number): unknown {
    const texts = at + 8 * this.i32[(at >> 2) + 1]!;
    if (texts === at) return this.value(this.next);
    if (this.#nextTexts >= 0 || texts < at || texts > this.limit) {
      throw this.corrupt("place of texts", at);
    }
    this.#nextTexts = texts;
    const value = this.value(this.next);
    if (this.next !== texts || this.#taken !== this.#texts.length) {
      throw this.corrupt("length of texts", at);
    }
    this.next = this.#nextTexts;
    this.#closeTexts();
    return value;
  }

  #closeTexts(): void {
    this.#texts = "";
    this.#taken = 0;
    this.#nextTexts = -1;
  }

  /** The next gathered string, of `units` units; `at`: offset of its TEXT. Does not set `next`. */
  gathered(units: number, at: number): string {
    if (this.#taken + units > this.#texts.length) this.#openTexts(at);
    const start = this.#taken;
    const end = start + units;
    if (units < 0 || end > this.#texts.length) throw this.corrupt(`length ${units}`, at);
    this.#taken = end;
    return this.#texts.substring(start, end);
  }

  #openTexts(at: number): void {
    const from = this.#nextTexts;
    if (from < 0 || this.#taken !== this.#texts.length) throw this.corrupt("text", at);
    this.check(from, VALUE_HEADER_BYTES);
    const units = this.i32[from >> 2]!;
    const bytesEach = this.i32[(from >> 2) + 1]!;
    const start = from + VALUE_HEADER_BYTES;
    const end = start + units * bytesEach;
    if (units < 0 || (bytesEach !== 1 && bytesEach !== 2) || end > this.limit) {
      throw this.corrupt(`segment of ${units} units`, at);
    }
    const { text } = this.access;
    this.#texts = bytesEach === 1
      ? readOneByte(text, this.u8, start, units)
      : text.readTwoByte(this.u8, start, end);
    this.#taken = 0;
    this.#nextTexts = align8(end);
  }
}
