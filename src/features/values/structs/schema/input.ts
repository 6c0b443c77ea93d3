/**
 * The memory that a struct is read from. Every slot and every length is checked here against the end of the
 * record, so damaged memory cannot cause a read outside it.
 */
import { align8Large } from "../../../../memory/align.ts";
import { type Memory, viewMemory } from "../../../../memory/views.ts";
import type { TextAccess } from "../../../../runtimes/runtime.ts";
import { BorrowExpiredError, ProtocolError } from "../../../../errors.ts";
import type { TextWindow } from "../codec/text-window.ts";

export class Input {
  memory: Memory;
  readonly text: TextAccess;
  /** End address of the record. */
  limit: number;
  /** End address of the part read so far; the next part of the tail starts there or later. */
  end: number;
  /** Number of elements, set by `openArray`. */
  count = 0;
  /** For strings in the tail, if there may be several and they are read in order. */
  readonly window: TextWindow | undefined;

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
    this.window = window;
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

const NO_MEMORY: Memory = viewMemory(new SharedArrayBuffer(0));

/** The record behind a group of views, which share one Source. Every access gets the memory from it. */
export class Source extends Input {
  #isExpired = false;

  /** Call before an access: throws once revoked. Allows reading the tail from `end` on. */
  open(end: number): this {
    if (this.#isExpired) throw new BorrowExpiredError();
    this.end = end;
    return this;
  }

  /** Makes every later access throw and drops the reference to the memory. */
  revoke(): void {
    this.#isExpired = true;
    this.memory = NO_MEMORY;
  }
}

/** Creates the view, or the plain value, of one field from its address. */
export type Viewer = (source: Source, at: number) => unknown;

/** The error for a record with contents that no writer produces. */
export function corrupt(kind: string, at: number): ProtocolError {
  return new ProtocolError(`Struct data at offset ${at} is corrupt: impossible ${kind}.`);
}
