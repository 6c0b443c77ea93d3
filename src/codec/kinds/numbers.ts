/**
 * Restores the engine's small-integer representation of numbers. An element read from a Float64Array is a
 * double even if it is a whole number, and stays one: code that computes with it (`%`, `*`, array indices)
 * runs several times slower than with the small integer that the caller passed (trial division: 8 times).
 */
import { align8Large } from "../../memory/align.ts";
import { BIGINT_64, BIGINT_HEX, NEGATIVE, VALUE_HEADER_BYTES } from "../tags.ts";
import type { Reader } from "../reader.ts";
import type { Writer } from "../writer.ts";

const hexPattern = /^[0-9a-f]+$/;

/** The same number, in the engine's small-integer representation if possible. Keeps -0. */
export function normalizeNumber(value: number): number {
  const integer = value | 0;
  return integer === value && (integer !== 0 || 1 / value > 0) ? integer : value;
}

/** Writes a bigint: as 64 bits if it fits, as hexadecimal digits otherwise. Returns its end. */
export function writeBigInt(writer: Writer, value: bigint, from: number): number {
  if (BigInt.asIntN(64, value) === value) {
    const at = writer.room(from, VALUE_HEADER_BYTES + 8);
    writer.i32[at >> 2] = BIGINT_64;
    writer.memory.i64[(at >> 3) + 1] = value;
    return at + VALUE_HEADER_BYTES + 8;
  }
  const digits = (value < 0n ? -value : value).toString(16);
  const bytes = VALUE_HEADER_BYTES + align8Large(digits.length);
  const at = writer.room(from, bytes);
  writer.i32[at >> 2] = BIGINT_HEX | (value < 0n ? NEGATIVE : 0);
  writer.i32[(at >> 2) + 1] = digits.length;
  writer.access.text.writeOneByte(digits, writer.u8, at + VALUE_HEADER_BYTES);
  return at + bytes;
}

/** Reads BIGINT_HEX at `at`, whose first word is `word`. */
export function readBigInt(reader: Reader, at: number, word: number): bigint {
  const start = at + VALUE_HEADER_BYTES;
  const end = start + reader.count(at, 1);
  reader.next = align8Large(end);
  const digits = reader.access.text.readOneByte(reader.u8, start, end);
  if (!hexPattern.test(digits)) throw reader.corrupt("digits", at);
  const value = BigInt(`0x${digits}`);
  return (word & NEGATIVE) !== 0 ? -value : value;
}
