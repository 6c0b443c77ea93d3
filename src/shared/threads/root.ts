/**
 * The root: which threads of the process live, and the words on which each of them waits.
 *
 *   word
 *   0    magic, version        0→these: any thread, before it uses the root
 *   2    high                  records used so far; grows by compare-exchange
 *   3    deaths                the thread that marks a death adds 1, after the mark
 *   4    id                    0→any odd number: any thread, by compare-exchange, before it uses the root
 *   64   records of 64 words, one for each thread
 *
 *   0    life                  even→odd: compare-exchange by a thread that needs its token (realm/thread-hooks.ts: the thread itself or one
 *                              below it); odd→even: the thread that started it, or that needed the token and found another, once
 *   1    waits                 its own thread: BLOCKED, IN_LOOP; the thread that begins the life: 0
 *   2    sync                  any thread adds; its thread blocks on it
 *   3    async                 any thread adds; its thread waits for it in its event loop
 *   4    entitled              the thread that begins the life: life, after the parent; a thread that fences it: ~life
 *   5    parent                token of the thread that starts it: the thread that begins the life
 *   6    looked at             when it was fenced, or a thread last looked at it after that: milliseconds of the shared clock, low 31 bits;
 *                              the thread that fences it, then compare-exchange by any
 *   7    fenced for            milliseconds that count: the thread that fences it sets 0; the one that moved `looked at` on adds
 *   32   visits                its own thread: odd while it reads a map; the thread that begins the life: even
 *
 * A token names one life of one record: `index | life << 8`, 30 bits, never 0. docs/internals/shared.md has the protocol.
 */
import { ProtocolError } from "../../errors.ts";
import {
  ROOT_BYTES,
  STOPPED,
  type ThreadWords,
  TOKEN,
  WORDS_BYTES,
} from "../../realm/thread-hooks.ts";
import { SharedAccessError } from "../../shared-errors.ts";

/** Threads that may live at once. */
export const MAX_THREADS = 256;
const INDEX_BITS = 8;
const LIFE_MASK = 0x3f_ffff;

const MAGIC = 0x6865_6473; // "heds"
const VERSION = 1;
const HIGH = 2;
const DEATHS = 3;
const ID = 4;
const RECORD_WORDS = 64;
const LIFE = 0;
const WAITS = 1;
const SYNC = 2;
const ASYNC = 3;
const ENTITLED = 4;
const PARENT = 5;
const LOOKED_AT = 6;
const FENCED_FOR = 7;
const VISITS = 32;

/** Bits of `waits`. */
export const BLOCKED = 1;
export const IN_LOOP = 2;

const TIME_MASK = 0x7fff_ffff;
/** How long a thread that was fenced may go on with an operation that it has begun. */
export const FENCE_MS = 100;
/** As much counts of the time between two looks: if more has passed, the process was suspended, and that thread with it. */
export const FENCE_STEP_MS = 10;

export const indexOf = (token: number): number => token & (MAX_THREADS - 1);
const lifeOf = (token: number): number => token >>> INDEX_BITS;
const recordAt = (index: number): number => (index + 1) * RECORD_WORDS;

export class Root {
  readonly words: Int32Array<SharedArrayBuffer>;

  constructor(words: Int32Array<SharedArrayBuffer>) {
    this.words = words;
    if (words[0] !== MAGIC || words[1] !== VERSION) {
      throw new ProtocolError("The root of heddle/shared was made by another version.");
    }
  }

  /** In memory that is zero, or has the root already. */
  static in(words: Int32Array<SharedArrayBuffer>): Root {
    Atomics.compareExchange(words, 0, 0, MAGIC);
    Atomics.compareExchange(words, 1, 0, VERSION);
    Atomics.compareExchange(words, ID, 0, Math.floor(Math.random() * 2 ** 32) | 1);
    return new Root(words);
  }

  static create(): Root {
    return Root.in(new Int32Array(new SharedArrayBuffer(ROOT_BYTES)));
  }

