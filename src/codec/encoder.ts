/**
 * Writes values into its own memory, in one pass, from offset 0. No value is encoded twice, so that user code (getters)
 * runs once. The sender copies the values into a record or gives the memory itself away.
 *
 * Positions (`at`, `from`) are offsets into the current memory; references are offsets from the first value, so that encoded values can
 * be moved. Each call that writes returns the position of the next value and may replace the memory. The layout is in `tags.ts`.
 *
 * An encoder is recursive and not reentrant: user code that runs during encoding and sends something itself gets another
 * encoder (`Codec.acquire`). It knows primitives, plain objects and dense arrays by itself and asks `valueWriters` for the rest.
 */
import type { CodecAccess } from "../runtimes/runtime.ts";
import type { SentKeyList } from "./key-lists.ts";
import { writeBigInt } from "./kinds/numbers.ts";
import { writeNumbers } from "./kinds/packed.ts";
import { MAX_GATHERED_UNITS, writeSegments, writeText } from "./kinds/text.ts";
import { Attachments, MAX_EMBEDDED_BYTES } from "./support/attachments.ts";
import { NO_FEATURE, NO_FUNCTIONS, refusal } from "./support/refusal.ts";
import { Scratch } from "./scratch.ts";
import { SeenObjects } from "./support/seen-objects.ts";
import type { SharedBuffers } from "./support/shared-buffers.ts";
import {
  ARRAY,
  ATTACHMENT,
  FALSE,
  HOLE,
  INT,
  KEYED,
  NULL,
  NUMBER,
  OBJECT,
  PARTIAL,
  REF,
  REFERENCED,
  SHARED,
  TEXT,
  TEXTS,
  TRUE,
  UNDEFINED,
} from "./tags.ts";

/**
 * Maximum levels of nesting. The stack usually overflows before: at 1,000 to 3,000 levels on V8, as in
 * `structuredClone`, and at about 7,000 on JavaScriptCore.
 */
const MAX_DEPTH = 10_000;
/** Writes a value at `at` and returns its end; -1: the value is of another kind. `prototype`: the prototype of an object. */
export type WriteValue = (
  encoder: Encoder,
  value: unknown,
  prototype: object | null,
  at: number,
) => number;

/** The path of `part` in an error: `args[0].user`. `parents`: the objects from the outermost to the one that holds it. */
export type PathTo = (parents: readonly unknown[], part: unknown, name: string) => string;

/** Who writes what an encoder does not know, and who finds its path (`useValues`). */
export const valueWriters: { readonly name: string; readonly write: WriteValue }[] = [];
/** The name of the codec's own kinds, beside those of features. */
export const ORDINARY = "ordinary";
export const paths: { find: PathTo | undefined } = { find: undefined };

export interface EncoderOptions {
  readonly access: CodecAccess;
  /** Undefined: objects are written with their keys. */
  readonly keyLists: { find(keys: readonly string[]): SentKeyList | undefined } | undefined;
  readonly sharedBuffers: SharedBuffers;
  /** Maximum bytes of one call's arguments, or of one result. */
  readonly maxPayloadBytes: number;
  /** Whether the receiver may read encoded values in place: true for arguments, false for results. */
  readonly allowsBorrow: boolean;
  /** Whether parts may travel in a message beside the record. Otherwise the value has to stand alone. */
  readonly mayAttach?: boolean;
  /** The same, where such a part is refused at its place, for this reason, and what is to move is copied. */
  readonly copiesOnly?: string | undefined;
  /** The folder whose frames stacks of errors do not show at their end. Undefined: they show all. */
  readonly hiddenFolder?: string | undefined;
  /** The features that may write values. Undefined: all of this thread. */
  readonly features?: ReadonlySet<string> | undefined;
}

/** A point to return to: what the encoder had then, or how many. */
export interface WriterMark {
  readonly depth: number;
  readonly current: number;
  readonly seen: number;
  readonly attachments: number;
  readonly copiedBytes: number;
  readonly texts: number;
}

/** Slots kept for the strings of the next value. */
const KEPT_TEXTS = 4096;

