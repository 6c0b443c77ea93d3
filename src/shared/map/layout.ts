/**
 * The memory of a map. One thread changes it at a time, under a latch; any number read meanwhile.
 *
 *   word
 *   4    bucket bits         2^n buckets; written once
 *   5    blocks at most      of 64 bytes, in the arena; written once
 *   6    entries at most     0: no limit; written once
 *   7    evicts              1: a cache; written once
 *   8    ttl                 f64, milliseconds; 0: none; written once
 *   10   seed                of the hashes; written once
 *   32   latch
 *   33   deaths              when the map was last repaired
 *   34   size                entries
 *   35   version             of the last change; wraps
 *   36   blocks              in the arena now
 *   37   limbo               first block of those removed since the last snapshot, and how many
 *   39   waiting             first block of those removed before it
 *   41   is unfinished       1: after a death what is free is not known yet
 *   42   evictions           f64; living entries that a cache has evicted
 *   48   free lists          first block of each order; 32 words
 *   96   waits               wait set of `wait`, and of `update`
 *   192  snapshot            `visits` of every thread when `waiting` was filled; 256 words
 *   448  reserved            [token, block + 1] of each thread that writes a large value outside the latch; it writes its own, under the
 *                            latch; whoever repairs clears those of the dead
 *   960  update locks        64 groups of 16 locks, each [token of the thread that updates an entry, hash of its key]. Taken under the
 *                            latch, the hash first; given back by compare-exchange of the token
 *   3008 buckets             link to the first entry
 *   …    occupied            a bit for each bucket: set before its first link, cleared after its last
 *   …    states              a byte for each block: what starts there
 *   …    reads               of a cache: [hits, misses] of each thread, f64, 64 bytes apart; each writes its own, without the latch
 *   …    arena
 *
 * A link is the number of a block plus 1; 0: none. Under the latch everything is written; links and what an entry holds are read without it.
 *
 *   entry word 0   link to the next entry of the bucket
 *         word 1   hash
 *         word 2   order of its block | kind of key << 8
 *         word 3   version
 *         word 4   used: version when it was last read; readers write it too
 *         word 5   length of the key, in its units
 *         word 6   f64, when it expires: milliseconds since 1970; 0: never
 *         word 8   bytes of the value
 *         word 9   link to the next entry that was removed
 *         word 10  key, padded to 8 bytes, then value
 */
import { MAX_THREADS } from "../threads/root.ts";
import { WAIT_SET_WORDS } from "../wait-set.ts";

export const BUCKET_BITS = 4;
export const MAX_BLOCKS = 5;
export const MAX_ENTRIES = 6;
export const EVICTS = 7;
/** Index in the f64 view. */
export const TTL_F64 = 4;
export const SEED = 10;
export const LATCH = 32;
export const DEATHS = 33;
export const SIZE = 34;
export const VERSION = 35;
export const BLOCKS = 36;
export const LIMBO = 37;
export const LIMBO_COUNT = 38;
export const WAITING = 39;
export const IS_UNFINISHED = 41;
/** Index in the f64 view. */
export const EVICTIONS_F64 = 21;
export const FREE_LISTS = 48;
export const MAX_ORDER = 31;
export const ENTRY_WAITS = 96;
export const UPDATE_WAITS: number = ENTRY_WAITS + WAIT_SET_WORDS;
export const SNAPSHOT = 192;
export const RESERVED: number = SNAPSHOT + MAX_THREADS;
export const UPDATE_LOCKS: number = RESERVED + 2 * MAX_THREADS;
export const UPDATE_LOCK_GROUPS = 64;
export const UPDATE_GROUP_LOCKS = 16;
export const BUCKETS: number = UPDATE_LOCKS + 2 * UPDATE_LOCK_GROUPS * UPDATE_GROUP_LOCKS;

export const BLOCK_BYTES = 64;
export const BLOCK_WORDS: number = BLOCK_BYTES / 4;

export const NEXT = 0;
export const HASH = 1;
export const ORDER = 2;
export const ENTRY_VERSION = 3;
export const USED = 4;
export const KEY_UNITS = 5;
/** Index in the f64 view, from the entry's. */
export const EXPIRES_F64 = 3;
export const VALUE_BYTES = 8;
export const REMOVED_NEXT = 9;
export const ENTRY_HEADER_BYTES = 40;

/** States of blocks: nothing starts there, or a block of order n does: n + 1, with IS_FREE or without. */
export const NOTHING_STARTS = 0;
export const IS_FREE = 0x80;

/** Where the parts are. */
export interface Places {
  readonly bucketMask: number;
  /** Word of the occupied bits. */
  readonly occupied: number;
  /** Byte of the states. */
  readonly states: number;
  /** Byte of what a cache counts. */
  readonly reads: number;
  /** Byte of the arena, a multiple of 64. */
  readonly arena: number;
}

/** Bytes of what a thread counts: a cache line, as they are written at every read. */
export const READS_BYTES = 64;

export function placesOf(bucketBits: number, maxBlocks: number, evicts: boolean): Places {
  const occupied = BUCKETS + 2 ** bucketBits;
  const states = 4 * (occupied + 2 ** (bucketBits - 5));
  const reads = Math.ceil((states + maxBlocks) / BLOCK_BYTES) * BLOCK_BYTES;
  return {
    bucketMask: 2 ** bucketBits - 1,
    occupied,
    states,
    reads,
    arena: reads + (evicts ? READS_BYTES * MAX_THREADS : 0),
  };
}
