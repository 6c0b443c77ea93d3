/**
 * Arrays: packed if all elements are numbers, as a list of entries if there are holes or properties
 * besides the elements, element by element otherwise.
 *
 * Length and keys are read at the start, as in structured clone (JavaScriptCore's checks each element
 * only when it reaches it). An element that user code removes meanwhile becomes a hole. Every element
 * is read once, since it may be a getter.
 */
import { align8Large } from "../../memory/align.ts";
import type { Reader } from "../reader.ts";
import type { Writer } from "../writer.ts";
import { refuseMarked } from "../support/uncloneable.ts";
import { setOwn } from "../support/own-property.ts";
import {
  ARRAY,
  DOUBLES,
  HOLE,
  INT,
  INTS,
  NUMBER,
  REFERENCED,
  SPARSE,
  TEXT,
  VALUE_HEADER_BYTES,
} from "../tags.ts";

/** For longer arrays with many holes the reader sets the length last, so that holes take no memory. */
const MANY_HOLES = 1 << 12;

/** V8 creates arrays of more than 32 Mi elements as hash tables: filling them is twelve times slower than growing. */
const MAX_READY_LENGTH = 1 << 24;

const { hasOwn, keys: keysOf } = Object;

export function writeArray(writer: Writer, array: readonly unknown[], from: number): number {
  refuseMarked(writer, array);
  const { length } = array;
  const { kinds } = writer.access;
  const indices = kinds.countIndices(array);
  if (indices < 0 || 2 * indices < length) return writeEntries(writer, array, from, indices >= 0);
  if (indices < length) {
    return kinds.clonesLive
      ? writeWithHoles(writer, array, from)
      : writeEntries(writer, array, from, true);
  }
  if (length === 0) return writer.header(ARRAY, 0, from);
  const first = array[0];
  return typeof first === "number"
    ? writeInts(writer, array, length, from, first)
    : writeRest(writer, array, 0, length, first, writer.header(ARRAY, length, from));
}

/** Checks each element's presence just before writing it. */
function writeWithHoles(writer: Writer, array: readonly unknown[], from: number): number {
  const { length } = array;
  let at = writer.header(ARRAY, length, from);
  for (let index = 0; index < length; index++) {
    at = hasOwn(array, index) ? writer.value(array[index], at) : writer.tag(HOLE, at);
  }
  return at;
}

/** Writes the remaining elements, starting with `first`. */
function writeRest(
  writer: Writer,
  array: readonly unknown[],
  from: number,
  length: number,
  first: unknown,
  at: number,
): number {
  let value = first;
  let next = at;
  for (let index = from;;) {
    next = value === undefined
      ? writer.undefinedOrGone(array, index, next)
      : writer.value(value, next);
    if (++index >= length) return next;
    value = array[index];
  }
}

/** Writes small integers, 4 bytes each; switches to doubles or values at the first element of another kind. */
function writeInts(
  writer: Writer,
  array: readonly unknown[],
  length: number,
  from: number,
  first: number,
): number {
  const bytes = VALUE_HEADER_BYTES + align8Large(4 * length);
  const at = writer.room(from, bytes);
  const { i32 } = writer;
  i32[at >> 2] = INTS;
  i32[(at >> 2) + 1] = length;
  const start = (at + VALUE_HEADER_BYTES) >> 2;
  let value: unknown = first;
  for (let index = 0;;) {
    if (typeof value !== "number") return unpack(writer, array, at, index, length, value, 4);
    const integer = value | 0;
    if (integer !== value || (integer === 0 && 1 / value < 0)) {
      return writeDoubles(writer, array, at, index, length, value);
    }
    i32[start + index] = integer;
    if (++index >= length) return at + bytes;
    value = array[index];
  }
}

/** Continues with doubles from index `done` on, where `value` is the first. */
function writeDoubles(
  writer: Writer,
  array: readonly unknown[],
  from: number,
  done: number,
  length: number,
  first: number,
): number {
  const bytes = VALUE_HEADER_BYTES + 8 * length;
  const at = grow(writer, from, VALUE_HEADER_BYTES + 4 * done, bytes);
  const { i32, f64 } = writer;
  i32[at >> 2]! += DOUBLES - INTS;
  const ints = (at + VALUE_HEADER_BYTES) >> 2;
  const start = (at + VALUE_HEADER_BYTES) >> 3;
  // From the end, so that nothing is overwritten before it was moved.
  for (let index = done - 1; index >= 0; index--) f64[start + index] = i32[ints + index]!;
  let value: unknown = first;
  for (let index = done;;) {
    if (typeof value !== "number") return unpack(writer, array, at, index, length, value, 8);
    f64[start + index] = value;
    if (++index >= length) return at + bytes;
    value = array[index];
  }
}

/** Grows the value at `from`, of which `used` bytes are written, to `bytes`; returns its offset. */
function grow(writer: Writer, from: number, used: number, bytes: number): number {
  return writer.room(from + used, bytes - used) - used;
}

/**
 * Turns the numbers written so far, `numberBytes` each, into values and continues with `value`, which is
 * not a number.
 */