const { getPrototypeOf, hasOwn, keys: keysOf, prototype: ObjectPrototype } = Object;
const ArrayPrototype: object = Array.prototype;
export class Encoder extends Scratch {
  readonly options: EncoderOptions;
  readonly access: CodecAccess;
  readonly attachments: Attachments = new Attachments();
  /** Buffers up to this size are written among the other values; larger ones travel in that message. */
  readonly maxEmbeddedBytes: number;
  /** Name of the values in errors, and the list that contains them. */
  name = "";
  list: readonly unknown[] | undefined;
  /** The prototype of the last object that was an instance of an ordinary class. */
  lastClass: object | undefined;
  /** Whether parts may be transferred. False within errors, whose parts may be omitted again. */
  mayMove = true;
  /** Number of objects that contain the value being written, including the value itself. */
  depth = 0;
  structs: object | undefined;
  readonly seen: SeenObjects = new SeenObjects();
  #isOpen = false;
  /** Properties and elements so far that were gone before they were written. */
  #gone = 0;
  /** The short strings of the top-level value, if they are gathered. */
  readonly #texts: string[] = [];
  #textCount = 0;
  #isGathering = false;

  constructor(options: EncoderOptions) {
    super(options.maxPayloadBytes);
    this.options = options;
    this.access = options.access;
    const standsAlone = options.mayAttach === false || options.copiesOnly !== undefined;
    this.maxEmbeddedBytes = standsAlone ? Infinity : MAX_EMBEDDED_BYTES;
  }

