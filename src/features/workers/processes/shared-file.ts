/**
 * The contents of the file that a host and its worker process share (`runtimes/processes/shared-file.ts`).
 *
 *   byte
 *   0      BEGUN       the end of the record that the child has begun last, or -1 (i32; the child writes it)
 *   4      READ, twice up to here the host has read the child's large values, and the child the host's (i32, wraps; the reader
 *                      writes it)
 *   4096   the area of the host's large values, then that of the child's: AREA_BYTES each
 *
 * A large value is written where its sender finds room, and its frame on the pipe says where. Words that the other process has
 * written are checked before they are used.
 */
import { ProtocolError } from "../../../errors.ts";
import { align8Large } from "../../../memory/align.ts";
import type { SharedFile } from "../../../runtimes/processes/types.ts";

const BEGUN = 0;
const READ = 1;

const AREAS_BYTE = 4096;
/** Bytes of values that are on their way in one direction, at most, and of the largest that goes through the file. A power of two. */
export const AREA_BYTES: number = 16 * 1024 * 1024;

/** From this size on the file is quicker than the pipe. */
export const LARGE_BYTES: number = 64 * 1024;

const NOTHING = -1;

/** With these words a file begins. */
export const FIRST_WORDS: Int32Array = new Int32Array([NOTHING, 0, 0]);

/** A side, by which the words and the areas are chosen. */
export type Side = typeof HOST | typeof CHILD;
export const HOST = 0;
export const CHILD = 1;

/** What the child had begun. Undefined: it could not write that. */
export function readBegun(file: SharedFile): number | undefined {
  const word = file.readWord(BEGUN);
  return word === NOTHING ? undefined : word;
}

/** The child's writer, which has written 0. Undefined: it cannot write. */
export function begunWriter(file: SharedFile): ((position: number) => void) | undefined {
  return file.writeWord(BEGUN, 0) ? (position) => void file.writeWord(BEGUN, position) : undefined;
}

/** The end of one side for large values. Positions in an area count up and wrap, as those of rings. */
export class LargeValues {
  readonly #file: SharedFile;
  readonly #side: Side;
  /** Of the area of this side: the end of what was written, and of what the other side has read. */
  #tail = 0;
  #read = 0;
  /** Of the area of the other side: the end of what it has announced. */
  #announced = 0;
  /** Whether the other side is known to have the file open. */
  #isShared: boolean;

  constructor(file: SharedFile, side: Side) {
    this.#file = file;
    this.#side = side;
    this.#isShared = side === CHILD;
  }

  /** Copies the bytes into the file, and returns their position. Undefined: there is no room now. */
  write(bytes: Uint8Array): number | undefined {
    const needed = align8Large(bytes.length);
    // A child may be unable to open it, and has written a word as soon as it could.
    this.#isShared ||= readBegun(this.#file) !== undefined;
    if (needed > AREA_BYTES || !this.#isShared) return undefined;
    this.#look();
    // Values do not wrap. When all were read, the same pages are used again.
    const left = AREA_BYTES - (this.#tail & (AREA_BYTES - 1));
    const isFresh = left === AREA_BYTES;
    const isEmpty = this.#read === this.#tail;
    const skipped = !isFresh && (isEmpty || needed > left) ? left : 0;
    const used = isEmpty ? 0 : (this.#tail - this.#read) | 0;
    if (!isEmpty && used + skipped + needed > AREA_BYTES) return undefined;
    const position = (this.#tail + skipped) | 0;
    if (!this.#file.write(bytes, byteOf(this.#side, position))) return undefined;
    if (isEmpty) this.#read = position;
    this.#tail = (position + needed) | 0;
    return position;
  }

  /**
   * The other side tells that a value is there, and returns what reads it, into memory of its own. Throws ProtocolError for one that
   * cannot be: values follow each other, or begin a further round.
   */
  announce(position: number, bytes: number): () => SharedArrayBuffer {
    const needed = align8Large(bytes);
    const round = (this.#announced + AREA_BYTES - 1) & ~(AREA_BYTES - 1);
    const isPossible = Number.isInteger(bytes) && bytes >= 0 &&
      (position === this.#announced || position === round) &&
      (position & (AREA_BYTES - 1)) + needed <= AREA_BYTES;
    if (!isPossible) throw new ProtocolError(`No file has ${bytes} bytes at ${position}.`);
    this.#announced = (position + needed) | 0;
    return () => this.#take(position, bytes, needed);
  }

  #take(position: number, bytes: number, needed: number): SharedArrayBuffer {
    const other = this.#side === HOST ? CHILD : HOST;
    const buffer = new SharedArrayBuffer(needed);
    if (!this.#file.read(new Uint8Array(buffer, 0, bytes), byteOf(other, position))) {
      throw new ProtocolError(`The file lacks ${bytes} bytes at ${position}.`);
    }
    this.#file.writeWord(READ + this.#side, (position + needed) | 0);
    return buffer;
  }

  /** How far the other side has read. */
  #look(): void {
    const word = this.#file.readWord(READ + (this.#side === HOST ? CHILD : HOST));
    if (word === undefined) return;
    const isPossible = ((word - this.#read) | 0) > 0 && ((this.#tail - word) | 0) >= 0;
    if (isPossible) this.#read = word;
  }
}

const byteOf = (side: Side, position: number): number =>
  AREAS_BYTE + side * AREA_BYTES + (position & (AREA_BYTES - 1));
