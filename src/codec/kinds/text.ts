/**
 * Strings, with one or two bytes per unit. Units are stored unchanged, not as UTF-8, so lone surrogates need no special case
 * and reading is a copy. Short one-byte strings use a loop in JavaScript (below some tens of characters a native call costs
 * more than it saves), longer ones the runtime's fastest verified method.
 *
 * The short strings of an object are gathered behind it: written one after the other, read by one native call and then sliced.
 * Creating a separate string costs an engine 40 to 80 ns, slicing one 10 to 15.
 *
 *    +--------+------------------------+---------------------+---------------------+- -
 *    | TEXTS  | the object, with TEXT   | units | 1 or 2: its | data, one or two    | more
 *    | header | for each short string   |       | bytes each  | bytes a unit, to 8  | segments
 *    +--------+------------------------+---------------------+---------------------+- -
 *
 * Strings are taken from the segments in the order of their TEXTs, and no string spans two segments.
 * A slice keeps its segment in memory, hence their limited size.
 */
import { align8 } from "../../memory/align.ts";
import type { Memory } from "../../memory/views.ts";
import { ASCII, type CodecAccess, NOT_ONE_BYTE, type TextAccess } from "../../runtimes/runtime.ts";
import { canCompile, evaluate } from "../support/code-generation.ts";
import { NO_HIGH, ONE_BYTE, TWO_BYTE, VALUE_HEADER_BYTES } from "../tags.ts";

/** Longest string written by the loop, in UTF-16 units. */
export const SHORT_STRING_UNITS = 24;
/** Longest gathered string, in UTF-16 units: up to this length a loop writes as fast as a native call. */
export const MAX_GATHERED_UNITS = 64;
/** Minimum units in a segment before another segment is started. */
const SEGMENT_UNITS = 2048;

/** What writes a string. `room` may replace the memory. */
export interface TextWriter {
  readonly access: CodecAccess;
  readonly memory: Memory;
  room(at: number, bytes: number): number;
}

/** Upper bound of the bytes needed while a string of `units` units is being written. */
export function roomForText(units: number): number {
  return VALUE_HEADER_BYTES + Math.max(SHORT_STRING_UNITS, 2 * units + 8);
}

/** Writes `text` at `at`; returns its end. */
export function writeText(writer: TextWriter, text: string, at: number): number {
  const units = text.length;
  if (units > SHORT_STRING_UNITS) return writeLong(writer, text, at);
  writer.room(at, VALUE_HEADER_BYTES + SHORT_STRING_UNITS);
  const { i32, u8 } = writer.memory;
  const start = at + VALUE_HEADER_BYTES;
  if (writer.access.text.writeUnits(text, u8, start) > 0xff) return writeTwoByte(writer, text, at);
  i32[at >> 2] = ONE_BYTE;
  i32[(at >> 2) + 1] = units;
  return align8(start + units);
}

function writeLong(writer: TextWriter, text: string, at: number): number {
  const units = text.length;
  const start = at + VALUE_HEADER_BYTES;
  writer.room(at, VALUE_HEADER_BYTES + align8(units));
  const { i32, u8 } = writer.memory;
  const written = writer.access.text.writeOneByte(text, u8, start);
  if (written === NOT_ONE_BYTE) return writeTwoByte(writer, text, at);
  i32[at >> 2] = written === ASCII ? ONE_BYTE | NO_HIGH : ONE_BYTE;
  i32[(at >> 2) + 1] = units;
  return align8(start + units);
}

function writeTwoByte(writer: TextWriter, text: string, at: number): number {
  const start = at + VALUE_HEADER_BYTES;
  writer.room(at, VALUE_HEADER_BYTES + 2 * text.length + 8);
  const { i32, u8, u16 } = writer.memory;
  i32[at >> 2] = TWO_BYTE;
  i32[(at >> 2) + 1] = text.length;
  writer.access.text.writeTwoByte(text, u8, u16, start);
  return align8(start + 2 * text.length);
}

/** Writes the first `count` of `texts` as segments; returns their end. */
export function writeSegments(
  writer: TextWriter,
  texts: readonly string[],
  count: number,
  from: number,
): number {
  let at = from;
  for (let index = 0; index < count;) {
    const first = index;
    let units = 0;
    while (index < count && units < SEGMENT_UNITS) units += texts[index++]!.length;
    if (units === 0) break; // empty strings need no segment
    writer.room(at, VALUE_HEADER_BYTES + align8(units));
    const start = at + VALUE_HEADER_BYTES;
    const isOneByte = joinOneByte(writer.access.text, texts, first, index, writer.memory.u8, start);
    if (!isOneByte) {
      writer.room(at, VALUE_HEADER_BYTES + align8(2 * units));
      const { u16 } = writer.memory;
      let slot = start >> 1;
      for (let text = first; text < index; text++) {
        const { length } = texts[text]!;
        for (let unit = 0; unit < length; unit++) u16[slot++] = texts[text]!.charCodeAt(unit);
      }
    }
    const bytesEach = isOneByte ? 1 : 2;
    const { i32 } = writer.memory;
    i32[at >> 2] = units;
    i32[(at >> 2) + 1] = bytesEach;
    at = align8(start + bytesEach * units);
  }
  return at;
}

/** Writes the strings one by one, or many by one native call. False: some unit takes more than a byte. */
function joinOneByte(
  access: TextAccess,
  texts: readonly string[],
  first: number,
  end: number,
  u8: Uint8Array<SharedArrayBuffer>,
  start: number,
): boolean {
  if (end - first >= access.joinedTexts) {
    let joined = "";
    for (let index = first; index < end; index++) joined += texts[index]!;
    return access.writeOneByte(joined, u8, start) !== NOT_ONE_BYTE;
  }
  let next = start;
  let seen = 0;
  for (let index = first; index < end; index++) {
    const text = texts[index]!;
    seen |= access.writeUnits(text, u8, next);
    next += text.length;
  }
  return seen <= 0xff;
}

type ReadUnits = (u8: Uint8Array<SharedArrayBuffer>, start: number) => string;

/**
 * Readers by length: one `String.fromCharCode` call with all units as arguments takes half the time of a native call.
 * Each is compiled after some uses, since that takes as long as it saves in some hundred.
 */
const readers: (ReadUnits | undefined)[] = new Array(SHORT_STRING_UNITS + 1).fill(undefined);

const COMPILED_AFTER = 64;
const uses: number[] = new Array(SHORT_STRING_UNITS + 1).fill(0);

function createReader(units: number): ReadUnits {
  const list = Array.from({ length: units }, (_, unit) => `u8[start + ${unit}]`);
  return evaluate(`return (u8, start) => fromCharCode(${list.join()});`, {
    fromCharCode: String.fromCharCode,
  });
}

/** Reads `units` one-byte units from `start`. */
export function readOneByte(
  access: TextAccess,
  u8: Uint8Array<SharedArrayBuffer>,
  start: number,
  units: number,
): string {
  const read = units > access.loopUnits ? undefined : readers[units];
  if (read !== undefined) return read(u8, start);
  if (units <= access.loopUnits && ++uses[units]! === COMPILED_AFTER && canCompile()) {
    readers[units] = createReader(units);
  }
  return access.readOneByte(u8, start, start + units);
}