  /** Starts anew; returns where to write. */
  override begin(): number {
    if (this.#isOpen) this.end(); // a stack overflow prevented `end`
    this.#isOpen = true;
    return super.begin();
  }

  /** Forgets the encoded values and all references to objects. */
  override end(): void {
    this.forgetObjects();
    this.#isGathering = false; // an exception may have left it set
    if (this.#textCount > 0) this.#forgetTexts(0);
    if (!this.attachments.isEmpty) this.attachments.clear();
    this.mayMove = true;
    this.lastClass = this.list = undefined;
    this.#isOpen = false;
    super.end();
  }

  /** Forgets the objects written so far: the next value gets no references to them. */
  forgetObjects(): void {
    if (this.seen.count > 0) this.seen.forget(0);
    this.seen.current = -1;
    this.depth = 0;
  }

  #forgetTexts(count: number): void {
    if (this.#texts.length > KEPT_TEXTS) this.#texts.length = count;
    else for (let index = count; index < this.#textCount; index++) this.#texts[index] = "";
    this.#textCount = count;
  }

  /** Writes a top-level value: an argument, or a result. Gathers its short strings behind it. */
  root(value: unknown, from: number): number {
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) {
      return this.value(value, from);
    }
    this.#isGathering = true;
    const at = this.object(value, this.header(TEXTS, 0, from));
    this.#isGathering = false;
    if (this.#textCount === 0) return at;
    this.i32[(from >> 2) + 1] = (at - from) >> 3;
    const end = writeSegments(this, this.#texts, this.#textCount, at);
    this.#forgetTexts(0);
    return end;
  }

  /** Strings up to this length are gathered; -1: none are. */
  get longestGathered(): number {
    return this.#isGathering ? MAX_GATHERED_UNITS : -1;
  }

  /** Adds a string whose TEXT is written. */
  gather(text: string): void {
    this.#texts[this.#textCount++] = text;
  }

  /** Writes any value. */
  value(value: unknown, from: number): number {
    if (typeof value === "string") {
      if (!this.#isGathering || value.length > MAX_GATHERED_UNITS) {
        return writeText(this, value, from);
      }
      this.gather(value);
      return this.header(TEXT, value.length, from);
    }
    if (typeof value === "number") {
      const integer = value | 0;
      return integer === value && (integer !== 0 || 1 / value > 0)
        ? this.header(INT, integer, from)
        : this.double(NUMBER, value, from);
    }
    if (typeof value === "object") {
      return value === null ? this.tag(NULL, from) : this.object(value, from);
    }
    if (typeof value === "boolean") return this.tag(value ? TRUE : FALSE, from);
    if (value === undefined) return this.tag(UNDEFINED, from);
    return typeof value === "bigint"
      ? writeBigInt(this, value, from)
      : this.other(value, null, from);
  }

  /**
   * Writes an object, not null. The checks are functions beside: each level of nesting takes the stack four frames, and
   * of instances of classes five.
   */
  object(value: object, from: number): number {
    if (ArrayBuffer.isView(value)) return this.other(value, null, from);
    const seen = this.seen;
    const before = seen.visit(value, from);
    if (before >= 0) return this.ref(before, from);
    this.#check(value);
    const { current } = seen;
    seen.current = seen.count - 1;
    this.depth++;
    let end: number;
    if (Array.isArray(value)) end = this.#array(value, from);
    else {
      const prototype = getPrototypeOf(value) as object | null;
      const object = value as Record<string, unknown>;
      const keys = this.#keysOf(object, prototype);
      if (keys === undefined) end = this.other(object, prototype, from);
      else if (prototype !== this.lastClass) end = this.properties(object, keys, from);
      else end = this.instance(object, prototype!, keys, from);
    }
    this.depth--;
    seen.current = current;
    return end;
  }

  /** Throws if an object must not be sent. */
  #check(object: object): void {
    const { kinds } = this.access;
    if (kinds.isRefused(object) && !this.attachments.isMoving(object)) {
      const isProxy = kinds.isProxy(object);
      throw this.refuse(
        object,
        isProxy ? "proxies cannot be cloned" : "it is marked as uncloneable",
      );
    }
    if (this.depth < MAX_DEPTH) return;
    throw refusal(this.name, `it is nested more than ${MAX_DEPTH} levels deep`);
  }

  /** The keys of a plain object, or of one that is written as such. Undefined: it is neither. */
  #keysOf(object: Record<string, unknown>, prototype: object | null): string[] | undefined {
    if (prototype !== ObjectPrototype && prototype !== null) {
      // Instances of one class often follow one another. An object with the same prototype and own enumerable
      // properties is treated as another instance: a Map with the prototype of a class arrives as a plain object.
      if (prototype !== this.lastClass) return undefined;
      const keys = keysOf(object);
      return keys.length > 0 ? keys : undefined;
    }
    const keys = keysOf(object);
    const { kinds } = this.access;
    if (prototype === null && kinds.isModuleNamespace(object)) {
      throw this.refuse(object, "it is the namespace of a module");
    }
    if (keys.length === 0) {
      if (!kinds.isOrdinary(object)) return undefined;
      this.refuseIterable(object);
    } else if (keys[0] === "0" && kinds.isArguments(object)) {
      throw this.refuse(object, "it is the arguments object of a function");
    }
    return keys;
  }

  /** Writes a value of another kind. Throws DataCloneError if nobody knows its kind. */
  other(value: unknown, prototype: object | null, at: number): number {
    const { features } = this.options;
    for (let index = 0; index < valueWriters.length; index++) {
      const { name, write } = valueWriters[index]!;
      if (features !== undefined && name !== ORDINARY && !features.has(name)) continue;
      const end = write(this, value, prototype, at);
      if (end >= 0) return end;
    }
    throw this.refuse(value, typeof value === "function" ? NO_FUNCTIONS : NO_FEATURE);
  }

  /** An async iterable that is an argument, or the result, is sent as a stream instead of being cloned. */
  refuseIterable(object: object): void {
    if (this.depth === 1 && Symbol.asyncIterator in object) {
      throw this.refuse(object, "it is an async iterable");
    }
  }

  /** Writes an instance of a class, as KEYED if a property deleted by a getter would be read from the prototype. */
  instance(
    object: Record<string, unknown>,
    prototype: object,
    keys: readonly string[],
    at: number,
  ): number {
    for (const key of keys) if (key in prototype) return this.keyed(object, keys, at);
    return this.properties(object, keys, at);
  }

  /** Writes the properties `keys` of an object as those of a plain one. */
  properties(object: Record<string, unknown>, keys: readonly string[], from: number): number {
    const keyList = keys.length === 0 ? undefined : this.options.keyLists?.find(keys);
    if (keyList === undefined) return this.keyed(object, keys, from);
    const gone = this.#gone;
    const end = keyList.write(this, object, this.header(OBJECT, keyList.id, from));
    if (this.#gone !== gone) this.i32[from >> 2]! |= PARTIAL;
    return end;
  }

  /** The same without a key list. */
  keyed(object: Record<string, unknown>, keys: readonly string[], from: number): number {
    let at = this.header(KEYED, 0, from);
    let properties = 0;
    for (const key of keys) {
      if (!hasOwn(object, key)) continue; // deleted by a getter
      const value = object[key];
      at = this.value(value, this.value(key, at));
      properties++;
    }
    this.i32[(from >> 2) + 1] = properties;
    return at;
  }

  /** Writes a property that reads as undefined: its value, or HOLE if there is none, as user code has deleted it. */
  undefinedOrGone(object: object, key: PropertyKey, at: number): number {
    if (hasOwn(object, key)) return this.tag(UNDEFINED, at);
    this.#gone++;
    return this.tag(HOLE, at);
  }

  /**
   * Length and keys are read at the start, as in structured clone (JavaScriptCore's checks each element only when it reaches
   * it). An element that user code removes meanwhile becomes a hole. Each is read once, since it may be a getter.
   */
  #array(array: readonly unknown[], from: number): number {
    const { length } = array;
    const { kinds } = this.access;
    const indices = kinds.countIndices(array);
    // With holes, or other properties.
    if (2 * indices < length || (indices < length && !kinds.clonesLive)) {
      return this.other(array, ArrayPrototype, from);
    }
    if (length === 0) return this.header(ARRAY, 0, from);
    if (indices < length) return this.#withHoles(array, length, from);
    const first = array[0];
    return typeof first === "number"
      ? writeNumbers(this, array, length, from, first)
      : this.elements(array, length, 0, first, this.header(ARRAY, length, from));
  }

  /** Looks for each element just before it is written: prototypes may have elements at the places of holes. */
  #withHoles(array: readonly unknown[], length: number, from: number): number {
    let at = this.header(ARRAY, length, from);
    for (let index = 0; index < length; index++) {
      at = hasOwn(array, index) ? this.value(array[index], at) : this.tag(HOLE, at);
    }
    return at;
  }

  /** Writes the elements from the index `from` on; `first` is the first of them. */
  elements(
    array: readonly unknown[],
    length: number,
    from: number,
    first: unknown,
    at: number,
  ): number {
    let value = first;
    let next = at;
    for (let index = from;;) {
      next = value === undefined
        ? this.undefinedOrGone(array, index, next)
        : this.value(value, next);
      if (++index >= length) return next;
      value = array[index];
    }
  }

  /** Writes a reference to the value at `seen`. */
  ref(seen: number, from: number): number {
    const kind = seen & 7;
    const offset = seen - kind;
    const end = this.header(REF | (kind << 8), offset >> 3, from);
    this.i32[offset >> 2]! |= REFERENCED;
    return end;
  }

  /** Sends the object itself in the payload message. `isMoved`: the object is transferred. */
  attach(object: object, from: number, isMoved: boolean): number {
    this.#checkPart(object);
    const end = this.header(ATTACHMENT, this.attachments.count, from);
    this.attachments.add(object, isMoved);
    return end;
  }

  /** Writes a SharedArrayBuffer, which keeps its identity across calls. */
  shared(buffer: SharedArrayBuffer, from: number): number {
    this.#checkPart(buffer);
    const end = this.double(SHARED, this.options.sharedBuffers.idOf(buffer), from);
    this.i32[(from >> 2) + 1] = this.attachments.count;
    this.attachments.add(buffer, false);
    return end;
  }

  #checkPart(part: object): void {
    const { copiesOnly } = this.options;
    if (copiesOnly !== undefined) throw this.refuse(part, copiesOnly);
  }

  /** Marks objects to be transferred instead of copied, at any position in the following values. Where values stand alone they are copied. */
  willMove(objects: readonly unknown[]): void {
    if (this.options.copiesOnly === undefined) this.attachments.willMove(objects);
  }

  /** The error to throw for a part that cannot be cloned. */
  refuse(part: unknown, reason: string, options?: ErrorOptions): Error {
    const parents = this.seen.chain();
    if (parents[parents.length - 1] === part) parents.pop();
    if (this.list !== undefined) parents.unshift(this.list);
    return refusal(paths.find?.(parents, part, this.name) ?? this.name, reason, options);
  }

  mark(): WriterMark {
    return {
      depth: this.depth,
      current: this.seen.current,
      seen: this.seen.count,
      attachments: this.attachments.count,
      copiedBytes: this.copiedBytes,
      texts: this.#textCount,
    };
  }

  /** Forgets the objects visited since `mark`. The caller continues at its position of that time. */
  rewind(mark: WriterMark): void {
    this.depth = mark.depth;
    this.seen.current = mark.current;
    this.seen.forget(mark.seen);
    this.attachments.rewind(mark.attachments);
    this.copiedBytes = mark.copiedBytes;
    this.#forgetTexts(mark.texts);
  }
}
