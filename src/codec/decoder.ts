/**
 * Reads values out of shared memory. Every length is checked against the end of the input before anything is
 * read or allocated: damaged memory causes a ProtocolError, never a loop, or a read or allocation beyond the
 * record. Reading runs no user code.
 */
import { Date, Map } from "../builtins.ts";
import { align8, align8Large } from "../memory/align.ts";
import { type Memory, viewMemory } from "../memory/views.ts";
import type { CodecAccess } from "../runtimes/runtime.ts";
import { ProtocolError } from "../errors.ts";
import { readerOf } from "./feature.ts";
import { readArray, readEntries } from "./kinds/arrays.ts";
import { readBuffer, readBytes, readView } from "./kinds/bytes.ts";
import { readError } from "./kinds/errors.ts";
import { normalizeNumber, readBigInt } from "./kinds/numbers.ts";
import { readCollection, readKeyed, readObject } from "./kinds/objects.ts";
import type { OpenStream, ReadableKeyList, Reader, Revocable } from "./reader.ts";
import { readFailure } from "./support/read-failure.ts";
import type { SharedBuffers } from "./support/shared-buffers.ts";
import {
  ARRAY,
  ATTACHMENT,
  BIGINT_64,
  BIGINT_HEX,
  BUFFER,
  BYTES,
  DATE,
  DOUBLES,
  ERROR,
  FALSE,
  INT,
  INTS,
  KEYED,
  MAP,
  NO_HIGH,
  NULL,
  NUMBER,
  OBJECT,
  ONE_BYTE,
  PENDING,
  REF,
  REF_BUFFER,
  REFERENCED,
  SET,
  SHARED,
  SPARSE,
  STREAM,
  STRUCT,
  TEXT,
  TEXTS,
  TRUE,
  TWO_BYTE,
  UNDEFINED,
  VALUE_HEADER_BYTES,
  VIEW,
} from "./tags.ts";
import type { DeclaredValue, DeclaredValues, FixedInput } from "./declared.ts";
import { readOneByte } from "./kinds/text.ts";
import { TextSegments } from "./kinds/texts.ts";

/** Provides the key lists of received objects. */
export interface KeyListSource {
  get(id: number): ReadableKeyList | undefined;
}

const NO_EXTRAS: readonly unknown[] = [];
const PENDING_VALUE = Symbol();
/** What a resizable buffer counts at least: an engine maps pages for each, of which a process has a limited number. */
const MIN_GROWTH_BYTES = 64 * 1024;
/** Allowance for arrays with holes, since only their elements take bytes. */
const FREE_BYTES = 64 * 1024;
const NO_MEMORY: Memory = viewMemory(new SharedArrayBuffer(0));

export class Decoder implements Reader {
  i32!: Int32Array<SharedArrayBuffer>;
  f64!: Float64Array<SharedArrayBuffer>;
  u8!: Uint8Array<SharedArrayBuffer>;
  limit = 0;
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
  keyLists: KeyListSource | undefined;
  readonly #sharedBuffers: SharedBuffers;
  readonly #texts = new TextSegments();
  #memory: Memory | undefined;
  /** Reused for values of declared shapes of fixed size. */
  #input: FixedInput | undefined;
  #base = 0;
  /** Number of array elements allocated before they were read. */
  #reserved = 0;
  /** Number of arguments whose values follow the others. */
  #pending = 0;
  #attachments: readonly unknown[] = NO_EXTRAS;
  #referenced: Map<number, unknown> | undefined;

  constructor(
    access: CodecAccess,
    keyLists: KeyListSource | undefined,
    sharedBuffers: SharedBuffers,
  ) {
    this.access = access;
    this.keyLists = keyLists;
    this.#sharedBuffers = sharedBuffers;
  }

  /** Reads the one value in `[at, limit)`. */
  one(memory: Memory, at: number, limit: number): unknown {
    if (this.declared !== undefined && memory.i32[at >> 2] === STRUCT) {
      const only = this.declared[0];
      if (only !== undefined && isWhole(only, memory, at, limit)) {
        return this.#fixed(only.codec, memory, at, limit);
      }
    }
    this.#begin(memory, at, limit, NO_EXTRAS);
    try {
      let value = this.value(at);
      if (value === PENDING_VALUE) value = this.value(this.next);
      if (this.next !== limit) throw this.corrupt("end", this.next);
      return value;
    } catch (error) {
      throw readFailure(error, limit - at);
    } finally {
      if (this.#texts.isOpen) this.#texts.close();
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
      this.next = at;
      for (let index = 0; index < count; index++) values[index] = this.value(this.next);
      if (this.#pending > 0) {
        for (const [index, value] of values.entries()) {
          if (value === PENDING_VALUE) values[index] = this.value(this.next);
        }
      }
      if (this.next !== limit) throw this.corrupt("end", this.next);
      return values;
    } catch (error) {
      throw readFailure(error, limit - at);
    } finally {
      if (this.#texts.isOpen) this.#texts.close();
      this.#referenced = undefined;
      this.#attachments = NO_EXTRAS;
    }
  }

  #fixed(codec: DeclaredValue["codec"], memory: Memory, at: number, limit: number): unknown {
    const input = this.#input ??= codec.createInput(memory, this.access.text, limit);
    input.memory = memory;
    input.limit = input.end = limit;
    try {
      return codec.readFixed(input, at + VALUE_HEADER_BYTES);
    } catch (error) {
      throw readFailure(error, limit - at);
    }
  }

  /** Drops references to memory that is not read again. */
  forget(): void {
    this.#input = undefined;
    this.#begin(NO_MEMORY, 0, 0, NO_EXTRAS);
  }

  #begin(memory: Memory, at: number, limit: number, attachments: readonly unknown[]): void {
    if (this.#memory !== memory) {
      this.#memory = memory;
      this.i32 = memory.i32;
      this.f64 = memory.f64;
      this.u8 = memory.u8;
    }
    this.#base = at;
    this.#reserved = 0;
    this.#pending = 0;
    this.limit = limit;
    this.#attachments = attachments;
  }

