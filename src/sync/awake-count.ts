/**
 * Counts in shared memory how many workers are awake (working or spinning), across all pools of one host thread and the
 * pools nested in their workers. Spinning pays only while every spinner has a core of its own: with two spinning workers
 * and a spinning host on two cores one call took 168 µs instead of 0.3.
 *
 * A worker is counted from its wake until it parks again, so the words are touched per park, not per call. The waker
 * counts it (`worker-parking.ts`), because the worker cannot run while another thread spins on the core that it needs:
 * with two pools used in turn on two cores, the first calls after each change took 0.1 to 1 ms instead of 0.03.
 *
 * The first word is the count. The others are shares: one word of the worker itself and of each worker that its pool is
 * nested in, so that the host of a dead worker can subtract the contribution of that worker and of all nested in it. Each
 * share has its own memory, which is never reused, since orphaned threads may access it at any time. Workers below a word
 * and their wakers write it by atomic adds. The host above writes it by `subtract`, after which the share is far below
 * zero: a thread that the runtime cannot stop sees this and leaves the words above unchanged. A worker killed between two
 * of its adds leaves the count off by one.
 */
import { ROOT_BYTES, type ThreadWords, WORDS_BYTES } from "../realm/thread-hooks.ts";

export type SharedWord = ThreadWords;

/** A shared word, at index 0. */
export type OneWord = Int32Array<SharedArrayBuffer>;

/** Value of a share after `subtract`, and an upper bound for it after any later adds. */
const REMOVED: number = -(2 ** 30);
const REMOVED_BELOW: number = REMOVED / 2;

/** Counts a worker as awake (1) or not (-1), in its own share first and in the count last. */
export function countAwake(words: readonly OneWord[], delta: 1 | -1): void {
  for (let word = words.length - 1; word >= 0; word--) {
    if (Atomics.add(words[word]!, 0, delta) < REMOVED_BELOW) return;
  }
}

export function wordsOf(shared: readonly SharedWord[]): OneWord[] {
  const words: OneWord[] = [];
  for (const { buffer, index } of shared) words.push(new Int32Array(buffer, 4 * index, 1));
  return words;
}

/** For all copies of heddle in this thread. */
const KEY = Symbol.for("heddle.words");

export class AwakeCount {
  /** For `countAwake`. */
  readonly words: readonly OneWord[];
  readonly #count: OneWord;
  readonly #cores: number;

  /** `words[0]` is the count, the others are shares; `cores`: cores that this process may use. */
  constructor(words: readonly SharedWord[], cores: number) {
    this.words = wordsOf(words);
    this.#count = this.words[0]!;
    this.#cores = cores;
  }

  static create(): SharedWord {
    return { buffer: new SharedArrayBuffer(WORDS_BYTES), index: 0 };
  }

  /** The count of all pools of this thread, unless it is a worker of one. */
  static ofThread(): SharedWord {
    const global = globalThis as { [KEY]?: SharedWord };
    return global[KEY] ??= {
      buffer: new SharedArrayBuffer(WORDS_BYTES, { maxByteLength: WORDS_BYTES + ROOT_BYTES }),
      index: 0,
    };
  }

  /** Host: subtracts the share of a worker that has ended from the count and from the shares above. */
  subtract(share: SharedWord): void {
    const left = Atomics.exchange(new Int32Array(share.buffer), share.index, REMOVED);
    if (left === 0 || left < REMOVED_BELOW) return;
    for (let word = this.words.length - 1; word >= 0; word--) {
      if (Atomics.sub(this.words[word]!, 0, left) < REMOVED_BELOW) return;
    }
  }

  /** Cores that no awake worker needs; may be negative. The host needs one of them. */
  get coresLeft(): number {
    return this.#cores - Atomics.load(this.#count, 0);
  }

  /** Whether a core is left for the host beside the awake workers. The count includes a worker that calls this. */
  get hasFreeCore(): boolean {
    return this.coresLeft > 0;
  }
}
