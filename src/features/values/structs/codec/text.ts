/**
 * Text and bytes of a struct, bounded (in the fixed part) and unbounded (in the tail).
 *
 * Text is UTF-8, so a lone surrogate has no encoding and is refused. Short ASCII uses a loop in JavaScript,
 * since a native call would cost more than it saves; other text uses the runtime's encoder.
 */
import type { TextAccess } from "../../../../runtimes/runtime.ts";
import { bytesOf } from "../../../../codec/support/intrinsics.ts";
import { readOneByte, SHORT_STRING_UNITS } from "../../../../codec/kinds/text.ts";
import { corrupt, type Input } from "../schema/input.ts";
import { lengthOfTyped, Mismatch, mismatch } from "./mismatch.ts";
import type { Output } from "../schema/output.ts";
import { LENGTH_BYTES } from "../schema/shape.ts";
import { MAX_CUT_BYTES } from "./text-window.ts";

type SharedBytes = Uint8Array<SharedArrayBuffer>;

/** Result of `encode` for text that does not fit. It cannot be a length word, which is an int32. */
const NO_FIT: number = 2 ** 31;

/** Writes `value` into the bounded field at `rel`. */
export function writeBoundedText(
  out: Output,
  rel: number,
  value: unknown,
  max: number,
  expected: string,
): void {
  if (typeof value !== "string") throw mismatch(expected, value);
  const { memory, access } = out.writer;
  const at = out.base + rel;
  const word = encode(access.text, memory.u8, at + LENGTH_BYTES, max, value);
  if (word === NO_FIT) {
    throw new Mismatch(expected, `a string of ${utf8Length(value, expected)} UTF-8 bytes`);
  }
  memory.i32[at >> 2] = word;
}

/** Writes `value` into the tail and its slot at `rel`. */
export function writeText(out: Output, rel: number, value: unknown, expected: string): void {
  if (typeof value !== "string") throw mismatch(expected, value);
  // Most text is ASCII. Other text is counted first, since requesting three times the room might move the
  // value out of its ring.
  let bytes = value.length;
  let start = out.offer(bytes);
  let writer = out.writer;
  let word = encode(writer.access.text, writer.memory.u8, out.base + start, bytes, value);
  if (word === NO_FIT) {
    bytes = utf8Length(value, expected);
    start = out.offer(bytes);
    writer = out.writer;
    word = encode(writer.access.text, writer.memory.u8, out.base + start, bytes, value);
    if (word === NO_FIT) throw new Mismatch(expected, "a string that changes its length");
  }
  out.take(bytes);
  out.point(rel, start, word);
}

/** Encodes all of `text` into `room` bytes from `start`; returns its length word, or NO_FIT. */
function encode(
  access: TextAccess,
  u8: SharedBytes,
  start: number,
  room: number,
  text: string,
): number {
  const units = text.length;
  if (units > room) return NO_FIT;
  if (units <= SHORT_STRING_UNITS && access.writeUnits(text, u8, start) < 0x80) return ~units;
  let { read, written } = access.encodeInto(text, u8, start, start + room);
  if (read < units) {
    const last = writeLast(text, read, u8, start + written, start + room);
    if (last < 0) return NO_FIT;
    written = last - start;
    read = units;
  }
  if (written === units) return ~units;
  return text.isWellFormed() ? written : NO_FIT;
}

/**
 * Writes the characters from unit `from` on into `[at, end)`; returns their end, or -1 if they do not fit. Node 26
 * omits the last character although there is room for it (nodejs/node#65994), so this function writes only the last few.
 */
function writeLast(text: string, from: number, u8: SharedBytes, at: number, end: number): number {
  let next = at;
  for (let unit = from; unit < text.length; unit++) {
    const code = text.codePointAt(unit)!;
    const bytes = utf8Bytes(code);
    if (next + bytes > end) return -1;
    if (bytes === 1) u8[next] = code;
    else {
      // The first byte encodes the number of bytes; each of the others has six bits of the character.
      u8[next] = ((0xf00 >> bytes) & 0xff) | (code >> 6 * (bytes - 1));
      for (let byte = 1; byte < bytes; byte++) {
        u8[next + byte] = 0x80 | ((code >> 6 * (bytes - 1 - byte)) & 0x3f);
      }
    }
    next += bytes;
    if (bytes === 4) unit++;
  }
  return next;
}