  /** Reads the value at `at`; sets `next`. */
  value(at: number): unknown {
    if (at + VALUE_HEADER_BYTES > this.limit) throw this.corrupt("end", at);
    const word = this.i32[at >> 2]!;
    switch (word & 0xff) {
      case INT:
        this.next = at + VALUE_HEADER_BYTES;
        return this.i32[(at >> 2) + 1];
      case ONE_BYTE:
        return this.text(at);
      case NUMBER:
        this.check(at, 16);
        this.next = at + 16;
        return normalizeNumber(this.f64[(at >> 3) + 1]!);
      case OBJECT:
        return readObject(this, at, word);
      case TRUE:
        this.next = at + VALUE_HEADER_BYTES;
        return true;
      case FALSE:
        this.next = at + VALUE_HEADER_BYTES;
        return false;
      case NULL:
        this.next = at + VALUE_HEADER_BYTES;
        return null;
      case UNDEFINED:
        this.next = at + VALUE_HEADER_BYTES;
        return undefined;
      case ARRAY:
      case INTS:
      case DOUBLES:
        return readArray(this, at, word, word & 0xff);
      case TEXTS:
        return this.#texts.read(this, at);
      case TEXT:
        this.next = at + VALUE_HEADER_BYTES;
        return this.#texts.take(this, this.i32[(at >> 2) + 1]!, at);
      case TWO_BYTE:
        return this.#twoByte(at);
      case STRUCT:
        return this.#struct(at, word);
      default:
        return this.#rare(at, word);
    }
  }