  /** The root of the threads below the first one, which has these words. */
  static of({ buffer }: ThreadWords): Root {
    const end = WORDS_BYTES + ROOT_BYTES;
    if (buffer.byteLength < end) buffer.grow(end);
    return Root.in(new Int32Array(buffer, WORDS_BYTES, ROOT_BYTES / 4));
  }

  /** Number of records ever used: indices from here on have no thread. */
  get high(): number {
    return Atomics.load(this.words, HIGH);
  }

  get deaths(): number {
    return Atomics.load(this.words, DEATHS);
  }

  /** Tells objects of this root from those of others. */
  get id(): number {
    return this.words[ID]!;
  }

  /** A token for a thread that `parent` is about to start; 0 for the first. */
  begin(parent: number): number {
    const { words } = this;
    for (let index = 0; index < MAX_THREADS; index++) {
      const at = recordAt(index);
      const last = Atomics.load(words, at + LIFE);
      if ((last & 1) === 1) continue;
      const life = (last + 1) | 0;
      if (Atomics.compareExchange(words, at + LIFE, last, life) !== last) continue;
      // No other thread has the token yet. A parent that dies here leaves a record that is never used again.
      Atomics.store(words, at + PARENT, parent);
      Atomics.store(words, at + WAITS, 0);
      Atomics.store(words, at + VISITS, (words[at + VISITS]! + 1) & ~1);
      Atomics.store(words, at + ENTITLED, life & LIFE_MASK);
      this.#raiseHigh(index + 1);
      return index | (life & LIFE_MASK) << INDEX_BITS;
    }
    throw new SharedAccessError(
      `${MAX_THREADS} threads share data, and no more can at the same time.`,
    );
  }

  /** The token of the last of these threads, each of which has started the next. Those that have none get one. */
  enter(threads: readonly ThreadWords[]): number {
    let token = 0;
    const above: number[] = [];
    for (const thread of threads) above.push(token = this.#tokenOf(thread, token));
    // SYNC(shared-enter): the records, then these words; pairs with `fenceFamily`. Needs seq-cst.
    if (above.every((each) => this.isEntitled(each))) return token;
    this.end(token);
    throw stopped();
  }

  #tokenOf({ buffer, index }: ThreadWords, parent: number): number {
    const words = new Int32Array(buffer);
    const known = Atomics.load(words, index + TOKEN);
    if (known === STOPPED) throw stopped();
    if (known !== 0) return known;
    const token = this.begin(parent);
    const seen = Atomics.compareExchange(words, index + TOKEN, 0, token);
    if (seen === 0) return token;
    this.end(token); // another thread has begun it, or it was stopped
    if (seen === STOPPED) throw stopped();
    return seen;
  }

