/**
 * Strings. Short ones by a loop in JavaScript (a native call costs more than it saves below some
 * tens of characters), long ones by the runtime's native encoders, lone surrogates kept exactly.
 */
import { align8 } from "../memory/align.ts";
import type { Memory } from "../memory/views.ts";
import type { TextAccess } from "../runtimes/runtime.ts";
import { ASCII, NO_ROOM, ONE_BYTE, UTF16, UTF8, VALUE_HEADER_BYTES } from "./tags.ts";

/** Longest string written and read by the loop, in UTF-16 units. */
export const SHORT_STRING_UNITS = 32;

/** Units per `String.fromCharCode` call when reading UTF-16: well below any argument limit. */
const UTF16_CHUNK_UNITS = 4096;

/** Bytes that surely hold the string, header included. */
export function textBound(text: string): number {
  return VALUE_HEADER_BYTES +
    align8(text.length <= SHORT_STRING_UNITS ? 2 * text.length : 3 * text.length);
}

/** Writes `text` at `offset`; returns the next offset or NO_ROOM. */
export function encodeText(
  access: TextAccess,
  memory: Memory,
  offset: number,
  limit: number,
  text: string,
): number {
  const units = text.length;
  const start = offset + VALUE_HEADER_BYTES;
  if (units <= SHORT_STRING_UNITS) {
    const end = align8(start + units);
    if (end > limit) return NO_ROOM;
    const u8 = memory.u8;
    let seen = 0;
    for (let unit = 0; unit < units; unit++) {
      const code = text.charCodeAt(unit);
      seen |= code;
      u8[start + unit] = code;
    }
    if (seen > 0xff) return encodeUtf16(memory, offset, limit, text);
    memory.i32[offset >> 2] = ONE_BYTE;
    memory.i32[(offset >> 2) + 1] = units;
    return end;
  }
  if (start + units > limit) return NO_ROOM;
  const { read, written } = access.encodeInto(text, memory.u8, start, limit);
  if (written !== units && !text.isWellFormed()) return encodeUtf16(memory, offset, limit, text);
  if (read !== units) return NO_ROOM;
  const end = align8(start + written);
  if (end > limit) return NO_ROOM;
  memory.i32[offset >> 2] = written === units ? ASCII : UTF8;
  memory.i32[(offset >> 2) + 1] = written;
  return end;
}

function encodeUtf16(memory: Memory, offset: number, limit: number, text: string): number {
  const units = text.length;
  const start = offset + VALUE_HEADER_BYTES;
  const end = align8(start + 2 * units);
  if (end > limit) return NO_ROOM;
  const u8 = memory.u8;
  for (let unit = 0, at = start; unit < units; unit++, at += 2) {
    const code = text.charCodeAt(unit);
    u8[at] = code;
    u8[at + 1] = code >> 8;
  }
  memory.i32[offset >> 2] = UTF16;
  memory.i32[(offset >> 2) + 1] = units;
  return end;
}

/** Reads `units` Latin-1 characters from `start`. */
export function decodeOneByte(memory: Memory, start: number, units: number): string {
  const u8 = memory.u8;
  let text = "";
  for (let unit = 0; unit < units; unit++) text += String.fromCharCode(u8[start + unit]!);
  return text;
}

/** Reads `units` UTF-16 units from `start`, little-endian as written. */
export function decodeUtf16(memory: Memory, start: number, units: number): string {
  const u8 = memory.u8;
  let text = "";
  const chunk: number[] = [];
  for (let unit = 0, at = start; unit < units; unit++, at += 2) {
    chunk.push(u8[at]! | (u8[at + 1]! << 8));
    if (chunk.length === UTF16_CHUNK_UNITS) {
      text += String.fromCharCode(...chunk);
      chunk.length = 0;
    }
  }
  return text + String.fromCharCode(...chunk);
}
