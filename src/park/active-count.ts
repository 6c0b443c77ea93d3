/**
 * How many workers are awake (working or spinning), counted in shared memory across all pools of one
 * host thread and the pools nested in their workers.
 *
 * Spinning pays only while every spinner has a core of its own: with two spinning workers and a
 * spinning host on two cores one call took 168 µs instead of 0.3. A worker is counted from the
 * moment it leaves a park until it enters the next, so the word is touched per park, not per call.
 *
 * Writers: every worker adds 1 and subtracts 1 for itself (atomic add). A worker also keeps its own
 * flag in its lane (`lane-layout.ts`), so that its host can take a dead worker's 1 back.
 */
export class ActiveCount {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #cores: number;

  /** `words[0]` is the count; `cores` is what this process may use. */
  constructor(words: Int32Array<SharedArrayBuffer>, cores: number) {
    this.#words = words;
    this.#cores = cores;
  }

  static createBuffer(): SharedArrayBuffer {
    return new SharedArrayBuffer(128);
  }

  add(delta: 1 | -1): void {
    Atomics.add(this.#words, 0, delta);
  }

  /** May the host spin: is a core left beside the awake workers? */
  get hasCoreForHost(): boolean {
    return Atomics.load(this.#words, 0) < this.#cores;
  }

  /** May an awake (counted) worker spin: is there a core for each awake worker and the host? */
  get hasCoreForWorker(): boolean {
    return Atomics.load(this.#words, 0) < this.#cores;
  }
}