function unpack(
  writer: Writer,
  array: readonly unknown[],
  from: number,
  done: number,
  length: number,
  value: unknown,
  numberBytes: 4 | 8,
): number {
  const bytes = VALUE_HEADER_BYTES + 2 * numberBytes * done;
  const at = grow(writer, from, VALUE_HEADER_BYTES + numberBytes * done, bytes);
  const { i32, f64 } = writer;
  const start = (at + VALUE_HEADER_BYTES) / numberBytes;
  i32[at >> 2] = (i32[at >> 2]! & ~0xff) | ARRAY;
  for (let index = done - 1; index >= 0; index--) {
    if (numberBytes === 4) {
      i32[start + 2 * index + 1] = i32[start + index]!;
      i32[start + 2 * index] = INT;
    } else {
      f64[start + 2 * index + 1] = f64[start + index]!;
      i32[2 * (start + 2 * index)] = NUMBER;
    }
  }
  return writeRest(writer, array, done, length, value, at + bytes);
}

/** Writes SPARSE. `hasIndicesOnly`: there are no other keys. */
function writeEntries(
  writer: Writer,
  array: readonly unknown[],
  from: number,
  hasIndicesOnly: boolean,
): number {
  const keys = keysOf(array);
  let at = writer.room(from, VALUE_HEADER_BYTES + 8);
  writer.i32[at >> 2] = SPARSE;
  writer.f64[(at >> 3) + 1] = array.length;
  at += VALUE_HEADER_BYTES + 8;
  let entries = 0;
  for (const key of keys) {
    if (!hasOwn(array, key)) continue;
    const value = (array as unknown as Record<string, unknown>)[key];
    at = writer.value(value, writer.value(hasIndicesOnly ? Number(key) : key, at));
    entries++;
  }
  writer.i32[(from >> 2) + 1] = entries;
  return at;
}

/**
 * Reads ARRAY, INTS, DOUBLES at `at`, whose first word is `word`. Filling a preallocated array takes a third to a
 * seventh of the time of growing one. V8 tracks the element kind per `new Array` in the source, hence one for each
 * kind.
 */
export function readArray(reader: Reader, at: number, word: number, tag: number): unknown[] {
  const length = reader.count(at, tag === INTS ? 4 : 8);
  const isShort = length <= MAX_READY_LENGTH;
  const isReferenced = (word & REFERENCED) !== 0;
  const start = at + VALUE_HEADER_BYTES;
  const { i32, f64, limit } = reader;
  if (tag === INTS) {
    const array: unknown[] = isShort ? new Array<number>(length) : [];
    if (isReferenced) reader.register(at, array);
    const first = start >> 2;
    for (let index = 0; index < length; index++) array[index] = i32[first + index];
    reader.next = start + align8Large(4 * length);
    return array;
  }
  if (tag === DOUBLES) {
    // Engines store such arrays as doubles, so whole numbers among them need not be normalized.
    const array: unknown[] = isShort ? new Array<number>(length) : [];
    if (isReferenced) reader.register(at, array);
    const first = start >> 3;
    for (let index = 0; index < length; index++) array[index] = f64[first + index];
    reader.next = start + 8 * length;
    return array;
  }
  const array = isShort && reader.mayReserve(length) ? new Array<unknown>(length) : [];
  if (isReferenced) reader.register(at, array);
  reader.next = start;
  for (let index = 0; index < length; index++) {
    const next = reader.next;
    const element = next < limit ? i32[next >> 2] : undefined;
    // Reading these inline takes two thirds of the time.
    if (element === TEXT) {
      reader.next = next + VALUE_HEADER_BYTES;
      array[index] = reader.gathered(i32[(next >> 2) + 1]!, next);
    } else if (element === HOLE) reader.next = next + VALUE_HEADER_BYTES;
    else array[index] = reader.value(next);
  }
  if (array.length < length) array.length = length; // holes at the end
  return array;
}

/** Reads SPARSE at `at`, whose first word is `word`. */
export function readEntries(reader: Reader, at: number, word: number): unknown[] {
  reader.check(at, VALUE_HEADER_BYTES + 8);
  const length = reader.f64[(at >> 3) + 1]!;
  if (!Number.isInteger(length) || length < 0 || length >= 2 ** 32) {
    throw reader.corrupt(`length ${length}`, at);
  }
  const entries = reader.count(at, 2 * VALUE_HEADER_BYTES, VALUE_HEADER_BYTES + 8);
  const array: unknown[] = [];
  if ((word & REFERENCED) !== 0) reader.register(at, array);
  if (length - entries > MANY_HOLES || !reader.mayReserve(length)) makeSparse(array);
  array.length = length;
  reader.next = at + VALUE_HEADER_BYTES + 8;
  for (let entry = 0; entry < entries; entry++) {
    const key = reader.value(reader.next);
    const value = reader.value(reader.next);
    if (!isIndexBelow(length, key)) {
      if (typeof key !== "string" || key === "length") throw reader.corrupt("array key", at);
      setOwn(array, key, value);
    } else if (key in array) setOwn(array, String(key), value);
    else array[key] = value;
  }
  return array;
}

function isIndexBelow(length: number, key: unknown): key is number {
  return typeof key === "number" && Number.isInteger(key) && key >= 0 && key < length;
}

/** Makes the engine store elements in a hash table, so that setting the length takes no memory for holes. */
function makeSparse(array: unknown[]): void {
  array[2 ** 32 - 2] = undefined;
  array.length = 0;
}
