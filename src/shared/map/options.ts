/** Options of maps, and the memory of a new one. */
import { checkInteger, checkLimit, invalid, show } from "../../option-checks.ts";
import { checkOptions } from "../given.ts";
import { ObjectMemory } from "../memory.ts";
import type { ThisThread } from "../threads/this-thread.ts";
import {
  BLOCK_BYTES,
  BUCKET_BITS,
  DEATHS,
  EVICTS,
  MAX_BLOCKS,
  MAX_ENTRIES,
  placesOf,
  SEED,
  TTL_F64,
} from "./layout.ts";

/** Options of a SharedMap. */
export interface SharedMapOptions {
  /**
   * Bytes of memory for entries, 65536 to 2013265920. It is taken from the system as it is needed. An entry takes 40 bytes, its key and its value,
   * rounded up to a power of two, 64 at least.
   * @default 67108864
   */
  readonly maxBytes?: number;
  /** Time after which an entry expires, in milliseconds, unless `set` says otherwise. @default Infinity */
  readonly ttlMs?: number;
}

/** Options of a SharedCache. */
export interface SharedCacheOptions extends SharedMapOptions {
  /** Entries that it holds at most. @default Infinity */
  readonly maxEntries?: number;
}

/** Options of `set`. */
export interface SetOptions {
  /** Time after which the entry expires, in milliseconds; Infinity: never. @default the map's */
  readonly ttlMs?: number;
}

/** With what describes them, all entries are within 2 GiB, to which 32-bit arithmetic reaches. */
const MAX_BYTES = 2 ** 31 - 2 ** 27;

const MAX_TTL_MS = 2 ** 50;

const MAP_OPTIONS: readonly string[] = ["maxBytes", "ttlMs"];
export const SET_OPTIONS: readonly string[] = ["ttlMs"];

/** The options of a map, with their defaults. Throws InvalidArgumentError. */
export function mapOptions(owner: string, options: SharedMapOptions): Required<SharedMapOptions> {
  checkOptions(owner, options, MAP_OPTIONS);
  return checkMapOptions(options);
}

/** The same of a cache. */
export function cacheOptions(
  owner: string,
  options: SharedCacheOptions,
): Required<SharedCacheOptions> {
  checkOptions(owner, options, [...MAP_OPTIONS, "maxEntries"]);
  const { maxEntries = Infinity } = options;
  checkLimit("maxEntries", maxEntries, 1, 2 ** 28);
  return { ...checkMapOptions(options), maxEntries };
}

function checkMapOptions(
  { maxBytes = 2 ** 26, ttlMs = Infinity }: SharedMapOptions,
): Required<SharedMapOptions> {
  checkInteger("maxBytes", maxBytes, 2 ** 16, MAX_BYTES);
  checkTtl(ttlMs);
  return { maxBytes, ttlMs };
}

/** Memory for a map, or for a cache: of options that were checked. */
export function createMap(
  { maxBytes, ttlMs, maxEntries = Infinity }: Required<SharedMapOptions> & SharedCacheOptions,
  evicts: boolean,
  thread: ThisThread,
): ObjectMemory {
  const expected = Math.min(maxEntries, maxBytes / 256);
  const bucketBits = Math.max(6, Math.min(24, Math.ceil(Math.log2(expected))));
  const maxBlocks = Math.floor(maxBytes / BLOCK_BYTES);
  const { arena } = placesOf(bucketBits, maxBlocks, evicts);
  const memory = ObjectMemory.create("map", arena, thread, arena + maxBlocks * BLOCK_BYTES);
  const { i32, f64 } = memory.view;
  i32[BUCKET_BITS] = bucketBits;
  i32[MAX_BLOCKS] = maxBlocks;
  i32[MAX_ENTRIES] = maxEntries === Infinity ? 0 : maxEntries;
  i32[EVICTS] = evicts ? 1 : 0;
  i32[SEED] = Math.random() * 2 ** 32; // modulo 2 ** 32
  i32[DEATHS] = thread.root.deaths;
  f64[TTL_F64] = ttlMs === Infinity ? 0 : ttlMs;
  return memory;
}

/** Throws InvalidArgumentError. */
export function checkTtl(ttlMs: number): void {
  const isTime = typeof ttlMs === "number" && ttlMs > 0;
  if (isTime && (ttlMs === Infinity || ttlMs <= MAX_TTL_MS)) return;
  const rule = `a number of milliseconds above 0, at most ${MAX_TTL_MS}, or Infinity`;
  throw invalid("ttlMs", rule, show(ttlMs));
}