  #raiseHigh(wanted: number): void {
    let high = this.high;
    while (high < wanted) {
      const seen = Atomics.compareExchange(this.words, HIGH, high, wanted);
      high = seen === high ? wanted : seen;
    }
  }

  /** The thread and those that it has started: they end with it. */
  family(token: number): readonly number[] {
    const all = [token];
    for (const parent of all) {
      for (let index = this.high - 1; index >= 0; index--) {
        const child = this.tokenAt(index);
        if (child !== 0 && Atomics.load(this.words, recordAt(index) + PARENT) === parent) {
          all.push(child);
        }
      }
    }
    return all;
  }

  /** From now on the thread's operations throw; it still counts as alive. A second time changes nothing. `nowMs`: of the shared clock. */
  fence(token: number, nowMs: number): void {
    if (!this.isEntitled(token)) return;
    Atomics.store(this.words, recordAt(indexOf(token)) + LOOKED_AT, nowMs & TIME_MASK);
    Atomics.store(this.words, recordAt(indexOf(token)) + FENCED_FOR, 0);
    Atomics.compareExchange(
      this.words,
      recordAt(indexOf(token)) + ENTITLED,
      lifeOf(token),
      ~lifeOf(token),
    );
  }

  /** The same for the thread and those below it, also those that get a token later: they see it. */
  fenceFamily(token: number, nowMs: number): void {
    // SYNC(shared-enter): itself first, then its children; pairs with `enter`. Needs seq-cst.
    this.fence(token, nowMs);
    for (const each of this.family(token)) this.fence(each, nowMs);
  }

  /** Marks the deaths of a thread that was fenced and of those below it. */
  endFamily(token: number): void {
    for (const each of this.family(token)) this.end(each);
  }

  /** Marks a death and wakes every thread, so that each checks its waits again. */
  end(token: number): void {
    const at = recordAt(indexOf(token)) + LIFE;
    const life = Atomics.load(this.words, at);
    if ((life & LIFE_MASK) !== lifeOf(token)) return;
    this.fence(token, 0);
    if (Atomics.compareExchange(this.words, at, life, (life + 1) | 0) !== life) return;
    Atomics.add(this.words, DEATHS, 1);
    for (let index = this.high - 1; index >= 0; index--) this.wake(index);
  }

  isAlive(token: number): boolean {
    const life = Atomics.load(this.words, recordAt(indexOf(token)) + LIFE);
    return (life & LIFE_MASK) === lifeOf(token);
  }

  /**
   * Whether nothing of a thread will touch shared memory any more: it is dead, or it was fenced so long ago that what it had begun is over.
   * The second is known before the thread that started it has heard of its end, but not at the first look. `nowMs`: of the shared clock.
   */
  isGone(token: number, nowMs: number): boolean {
    if (!this.isAlive(token)) return true;
    const at = recordAt(indexOf(token));
    if (Atomics.load(this.words, at + ENTITLED) !== ~lifeOf(token)) return false;
    const lookedMs = Atomics.load(this.words, at + LOOKED_AT);
    // Signed, in 31 bits: it may have been fenced after `nowMs` was read.
    const stepMs = nowMs - lookedMs << 1 >> 1;
    const now = nowMs & TIME_MASK;
    if (
      stepMs > 0 &&
      Atomics.compareExchange(this.words, at + LOOKED_AT, lookedMs, now) === lookedMs
    ) Atomics.add(this.words, at + FENCED_FOR, Math.min(stepMs, FENCE_STEP_MS));
    return Atomics.load(this.words, at + FENCED_FOR) >= FENCE_MS;
  }

  /** Whether a thread may touch shared data: it was not stopped. For the thread itself. */
  isEntitled(token: number): boolean {
    return Atomics.load(this.words, recordAt(indexOf(token)) + ENTITLED) === lifeOf(token);
  }

  /** The token of the thread that lives at this index; 0: none does, or its parent died while it began it. */
  tokenAt(index: number): number {
    const at = recordAt(index);
    const life = Atomics.load(this.words, at + LIFE) & LIFE_MASK;
    if ((life & 1) === 0) return 0;
    const entitled = Atomics.load(this.words, at + ENTITLED);
    return entitled === life || entitled === ~life ? index | life << INDEX_BITS : 0;
  }

  /** Makes the thread with this index check its waits. */
  wake(index: number): void {
    const { words } = this;
    const at = recordAt(index);
    // SYNC(shared-wait): pairs with `ThisThread.blockUntil` and `LoopWaits`: they set `waits`, read these words, then look.
    Atomics.add(words, at + SYNC, 1);
    Atomics.add(words, at + ASYNC, 1);
    const waits = Atomics.load(words, at + WAITS);
    if ((waits & BLOCKED) !== 0) Atomics.notify(words, at + SYNC);
    if ((waits & IN_LOOP) !== 0) Atomics.notify(words, at + ASYNC);
  }

  /** Number of visits of this thread, odd while one goes on. */
  visits(index: number): number {
    return Atomics.load(this.words, recordAt(index) + VISITS);
  }
}

/** What a thread throws that was stopped and goes on running. */
export function stopped(): SharedAccessError {
  return new SharedAccessError("This thread was stopped: it may not touch shared data any more.");
}

/** Word indices of one thread's record. */
export function wordsOf(index: number): {
  readonly waits: number;
  readonly sync: number;
  readonly async: number;
  readonly visits: number;
} {
  const at = recordAt(index);
  return { waits: at + WAITS, sync: at + SYNC, async: at + ASYNC, visits: at + VISITS };
}
