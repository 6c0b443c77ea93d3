/**
 * Where a struct is being written: the caller's memory, which may move while it grows, and where the
 * next part of the tail goes. Offsets called `rel` are relative to the struct's start and survive a
 * move; addresses (`base + rel`) and views do not, so they are taken anew after every `reserve`.
 */
import { align8Large } from "../../memory/align.ts";
import type { Writer } from "../writer.ts";
import { Mismatch } from "./mismatch.ts";

/** The caller's side of writing: memory that `room` may replace. */
export type StructWriter = Pick<Writer, "memory" | "room" | "access">;

/** Bytes of a struct with its tail at most: distances are int32. */
const MAX_BYTES = 2 ** 31 - 8;

export class Output {
  readonly writer: StructWriter;
  /** Address of the struct. */
  base = 0;
  /** Where the tail ends so far, relative to `base`; a multiple of 8. */
  end = 0;

  constructor(writer: StructWriter) {
    this.writer = writer;
  }

  /** Starts a struct of `fixedBytes` (a multiple of 8) at `at`, and forgets the one before. */
  begin(at: number, fixedBytes: number): void {
    this.base = this.writer.room(at, fixedBytes);
    this.end = fixedBytes;
  }

  /** Makes room for `bytes` at the end of the tail without taking it; returns where, relative. */
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

  /** Takes the next `bytes` of the tail; returns where they start, relative. */
  reserve(bytes: number): number {
    const rel = this.offer(bytes);
    this.take(bytes);
    return rel;
  }

  /** Takes `bytes` of what was offered. */
  take(bytes: number): void {
    this.end += align8Large(bytes);
  }

  /** Fills the slot at `rel`: where its data starts, and its length word or count. */
  point(rel: number, start: number, word: number): void {
    const i32 = this.writer.memory.i32;
    const at = (this.base + rel) >> 2;
    i32[at] = start - rel;
    i32[at + 1] = word;
  }
}
