import type { CodecAccess } from "../../runtimes/runtime.ts";
import type { Scratch } from "../scratch.ts";
import { BIGINT_64, BIGINT_HEX } from "../tags.ts";
import { writeText } from "./text.ts";

/**
 * The same number, in the engine's small-integer representation if possible. Keeps -0.
 *
 * A number that is read from a Float64Array is a double, with which integer code (division, indices)
 * runs several times slower than with the small integer that the caller passed (trial division: 8 times).
 */
export function normalizeNumber(value: number): number {
  const integer = value | 0;
  return integer === value && (integer !== 0 || 1 / value > 0) ? integer : value;
}

/** Writes a bigint: as 64 bits if it fits, as hexadecimal digits otherwise. Returns its end. */
export function writeBigInt(
  writer: Scratch & { readonly access: CodecAccess },
  value: bigint,
  at: number,
): number {
  if (BigInt.asIntN(64, value) !== value) {
    return writeText(writer, value.toString(16), writer.tag(BIGINT_HEX, at));
  }
  const end = writer.double(BIGINT_64, 0, at);
  writer.memory.i64[(at >> 3) + 1] = value;
  return end;
}
