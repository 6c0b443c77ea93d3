/** What workers do with shared objects until they are killed. Each operation checks what it sees; a fault is noted in a map. */
import { createPool, type PoolOptions, task } from "../../src/mod.ts";
import {
  type Mutex,
  type Receiver,
  type RwLock,
  select,
  type Semaphore,
  type Sender,
  type SharedCache,
  type SharedMap,
  type SharedVector,
  timer,
  type WaitGroup,
} from "../../src/mod-shared.ts";
import { createRandom } from "../support/random.ts";
import { endHere, type Place, type Plan } from "./deaths.ts";

export interface Message {
  readonly from: number;
  readonly number: number;
  /** Its own. */
  readonly id: number;
  readonly text: string;
}

export interface Value {
  readonly key: string;
  readonly text: string;
}

export interface Objects {
  readonly map: SharedMap<string, Value>;
  readonly bytes: SharedMap<string, Uint8Array>;
  readonly cache: SharedCache<number, string>;
  readonly counts: SharedMap<string, number>;
  /** Two elements under the mutex and two under the read-write lock, equal but while the lock is held. */
  readonly pairs: SharedVector<"i32">;
  /** How often each message was received. */
  readonly taken: SharedVector<"u8">;
  readonly mutex: Mutex;
  readonly rwLock: RwLock;
  readonly semaphore: Semaphore;
  readonly group: WaitGroup;
  readonly sender: Sender<Message>;
  readonly receiver: Receiver<Message>;
  /** What did not hold. */
  readonly faults: SharedMap<string, string>;
}

/** Elements of `pairs` that count: operations, messages made, sent and received. */
export const OPERATIONS = 4;
export const MADE = 5;
export const SENT = 6;
export const RECEIVED = 7;
export const MAX_MESSAGES = 2 ** 20;

/** The keys of the map: few, so that threads meet. */
const KEYS = 40;

const textOf = (key: string, length: number): string => key.padEnd(length, key);

/** One kind of operation each; throws if it sees what must not be. */
export class Stirrer {
  readonly #objects: Objects;
  readonly #random: () => number;
  readonly #from: number;
  readonly #seen = new Map<number, number>();
  readonly #plan: Plan | undefined;
  #number = 0;
  #operation = 0;

  /** `plan`: of the worker; undefined: it goes on. */
  constructor(objects: Objects, seed: number, from: number, plan?: Plan) {
    this.#objects = objects;
    this.#random = createRandom(seed);
    this.#from = from;
    this.#plan = plan;
  }

