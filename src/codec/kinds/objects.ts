/**
 * Objects other than arrays and bytes: plain ones, Date, Map, Set and errors. The others are written by features.
 *
 * Kinds are determined by internal slots, never by `instanceof`.
 */
import { Date, DOMException, Map, Set } from "../../builtins.ts";
import { writeOther } from "../feature.ts";
import type { Reader } from "../reader.ts";
import type { WritableKeyList, Writer } from "../writer.ts";
import { writeBuffer } from "./bytes.ts";
import { inherits } from "../support/prototypes.ts";
import { writeError } from "./errors.ts";
import { normalizeNumber } from "./numbers.ts";
import { setOwn } from "../support/own-property.ts";
import {
  DATE,
  HOLE,
  INT,
  KEYED,
  MAP,
  NUMBER,
  OBJECT,
  PARTIAL,
  REFERENCED,
  SET,
  TEXT,
  VALUE_HEADER_BYTES,
} from "../tags.ts";

/** Objects with more own keys are treated as dictionaries, not as records. */
const TABLE_KEYS = 32;

const { hasOwn, keys: keysOf, setPrototypeOf } = Object;
const ObjectPrototype = Object.prototype;
const { forEach: mapForEach, entries: mapEntries } = Map.prototype;
const { forEach: setForEach, entries: setEntries } = Set.prototype;
const DatePrototype = Date.prototype;
const ArrayBufferPrototype = ArrayBuffer.prototype;
const timeOf: (this: Date) => number = DatePrototype.getTime;
/** Writes an object whose prototype is `Object.prototype` or null. */
export function writePlain(
  writer: Writer,
  object: Record<string, unknown>,
  prototype: object | null,
  from: number,
): number {
  const keys = keysOf(object);
  if (prototype === null && writer.access.kinds.isModuleNamespace(object)) {
    throw writer.refuse(object, "it is the namespace of a module");
  }
  if (keys.length === 0) {
    if (!writer.access.kinds.isOrdinary(object)) return writeOther(writer, object, prototype, from);
    refuseIterable(writer, object);
    return writer.header(KEYED, 0, from);
  }
  if (keys[0] === "0" && writer.access.kinds.isArguments(object)) {
    throw writer.refuse(object, "it is the arguments object of a function");
  }
  return writeProperties(writer, object, keys, from);
}

/** Writes the properties `keys` of an object as those of a plain one. */
export function writeProperties(
  writer: Writer,
  object: Record<string, unknown>,
  keys: readonly string[],
  from: number,
): number {
  const keyList = writer.keyListOf(keys);
  return keyList === undefined
    ? writeKeyed(writer, object, keys, from)
    : writeByKeyList(writer, keyList, object, from);
}

/** Writes an object that has this key list. */
export function writeByKeyList(
  writer: Writer,
  keyList: WritableKeyList,
  object: Record<string, unknown>,
  from: number,
): number {
  const { deletedProperties } = writer;
  const at = writer.header(OBJECT, keyList.id, from);
  const end = keyList.write(writer, object, at);
  if (writer.deletedProperties !== deletedProperties) writer.i32[from >> 2]! |= PARTIAL;
  return end;
}

export function writeKeyed(
  writer: Writer,
  object: Record<string, unknown>,
  keys: readonly string[],
  from: number,
): number {
  let at = writer.header(KEYED, 0, from);
  let properties = 0;
  for (const key of keys) {
    if (!hasOwn(object, key)) continue; // deleted by a getter
    const value = object[key];
    at = writer.value(value, writer.value(key, at));
    properties++;
  }
  writer.i32[(from >> 2) + 1] = properties;
  return at;
}

