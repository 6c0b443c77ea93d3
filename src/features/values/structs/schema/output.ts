/**
 * The destination of a struct: the caller's memory, which may move while it grows, and the position of the
 * next part of the tail. Offsets called `rel` are relative to the struct's start and stay valid after a
 * move. Addresses (`base + rel`) and views do not, so they are reloaded after every `reserve`.
 */
import { align8Large } from "../../../../memory/align.ts";
import type { Encoder } from "../../../../codec/encoder.ts";
import { Mismatch } from "../codec/mismatch.ts";

/** The caller's side of writing: memory that `room` may replace. */
export type StructWriter = Pick<Encoder, "memory" | "room" | "access">;

/** Maximum bytes of a struct with its tail, since distances are int32. */
const MAX_BYTES = 2 ** 31 - 8;

export class Output {
  readonly writer: StructWriter;
  /** Address of the struct. */
  base = 0;
  /** Current end of the tail, relative to `base`; a multiple of 8. */
  end = 0;

  constructor(writer: StructWriter) {
    this.writer = writer;
  }

  /** Starts a struct of `fixedBytes` (a multiple of 8) at `at`, and forgets the one before. */
  begin(at: number, fixedBytes: number): void {
    this.base = this.writer.room(at, fixedBytes);
    this.end = fixedBytes;
  }

  /** Makes room for `bytes` at the end of the tail without reserving it; returns the relative offset. */
  offer(bytes: number): number {
    const padded = align8Large(bytes);
    if (this.end + padded > MAX_BYTES) {
      throw new Mismatch(
        `small enough for a struct of ${MAX_BYTES} bytes in all`,
        `${bytes} bytes after ${this.end} others`,
      );
    }
    this.base = this.writer.room(this.base + this.end, padded) - this.end;
    return this.end;
  }

  /** Reserves the next `bytes` of the tail; returns their relative offset. */
  reserve(bytes: number): number {
    const rel = this.offer(bytes);
    this.take(bytes);
    return rel;
  }

  /** Reserves `bytes` of the offered room. */
  take(bytes: number): void {
    this.end += align8Large(bytes);
  }

  /** Fills the slot at `rel` with the distance to its data, and its length word or count. */
  point(rel: number, start: number, word: number): void {
    const i32 = this.writer.memory.i32;
    const at = (this.base + rel) >> 2;
    i32[at] = start - rel;
    i32[at + 1] = word;
  }
}