  #rare(at: number, word: number): unknown {
    switch (word & 0xff) {
      case KEYED:
        return readKeyed(this, at, word);
      case BYTES:
        return this.#noted(at, word, readBytes(this, at, word));
      case BUFFER:
        return this.#noted(at, word, readBuffer(this, at, word));
      case VIEW:
        return this.#noted(at, word, readView(this, at, word));
      case REF:
        return this.#ref(at, word);
      case MAP:
      case SET:
        return readCollection(this, at, word);
      case DATE:
        this.check(at, 16);
        this.next = at + 16;
        return this.#noted(at, word, new Date(this.f64[(at >> 3) + 1]!));
      case ERROR:
        return readError(this, at, word);
      case SPARSE:
        return readEntries(this, at, word);
      case BIGINT_64:
        this.check(at, 16);
        this.next = at + 16;
        return this.#memory!.i64[(at >> 3) + 1];
      case BIGINT_HEX:
        return readBigInt(this, at, word);
      case ATTACHMENT:
        return this.#noted(at, word, this.#attached(at, VALUE_HEADER_BYTES));
      case SHARED:
        return this.#noted(at, word, this.#shared(at));
      case STREAM:
        if (this.openStream === undefined) throw this.corrupt("stream", at);
        this.next = at + VALUE_HEADER_BYTES;
        return this.openStream(this.i32[(at >> 2) + 1]!, (word >> 8) & 0xff);
      case PENDING:
        this.#pending++;
        this.next = at + VALUE_HEADER_BYTES;
        return PENDING_VALUE;
      default:
        return this.#other(at, word);
    }
  }

  /** Reads a value of a kind that a feature has added. */
  #other(at: number, word: number): unknown {
    const read = readerOf(word & 0xff);
    if (read === undefined) throw this.corrupt(`tag ${word & 0xff}`, at);
    return this.#noted(at, word, read(this, at, word));
  }

  keyList(id: number): ReadableKeyList | undefined {
    return this.keyLists?.get(id);
  }

  key(at: number): string {
    const key = this.value(at);
    if (typeof key !== "string") throw this.corrupt("key", at);
    return key;
  }

  register(at: number, object: unknown): void {
    (this.#referenced ??= new Map()).set(at - this.#base, object);
  }

  #noted(at: number, word: number, object: unknown): unknown {
    if ((word & REFERENCED) !== 0) this.register(at, object);
    return object;
  }

  check(at: number, bytes: number): void {
    if (at + bytes > this.limit) throw this.corrupt("end", at);
  }

  count(at: number, bytesEach: number, headerBytes: number = VALUE_HEADER_BYTES): number {
    const count = this.i32[(at >> 2) + 1]!;
    if (count < 0 || at + headerBytes + count * bytesEach > this.limit) {
      throw this.corrupt(`count ${count}`, at);
    }
    return count;
  }

  mayReserve(elements: number): boolean {
    this.#reserved += elements;
    return VALUE_HEADER_BYTES * this.#reserved <= this.limit - this.#base + FREE_BYTES;
  }

  resizable(length: number, maximum: number): ArrayBuffer {
    const growth = Math.max(maximum - length, MIN_GROWTH_BYTES);
    if (growth > this.growthBytes) return new ArrayBuffer(length);
    this.growthBytes -= growth;
    return new ArrayBuffer(length, { maxByteLength: maximum });
  }

  size(at: number, start: number): number {
    this.check(at, start - at);
    const size = this.f64[(at >> 3) + 1]!;
    if (!Number.isSafeInteger(size) || size < 0 || start + align8Large(size) > this.limit) {
      throw this.corrupt(`size ${size}`, at);
    }
    return size;
  }

  corrupt(kind: string, at: number): ProtocolError {
    return new ProtocolError(
      `Encoded value at offset ${at - this.#base} is corrupt: impossible ${kind}.`,
    );
  }

  text(at: number): string {
    const units = this.i32[(at >> 2) + 1]!;
    const start = at + VALUE_HEADER_BYTES;
    if (units < 0 || start + units > this.limit) throw this.corrupt(`length ${units}`, at);
    this.next = align8(start + units);
    const { access, u8 } = this;
    return (this.i32[at >> 2]! & NO_HIGH) === 0
      ? readOneByte(access.text, u8, start, units)
      : access.text.readAscii(u8, start, start + units);
  }

  gathered(units: number, at: number): string {
    return this.#texts.take(this, units, at);
  }

  #twoByte(at: number): string {
    const start = at + VALUE_HEADER_BYTES;
    const end = start + 2 * this.count(at, 2);
    this.next = align8(end);
    return this.access.text.readTwoByte(this.u8, start, end);
  }

  #ref(at: number, word: number): unknown {
    this.next = at + VALUE_HEADER_BYTES;
    const offset = this.i32[(at >> 2) + 1]! * 8;
    const object = this.#referenced?.get(offset);
    if (object === undefined) throw this.corrupt(`reference to ${offset}`, at);
    if (((word >> 8) & 0xff) !== REF_BUFFER) return object;
    if (!ArrayBuffer.isView(object)) throw this.corrupt(`buffer at ${offset}`, at);
    return object.buffer;
  }

  #struct(at: number, word: number): unknown {
    const position = (word >> 8) & 0xff;
    const declared = this.declared?.[position];
    if (declared === undefined) throw this.corrupt(`struct ${position}`, at);
    const { codec, isView } = declared;
    const start = at + VALUE_HEADER_BYTES;
    const end = start + this.count(at, 1);
    if ((end & 7) !== 0) throw this.corrupt("length of a struct", at);
    this.next = end;
    const { text } = this.access;
    const memory = this.#memory!;
    if (!isView) return codec.read(memory, text, start, end);
    if (!this.isBorrowing) {
      const copy = viewMemory(new SharedArrayBuffer(end - start));
      copy.u8.set(this.u8.subarray(start, end));
      return codec.view(copy, text, 0, end - start);
    }
    const view = codec.view(memory, text, start, end) as object;
    this.borrows.push({ revoke: () => codec.revoke(view) });
    return view;
  }

  #attached(at: number, bytes: number): unknown {
    this.check(at, bytes);
    this.next = at + bytes;
    const index = this.i32[(at >> 2) + 1]!;
    const object = this.#attachments[index];
    if (object === undefined) throw this.corrupt(`part ${index} of its message`, at);
    return object;
  }

  #shared(at: number): SharedArrayBuffer {
    const buffer = this.#attached(at, VALUE_HEADER_BYTES + 8);
    const id = this.f64[(at >> 3) + 1]!;
    if (!this.access.kinds.isSharedArrayBuffer(buffer)) throw this.corrupt("shared buffer", at);
    return this.#sharedBuffers.adopt(id, buffer);
  }
}

/** Whether the struct in `[at, limit)` has a shape of fixed size and takes exactly that size. */
function isWhole(
  { codec, isView }: DeclaredValue,
  { i32 }: Memory,
  at: number,
  limit: number,
): boolean {
  const { fixedBytes } = codec;
  return codec.isFixed && !isView && limit - at === VALUE_HEADER_BYTES + fixedBytes &&
    i32[(at >> 2) + 1] === fixedBytes;
}
