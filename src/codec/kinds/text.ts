/**
 * Strings, with one or two bytes per unit. Units are stored unchanged, not as UTF-8, so lone surrogates
 * need no special case and reading is a copy. Short one-byte strings use a loop in JavaScript (below some
 * tens of characters a native call costs more than it saves), longer ones the runtime's fastest verified
 * method.
 */
import { align8 } from "../../memory/align.ts";
import { ASCII, NOT_ONE_BYTE, type TextAccess } from "../../runtimes/runtime.ts";
import { canCompile, evaluate } from "../support/code-generation.ts";
import type { Writer } from "../writer.ts";
import { NO_HIGH, ONE_BYTE, TWO_BYTE, VALUE_HEADER_BYTES } from "../tags.ts";

/** Longest string written by the loop, in UTF-16 units. */
export const SHORT_STRING_UNITS = 24;

/** Longest string read without a native call on any runtime (`TextAccess.loopUnits`). */
const LONGEST_LOOP_UNITS = 24;

/** The part of a writer that is needed to write a string. */
export type TextWriter = Pick<Writer, "room" | "memory" | "i32" | "u8" | "access">;

/** Upper bound of the bytes needed while a string of `units` units is being written. */
export function roomForText(units: number): number {
  return VALUE_HEADER_BYTES + Math.max(SHORT_STRING_UNITS, 2 * units + 8);
}

/** Writes `text` at `from`; returns its end. */
export function writeText(writer: TextWriter, text: string, from: number): number {
  const units = text.length;
  if (units > SHORT_STRING_UNITS) return writeLongText(writer, text, from);
  const at = writer.room(from, VALUE_HEADER_BYTES + SHORT_STRING_UNITS);
  const start = at + VALUE_HEADER_BYTES;
  if (writer.access.text.writeUnits(text, writer.u8, start) > 0xff) {
    return writeTwoByte(writer, text, at);
  }
  const i32 = writer.i32;
  i32[at >> 2] = ONE_BYTE;
  i32[(at >> 2) + 1] = units;
  return align8(start + units);
}

function writeLongText(writer: TextWriter, text: string, from: number): number {
  const units = text.length;
  const at = writer.room(from, VALUE_HEADER_BYTES + align8(units));
  const written = writer.access.text.writeOneByte(text, writer.u8, at + VALUE_HEADER_BYTES);
  if (written === NOT_ONE_BYTE) return writeTwoByte(writer, text, at);
  const i32 = writer.i32;
  i32[at >> 2] = written === ASCII ? ONE_BYTE | NO_HIGH : ONE_BYTE;
  i32[(at >> 2) + 1] = units;
  return align8(at + VALUE_HEADER_BYTES + units);
}

function writeTwoByte(writer: TextWriter, text: string, from: number): number {
  const units = text.length;
  const at = writer.room(from, VALUE_HEADER_BYTES + 2 * units + 8);
  const i32 = writer.i32;
  i32[at >> 2] = TWO_BYTE;
  i32[(at >> 2) + 1] = units;
  const { u8, u16 } = writer.memory;
  writer.access.text.writeTwoByte(text, u8, u16, at + VALUE_HEADER_BYTES);
  return align8(at + VALUE_HEADER_BYTES + 2 * units);
}

type ReadUnits = (u8: Uint8Array<SharedArrayBuffer>, start: number) => string;

/**
 * Readers by length: one `String.fromCharCode` call with all units as arguments takes half the time of concatenating
 * pieces. Each reader is created on first use, since creating all at once takes 0.5 ms.
 */
const readers: (ReadUnits | undefined)[] = new Array(LONGEST_LOOP_UNITS + 1).fill(undefined);

function createReader(units: number): ReadUnits {
  if (!canCompile()) return (u8, start) => readByLoop(u8, start, units);
  const list = Array.from({ length: units }, (_, unit) => `u8[start + ${unit}]`).join(", ");
  const source = `return function readUnits(u8, start) { return fromCharCode(${list}); };`;
  return evaluate<ReadUnits>(source, { fromCharCode: String.fromCharCode });
}

function readByLoop(u8: Uint8Array<SharedArrayBuffer>, start: number, units: number): string {
  let text = "";
  for (let unit = 0; unit < units; unit++) text += String.fromCharCode(u8[start + unit]!);
  return text;
}

/** Reads `units` one-byte units from `start`. */
export function readOneByte(
  access: TextAccess,
  u8: Uint8Array<SharedArrayBuffer>,
  start: number,
  units: number,
): string {
  if (units > access.loopUnits) return access.readOneByte(u8, start, start + units);
  return (readers[units] ??= createReader(units))(u8, start);
}
