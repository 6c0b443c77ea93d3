/**
 * Where a struct is being read from. Every slot and every length passes through here and is checked
 * against the end of the record, whatever the memory holds.
 */
import { align8Large } from "../../memory/align.ts";
import type { Memory } from "../../memory/views.ts";
import type { TextAccess } from "../../runtimes/runtime.ts";
import { ProtocolError } from "../../errors.ts";
import { readOneByte } from "../text.ts";
import { MAX_CUT_BYTES, type TextWindow } from "./text-window.ts";

/** Longest string that is not read as ASCII, which is quicker for long ones alone. */
const SHORT_UNITS = 24;

export class Input {
  memory: Memory;
  readonly text: TextAccess;
  /** Address at which the record ends. */
  readonly limit: number;
  /** Address at which what has been read so far ends; the next part of the tail starts there or later. */
  end: number;
  /** After `openArray`. */
  count = 0;
  /** For records with several strings in the tail. */
  readonly #window: TextWindow | undefined;

  /** `window`: for strings in the tail, if they are read in order. */
  constructor(
    memory: Memory,
    text: TextAccess,
    limit: number,
    end: number,
    window?: TextWindow,
  ) {
    this.memory = memory;
    this.text = text;
    this.limit = limit;
    this.end = end;
    this.#window = window;
  }

  /** Follows the slot of an array at `at` with elements of `stride` bytes; sets `count`. */
  openArray(at: number, stride: number): number {
    const count = this.memory.i32[(at >> 2) + 1]!;
    if (count < 0) throw corrupt(`count ${count}`, at);
    this.count = count;
    return this.#follow(at, count * stride);
  }

  /** Follows the slot of `length` bytes of text or data at `at`. */
  openBytes(at: number, length: number): number {
    if (length < 0) throw corrupt(`length ${length}`, at);
    return this.#follow(at, length);
  }

  /** The `length` bytes of the tail from `start`, which are ASCII: strings of the tail come one behind the other. */
  tailText(start: number, length: number): string {
    const window = this.#window;
    return window === undefined || window.isPoor || length > MAX_CUT_BYTES
      ? readAscii(this, start, length)
      : window.cut(this.text, this.memory.u8, this.limit, start, length);
  }

  #follow(at: number, bytes: number): number {
    const start = at + this.memory.i32[at >> 2]!;
    const end = start + align8Large(bytes);
    if ((start & 7) !== 0 || start < this.end || end > this.limit) {
      throw corrupt(`place, ${bytes} bytes at ${start}`, at);
    }
    this.end = end;
    return start;
  }
}

/** Text by itself, of bytes that are ASCII. Others give some text or other. */
export function readAscii({ memory: { u8 }, text }: Input, start: number, length: number): string {
  return length > SHORT_UNITS
    ? text.readAscii(u8, start, start + length)
    : readOneByte(text, u8, start, length);
}

/** The memory of a record holds what no writer has put there. */
export function corrupt(what: string, at: number): ProtocolError {
  return new ProtocolError(`Struct data at offset ${at} is corrupt: impossible ${what}.`);
}