/** Writes an object with a prototype of its own. */
export function writeSpecial(
  writer: Writer,
  object: object,
  prototype: object,
  at: number,
): number {
  // Instances of one class often follow one another. An object with the same prototype and own enumerable
  // properties is treated as another instance: a Map with the prototype of a class arrives as a plain object.
  if (prototype === writer.lastClass) {
    const keys = keysOf(object);
    if (keys.length > 0) {
      return writeInstance(writer, object as Record<string, unknown>, prototype, keys, at);
    }
  }
  const { kinds } = writer.access;
  // The kind that the prototype suggests is checked first, since each check is a native call.
  if (prototype === DatePrototype && kinds.isDate(object)) return writeDate(writer, object, at);
  if (prototype === ArrayBufferPrototype && kinds.isArrayBuffer(object)) {
    return writeBuffer(writer, object, at);
  }
  if (kinds.isMap(object)) return writeCollection(writer, MAP, object, at);
  if (kinds.isSet(object)) return writeCollection(writer, SET, object, at);
  if (kinds.isDate(object)) return writeDate(writer, object, at);
  if (kinds.isNativeError(object) || inherits(kinds, prototype, isDOMException)) {
    return writeError(writer, object as Error, at);
  }
  if (kinds.isArrayBuffer(object)) return writeBuffer(writer, object, at);
  if (kinds.isSharedArrayBuffer(object)) return writer.shared(object, at);
  return writeOther(writer, object, prototype, at);
}

/** An async iterable that is an argument, or the result, is sent as a stream instead of being cloned. */
export function refuseIterable(writer: Writer, object: object): void {
  if (writer.depth === 1 && Symbol.asyncIterator in object) {
    throw writer.refuse(object, "it is an async iterable");
  }
}

function writeDate(writer: Writer, date: Date, at: number): number {
  return writer.double(DATE, timeOf.call(date), at);
}

/** Writes an instance of a class, as KEYED if a property deleted by a getter would be read from the prototype. */
export function writeInstance(
  writer: Writer,
  object: Record<string, unknown>,
  prototype: object,
  keys: readonly string[],
  at: number,
): number {
  for (const key of keys) if (key in prototype) return writeKeyed(writer, object, keys, at);
  return writeProperties(writer, object, keys, at);
}

const isDOMException = (parent: object): boolean => parent === DOMException.prototype;

type Collection = Map<unknown, unknown> | Set<unknown>;

/**
 * Writes a Map or a Set. Leading primitives are written directly. Writing an object may run user code that
 * changes the collection, so from the first object on the entries are copied before they are written, or
 * read one at a time if the runtime's structured clone does so.
 */
function writeCollection(
  writer: Writer,
  kind: typeof MAP | typeof SET,
  collection: Collection,
  from: number,
): number {
  const isMap = kind === MAP;
  const write = writer.access.kinds.clonesLive ? writeLive : beginCollection;
  const begun = write(writer, collection, isMap, writer.header(kind, 0, from));
  writer.i32[(from >> 2) + 1] = begun.count;
  let { at } = begun;
  // Recurses from here, so that each level of nested Maps takes as little stack as possible.
  for (const part of begun.rest) at = writer.value(part, at);
  return at;
}

/** A MAP or SET whose first entries are written. */
interface Begun {
  /** Offset of the remaining entries. */
  readonly at: number;
  /** Number of all entries. */
  readonly count: number;
  readonly rest: readonly unknown[];
}

const NOTHING: readonly unknown[] = [];

/** Writes the entries up to the first object. */
function beginCollection(
  writer: Writer,
  collection: Collection,
  isMap: boolean,
  from: number,
): Begun {
  let at = from;
  let count = 0;
  let rest: unknown[] | undefined;
  const visit = (value: unknown, key: unknown): void => {
    count++;
    if (rest === undefined && isPrimitive(key) && isPrimitive(value)) {
      at = writer.value(value, isMap ? writer.value(key, at) : at);
      return;
    }
    rest ??= [];
    if (isMap) rest.push(key);
    rest.push(value);
  };
  if (isMap) mapForEach.call(collection as Map<unknown, unknown>, visit);
  else setForEach.call(collection as Set<unknown>, visit);
  return { at, count, rest: rest ?? NOTHING };
}

