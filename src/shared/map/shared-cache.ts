/** Caches: maps that never are full. */
import { printAs } from "../../runtimes/printed.ts";
import { NO_OPTIONS } from "../given.ts";
import { registerHandle } from "../handles.ts";
import { ObjectMemory } from "../memory.ts";
import { thisThread } from "../threads/this-thread.ts";
import type { CacheStats } from "./cache-counts.ts";
import { EVICTS } from "./layout.ts";
import { cacheOptions, createMap, type SharedCacheOptions } from "./options.ts";
import type { Key } from "./keys.ts";
import { countsOf, SharedMap } from "./shared-map.ts";

/**
 * A {@link SharedMap} that never is full: it evicts what was not used for long (the oldest of five entries taken at random, as Redis does)
 * when it has `maxEntries`, or no room within `maxBytes`.
 */
export class SharedCache<K extends Key = string, V = unknown> extends SharedMap<K, V> {
  /** A new cache. Pass it in an argument, or name it: `shared.cache(name, options)`. */
  constructor(options: SharedCacheOptions | ObjectMemory = NO_OPTIONS) {
    super(
      options instanceof ObjectMemory
        ? options
        : createMap(cacheOptions("new SharedCache()", options), true, thisThread()),
    );
  }

  static {
    printAs(this.prototype, () => "SharedCache (shared by threads)");
  }

  /** Reads that found an entry, reads that did not, and evictions: of all threads, since the cache was made. Some of those that go on meanwhile may be missing. */
  stats(): CacheStats {
    return countsOf(this as object as SharedMap<Key>).stats;
  }
}

registerHandle("map", (memory) => {
  return memory.view.i32[EVICTS] === 1 ? new SharedCache(memory) : new SharedMap(memory);
});
