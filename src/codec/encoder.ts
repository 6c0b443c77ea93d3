/**
 * Writes values into its own memory, in one pass, from offset 0. No value is encoded twice, so that user code (getters)
 * runs once. The sender copies the values into a record or gives the memory itself away.
 *
 * An encoder is recursive and not reentrant: user code that runs during encoding and sends something itself
 * gets another encoder (`Codec.acquire`). References are offsets from the first value, so that encoded
 * values can be moved as a whole. The layout is in `tags.ts`.
 */
import { PayloadTooLargeError } from "../errors.ts";
import { align8Large } from "../memory/align.ts";
import { type Memory, viewMemory } from "../memory/views.ts";
import type { Departure } from "../realm/handles.ts";
import type { CodecAccess } from "../runtimes/runtime.ts";
import { MAX_EMBEDDED_BYTES, writeView } from "./kinds/bytes.ts";
import { Attachments } from "./support/attachments.ts";
import { writeError } from "./kinds/errors.ts";
import { writeBigInt } from "./kinds/numbers.ts";
import { refusal } from "./support/refusal.ts";
import { SeenObjects } from "./support/seen-objects.ts";
import { pathOf, writeOther } from "./feature.ts";
import type { KeyListRegistry } from "./key-lists/key-lists.ts";
import { refuseMarked, refuseObject } from "./support/uncloneable.ts";
import type { SharedBuffers } from "./support/shared-buffers.ts";
import type { DeclaredValue } from "./declared.ts";
import {
  ATTACHMENT,
  FALSE,
  HOLE,
  INT,
  NULL,
  NUMBER,
  REF,
  REF_BUFFER,
  REFERENCED,
  SHARED,
  STRUCT,
  TEXT,
  TRUE,
  UNDEFINED,
  VALUE_HEADER_BYTES,
} from "./tags.ts";
import { writeText } from "./kinds/text.ts";
import { GatheredTexts, MAX_GATHERED_UNITS } from "./kinds/texts.ts";
import type { WritableKeyList, Writer, WriterMark } from "./writer.ts";
import { writeArray } from "./kinds/arrays.ts";
import { writeByKeyList, writePlain, writeSpecial } from "./kinds/objects.ts";

/**
 * Maximum levels of nesting. The stack usually overflows before: at 1,000 to 3,000 levels on V8, as in
 * `structuredClone`, and at about 7,000 on JavaScriptCore.
 */
const MAX_DEPTH = 10_000;
/** Maximum bytes that writers of objects and short strings reserve in advance and may leave unused. */
const MAX_SPARE_BYTES = 512;
/** Initial memory, and the maximum kept for the next value: the size of the largest records of usual rings. */
const SCRATCH_BYTES = 64 * 1024;
const MAX_KEPT_BYTES: number = 2 * 1024 * 1024;
/** Offsets are int32. */
const MAX_ENCODED_BYTES: number = 2 ** 31 - 4096;

export interface EncoderOptions {
  readonly access: CodecAccess;
  readonly keyLists: KeyListRegistry | undefined;
  readonly sharedBuffers: SharedBuffers;
  /** Maximum bytes of one call's arguments, or of one result. */
  readonly maxPayloadBytes: number;
  readonly allowsBorrow: boolean;
  readonly mayAttach?: boolean;
  readonly features?: ReadonlySet<string> | undefined;
}

const ObjectPrototype = Object.prototype;
const { getPrototypeOf } = Object;
const { hasOwn } = Object;

const PLAIN = {};
const NO_MEMORY: Memory = viewMemory(new SharedArrayBuffer(0));

function hasEnumerable(object: object): boolean {
  for (const _ in object) return true;
  return false;
}

export class Encoder implements Writer {
  memory!: Memory;
  i32!: Int32Array<SharedArrayBuffer>;
  f64!: Float64Array<SharedArrayBuffer>;
  u8!: Uint8Array<SharedArrayBuffer>;
  /** End of the memory that may be written. */
  limit = 0;
  readonly attachments: Attachments = new Attachments();
  deletedProperties = 0;
  /** Name of the values in the path of one that cannot be cloned, and the list that contains them. */
  name = "";
  list: readonly unknown[] | undefined;

