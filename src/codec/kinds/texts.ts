/**
 * The short strings of an object, gathered behind it: written one after the other, read by one native
 * call and then sliced. Creating a separate string costs an engine 40 to 80 ns, slicing one 10 to 15.
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
import { NOT_ONE_BYTE, type TextAccess } from "../../runtimes/runtime.ts";
import type { Reader } from "../reader.ts";
import { TEXTS, VALUE_HEADER_BYTES } from "../tags.ts";
import { readOneByte } from "./text.ts";
import type { TextCollector, Writer } from "../writer.ts";

/** Longest gathered string, in UTF-16 units: up to this length a loop writes as fast as a native call. */
export const MAX_GATHERED_UNITS = 64;
/** Minimum units in a segment before another segment is started. */
const SEGMENT_UNITS = 2048;
/** Array slots kept for the next object's strings. */
const KEPT = 4096;

/** An encoder's side. */
export class GatheredTexts implements TextCollector {
  /** Whether strings are gathered now: a TEXTS is being written. */
  isOpen = false;
  #texts: string[] = [];
  /** Strings gathered so far. Only this class writes it. */
  count = 0;

  add(text: string): void {
    this.#texts[this.count++] = text;
  }

  /** Forgets all but the first `count` strings. */
  forget(count: number): void {
    if (this.#texts.length > KEPT) this.#texts.length = count;
    else for (let index = count; index < this.count; index++) this.#texts[index] = "";
    this.count = count;
  }

  /** Discards all strings after an exception. */
  abort(): void {
    this.isOpen = false;
    this.forget(0);
  }

  /** Writes `object` with its short strings gathered. */
  write(writer: Writer, object: object, from: number): number {
    this.isOpen = true;
    const at = writer.object(object, writer.header(TEXTS, 0, from));
    this.isOpen = false;
    if (this.count === 0) return at;
    writer.i32[(from >> 2) + 1] = (at - from) >> 3;
    return this.#writeSegments(writer, at);
  }

  #writeSegments(writer: Writer, from: number): number {
    const texts = this.#texts;
    const count = this.count;
    let at = from;
    for (let index = 0; index < count;) {
      const first = index;
      let units = 0;
      while (index < count && units < SEGMENT_UNITS) units += texts[index++]!.length;
      // Empty strings need no segment.
      if (units > 0) at = writeSegment(writer, texts, first, index, units, at);
    }
    this.forget(0);
    return at;
  }
}

function writeSegment(
  writer: Writer,
  texts: readonly string[],
  first: number,
  end: number,
  units: number,
  from: number,
): number {
  const bytes = (units + 7) & ~7; // `align8`
  let at = from + VALUE_HEADER_BYTES + bytes <= writer.limit
    ? from
    : writer.room(from, VALUE_HEADER_BYTES + bytes);
  const { u8 } = writer;
  const access = writer.access.text;
  const start = at + VALUE_HEADER_BYTES;
  let bytesEach = 1;
  if (!writeOneByte(access, texts, first, end, u8, start)) {
    bytesEach = 2;
    at = writer.room(at, VALUE_HEADER_BYTES + align8(2 * units));
    const { u16 } = writer.memory;
    let slot = (at + VALUE_HEADER_BYTES) >> 1;
    for (let index = first; index < end; index++) {
      const text = texts[index]!;
      const { length } = text;
      for (let unit = 0; unit < length; unit++) u16[slot++] = text.charCodeAt(unit);
    }
  }
  const { i32 } = writer;
  i32[at >> 2] = units;
  i32[(at >> 2) + 1] = bytesEach;
  return at + VALUE_HEADER_BYTES + (bytesEach === 1 ? bytes : align8(2 * units));
}

/** Writes the strings one by one, or many by one native call. False: some unit takes more than a byte. */
function writeOneByte(
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

/** A decoder's side. */
export class TextSegments {
  /** The segment that was read last. Its unused rest starts at `#taken`. */
  #segment = "";
  #taken = 0;
  /** Whether a TEXTS is being read, or was when an exception ended that. */
  isOpen = false;
  /** Offset of the next segment. */
  #next = 0;

  /** Reads TEXTS at `at`. */
  read(reader: Reader, at: number): unknown {
    if (this.isOpen) throw reader.corrupt("place of texts", at);
    const texts = at + 8 * reader.i32[(at >> 2) + 1]!;
    if (texts === at) return reader.value(at + VALUE_HEADER_BYTES);
    if (texts < at || texts > reader.limit) throw reader.corrupt("place of texts", at);
    this.isOpen = true;
    this.#next = texts;
    const value = reader.value(at + VALUE_HEADER_BYTES);
    if (reader.next !== texts || this.#taken !== this.#segment.length) {
      throw reader.corrupt("length of texts", at);
    }
    reader.next = this.#next;
    this.close();
    return value;
  }

  /** Drops the reference to the last segment; also called after a failure. */
  close(): void {
    this.isOpen = false;
    this.#segment = "";
    this.#taken = 0;
  }

  /** The next string, of `units` units; `at`: offset of its TEXT. */
  take(reader: Reader, units: number, at: number): string {
    let start = this.#taken;
    if (start + units > this.#segment.length) {
      this.#open(reader, at);
      start = 0;
    }
    const end = start + units;
    if (units < 0 || end > this.#segment.length) throw reader.corrupt(`length ${units}`, at);
    this.#taken = end;
    return this.#segment.substring(start, end);
  }

  #open(reader: Reader, at: number): void {
    const segment = this.#next;
    if (!this.isOpen || this.#taken !== this.#segment.length) throw reader.corrupt("text", at);
    if (segment + VALUE_HEADER_BYTES > reader.limit) throw reader.corrupt("end", segment);
    const units = reader.i32[segment >> 2]!;
    const bytesEach = reader.i32[(segment >> 2) + 1]!;
    const start = segment + VALUE_HEADER_BYTES;
    const end = start + units * bytesEach;
    if (units < 0 || (bytesEach !== 1 && bytesEach !== 2) || end > reader.limit) {
      throw reader.corrupt(`segment of ${units} units`, at);
    }
    const { text } = reader.access;
    this.#segment = bytesEach === 1
      ? readOneByte(text, reader.u8, start, units)
      : text.readTwoByte(reader.u8, start, end);
    this.#taken = 0;
    this.#next = (end + 7) & ~7; // `align8`
  }
}
