/** Tells the host when this worker holds more memory than it should; a fresh one takes its place then. */

/** Between two looks. */
const LOOK_MS = 5;
/** Until the first look at a worker that holds more than it should before its first call: each would be replaced. */
const FIRST_MS = 1000;
/** Between two messages that say the same: the host may have been unable to start another worker. */
const AGAIN_MS = 1000;
/** Beyond the limit by this factor the worker gets no calls while another starts. */
const OVER = 1.25;

const FULL = 1;
const FAR_OVER = 2;

export interface MemoryWatchOptions {
  readonly maxBytes: number;
  readonly bytes: () => number;
  readonly now: () => number;
  readonly onFull: (isFarOver: boolean) => void;
}

export class MemoryWatch {
  readonly #options: MemoryWatchOptions;
  readonly #farOverBytes: number;
  #nextMs = 0;
  /** What was said last, and when it may be said again. */
  #said = 0;
  #againMs = 0;

  /** To be made before the first call. */
  constructor(options: MemoryWatchOptions) {
    const { maxBytes, bytes, now } = options;
    this.#options = options;
    const isFullBefore = bytes() > maxBytes;
    this.#farOverBytes = isFullBefore ? Infinity : OVER * maxBytes;
    if (isFullBefore) this.#nextMs = now() + FIRST_MS;
  }

  /** Looks if it is time to. */
  look(): void {
    const { maxBytes, bytes, now, onFull } = this.#options;
    const nowMs = now();
    if (nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + LOOK_MS;
    const snapshot = bytes();
    if (snapshot <= maxBytes) return;
    const found = snapshot > this.#farOverBytes ? FAR_OVER : FULL;
    if (found <= this.#said && nowMs < this.#againMs) return;
    this.#said = found;
    this.#againMs = nowMs + AGAIN_MS;
    onFull(found === FAR_OVER);
  }
}
