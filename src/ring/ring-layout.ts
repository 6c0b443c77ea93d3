/**
 * Ring header. One writer per line; lines are CACHE_LINE (128) bytes apart.
 *
 *   byte
 *   0    magic | version | capacity   written once by `createRing`, before the buffer is shared
 *   12   producerTaken  i32           compare-exchange 0→1 by the side that takes the role, once
 *   16   consumerTaken  i32           compare-exchange 0→1 by the side that takes the role, once
 *   128  tailPosition   i32           producer writes, consumer reads
 *   256  headPosition   i32           consumer writes, producer reads
 *   384  (unused line, so that records never share a line pair with the cursor)
 *   512  records                      `capacity` bytes, a power of two
 *
 * Positions are monotonic counts of bytes that wrap as int32; compare them by subtraction only.
 * `index = position & (capacity - 1)` is the byte within `records`.
 * Invariant: 0 ≤ tailPosition − headPosition ≤ capacity (as int32 difference).
 */
import { CACHE_LINE } from "../memory/align.ts";

export const RING_MAGIC = 0x6865_646c; // "hedl"
export const RING_VERSION = 1;

/** Indices into the header's Int32Array. */
export const MAGIC = 0;
export const VERSION = 1;
export const CAPACITY = 2;
export const PRODUCER_TAKEN = 3;
export const CONSUMER_TAKEN = 4;
export const TAIL_POSITION: number = CACHE_LINE / 4;
export const HEAD_POSITION: number = (2 * CACHE_LINE) / 4;

/** Bytes before the first record. */
export const RING_HEADER_BYTES: number = 4 * CACHE_LINE;

/** Tests shrink rings to a few records; positions wrap as int32, so a ring stays below 2³⁰. */
export const MIN_CAPACITY = 64;
export const MAX_CAPACITY: number = 2 ** 30;

/** Bytes a ring of this capacity occupies, header included. */
export function ringBytes(capacity: number): number {
  return RING_HEADER_BYTES + capacity;
}
