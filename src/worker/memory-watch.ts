/** Tells the host when this worker holds more memory than it should; a fresh one takes its place then. */

/** Between two looks. */
const LOOK_MS = 50;
/** Between two messages: the host may have been unable to start another worker. */
const AGAIN_MS = 1000;

export interface MemoryWatchOptions {
  readonly maxBytes: number;
  readonly bytes: () => number;
  readonly now: () => number;
  readonly onFull: () => void;
}

export class MemoryWatch {
  readonly #options: MemoryWatchOptions;
  #nextMs = 0;

  constructor(options: MemoryWatchOptions) {
    this.#options = options;
  }

  /** Looks if it is time to. */
  look(): void {
    const { maxBytes, bytes, now, onFull } = this.#options;
    const nowMs = now();
    if (nowMs < this.#nextMs) return;
    const isFull = bytes() > maxBytes;
    this.#nextMs = nowMs + (isFull ? AGAIN_MS : LOOK_MS);
    if (isFull) onFull();
  }
}