function isPrimitive(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

/** Writes all entries. The entries of a Set are pairs of each element with itself. */
function writeLive(writer: Writer, collection: Collection, isMap: boolean, from: number): Begun {
  const entries = isMap
    ? mapEntries.call(collection as Map<unknown, unknown>)
    : setEntries.call(collection as Set<unknown>);
  let at = from;
  let count = 0;
  for (let next = entries.next(); next.done !== true; next = entries.next()) {
    const [key, value] = next.value;
    at = writer.value(value, isMap ? writer.value(key, at) : at);
    count++;
  }
  return { at, count, rest: NOTHING };
}

/** Reads OBJECT at `at`, whose first word is `word`. */
export function readObject(reader: Reader, at: number, word: number): object {
  const id = reader.i32[(at >> 2) + 1]!;
  const keyList = reader.keyList(id);
  if (keyList === undefined) throw reader.corrupt(`key list ${id}`, at);
  const start = at + VALUE_HEADER_BYTES;
  if ((word & (REFERENCED | PARTIAL)) === 0) return keyList.read(reader, start);
  // It may contain itself, so it is created before its properties are read.
  const object: Record<string, unknown> = {};
  if ((word & REFERENCED) !== 0) reader.register(at, object);
  reader.next = start;
  for (const key of keyList.keys) {
    const next = reader.next;
    if (next < reader.limit && reader.i32[next >> 2] === HOLE) {
      reader.next = next + VALUE_HEADER_BYTES;
    } else setOwn(object, key, reader.value(next));
  }
  return object;
}

/**
 * Reads KEYED at `at`. With many properties, starts from an object without a prototype: V8 creates it as a hash table,
 * which takes a fifth of the time.
 */
export function readKeyed(reader: Reader, at: number, word: number): object {
  const properties = reader.count(at, 2 * VALUE_HEADER_BYTES);
  const isTable = properties > TABLE_KEYS;
  const object = (isTable ? { __proto__: null } : {}) as Record<string, unknown>;
  if ((word & REFERENCED) !== 0) reader.register(at, object);
  reader.next = at + VALUE_HEADER_BYTES;
  for (let property = 0; property < properties; property++) {
    const keyAt = reader.next;
    const key = readPart(reader, keyAt);
    if (typeof key !== "string") throw reader.corrupt("key", keyAt);
    const value = readPart(reader, reader.next);
    if (isTable) object[key] = value;
    else setOwn(object, key, value);
  }
  if (isTable) setPrototypeOf(object, ObjectPrototype);
  return object;
}

/** Reads MAP or SET at `at`. */
export function readCollection(reader: Reader, at: number, word: number): Collection {
  const isMap = (word & 0xff) === MAP;
  const entries = reader.count(at, isMap ? 2 * VALUE_HEADER_BYTES : VALUE_HEADER_BYTES);
  const collection = isMap ? new Map<unknown, unknown>() : new Set<unknown>();
  if ((word & REFERENCED) !== 0) reader.register(at, collection);
  reader.next = at + VALUE_HEADER_BYTES;
  for (let entry = 0; entry < entries; entry++) {
    const first = readPart(reader, reader.next);
    if (isMap) (collection as Map<unknown, unknown>).set(first, readPart(reader, reader.next));
    else (collection as Set<unknown>).add(first);
  }
  return collection;
}

/** No first word: the value is too near the end of the input, or of a kind that the decoder reads. */
const REST = -1;

/** Reads a part of a Map, a Set or a KEYED at `at`; texts and numbers inline, which saves a tenth of the time. */
function readPart(reader: Reader, at: number): unknown {
  const { i32 } = reader;
  const word = at + 16 <= reader.limit ? i32[at >> 2]! : REST;
  if (word === TEXT) {
    reader.next = at + VALUE_HEADER_BYTES;
    return reader.gathered(i32[(at >> 2) + 1]!, at);
  }
  if (word === INT) {
    reader.next = at + VALUE_HEADER_BYTES;
    return i32[(at >> 2) + 1];
  }
  if (word === NUMBER) {
    reader.next = at + 16;
    return normalizeNumber(reader.f64[(at >> 3) + 1]!);
  }
  return reader.value(at);
}