function utf8Bytes(code: number): number {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/** Bytes of `text` in UTF-8. Throws Mismatch for a lone surrogate. */
function utf8Length(text: string, expected: string): number {
  let bytes = 0;
  for (let unit = 0; unit < text.length; unit++) {
    const code = text.codePointAt(unit)!;
    if (code >= 0xd800 && code <= 0xdfff) {
      throw new Mismatch(
        expected,
        `a string with a lone surrogate at ${unit}, which UTF-8 cannot express`,
      );
    }
    bytes += utf8Bytes(code);
    if (code >= 0x10000) unit++;
  }
  return bytes;
}

export function readBoundedText(input: Input, at: number, max: number): string {
  const word = input.memory.i32[at >> 2]!;
  if ((word < 0 ? ~word : word) > max) throw corrupt(`length word ${word}`, at);
  const start = at + LENGTH_BYTES;
  return word < 0 ? readAscii(input, start, ~word) : readUtf8(input, start, word);
}

export function readText(input: Input, at: number): string {
  const word = input.memory.i32[(at >> 2) + 1]!;
  const start = input.openBytes(at, word < 0 ? ~word : word);
  if (word >= 0) return readUtf8(input, start, word);
  const { window } = input;
  return window === undefined || window.isPoor || ~word > MAX_CUT_BYTES
    ? readAscii(input, start, ~word)
    : window.cut(input.text, input.memory.u8, input.limit, start, ~word);
}

/** Damaged bytes decode to arbitrary text, here and below, but no read goes beyond them. */
function readAscii({ memory: { u8 }, text }: Input, start: number, length: number): string {
  return length > SHORT_STRING_UNITS
    ? text.readAscii(u8, start, start + length)
    : readOneByte(text, u8, start, length);
}

function readUtf8({ memory: { u8 }, text }: Input, start: number, length: number): string {
  return text.readUtf8(u8, start, start + length);
}

export function writeBoundedBytes(
  out: Output,
  rel: number,
  value: unknown,
  max: number,
  expected: string,
): void {
  const length = lengthOfTyped(value, "Uint8Array", expected);
  if (length > max) throw new Mismatch(expected, `${length} bytes`);
  const { i32, u8 } = out.writer.memory;
  const at = out.base + rel;
  i32[at >> 2] = length;
  u8.set(bytesOf(value, length), at + LENGTH_BYTES);
}

export function writeBytes(out: Output, rel: number, value: unknown, expected: string): void {
  const length = lengthOfTyped(value, "Uint8Array", expected);
  const start = out.reserve(length);
  out.writer.memory.u8.set(bytesOf(value, length), out.base + start);
  out.point(rel, start, length);
}

export function readBoundedBytes(input: Input, at: number, max: number): Uint8Array<ArrayBuffer> {
  return copyBytes(input.memory.u8, at + LENGTH_BYTES, boundedLength(input, at, max));
}

export function readBytes(input: Input, at: number): Uint8Array<ArrayBuffer> {
  const length = input.memory.i32[(at >> 2) + 1]!;
  return copyBytes(input.memory.u8, input.openBytes(at, length), length);
}

/** The length or count in front of bounded data, checked. */
export function boundedLength(input: Input, at: number, max: number): number {
  const length = input.memory.i32[at >> 2]!;
  if (length < 0 || length > max) throw corrupt(`length ${length}`, at);
  return length;
}

/** A fresh, unshared copy. The fields of structs are short, so one implementation serves all runtimes. */
function copyBytes(u8: SharedBytes, start: number, length: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(length);
  copy.set(u8.subarray(start, start + length));
  return copy;
}
