/** `shared`: objects by name. */
import {
  type ChannelOptions,
  createChannel,
  endsOf,
  type Receiver,
  type Sender,
} from "./channel/channel.ts";
import { Condition } from "./locks/condition.ts";
import { AtomicFlag, Event, Once } from "./locks/event.ts";
import { Barrier, WaitGroup } from "./locks/groups.ts";
import { Mutex, RwLock, Semaphore } from "./locks/mutex.ts";
import type { SharedCacheOptions, SharedMapOptions } from "./map/options.ts";
import { type Key, SharedCache, SharedMap } from "./map/shared-map.ts";
import { named, namedMemory } from "./named.ts";
import {
  AtomicCounter,
  type ElementType,
  SharedVector,
  type SharedVectorOptions,
} from "./vector/shared-vector.ts";

/** What {@link shared} has. */
export interface SharedByName {
  /** The map of this name. */
  map<K extends Key = string, V = unknown>(
    name: string,
    options?: SharedMapOptions,
  ): Promise<SharedMap<K, V>>;
  /** The cache of this name. */
  cache<K extends Key = string, V = unknown>(
    name: string,
    options?: SharedCacheOptions,
  ): Promise<SharedCache<K, V>>;
  /** Two ends of the channel of this name, for this thread. Further calls give further ends. It does not end by itself, as others may come. */
  channel<T>(name: string, options?: ChannelOptions): Promise<[Sender<T>, Receiver<T>]>;
  /** The vector of this name. */
  vector<T extends ElementType>(
    name: string,
    type: T,
    options?: SharedVectorOptions,
  ): Promise<SharedVector<T>>;
  /** The mutex of this name. */
  mutex(name: string): Promise<Mutex>;
  /** The read-write lock of this name. */
  rwLock(name: string): Promise<RwLock>;
  /** The semaphore of this name, with this number of permits. */
  semaphore(name: string, permits: number): Promise<Semaphore>;
  /** The condition of this name. */
  condition(name: string): Promise<Condition>;
  /** The barrier of this name, for this number of waits. */
  barrier(name: string, count: number): Promise<Barrier>;
  /** The wait group of this name. */
  waitGroup(name: string): Promise<WaitGroup>;
  /** The once of this name. */
  once(name: string): Promise<Once>;
  /** The event of this name. */
  event(name: string): Promise<Event>;
  /** The counter of this name. */
  counter(name: string): Promise<AtomicCounter>;
  /** The flag of this name. */
  flag(name: string): Promise<AtomicFlag>;
}

/**
 * Shared objects by name: the same name is the same object in every thread of the process. The first thread that asks makes it. All have to give the
 * same options; otherwise the promise rejects with InvalidArgumentError. A named object lives as long as the process.
 *
 * Workers ask the thread that created their pool, so these methods are asynchronous.
 *
 * @example
 * ```ts
 * const sessions = await shared.map<string, Session>("sessions", { maxBytes: 2 ** 28 });
 * ```
 */
export const shared: SharedByName = {
  map<K extends Key = string, V = unknown>(
    name: string,
    options: SharedMapOptions = {},
  ): Promise<SharedMap<K, V>> {
    return named(name, "map", options, () => new SharedMap<K, V>(options));
  },
  cache<K extends Key = string, V = unknown>(
    name: string,
    options: SharedCacheOptions = {},
  ): Promise<SharedCache<K, V>> {
    const make = () => new SharedCache<K, V>(options);
    return named(name, "map", { ...options, evicts: true }, make);
  },
  async channel<T>(name: string, options: ChannelOptions = {}): Promise<[Sender<T>, Receiver<T>]> {
    const memory = await namedMemory(name, "channel", options, () => createChannel(options, true));
    return endsOf<T>(memory);
  },
  vector<T extends ElementType>(
    name: string,
    type: T,
    options: SharedVectorOptions = {},
  ): Promise<SharedVector<T>> {
    return named(name, "vector", { ...options, type }, () => new SharedVector(type, options));
  },
  mutex: (name: string): Promise<Mutex> => named(name, "mutex", {}, () => new Mutex()),
  rwLock: (name: string): Promise<RwLock> => named(name, "rwLock", {}, () => new RwLock()),
  semaphore: (name: string, permits: number): Promise<Semaphore> =>
    named(name, "semaphore", { permits }, () => new Semaphore(permits)),
  condition: (name: string): Promise<Condition> =>
    named(name, "condition", {}, () => new Condition()),
  barrier: (name: string, count: number): Promise<Barrier> =>
    named(name, "barrier", { count }, () => new Barrier(count)),
  waitGroup: (name: string): Promise<WaitGroup> =>
    named(name, "waitGroup", {}, () => new WaitGroup()),
  once: (name: string): Promise<Once> => named(name, "once", {}, () => new Once()),
  event: (name: string): Promise<Event> => named(name, "event", {}, () => new Event()),
  counter: (name: string): Promise<AtomicCounter> =>
    named(name, "counter", {}, () => new AtomicCounter()),
  flag: (name: string): Promise<AtomicFlag> => named(name, "flag", {}, () => new AtomicFlag()),
};
