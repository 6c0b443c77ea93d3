/** Arrays of numbers: integers in 4 bytes each, others in 8. They become values, 8 or 16 bytes each, with the first element that is no number. */
import { align8Large } from "../../memory/align.ts";
import type { Scratch } from "../scratch.ts";
import { ARRAY, DOUBLES, INT, INTS, NUMBER, VALUE_HEADER_BYTES } from "../tags.ts";

/** Writes the elements from the index `from` on; `first` is the first of them. */
interface ElementWriter extends Scratch {
  elements(
    array: readonly unknown[],
    length: number,
    from: number,
    first: unknown,
    at: number,
  ): number;
}

/** Writes an array that begins with the number `first`. Its elements are read once each. */
export function writeNumbers(
  writer: ElementWriter,
  array: readonly unknown[],
  length: number,
  at: number,
  first: number,
): number {
  const bytes = VALUE_HEADER_BYTES + align8Large(4 * length);
  writer.room(at, bytes);
  const { i32 } = writer;
  i32[at >> 2] = INTS;
  i32[(at >> 2) + 1] = length;
  const start = (at + VALUE_HEADER_BYTES) >> 2;
  let value: unknown = first;
  for (let index = 0;;) {
    if (typeof value !== "number") return unpack(writer, array, length, at, index, value, 4);
    const integer = value | 0;
    if (integer !== value || (integer === 0 && 1 / value < 0)) {
      return writeDoubles(writer, array, length, at, index, value);
    }
    i32[start + index] = integer;
    if (++index >= length) return at + bytes;
    value = array[index];
  }
}

/** Continues with doubles from index `done` on, where `value` is the first. */
function writeDoubles(
  writer: ElementWriter,
  array: readonly unknown[],
  length: number,
  at: number,
  done: number,
  first: number,
): number {
  const bytes = VALUE_HEADER_BYTES + 8 * length;
  const written = VALUE_HEADER_BYTES + 4 * done;
  writer.room(at + written, bytes - written);
  const { i32, f64 } = writer;
  i32[at >> 2]! += DOUBLES - INTS;
  const ints = (at + VALUE_HEADER_BYTES) >> 2;
  const start = (at + VALUE_HEADER_BYTES) >> 3;
  // From the end, so that nothing is overwritten before it was moved.
  for (let index = done - 1; index >= 0; index--) f64[start + index] = i32[ints + index]!;
  let value: unknown = first;
  for (let index = done;;) {
    if (typeof value !== "number") return unpack(writer, array, length, at, index, value, 8);
    f64[start + index] = value;
    if (++index >= length) return at + bytes;
    value = array[index];
  }
}

/** Turns the numbers written so far, `bytesEach` each, into values and continues with `value`, which is not a number. */
function unpack(
  writer: ElementWriter,
  array: readonly unknown[],
  length: number,
  at: number,
  done: number,
  value: unknown,
  bytesEach: 4 | 8,
): number {
  const end = at + VALUE_HEADER_BYTES + bytesEach * done;
  writer.room(end, bytesEach * done);
  const { i32, f64 } = writer;
  const start = (at + VALUE_HEADER_BYTES) / bytesEach;
  i32[at >> 2] = (i32[at >> 2]! & ~0xff) | ARRAY;
  for (let index = done - 1; index >= 0; index--) {
    if (bytesEach === 4) {
      i32[start + 2 * index + 1] = i32[start + index]!;
      i32[start + 2 * index] = INT;
    } else {
      f64[start + 2 * index + 1] = f64[start + index]!;
      i32[2 * (start + 2 * index)] = NUMBER;
    }
  }
  return writer.elements(array, length, done, value, end + bytesEach * done);
}
