/** What a cache counts. Each thread counts its reads in a cache line of its own, without the latch; evictions are counted under it. */
import type { ObjectMemory } from "../memory.ts";
import { EVICTIONS_F64, READS_BYTES } from "./layout.ts";

/** What a cache has counted, in all threads. */
export interface CacheStats {
  /** Reads of an entry that was there, by `get`, `getMany`, `getView`, `getOrInsert` and `getOrInsertComputed`. */
  readonly hits: number;
  /** The same of entries that were not there. */
  readonly misses: number;
  /** Entries that were removed to make room before they had expired. */
  readonly evictions: number;
}

export class CacheCounts {
  readonly #memory: ObjectMemory;
  /** Indices in the f64 view: the record of the first thread, and that of this one. */
  readonly #start: number;
  readonly #own: number;

  /** `reads`: the byte where they begin. */
  constructor(memory: ObjectMemory, reads: number) {
    this.#memory = memory;
    this.#start = reads >> 3;
    this.#own = reads + READS_BYTES * memory.thread.index >> 3;
  }

  countRead(isHit: boolean): void {
    this.#memory.view.f64[isHit ? this.#own : this.#own + 1]!++;
  }

  countEviction(): void {
    this.#memory.view.f64[EVICTIONS_F64]!++;
  }

  get stats(): CacheStats {
    const { f64 } = this.#memory.view;
    let [hits, misses] = [0, 0];
    for (let index = this.#memory.thread.root.high - 1; index >= 0; index--) {
      const at = this.#start + READS_BYTES / 8 * index;
      hits += f64[at]!;
      misses += f64[at + 1]!;
    }
    return { hits, misses, evictions: f64[EVICTIONS_F64]! };
  }
}
