/**
 * How many workers are awake (working or spinning), counted in shared memory across all pools of one
 * host thread and the pools nested in their workers.
 *
 * Spinning pays only while every spinner has a core of its own: with two spinning workers and a
 * spinning host on two cores one call took 168 µs instead of 0.3. A worker is counted from the
 * moment it leaves a park until it enters the next, so the words are touched per park, not per call.
 *
 * The first word is the count. Behind it stand the shares: one word in the lane of the worker itself
 * and of each worker its pool is nested in (`lane-layout.ts`), so that the host of a worker that dies
 * can take back what it, and all that was nested in it, had added. Every word is written by atomic adds
 * of the workers below it, and by `takeBack` of the host above it. A worker killed between two of its
 * adds leaves the count off by one.
 */
export interface SharedWord {
  readonly buffer: SharedArrayBuffer;
  readonly index: number;
}

export class ActiveCount {
  readonly #count: Int32Array<SharedArrayBuffer>;
  readonly #words: readonly (readonly [Int32Array<SharedArrayBuffer>, number])[];
  readonly #cores: number;

  /** `words[0]` is the count, the others are shares; `cores` is what this process may use. */
  constructor(words: readonly SharedWord[], cores: number) {
    this.#words = words.map(({ buffer, index }) => [new Int32Array(buffer), index]);
    this.#count = this.#words[0]![0];
    this.#cores = cores;
  }

  /** A new count, for a thread's first pool. */
  static create(): SharedWord {
    return { buffer: new SharedArrayBuffer(128), index: 0 };
  }

  /** A worker wakes up (1) or parks (-1). */
  add(delta: 1 | -1): void {
    for (const [words, index] of this.#words) Atomics.add(words, index, delta);
  }

  /** Host: a worker is gone; takes its share out of the count and of the shares above. */
  takeBack(share: SharedWord): void {
    const left = Atomics.exchange(new Int32Array(share.buffer), share.index, 0);
    if (left !== 0) { for (const [words, index] of this.#words) Atomics.sub(words, index, left); }
  }

  /** Cores that no awake worker needs; may be negative. The host needs one of them. */
  get coresLeft(): number {
    return this.#cores - Atomics.load(this.#count, 0);
  }

  /** The same if at least `awake` workers are: those that have just been woken do not count themselves yet. */
  coresLeftBeside(awake: number): number {
    return this.#cores - Math.max(awake, Atomics.load(this.#count, 0));
  }

  /**
   * Whether a core is left for one more thread beside the awake workers. Asked by the host before it
   * spins, and by a worker, itself counted, on the assumption that the host needs a core too.
   */
  get hasFreeCore(): boolean {
    return this.coresLeft > 0;
  }
}