  upTo(most: number): number {
    return Math.floor(this.#random() * (most + 1));
  }

  /** Ends the worker here, if that is planned. */
  #mayEnd(place: Place): void {
    const plan = this.#plan;
    if (plan !== undefined && this.#operation >= plan.at && plan.place === place) endHere(plan);
  }

  map(): void {
    const { map } = this.#objects;
    const key = `key ${this.upTo(KEYS)}`;
    const value = map.get(key);
    if (value !== undefined) check(value.key === key && value.text.startsWith(key), "torn value");
    const choice = this.upTo(9);
    if (choice < 5) map.set(key, this.#value(key));
    else if (choice < 7) map.delete(key);
    else if (choice === 7) map.getOrInsert(key, { key, text: key });
    else if (choice === 8) {
      for (const [name, { key }] of map) {
        check(name === key, "mixed entries");
        this.#mayEnd("iteration");
      }
    }
  }

  /** Some are written outside the latch. Its getter runs while it is encoded. */
  #value(key: string): Value {
    const text = textOf(key, this.upTo(19) === 0 ? 2 ** 15 : this.upTo(2000));
    const mayEnd = (): void => this.#mayEnd("encoding");
    return {
      get key() {
        mayEnd();
        return key;
      },
      text,
    };
  }

  /** Bytes in place: all of them are what the first one is. */
  bytes(): void {
    const { bytes } = this.#objects;
    const key = `bytes ${this.upTo(4)}`;
    if (this.upTo(2) === 0) {
      bytes.set(key, new Uint8Array(this.upTo(40_000)).fill(this.upTo(255)));
      return;
    }
    bytes.getView(key, (view) => {
      const isWhole = () => view.every((byte) => byte === view[0]);
      check(isWhole(), "torn bytes");
      this.#mayEnd("getView");
      check(isWhole(), "bytes were used again while they were read");
    });
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
    counts.updateSync(`from ${this.#from}`, (old = 0) => old + 1);
    counts.updateSync("all", (old = 0) => {
      this.#mayEnd("update");
      return old + 1;
    });
  }

  /** Under a lock: the two elements are equal, but after a death. */
  pair(at: number, wasPoisoned: boolean, place: Place): void {
    const { pairs } = this.#objects;
    const [a, b] = [pairs.atomic.load(at), pairs.atomic.load(at + 1)];
    check(a === b || wasPoisoned, "no exclusion");
    pairs.atomic.store(at, a + 1);
    this.#mayEnd(place);
    pairs.atomic.store(at + 1, a + 1);
  }

  message(): Message {
    const number = this.#number++;
    const id = this.#objects.pairs.atomic.add(MADE, 1);
    const length = this.upTo(30) === 0 ? 17_000 : this.upTo(300);
    return { from: this.#from, number, id, text: textOf(`${this.#from}:${number} `, length) };
  }

  sent(): void {
    this.#objects.pairs.atomic.add(SENT, 1);
  }

  received({ from, number, id, text }: Message): void {
    const { pairs, taken } = this.#objects;
    pairs.atomic.add(RECEIVED, 1);
    check(text.startsWith(`${from}:${number} `), "torn message");
    check(id >= MAX_MESSAGES || taken.atomic.add(id, 1) === 0, `message ${id} came twice`);
    const last = this.#seen.get(from) ?? -1;
    check(number > last, `message ${number} of ${from} after ${last}`);
    this.#seen.set(from, number);
  }

  /** In the event loop: several operations at once, of which one happens. */
  async select(): Promise<void> {
    const { sender, receiver } = this.#objects;
    const pending = select([sender.send(this.message()), receiver.receive(), timer(5)]);
    this.#mayEnd("select");
    const { index, value } = await pending;
    if (index === 0) this.sent();
    else if (index === 1) this.received(value);
  }

  /** In the event loop, where others run while a lock is held. */
  async async(): Promise<void> {
    this.#begin();
    const { mutex, rwLock, semaphore, counts } = this.#objects;
    switch (this.upTo(5)) {
      case 0: {
        const guard = await mutex.lock({ recover: true });
        await Promise.resolve();
        this.pair(0, guard.wasPoisoned, "mutex");
        guard.release();
        return;
      }
      case 1: {
        const guard = await rwLock.write({ recover: true });
        await Promise.resolve();
        this.pair(2, guard.wasPoisoned, "rwLock");
        guard.release();
        return;
      }
      case 2:
        (await semaphore.acquire(1 + this.upTo(1))).release();
        return;
      case 3:
        await counts.update("all", async (old = 0) => {
          await Promise.resolve();
          return old + 1;
        });
        return;
      default:
        await this.select();
    }
  }

  #begin(): void {
    this.#objects.pairs.atomic.add(OPERATIONS, 1);
    this.#operation++;
    this.#mayEnd("between");
  }

  sync(): void {
    this.#begin();
    const { mutex, rwLock, semaphore, group, sender, receiver } = this.#objects;
    switch (this.upTo(9)) {
      case 0: {
        const guard = mutex.lockSync({ recover: true });
        this.pair(0, guard.wasPoisoned, "mutex");
        guard.release();
        return;
      }
      case 1: {
        const guard = rwLock.writeSync({ recover: true });
        this.pair(2, guard.wasPoisoned, "rwLock");
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
        if (sender.trySend(this.message())) this.sent();
        return;
      case 6: {
        const taken = receiver.tryReceive();
        if (taken !== undefined) this.received(taken.value);
        return;
      }
      case 7:
        this.update();
        return;
      case 8:
        this.bytes();
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

/** Errors that deaths explain. A map is full while a thread stays inside it, until it is killed there. */
export function isExpected(error: unknown): boolean {
  const codes = ["HEDDLE_POISONED", "HEDDLE_SHARED_ACCESS", "HEDDLE_SHARED_FULL"];
  return codes.includes((error as { code?: string }).code ?? "");
}

/** Whether the task is over: its thread was stopped, and runs on all the same: Deno cannot stop a thread that loops. */
function isOver(error: unknown, { faults }: Objects): boolean {
  if ((error as { code?: string }).code === "HEDDLE_SHARED_ACCESS") return true;
  if (isExpected(error)) return false;
  faults.set(`worker: ${String(error)}`, String((error as Error).stack));
  return true;
}

type Argument = [objects: Objects, seed: number, from: number, plan: Plan];

const endOf = ({ end, ms }: Plan): number => performance.now() + (end === "none" ? ms : 60_000);

/** Blocks. */
export const stir = task({
  f: ([objects, seed, from, plan]: Argument): void => {
    const stirrer = new Stirrer(objects, seed, from, plan);
    const endMs = endOf(plan);
    for (let count = 0; performance.now() < endMs; count++) {
      try {
        stirrer.sync();
      } catch (error) {
        if (isOver(error, objects)) return;
      }
      // Its exception needs a turn of the event loop.
      if (plan.end === "throw" && count > plan.at) return;
    }
    objects.sender.close();
    objects.receiver.close();
  },
});

/** The same in the event loop. */
export const roam = task({
  f: async ([objects, seed, from, plan]: Argument): Promise<void> => {
    const stirrer = new Stirrer(objects, seed, from, plan);
    const endMs = endOf(plan);
    while (performance.now() < endMs) {
      try {
        await stirrer.async();
      } catch (error) {
        if (isOver(error, objects)) return;
      }
    }
    objects.sender.close();
    objects.receiver.close();
  },
});

/** A pool within the worker, whose own worker stirs until one of the two ends. */
export const nest = task({
  f: async ([objects, seed, from, plan]: Argument): Promise<void> => {
    const pool = createStirPool({ threads: 1 });
    const inner = seed % 2 === 0 ? pool.call.stir : pool.call.roam;
    const call = inner([objects, seed, from, { ...plan, end: "limit", place: "mutex" }]);
    call.catch(() => {}); // it ends with its worker
    const stirrer = new Stirrer(objects, seed + 1, -from, plan);
    const endMs = endOf(plan);
    while (performance.now() < endMs) {
      try {
        await stirrer.async();
      } catch (error) {
        if (isOver(error, objects)) return;
      }
    }
    await pool.shutdown(0);
  },
});

export type StirPool = ReturnType<typeof createStirPool>;

export function createStirPool(options: PoolOptions) {
  return createPool(options)({ stir, roam, nest });
}
