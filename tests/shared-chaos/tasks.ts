/** What workers do with shared objects until they are killed. Each operation checks what it sees; a fault is sent to the host. */
import { createPool, emit, type PoolOptions, task } from "../../src/mod.ts";
import type {
  Mutex,
  Receiver,
  RwLock,
  Semaphore,
  Sender,
  SharedCache,
  SharedMap,
  SharedVector,
  WaitGroup,
} from "../../src/mod-shared.ts";
import "../../src/mod-shared.ts";
import { createRandom } from "../support/random.ts";

export interface Message {
  readonly from: number;
  readonly number: number;
  readonly text: string;
}

export interface Value {
  readonly key: string;
  readonly text: string;
}

export interface Objects {
  readonly map: SharedMap<string, Value>;
  readonly cache: SharedCache<number, string>;
  readonly counts: SharedMap<string, number>;
  /** Two elements under the mutex and two under the read-write lock, equal but while the lock is held. */
  readonly pairs: SharedVector<"i32">;
  readonly mutex: Mutex;
  readonly rwLock: RwLock;
  readonly semaphore: Semaphore;
  readonly group: WaitGroup;
  readonly sender: Sender<Message>;
  readonly receiver: Receiver<Message>;
}

/** Element of `pairs` that counts operations. */
export const OPERATIONS = 4;

/** The keys of the map: few, so that threads meet. */
const KEYS = 40;

const textOf = (key: string, length: number): string => key.padEnd(length, key);

/** One kind of operation each; throws if it sees what must not be. */
export class Stirrer {
  readonly #objects: Objects;
  readonly #random: () => number;
  readonly #from: number;
  readonly #seen = new Map<number, number>();
  #number = 0;

  constructor(objects: Objects, seed: number, from: number) {
    this.#objects = objects;
    this.#random = createRandom(seed);
    this.#from = from;
  }

  upTo(most: number): number {
    return Math.floor(this.#random() * (most + 1));
  }

  map(): void {
    const { map } = this.#objects;
    const key = `key ${this.upTo(KEYS)}`;
    const value = map.get(key);
    if (value !== undefined) check(value.key === key && value.text.startsWith(key), "torn value");
    const choice = this.upTo(9);
    if (choice < 5) map.set(key, { key, text: textOf(key, this.upTo(2000)) });
    else if (choice < 7) map.delete(key);
    else if (choice === 7) map.getOrInsert(key, { key, text: key });
    else if (choice === 8) {
      for (const [name, { key }] of map) {
        check(name === key, "mixed entries");
      }
    }
  }

  cache(): void {
    const { cache } = this.#objects;
    const key = this.upTo(300);
    const text = cache.get(key);
    if (text !== undefined) check(text.startsWith(`${key} `), "torn text");
    else cache.set(key, `${key} `.padEnd(this.upTo(3000), "x"));
  }

  /** Counts what was counted; no update may be lost but of those that were killed. */
  update(): void {
    const { counts } = this.#objects;
    const mine = `from ${this.#from}`;
    counts.updateSync(mine, (old = 0) => old + 1);
    counts.updateSync("all", (old = 0) => old + 1);
  }

  /** Under a lock: the two elements are equal, but after a death. */
  pair(at: number, wasPoisoned: boolean): void {
    const { pairs } = this.#objects;
    const [a, b] = [pairs.atomic.load(at), pairs.atomic.load(at + 1)];
    check(a === b || wasPoisoned, "no exclusion");
    pairs.atomic.store(at, a + 1);
    pairs.atomic.store(at + 1, a + 1);
  }

  message(): Message {
    const number = this.#number++;
    return { from: this.#from, number, text: textOf(`${this.#from}:${number} `, this.upTo(300)) };
  }

  received({ from, number, text }: Message): void {
    check(text.startsWith(`${from}:${number} `), "torn message");
    const last = this.#seen.get(from) ?? -1;
    check(number > last, `message ${number} of ${from} after ${last}`);
    this.#seen.set(from, number);
  }

  sync(): void {
    this.#objects.pairs.atomic.add(OPERATIONS, 1);
    const { mutex, rwLock, semaphore, group, sender, receiver } = this.#objects;
    switch (this.upTo(8)) {
      case 0: {
        const guard = mutex.lockSync({ recover: true });
        this.pair(0, guard.wasPoisoned);
        guard.release();
        return;
      }
      case 1: {
        const guard = rwLock.writeSync({ recover: true });
        this.pair(2, guard.wasPoisoned);
        guard.release();
        return;
      }
      case 2: {
        const guard = rwLock.tryRead({ recover: false });
        guard?.release();
        return;
      }
      case 3:
        semaphore.acquireSync(1 + this.upTo(1), { timeoutMs: 2000 }).release();
        return;
      case 4:
        group.enter()[Symbol.dispose]();
        return;
      case 5:
        sender.trySend(this.message());
        return;
      case 6: {
        const taken = receiver.tryReceive();
        if (taken !== undefined) this.received(taken.value);
        return;
      }
      case 7:
        this.update();
        return;
      default:
        this.map();
        this.cache();
    }
  }
}

function check(holds: boolean, fault: string): void {
  if (!holds) throw new Error(`fault: ${fault}`);
}

/** Errors that deaths explain. */
export function isExpected(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === "HEDDLE_POISONED" || code === "HEDDLE_SHARED_ACCESS";
}

export const stir = task({
  f: ([objects, seed, from, ms]: [Objects, number, number, number]): void => {
    const stirrer = new Stirrer(objects, seed, from);
    const endMs = performance.now() + ms;
    while (performance.now() < endMs) {
      try {
        stirrer.sync();
      } catch (error) {
        // Stopped, and running all the same: Deno cannot stop a thread that loops.
        if ((error as { code?: string }).code === "HEDDLE_SHARED_ACCESS") return;
        if (!isExpected(error)) {
          emit(String((error as Error).stack));
          throw error;
        }
      }
    }
    objects.sender.close();
    objects.receiver.close();
  },
});

export type StirPool = ReturnType<typeof createStirPool>;

export function createStirPool(options: PoolOptions) {
  return createPool(options)({ stir });
}
