/** Reports to the host when this worker's memory exceeds its limit; the host then replaces the worker. */
import type { WorkerCore } from "../../../../worker/worker-core.ts";

/** Time between two checks. */
const CHECK_MS = 5;
/** Delay of the first check if the limit is exceeded before the first call. Otherwise each new worker would be replaced. */
const FIRST_MS = 1000;
/** Time between two equal messages, repeated because the host may have failed to start another worker. */
const REPEAT_MS = 1000;
/** Above this multiple of the limit the worker gets no calls while its replacement starts. */
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
  /** The last message, and the time from which it may be repeated. */
  #reported = 0;
  #againMs = 0;

  /** Must be constructed before the first call. */
  constructor(options: MemoryWatchOptions) {
    const { maxBytes, bytes, now } = options;
    this.#options = options;
    const isFullBefore = bytes() > maxBytes;
    this.#farOverBytes = isFullBefore ? Infinity : OVER * maxBytes;
    if (isFullBefore) this.#nextMs = now() + FIRST_MS;
  }

  /** Checks the memory if the next check is due. */
  check(): void {
    const { maxBytes, bytes, now, onFull } = this.#options;
    const nowMs = now();
    if (nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + CHECK_MS;
    const usedBytes = bytes();
    if (usedBytes <= maxBytes) return;
    const found = usedBytes > this.#farOverBytes ? FAR_OVER : FULL;
    if (found <= this.#reported && nowMs < this.#againMs) return;
    this.#reported = found;
    this.#againMs = nowMs + REPEAT_MS;
    onFull(found === FAR_OVER);
  }
}

/** Measures the memory of the worker. `limit`: in bytes; Infinity if it is only measured. */
export function watchMemory(limit: number, core: WorkerCore): void {
  const { runtime, gauges, site } = core;
  // The memory of the host's thread is not the worker's.
  const maxBytes = site.isHost ? Infinity : limit;
  const watch = new MemoryWatch({
    maxBytes,
    bytes: () => {
      const bytes = runtime.memoryBytes(maxBytes);
      gauges.measured(bytes);
      return bytes;
    },
    now: runtime.now,
    onFull: (isFarOver) => core.notify({ heddle: "full", isFarOver }),
  });
  core.onTurn = () => watch.check();
}
