/**
 * An object that threads change under a latch, and that they may leave half-changed by their death: the next thread repairs it first.
 * The object keeps the number of deaths for which it was repaired (`Root.deaths`).
 */
import { BUSY, Latch } from "./latch.ts";
import type { ThisThread } from "./threads/this-thread.ts";

export abstract class Guarded {
  protected readonly words: Int32Array<SharedArrayBuffer>;
  protected readonly thread: ThisThread;
  readonly #latch: Latch;
  readonly #deaths: number;

  /** `latch` and `deaths` are indices of words. `name`: what it is, for errors. */
  constructor(
    words: Int32Array<SharedArrayBuffer>,
    thread: ThisThread,
    latch: number,
    deaths: number,
    name: string,
  ) {
    this.words = words;
    this.thread = thread;
    this.#latch = new Latch(words, latch, thread, name);
    this.#deaths = deaths;
  }

  /** Takes back what the dead had. `isDamaged`: a holder of the latch has died, and may have left things half-done. */
  protected abstract repair(isDamaged: boolean): void;

  /** Whether a thread has died since the last repair. */
  protected get isStale(): boolean {
    return Atomics.load(this.words, this.#deaths) !== this.thread.root.deaths;
  }

  /** Runs `f` under the latch. On the main thread throws WaitTimeoutError if its holder does not release it in time (latch.ts). */
  protected locked<Result>(f: () => Result): Result {
    return this.#latch.run(this.#repaired, f, true) as Result;
  }

  /** The same, but on threads that may not block undefined if the latch stays taken for some microseconds: `checkSoon` then. */
  protected attempt<Result>(f: () => Result): Result | undefined {
    const result = this.#latch.run(this.#repaired, f, this.thread.mayBlock);
    return result === BUSY ? undefined : result as Result;
  }

  /** Runs `f` under the latch, now or as soon as it is free. For changes that must happen and that no caller waits for. */
  protected whenFree(f: () => void): void {
    if (this.attempt(() => (f(), true)) === true) return;
    this.thread.runtime.setTimeout(() => this.whenFree(f), 1);
  }

  /** For a wait in the event loop that found the latch taken: checks again after a millisecond. */
  checkSoon(): void {
    this.thread.loop.checkSoon();
  }

  /** Under the latch. */
  readonly #repaired = (isDamaged: boolean, f: () => unknown): unknown => {
    const { deaths } = this.thread.root;
    if (isDamaged || this.words[this.#deaths] !== deaths) {
      this.repair(isDamaged);
      Atomics.store(this.words, this.#deaths, deaths);
    }
    return f();
  };
}