  lastClass: object | undefined;
  mayMove = true;
  /** No limit but memory: for errors, which must always arrive. */
  isUnlimited = false;

  readonly access: CodecAccess;
  readonly features: ReadonlySet<string> | undefined;
  readonly #keyLists: KeyListRegistry | undefined;
  readonly allowsBorrow: boolean;
  readonly mayAttach: boolean;
  readonly maxEmbeddedBytes: number;
  readonly #sharedBuffers: SharedBuffers;
  readonly #maxPayloadBytes: number;
  #scratch: Memory | undefined;
  #isOpen = false;
  /** Bytes of the values that were copied for the payload message. */
  #copiedBytes = 0;
  /**
   * Whether Object.prototype has an enumerable property, in which case no key list can be guessed. Undefined
   * until it is first needed.
   */
  #isPolluted: boolean | undefined;
  readonly #seen = new SeenObjects();
  readonly texts: GatheredTexts = new GatheredTexts();
  #structs: object | undefined;
  #depth = 0;

  constructor(options: EncoderOptions) {
    this.access = options.access;
    this.features = options.features;
    this.#keyLists = options.keyLists;
    this.#sharedBuffers = options.sharedBuffers;
    this.#maxPayloadBytes = options.maxPayloadBytes;
    this.allowsBorrow = options.allowsBorrow;
    this.mayAttach = options.mayAttach ?? true;
    this.maxEmbeddedBytes = this.mayAttach ? MAX_EMBEDDED_BYTES : Infinity;
  }

