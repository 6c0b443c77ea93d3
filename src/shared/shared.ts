/** `shared`: objects by name. */
import {
  type ChannelOptions,
  channelOptions,
  createChannel,
  endsOf,
  type Receiver,
  type Sender,
} from "./channel/channel.ts";
import { Condition } from "./locks/condition.ts";
import { AtomicFlag, Event, Once } from "./locks/event.ts";
import { Barrier, checkThreads, WaitGroup } from "./locks/groups.ts";
import { checkPermits, Mutex, RwLock, Semaphore } from "./locks/mutex.ts";
import { NO_OPTIONS } from "./given.ts";
import {
  cacheOptions,
  mapOptions,
  type SharedCacheOptions,
  type SharedMapOptions,
} from "./map/options.ts";
import { SharedCache } from "./map/shared-cache.ts";
import { type Key, SharedMap } from "./map/shared-map.ts";
import type { ObjectMemory } from "./memory.ts";
import { named, namedMemory } from "./named.ts";
import {
  AtomicCounter,
  type ElementType,
  SharedVector,
  type SharedVectorOptions,
  vectorOptions,
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
 * same options, defaults included; otherwise the promise rejects with InvalidArgumentError. A named object lives as long as the process.
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
    given: SharedMapOptions = NO_OPTIONS,
  ): Promise<SharedMap<K, V>> {
    const options = (): object => mapOptions("shared.map()", given);
    return named({ name, kind: "map", options }, () => new SharedMap<K, V>(given));
  },
  cache<K extends Key = string, V = unknown>(
    name: string,
    given: SharedCacheOptions = NO_OPTIONS,
  ): Promise<SharedCache<K, V>> {
    const options = (): object => cacheOptions("shared.cache()", given);
    const wanted = { name, kind: "map", label: "cache", options } as const;
    return named(wanted, () => new SharedCache<K, V>(given));
  },
  async channel<T>(
    name: string,
    given: ChannelOptions = NO_OPTIONS,
  ): Promise<[Sender<T>, Receiver<T>]> {
    const options = (): object => channelOptions("shared.channel()", given);
    const make = (): ObjectMemory => createChannel(given, true);
    return endsOf<T>(await namedMemory({ name, kind: "channel", options }, make));
  },
  vector<T extends ElementType>(
    name: string,
    type: T,
    given: SharedVectorOptions = NO_OPTIONS,
  ): Promise<SharedVector<T>> {
    const options = (): object => vectorOptions("shared.vector()", type, given);
    return named({ name, kind: "vector", options }, () => new SharedVector(type, given));
  },
  mutex: (name: string): Promise<Mutex> => named({ name, kind: "mutex" }, () => new Mutex()),
  rwLock: (name: string): Promise<RwLock> => named({ name, kind: "rwLock" }, () => new RwLock()),
  semaphore(name: string, permits: number): Promise<Semaphore> {
    const options = (): object => ({ permits: checkPermits(permits) });
    return named({ name, kind: "semaphore", options }, () => new Semaphore(permits));
  },
  condition: (name: string): Promise<Condition> =>
    named({ name, kind: "condition" }, () => new Condition()),
  barrier(name: string, count: number): Promise<Barrier> {
    const options = (): object => ({ count: checkThreads(count) });
    return named({ name, kind: "barrier", options }, () => new Barrier(count));
  },
  waitGroup: (name: string): Promise<WaitGroup> =>
    named({ name, kind: "waitGroup" }, () => new WaitGroup()),
  once: (name: string): Promise<Once> => named({ name, kind: "once" }, () => new Once()),
  event: (name: string): Promise<Event> => named({ name, kind: "event" }, () => new Event()),
  counter: (name: string): Promise<AtomicCounter> =>
    named({ name, kind: "counter" }, () => new AtomicCounter()),
  flag: (name: string): Promise<AtomicFlag> =>
    named({ name, kind: "flag" }, () => new AtomicFlag()),
};
