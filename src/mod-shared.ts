/**
 * Data, locks and channels that threads share, for the thread that creates pools and for the modules of tasks.
 *
 * Every object is a handle over shared memory: make one and pass it in an argument, or give it a name ({@link shared}).
 *
 * @example
 * ```ts
 * import { SharedMap } from "heddle/shared";
 *
 * const seen = new SharedMap<string, number>();
 * await pool.call.crawl(url, seen); // the worker's changes are seen here, and the other way round
 * ```
 *
 * @module
 */
import "./shared/enter.ts";

export {
  channel,
  type ChannelOptions,
  type Receiver,
  type Sender,
} from "./shared/channel/channel.ts";
export {
  type Operation,
  select,
  type Selected,
  type SelectOptions,
  timer,
} from "./shared/channel/operation.ts";
export { Condition } from "./shared/locks/condition.ts";
export { AtomicFlag, Event, Once } from "./shared/locks/event.ts";
export { Barrier, type GroupWork, WaitGroup } from "./shared/locks/groups.ts";
export { Mutex, RwLock, Semaphore } from "./shared/locks/mutex.ts";
export type {
  BlockOptions,
  LockGuard,
  RecoverOption,
  WaitOptions,
} from "./shared/locks/options.ts";
export type { SetOptions, SharedCacheOptions, SharedMapOptions } from "./shared/map/options.ts";
export type { CacheStats } from "./shared/map/cache-counts.ts";
export { SharedCache } from "./shared/map/shared-cache.ts";
export { type Deletion, type Key, SharedMap } from "./shared/map/shared-map.ts";
export { shared, type SharedByName } from "./shared/shared.ts";
export {
  AtomicCounter,
  type AtomicElements,
  type Element,
  type ElementType,
  SharedVector,
  type SharedVectorOptions,
} from "./shared/vector/shared-vector.ts";
export { DeadlockError } from "./errors.ts";
export {
  ChannelClosedError,
  PoisonedError,
  SharedAccessError,
  SharedMemoryFullError,
  WaitTimeoutError,
} from "./shared-errors.ts";