  /** Starts anew; returns where to write. */
  begin(): number {
    if (this.#isOpen) this.end(); // a stack overflow prevented `end`
    this.#isOpen = true;
    this.#isPolluted = undefined;
    this.#scratch ??= viewMemory(new SharedArrayBuffer(SCRATCH_BYTES));
    if (this.memory !== this.#scratch) this.#moveTo(this.#scratch);
    return 0;
  }

  #moveTo(memory: Memory): void {
    this.memory = memory;
    this.i32 = memory.i32;
    this.f64 = memory.f64;
    this.u8 = memory.u8;
    this.limit = memory.u8.length;
  }

  get depth(): number {
    return this.#depth;
  }

  /** Forgets the encoded values and all references to objects. */
  end(): void {
    if (this.#seen.count > 0) this.#seen.forget(0);
    this.#seen.current = -1; // an exception may have left it set
    this.#depth = 0; // and texts, which the next value must not get
    if (this.texts.isOpen || this.texts.count > 0) this.texts.abort();
    if (!this.attachments.isEmpty) this.attachments.clear();
    this.#copiedBytes = 0;
    this.mayMove = true;
    this.lastClass = undefined;
    // Memory that one very large value needed is not kept.
    if (this.memory !== this.#scratch) this.#moveTo(NO_MEMORY);
    this.list = undefined;
    this.isUnlimited = false;
    this.#isOpen = false;
  }

  /** Forgets the objects written so far: the next value gets no references to them. */
  forgetObjects(): void {
    if (this.#seen.count > 0) this.#seen.forget(0);
    this.#seen.current = -1;
    this.#depth = 0;
    this.#isPolluted = undefined;
  }

  /** Returns the scratch memory, which the encoder no longer uses. */
  takeScratch(): SharedArrayBuffer {
    if (this.memory === this.#scratch) this.#scratch = undefined;
    return this.memory.u8.buffer;
  }

  room(at: number, bytes: number): number {
    return at + bytes <= this.limit ? at : this.#makeRoom(at, bytes);
  }

  #makeRoom(at: number, bytes: number): number {
    // The request may exceed the need. The written size is checked at the end.
    this.checkSize(at + Math.max(0, bytes - MAX_SPARE_BYTES));
    const length = Math.max(align8Large(at + bytes + 64), Math.min(2 * at, 2 ** 30));
    let larger: Memory;
    try {
      larger = viewMemory(new SharedArrayBuffer(length));
    } catch (error) {
      throw new PayloadTooLargeError(length, undefined, { cause: error });
    }
    larger.u8.set(this.u8.subarray(0, at));
    if (length <= MAX_KEPT_BYTES) this.#scratch = larger;
    this.#moveTo(larger);
    return at;
  }

  /** Throws PayloadTooLargeError if the values from the first one to `end` are too large. */
  checkSize(end: number): void {
    const bytes = end + this.#copiedBytes;
    const limit = this.isUnlimited
      ? MAX_ENCODED_BYTES
      : Math.min(this.#maxPayloadBytes, MAX_ENCODED_BYTES);
    if (bytes > limit) throw new PayloadTooLargeError(bytes, limit);
  }

  /** Bytes copied for the values so far, including values encoded before that they continue. */
  get copiedBytes(): number {
    return this.#copiedBytes;
  }

  countCopied(bytes: number, at: number): void {
    this.#copiedBytes += bytes;
    this.checkSize(at);
  }

  value(value: unknown, from: number): number {
    if (typeof value === "string") return this.#text(value, from);
    if (typeof value === "number") return this.#number(value, from);
    if (typeof value === "object") {
      return value === null ? this.tag(NULL, from) : this.object(value, from);
    }
    if (typeof value === "boolean") return this.tag(value ? TRUE : FALSE, from);
    return this.#rare(value, from);
  }

  /** Writes a top-level value: an argument, or a result. */
  root(value: unknown, from: number): number {
    return typeof value === "object" && value !== null && !ArrayBuffer.isView(value)
      ? this.texts.write(this, value, from)
      : this.value(value, from);
  }

  #text(value: string, from: number): number {
    const { texts } = this;
    if (!texts.isOpen || value.length > MAX_GATHERED_UNITS) return writeText(this, value, from);
    texts.add(value);
    return this.header(TEXT, value.length, from);
  }

  #number(value: number, from: number): number {
    const at = from + 16 <= this.limit ? from : this.#makeRoom(from, 16);
    const { i32 } = this;
    const integer = value | 0;
    if (integer === value && (integer !== 0 || 1 / value > 0)) {
      i32[at >> 2] = INT;
      i32[(at >> 2) + 1] = integer;
      return at + 8;
    }
    i32[at >> 2] = NUMBER;
    this.f64[(at >> 3) + 1] = value;
    return at + 16;
  }

  #rare(value: unknown, from: number): number {
    switch (typeof value) {
      case "undefined":
        return this.tag(UNDEFINED, from);
      case "bigint":
        return writeBigInt(this, value, from);
      default:
        return writeOther(this, value, null, from);
    }
  }

  object(value: object, from: number): number {
    if (ArrayBuffer.isView(value)) return writeView(this, value, from);
    const objects = this.#seen;
    const seen = objects.visit(value, from);
    if (seen >= 0) return this.ref(seen, from);
    if (this.access.kinds.isRefused(value)) refuseObject(this, value);
    if (this.#depth >= MAX_DEPTH) throw this.refuseDepth();
    const { current } = objects;
    objects.current = objects.count - 1;
    this.#depth++;
    let end: number;
    if (Array.isArray(value)) end = writeArray(this, value, from);
    else {
      const keyList = this.guessKeyList(value);
      if (keyList !== undefined) {
        end = writeByKeyList(this, keyList, value as Record<string, unknown>, from);
      } else end = this.#other(value, from);
    }
    this.#depth--;
    objects.current = current;
    return end;
  }

  #other(value: object, from: number): number {
    refuseMarked(this, value);
    const prototype = getPrototypeOf(value) as object | null;
    return prototype === ObjectPrototype || prototype === null
      ? writePlain(this, value as Record<string, unknown>, prototype, from)
      : writeSpecial(this, value, prototype, from);
  }

  tag(word: number, from: number): number {
    const at = this.room(from, VALUE_HEADER_BYTES);
    this.i32[at >> 2] = word;
    return at + VALUE_HEADER_BYTES;
  }

  header(word: number, aux: number, from: number): number {
    const at = from + 8 <= this.limit ? from : this.#makeRoom(from, VALUE_HEADER_BYTES);
    const { i32 } = this;
    i32[at >> 2] = word;
    i32[(at >> 2) + 1] = aux;
    return at + VALUE_HEADER_BYTES;
  }

  double(word: number, value: number, from: number): number {
    const at = this.room(from, VALUE_HEADER_BYTES + 8);
    this.i32[at >> 2] = word;
    this.f64[(at >> 3) + 1] = value;
    return at + VALUE_HEADER_BYTES + 8;
  }

  undefinedOrGone(object: object, key: PropertyKey, at: number): number {
    if (hasOwn(object, key)) return this.tag(UNDEFINED, at);
    this.deletedProperties++;
    return this.tag(HOLE, at);
  }

  guessKeyList(object: object): WritableKeyList | undefined {
    const isPolluted = this.#isPolluted ??= hasEnumerable(PLAIN);
    return isPolluted ? undefined : this.#keyLists?.guess(object);
  }

  keyListOf(keys: readonly string[]): WritableKeyList | undefined {
    return this.#keyLists?.find(keys);
  }

  seenAt(object: unknown, at: number): number {
    return this.#seen.visit(object, at);
  }

  bufferSeenAt(buffer: object, at: number): number {
    return this.#seen.visit(buffer, at + REF_BUFFER);
  }

  ref(seen: number, from: number): number {
    const kind = seen & 7;
    const offset = seen - kind;
    const end = this.header(REF | (kind << 8), offset >> 3, from);
    this.i32[offset >> 2]! |= REFERENCED;
    return end;
  }

  attach(object: object, from: number, isMoved: boolean): number {
    const end = this.header(ATTACHMENT, this.attachments.count, from);
    this.attachments.add(object, isMoved);
    return end;
  }

  shared(buffer: SharedArrayBuffer, from: number): number {
    const at = this.room(from, VALUE_HEADER_BYTES + 8);
    this.i32[at >> 2] = SHARED;
    this.i32[(at >> 2) + 1] = this.attachments.count;
    this.f64[(at >> 3) + 1] = this.#sharedBuffers.idOf(buffer);
    this.attachments.add(buffer, false);
    return at + VALUE_HEADER_BYTES + 8;
  }

  depart(departure: Departure): void {
    this.attachments.depart(departure);
  }

  willMove(objects: readonly unknown[]): void {
    this.attachments.willMove(objects);
  }

  unwrap(): void {
    this.#seen.dropLast();
  }

  isTransferred(object: unknown): boolean {
    return this.attachments.isMoving(object);
  }

  moved(object: object, from: number): number {
    const end = this.header(ATTACHMENT, this.attachments.count, from);
    this.attachments.move(object);
    return end;
  }

  refuse(part: unknown, reason: string, options?: ErrorOptions): Error {
    const parents = this.#seen.chain();
    if (parents[parents.length - 1] === part) parents.pop();
    if (this.list !== undefined) parents.unshift(this.list);
    return refusal(pathOf(parents, part, this.name), reason, options);
  }

  refuseDepth(): Error {
    return refusal(this.name, `it is nested more than ${MAX_DEPTH} levels deep`);
  }

  mark(): WriterMark {
    const { current, count } = this.#seen;
    const copiedBytes = this.#copiedBytes;
    return {
      depth: this.#depth,
      current,
      seen: count,
      attachments: this.attachments.count,
      copiedBytes,
      texts: this.texts.count,
    };
  }

  rewind(mark: WriterMark): void {
    this.#depth = mark.depth;
    this.#seen.current = mark.current;
    this.#seen.forget(mark.seen);
    this.attachments.rewind(mark);
    this.#copiedBytes = mark.copiedBytes;
    this.texts.forget(mark.texts);
  }

  /** Writes an error by its fields, independent of structured clone. */
  error(error: Error, from: number): number {
    this.seenAt(error, from);
    this.#seen.current = this.#seen.count - 1;
    this.#depth++;
    return writeError(this, error, from);
  }

  /** Writes a value of a declared shape: the argument at `position`, or the result. */
  struct({ codec }: DeclaredValue, position: number, value: unknown, from: number): number {
    const at = this.header(STRUCT | (position << 8), 0, from);
    let end: number;
    try {
      end = codec.write(this.#structs ??= codec.createOutput(this), at, value);
    } catch (error) {
      throw codec.located(error, this.list === undefined ? this.name : `${this.name}[${position}]`);
    }
    this.i32[(from >> 2) + 1] = end - from - VALUE_HEADER_BYTES;
    return end;
  }
}
