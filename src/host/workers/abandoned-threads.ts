/**
 * Abandoned threads: threads of stopped workers that go on. No call stops a thread on Deno that loops or blocks:
 * `terminate()` returns, and the thread uses its core until its task returns. So their number is limited, and hard
 * limits become longer by the share of the cores that they take.
 */
import type { Lane } from "../balance/lane.ts";

export interface AbandonedThreadsOptions {
  readonly cores: number;
  /** Maximum of abandoned threads. */
  readonly max: number;
  /** Whether the runtime stops threads that loop. */
  readonly canStop: boolean;
}

export class AbandonedThreads {
  readonly #options: AbandonedThreadsOptions;
  readonly #lanes = new Set<Lane>();

  constructor(options: AbandonedThreadsOptions) {
    this.#options = options;
  }

  get size(): number {
    for (const lane of this.#lanes) if (!isStuck(lane)) this.#lanes.delete(lane);
    return this.#lanes.size;
  }

  /** Whether the worker may be stopped, even if its thread goes on. */
  mayStop(lane: Lane): boolean {
    return this.#mayEnd(lane) || this.size < this.#options.max;
  }

  /** The worker is being stopped. True: its thread goes on. */
  add(lane: Lane): boolean {
    if (this.#mayEnd(lane)) return false;
    this.#lanes.add(lane);
    return true;
  }

  /** The factor, at least 1, by which `busy` workers take longer because abandoned threads share the cores. */
  stretch(busy: number): number {
    const { size } = this;
    return size === 0 ? 1 : Math.max(1, (size + busy) / this.#options.cores);
  }

  #mayEnd(lane: Lane): boolean {
    return this.#options.canStop || !isStuck(lane);
  }
}

/** A worker whose task has returned has sent its response, or waits for calls. */
function isStuck(lane: Lane): boolean {
  return lane.isAwake && !lane.endpoint.rx.hasRecord;
}
